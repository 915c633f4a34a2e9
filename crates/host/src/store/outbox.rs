//! The outbox: turns an engine has not acknowledged yet.
//!
//! A row is `admitted` while its turn runs, and `ready` from the moment its last entry is stored, in the same
//! transaction. Only an acknowledgement deletes a ready row. A row that was refused too often is `blocked`: it is kept and
//! shown, and holds up nobody.

use super::Store;
use super::error::{Attempt, StoreError, StoreErrorKind};
use openclaw_interface::model::CommitParams;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// How often a turn is offered before its row is blocked.
const ATTEMPT_LIMIT: i64 = 5;

/// A turn as the outbox knows it while it runs.
#[derive(Clone, Debug)]
pub(crate) struct PendingTurn<'a> {
    pub(crate) engine_id: &'a str,
    pub(crate) session_id: &'a str,
    pub(crate) commit: &'a CommitParams,
}

/// A turn that waits for its engine.
#[derive(Clone, Debug)]
pub(crate) struct OutboxRow {
    /// Where it stands in the queue: earlier ones are lower.
    pub(crate) place: i64,
    pub(crate) commit: CommitParams,
    pub(crate) attempts: i64,
    pub(crate) last_error: Option<String>,
}

/// Turns that an engine has not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// The engine.
    pub engine_id: String,
    /// Turns that are offered before its next turn in their session.
    pub waiting: i64,
    /// Turns that were refused too often and are not offered any more, unless asked for.
    pub blocked: i64,
    /// One of the reasons given.
    pub last_error: Option<String>,
}

/// Writes the `admitted` row of a turn; a row of an earlier try of the same turn is replaced. The row of another engine
/// stays, and is an error.
pub(super) fn admit(
    connection: &Connection,
    turn: &PendingTurn<'_>,
    now_ms: i64,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    put(connection, turn, "admitted", now_ms, attempt)
}

/// Makes the row of a turn `ready`.
pub(super) fn make_ready(
    connection: &Connection,
    turn: &PendingTurn<'_>,
    now_ms: i64,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    put(connection, turn, "ready", now_ms, attempt)
}

fn put(
    connection: &Connection,
    turn: &PendingTurn<'_>,
    state: &str,
    now_ms: i64,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let facts =
        serde_json::to_string(turn.commit).map_err(|error| attempt.damaged(error.to_string()))?;
    let sql = "INSERT INTO outbox VALUES (?1, ?2, ?3, ?4, ?5, 0, NULL, ?6) \
               ON CONFLICT DO UPDATE SET state = excluded.state, facts = excluded.facts, attempts = 0, \
               last_error = NULL WHERE engine_id = excluded.engine_id";
    let written = connection
        .execute(
            sql,
            params![
                turn.commit.advancement_key,
                turn.engine_id,
                turn.session_id,
                state,
                facts,
                now_ms
            ],
        )
        .map_err(|error| attempt.sql(error))?;
    if written == 0 {
        let key = &turn.commit.advancement_key;
        let engine_id = connection
            .query_row(
                "SELECT engine_id FROM outbox WHERE advancement_key = ?1",
                [key],
                |row| row.get(0),
            )
            .map_err(|error| attempt.sql(error))?;
        return Err(attempt.kind(StoreErrorKind::KeyCollision {
            key: key.clone(),
            engine_id,
        }));
    }
    Ok(())
}

/// Deletes the row of a turn.
pub(super) fn remove(
    connection: &Connection,
    key: &str,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    connection
        .execute("DELETE FROM outbox WHERE advancement_key = ?1", [key])
        .map_err(|error| attempt.sql(error))?;
    Ok(())
}

impl Store {
    /// Drops what turns of a session that died before their end left behind.
    pub(crate) fn drop_unfinished(
        &mut self,
        engine_id: &str,
        session_id: &str,
    ) -> Result<(), StoreError> {
        self.transaction("recover the outbox of", |transaction, attempt| {
            let sql = "DELETE FROM outbox WHERE session_id = ?1 AND engine_id = ?2 AND state = 'admitted'";
            transaction
                .execute(sql, [session_id, engine_id])
                .map_err(|error| attempt.sql(error))?;
            Ok(())
        })
    }

    /// The oldest finished turn of a session behind a place in the queue. Rows that cannot be read are blocked on the
    /// way, so that they hold up nobody.
    pub(crate) fn next_ready(
        &mut self,
        engine_id: &str,
        session_id: &str,
        behind: i64,
    ) -> Result<Option<OutboxRow>, StoreError> {
        let sql = "SELECT rowid, facts, attempts, last_error FROM outbox \
                   WHERE session_id = ?1 AND engine_id = ?2 AND state = 'ready' AND rowid > ?3 ORDER BY rowid LIMIT 1";
        let mut behind = behind;
        loop {
            let attempt = self.attempt("read the outbox of");
            let found = self
                .connection
                .prepare_cached(sql)
                .and_then(|mut statement| {
                    statement
                        .query_row(params![session_id, engine_id, behind], read)
                        .optional()
                })
                .map_err(|error| attempt.sql(error))?;
            let Some(columns) = found else {
                return Ok(None);
            };
            behind = columns.0;
            match outbox_row(columns, &attempt) {
                Ok(row) => return Ok(Some(row)),
                Err(error) => self.block_unreadable(behind, &error)?,
            }
        }
    }

