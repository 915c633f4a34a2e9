//! Turns: admission, acceptance, record.

use super::Store;
use super::entries::append_texts;
use super::error::StoreError;
use super::outbox::{self, OutboxRow, PendingTurn};
use super::sessions::Session;
use openclaw_interface::model::CommitParams;
use rusqlite::{OptionalExtension, params};

/// How far a turn came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TurnState {
    pub(crate) session_id: String,
    pub(crate) admission_seq: i64,
    /// The last entry, once the turn was accepted.
    pub(crate) terminal_seq: Option<i64>,
}

impl Store {
    /// How far the turn with this id came; `None` when there was none.
    pub(crate) fn turn(&self, turn_id: &str) -> Result<Option<TurnState>, StoreError> {
        let sql = "SELECT session_id, admission_seq, terminal_seq FROM turns WHERE turn_id = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(TurnState {
                session_id: row.get(0)?,
                admission_seq: row.get(1)?,
                terminal_seq: row.get(2)?,
            })
        };
        let found = self.connection.query_row(sql, [turn_id], read).optional();
        found.map_err(|error| self.attempt("read").sql(error))
    }

    /// Admits a turn: its user entry and its row of the turns table, in one transaction.
    pub(crate) fn admit(
        &mut self,
        session: &mut Session,
        turn_id: &str,
        user_row: &str,
    ) -> Result<i64, StoreError> {
        let now_ms = self.ambient.now_ms();
        let mut changed = session.clone();
        let seq = self.transaction("admit a turn in", |transaction, attempt| {
            let seqs = append_texts(transaction, &mut changed, &[user_row.to_owned()], attempt)?;
            let seq = seqs
                .first()
                .copied()
                .ok_or_else(|| attempt.damaged("nothing was appended"))?;
            changed.save(transaction, now_ms, attempt)?;
            transaction
                .execute(
                    "INSERT INTO turns VALUES (?1, ?2, ?3, NULL, NULL, ?4, NULL)",
                    params![turn_id, session.id, seq, now_ms],
                )
                .map_err(|error| attempt.sql(error))?;
            Ok(seq)
        })?;
        *session = changed;
        Ok(seq)
    }

    /// Notes that a turn is meant for an engine, before the engine sees anything of it.
    pub(crate) fn announce(&mut self, pending: &PendingTurn<'_>) -> Result<(), StoreError> {
        let now_ms = self.ambient.now_ms();
        self.transaction("write the outbox of", |transaction, attempt| {
            outbox::admit(transaction, pending, now_ms, attempt)
        })
    }

    /// Accepts a turn: its last entry, the end of the turn and the outbox row, in one transaction.
    ///
    /// - `owed`: the engine that is owed the turn.
    /// - `commit`: builds the commit once the place of the last entry is known.
    pub(crate) fn accept(
        &mut self,
        session: &mut Session,
        turn_id: &str,
        terminal_row: &str,
        owed: Option<&str>,
        commit: impl FnOnce(&Session, i64) -> CommitParams,
    ) -> Result<i64, StoreError> {
        let now_ms = self.ambient.now_ms();
        let mut changed = session.clone();
        let seq = self.transaction("accept a turn in", |transaction, attempt| {
            let seqs = append_texts(
                transaction,
                &mut changed,
                &[terminal_row.to_owned()],
                attempt,
            )?;
            let seq = seqs
                .first()
                .copied()
                .ok_or_else(|| attempt.damaged("nothing was appended"))?;
            changed.save(transaction, now_ms, attempt)?;
            let commit = commit(&changed, seq);
            let facts = serde_json::to_string(&commit)
                .map_err(|error| attempt.damaged(error.to_string()))?;
            transaction
                .execute(
                    "UPDATE turns SET terminal_seq = ?2, commit_facts = ?3 WHERE turn_id = ?1",
                    params![turn_id, seq, facts],
                )
                .map_err(|error| attempt.sql(error))?;
            match owed {
                Some(engine_id) => {
                    let pending = PendingTurn {
                        engine_id,
                        session_id: &changed.id,
                        commit: &commit,
                    };
                    outbox::make_ready(transaction, &pending, now_ms, attempt)?;
                }
                None => outbox::remove(transaction, turn_id, attempt)?,
            }
            Ok(seq)
        })?;
        *session = changed;
        Ok(seq)
    }

    /// Stores the reply of a turn whose text is not stored, and the end of that turn, in one transaction. No engine is
    /// owed it.
    pub(crate) fn accept_reply(
        &mut self,
        session: &mut Session,
        turn_id: &str,
        reply_row: &str,
    ) -> Result<(), StoreError> {
        let now_ms = self.ambient.now_ms();
        let mut changed = session.clone();
        self.transaction("accept a turn in", |transaction, attempt| {
            let seqs = append_texts(transaction, &mut changed, &[reply_row.to_owned()], attempt)?;
            changed.save(transaction, now_ms, attempt)?;
            transaction
                .execute(
                    "INSERT INTO turns (turn_id, session_id, admission_seq, terminal_seq, started_at_ms) \
                     VALUES (?1, ?2, ?3, ?3, ?4)",
                    params![turn_id, changed.id, seqs.first(), now_ms],
                )
                .map_err(|error| attempt.sql(error))?;
            Ok(())
        })?;
        *session = changed;
        Ok(())
    }

    /// Notes that the user entry of a running turn stands at another place now.
    pub(crate) fn move_admission(&mut self, turn_id: &str, seq: i64) -> Result<(), StoreError> {
        self.transaction("write", |transaction, attempt| {
            let sql = "UPDATE turns SET admission_seq = ?2 WHERE turn_id = ?1";
            transaction
                .execute(sql, params![turn_id, seq])
                .map_err(|error| attempt.sql(error))?;
            Ok(())
        })
    }

    /// Keeps the record of a turn.
    pub(crate) fn record_turn(
        &mut self,
        turn_id: &str,
        record_json: &str,
    ) -> Result<(), StoreError> {
        self.transaction("record a turn in", |transaction, attempt| {
            transaction
                .execute(
                    "UPDATE turns SET record = ?2 WHERE turn_id = ?1",
                    [turn_id, record_json],
                )
                .map_err(|error| attempt.sql(error))?;
            Ok(())
        })
    }

    /// The commits of a session's accepted turns, oldest first, as the outbox would hold them.
    pub(crate) fn commits_of(&self, session: &Session) -> Result<Vec<OutboxRow>, StoreError> {
        let attempt = self.attempt("read");
        let sql = "SELECT commit_facts FROM turns \
                   WHERE session_id = ?1 AND terminal_seq IS NOT NULL AND commit_facts IS NOT NULL ORDER BY admission_seq";
        let mut statement = self
            .connection
            .prepare(sql)
            .map_err(|error| attempt.sql(error))?;
        let rows: Vec<String> = statement
            .query_map([&session.id], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(|error| attempt.sql(error))?;
        rows.iter()
            .map(|facts| {
                let commit = serde_json::from_str(facts)
                    .map_err(|error| attempt.damaged(error.to_string()))?;
                Ok(OutboxRow {
                    commit,
                    attempts: 0,
                    last_error: None,
                })
            })
            .collect()
    }

    /// The record of a turn as JSON text; `None` when the process died before it was written.
    pub(crate) fn turn_record(&self, turn_id: &str) -> Result<Option<String>, StoreError> {
        let found = self
            .connection
            .query_row(
                "SELECT record FROM turns WHERE turn_id = ?1",
                [turn_id],
                |row| row.get(0),
            )
            .optional();
        Ok(found
            .map_err(|error| self.attempt("read").sql(error))?
            .flatten())
    }
}
