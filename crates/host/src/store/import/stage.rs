//! Rows on their way in: hidden until the last one is there.
//!
//! A small transcript goes in with one transaction. A large one goes in slices, so that turns of other sessions get
//! their turn in between; a row of `imports` hides it from every reader, and what a dead import left is swept by the
//! next one.

#[cfg(test)]
mod tests;

use super::count::Counted;
use crate::lane::{Lane, Lanes};
use crate::store::Store;
use crate::store::entries::insert;
use crate::store::error::{Attempt, StoreError};
use crate::store::sessions::{self, Session};
use crate::store::upkeep;
use rusqlite::{Connection, params};
use std::mem;
use std::time::Duration;

/// Raw text of one transaction.
const SLICE_BYTES: usize = 4 * 1024 * 1024;
/// Rows deleted in one transaction.
const SWEEP_ROWS: i64 = 10_000;

/// Where rows go.
pub(super) enum Target {
    /// A transcript that is there, behind its rows.
    Known(Session),
    /// A new one.
    New {
        key: String,
        id: String,
        header: String,
    },
}

/// Rows that are not in the transcript yet.
pub(super) struct Stage<'a> {
    store: &'a mut Store,
    target: Target,
    waiting: Vec<Counted>,
    waiting_bytes: usize,
    hidden: Option<Session>,
    rows: usize,
}

impl<'a> Stage<'a> {
    pub(super) fn new(store: &'a mut Store, target: Target) -> Self {
        Self {
            store,
            target,
            waiting: Vec::new(),
            waiting_bytes: 0,
            hidden: None,
            rows: 0,
        }
    }

    /// Takes rows; stores them out of sight when there are many.
    pub(super) fn take(&mut self, counted: Counted) -> Result<(), StoreError> {
        self.rows += counted.rows.len();
        self.waiting_bytes += counted.bytes;
        self.waiting.push(counted);
        if self.waiting_bytes < SLICE_BYTES {
            return Ok(());
        }
        self.hide_waiting()
    }

    fn hide_waiting(&mut self) -> Result<(), StoreError> {
        let ambient = self.store.ambient.clone();
        let (waiting, target) = (mem::take(&mut self.waiting), &self.target);
        self.waiting_bytes = 0;
        let hidden = self.hidden.take();
        let stored = self
            .store
            .transaction("import into", |transaction, attempt| {
                let mut session = match hidden {
                    Some(session) => session,
                    None => {
                        let (key, id, header) = match target {
                            Target::Known(known) => {
                                (&known.key, hidden_id(&known.id), &known.header)
                            }
                            Target::New { key, id, header } => (key, id.clone(), header),
                        };
                        hide(transaction, &id, ambient.now_ms(), attempt)?;
                        let new = (
                            key.as_str(),
                            id.as_str(),
                            header.as_str(),
                            &*ambient.new_id(),
                        );
                        sessions::add(transaction, new, ambient.now_ms(), attempt)?
                    }
                };
                insert_all(transaction, &mut session, &waiting, attempt)?;
                Ok(session)
            });
        self.hidden = Some(stored?);
        Ok(())
    }

    /// Makes all of it visible. Returns the session and how many rows are new.
    pub(super) fn finish(mut self) -> Result<(Session, usize), StoreError> {
        let session = match self.hidden {
            None => self.store_at_once()?,
            Some(_) => {
                self.hide_waiting()?;
                self.show()?
            }
        };
        Ok((session, self.rows))
    }

    fn store_at_once(&mut self) -> Result<Session, StoreError> {
        let ambient = self.store.ambient.clone();
        let (waiting, target) = (&self.waiting, &self.target);
        self.store
            .transaction("import into", |transaction, attempt| {
                let mut session = match target {
                    Target::Known(session) => with_key(transaction, session, attempt)?,
                    Target::New { key, id, header } => {
                        let generation = ambient.new_id();
                        let new = (key.as_str(), id.as_str(), header.as_str(), &*generation);
                        sessions::create(transaction, new, ambient.now_ms(), attempt)?
                    }
                };
                if insert_all(transaction, &mut session, waiting, attempt)? > 0 {
                    upkeep::rebuild(transaction, &mut session, attempt)?;
                    session.save(transaction, ambient.now_ms(), attempt)?;
                }
                Ok(session)
            })
    }

    fn show(&mut self) -> Result<Session, StoreError> {
        let ambient = self.store.ambient.clone();
        let (Some(mut hidden), target) = (self.hidden.clone(), &self.target) else {
            return self.store_at_once();
        };
        match target {
            Target::New { key, id, .. } => {
                // Nobody sees the path yet, so finding it need not hold up the last step.
                self.store
                    .transaction("import into", |transaction, attempt| {
                        upkeep::rebuild(transaction, &mut hidden, attempt)?;
                        hidden.save(transaction, ambient.now_ms(), attempt)
                    })?;
                self.store
                    .transaction("import into", |transaction, attempt| {
                        show_hidden(transaction, id, attempt)?;
                        sessions::bind(transaction, key, id, attempt)
                    })?;
                Ok(hidden)
            }
            Target::Known(session) => {
                self.store
                    .transaction("import into", |transaction, attempt| {
                        let mut session = with_key(transaction, session, attempt)?;
                        move_rows(transaction, &hidden, &mut session, attempt)?;
                        upkeep::rebuild(transaction, &mut session, attempt)?;
                        session.save(transaction, ambient.now_ms(), attempt)?;
                        Ok(session)
                    })
            }
        }
    }
}

/// The id of rows that will go behind those of a transcript. No transcript can have it.
fn hidden_id(id: &str) -> String {
    format!("{id}+")
}