    fn block_unreadable(&mut self, place: i64, error: &StoreError) -> Result<(), StoreError> {
        tracing::warn!(reason = %error.kind, "a waiting turn cannot be read; it is set aside");
        let reason = error.kind.to_string();
        self.transaction("write the outbox of", |transaction, attempt| {
            transaction
                .execute(
                    "UPDATE outbox SET state = 'blocked', last_error = ?2 WHERE rowid = ?1",
                    params![place, reason],
                )
                .map_err(|error| attempt.sql(error))?;
            Ok(())
        })
    }

    /// Sessions with turns that wait for an engine, the one that has waited longest first.
    pub(crate) fn sessions_waiting(&self, engine_id: &str) -> Result<Vec<String>, StoreError> {
        let attempt = self.attempt("read the outbox of");
        self.connection
            .prepare_cached(
                "SELECT session_id FROM outbox WHERE engine_id = ?1 AND state = 'ready' \
                 GROUP BY session_id ORDER BY min(rowid)",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([engine_id], |row| row.get(0))?
                    .collect()
            })
            .map_err(|error| attempt.sql(error))
    }

    /// Deletes the row of a turn that its engine acknowledged. What another engine is owed stays.
    pub(crate) fn acknowledge(&mut self, key: &str, engine_id: &str) -> Result<(), StoreError> {
        self.transaction("write the outbox of", |transaction, attempt| {
            let sql = "DELETE FROM outbox WHERE advancement_key = ?1 AND engine_id = ?2";
            transaction
                .execute(sql, [key, engine_id])
                .map_err(|error| attempt.sql(error))?;
            Ok(())
        })
    }

    /// Deletes the row of a turn that was not accepted.
    pub(crate) fn remove_from_outbox(&mut self, key: &str) -> Result<(), StoreError> {
        self.transaction("write the outbox of", |transaction, attempt| {
            remove(transaction, key, attempt)
        })
    }

    /// Notes that a row could not be delivered; blocks it when that was once too often, or when `is_final`.
    pub(crate) fn note_failed_delivery(
        &mut self,
        key: &str,
        engine_id: &str,
        error: &str,
        is_final: bool,
    ) -> Result<(), StoreError> {
        self.transaction("write the outbox of", |transaction, attempt| {
            let sql = "UPDATE outbox SET attempts = attempts + 1, last_error = ?3, \
                       state = CASE WHEN ?4 OR attempts + 1 >= ?5 THEN 'blocked' ELSE state END \
                       WHERE advancement_key = ?1 AND engine_id = ?2";
            transaction
                .execute(sql, params![key, engine_id, error, is_final, ATTEMPT_LIMIT])
                .map_err(|error| attempt.sql(error))?;
            Ok(())
        })
    }

    /// Turns that an engine has not acknowledged, by engine.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn backlog(&self) -> Result<Vec<Backlog>, StoreError> {
        let attempt = self.attempt("read the outbox of");
        let sql = "SELECT engine_id, sum(state = 'ready'), sum(state = 'blocked'), max(last_error) FROM outbox \
                   WHERE state IN ('ready', 'blocked') GROUP BY engine_id ORDER BY 1";
        let mut statement = self
            .connection
            .prepare(sql)
            .map_err(|error| attempt.sql(error))?;
        let read = |row: &Row<'_>| {
            Ok(Backlog {
                engine_id: row.get(0)?,
                waiting: row.get(1)?,
                blocked: row.get(2)?,
                last_error: row.get(3)?,
            })
        };
        statement
            .query_map([], read)
            .and_then(Iterator::collect)
            .map_err(|error| attempt.sql(error))
    }

    /// The waiting row of one turn.
    pub(crate) fn outbox_row(&self, key: &str) -> Result<Option<OutboxRow>, StoreError> {
        let attempt = self.attempt("read the outbox of");
        let sql = "SELECT rowid, facts, attempts, last_error FROM outbox \
                   WHERE advancement_key = ?1 AND state = 'ready'";
        let found = self
            .connection
            .query_row(sql, [key], read)
            .optional()
            .map_err(|error| attempt.sql(error))?;
        found
            .map(|columns| outbox_row(columns, &attempt))
            .transpose()
    }
}

type Columns = (i64, String, i64, Option<String>);

fn read(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn outbox_row(
    (place, facts, attempts, last_error): Columns,
    attempt: &Attempt,
) -> Result<OutboxRow, StoreError> {
    let commit = serde_json::from_str(&facts)
        .map_err(|error| attempt.damaged(format!("outbox: {error}")))?;
    Ok(OutboxRow {
        place,
        commit,
        attempts,
        last_error,
    })
}