fn with_key(
    connection: &Connection,
    session: &Session,
    attempt: &Attempt,
) -> Result<Session, StoreError> {
    if sessions::key_of(connection, &session.id, attempt)?.is_none() {
        sessions::bind(connection, &session.key, &session.id, attempt)?;
    }
    Ok(session.clone())
}

fn insert_all(
    connection: &Connection,
    session: &mut Session,
    waiting: &[Counted],
    attempt: &Attempt,
) -> Result<usize, StoreError> {
    let mut count = 0;
    for (row, tokens) in waiting.iter().flat_map(|counted| &counted.rows) {
        insert(connection, session, row, *tokens, attempt)?;
        count += 1;
    }
    Ok(count)
}

fn hide(
    connection: &Connection,
    id: &str,
    now_ms: i64,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    connection
        .execute("INSERT INTO imports VALUES (?1, ?2)", params![id, now_ms])
        .map_err(|error| attempt.sql(error))?;
    Ok(())
}

fn show_hidden(connection: &Connection, id: &str, attempt: &Attempt) -> Result<(), StoreError> {
    connection
        .execute("DELETE FROM imports WHERE session_id = ?1", [id])
        .map_err(|error| attempt.sql(error))?;
    Ok(())
}

/// Puts hidden rows behind those of a transcript. An idempotency key that is there already stays with the first row.
fn move_rows(
    connection: &Connection,
    hidden: &Session,
    session: &mut Session,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let sql = |error| attempt.sql(error);
    connection
        .execute(
            "UPDATE entries SET idempotency_key = NULL WHERE session_id = ?1 AND idempotency_key IN \
             (SELECT idempotency_key FROM entries WHERE session_id = ?2)",
            [&hidden.id, &session.id],
        )
        .map_err(sql)?;
    let offset = session.next_seq - 1;
    connection
        .execute(
            "UPDATE entries SET session_id = ?2, seq = seq + ?3 WHERE session_id = ?1",
            params![hidden.id, session.id, offset],
        )
        .map_err(sql)?;
    session.next_seq = hidden.next_seq + offset;
    forget(connection, &hidden.id, attempt)
}

/// Removes what is left of a hidden transcript once its rows are gone.
fn forget(connection: &Connection, id: &str, attempt: &Attempt) -> Result<(), StoreError> {
    for table in ["active_path", "imports", "sessions"] {
        connection
            .execute(&format!("DELETE FROM {table} WHERE session_id = ?1"), [id])
            .map_err(|error| attempt.sql(error))?;
    }
    Ok(())
}

impl Store {
    /// The right to import the transcript with this id; `None` when somebody else is at it. Ends when dropped, and with
    /// the process.
    pub(super) fn claim_import(&self, id: &str) -> Result<Option<Lane>, StoreError> {
        // No session key has a line feed in it.
        let name = format!("\n{}", id.trim_end_matches('+'));
        let claimed = self.lanes(Duration::ZERO).enter(&name);
        crate::store::import::unless_busy(claimed)
            .map_err(|kind| self.attempt("import into").kind(kind))
    }

    pub(super) fn lanes(&self, wait: Duration) -> Lanes {
        let directory = self.path.parent().map(|parent| parent.join("locks"));
        Lanes::new(directory.unwrap_or_default(), wait)
    }

    /// Removes what dead imports left.
    ///
    /// - `rounds`: how many slices to remove at most; `None` for all there is.
    pub(in crate::store) fn sweep_imports(
        &mut self,
        rounds: Option<usize>,
    ) -> Result<(), StoreError> {
        for id in self.hidden_ids()? {
            if let Some(_alone) = self.claim_import(&id)? {
                self.remove_hidden(&id, rounds)?;
            }
        }
        Ok(())
    }

    fn hidden_ids(&self) -> Result<Vec<String>, StoreError> {
        let attempt = self.attempt("read");
        let mut statement = self
            .connection
            .prepare("SELECT session_id FROM imports")
            .map_err(|error| attempt.sql(error))?;
        statement
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(|error| attempt.sql(error))
    }

    /// Removes a hidden transcript, slice by slice. The caller has claimed it. One that has become visible is left alone.
    pub(super) fn remove_hidden(
        &mut self,
        id: &str,
        rounds: Option<usize>,
    ) -> Result<(), StoreError> {
        let mut left = rounds;
        while left != Some(0) {
            let is_done = self.transaction("sweep", |transaction, attempt| {
                let sql = |error| attempt.sql(error);
                let is_hidden = transaction
                    .prepare_cached("SELECT 1 FROM imports WHERE session_id = ?1")
                    .and_then(|mut statement| statement.exists([id]))
                    .map_err(sql)?;
                if !is_hidden {
                    return Ok(true);
                }
                let removed = transaction
                    .execute(
                        "DELETE FROM entries WHERE session_id = ?1 AND seq IN \
                         (SELECT seq FROM entries WHERE session_id = ?1 LIMIT ?2)",
                        params![id, SWEEP_ROWS],
                    )
                    .map_err(sql)?;
                if removed == 0 {
                    forget(transaction, id, attempt)?;
                }
                Ok(removed == 0)
            })?;
            if is_done {
                break;
            }
            left = left.map(|left| left - 1);
        }
        Ok(())
    }

    /// Removes what a failed import left of a transcript, as far as the store can still be written; the next import
    /// sweeps the rest.
    pub(super) fn drop_hidden(&mut self, id: &str) {
        for id in [id.to_owned(), hidden_id(id)] {
            let _ = self.remove_hidden(&id, None);
        }
    }
}
