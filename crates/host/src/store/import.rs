//! OpenClaw's own transcripts into the store.

mod count;
#[cfg(test)]
mod large_tests;
mod lines;
mod mends;
#[cfg(test)]
mod odd_tests;
mod preview;
mod read;
mod stage;
#[cfg(test)]
mod tests;

pub use lines::{FileLines, TranscriptLines};
pub use preview::NoTranscript;

use super::Store;
use super::error::{Attempt, StoreError, StoreErrorKind};
use super::sessions::{self, Session};
use crate::lane::LaneError;
use openclaw_transcript::{Fault, Mend, Row};
use preview::{Preview, Refusal};
use read::{Facts, Reading};
use rusqlite::Connection;
use stage::{Stage, Target};
use std::time::Duration;

/// What came of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportReport {
    /// The transcript's id: that of its header, else made from the name given.
    pub session_id: String,
    /// Key of the session it is behind. That it had already, which need not be the one asked for.
    pub session_key: String,
    /// Version in the header; 1 without one.
    pub version: u32,
    /// Whether anything was stored.
    pub imported: Imported,
    /// Entries in the file that could be read.
    pub entries: usize,
    /// Messages on the active path of the session.
    pub messages: usize,
    /// Lines that could not be read. Their bytes stay in the file, which is left as it is.
    pub skipped_lines: usize,
    /// Rows whose text was brought to today's shape.
    pub migrated_rows: usize,
    /// What was skipped or repaired on reading, by line. The first 100,000.
    pub faults: Vec<Fault>,
    /// How many there are.
    pub fault_count: usize,
    /// Links of the tree that could not be followed as written, by line. The first 100,000.
    pub path_faults: Vec<Fault>,
    /// How many there are.
    pub path_fault_count: usize,
    /// What has to be repaired each time the session goes to a model; the stored rows stay as they are. `None` when the
    /// context has more than 32 MiB or 50,000 rows: no model takes it whole.
    pub mends: Option<Vec<Mend>>,
}

/// Whether an import stored anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// A new transcript.
    New,
    /// Rows behind those that were there.
    Extended {
        /// How many.
        entries: usize,
    },
    /// Everything was there.
    Unchanged,
}

/// Where a transcript is to go.
#[derive(Clone, Copy, Debug)]
pub struct ImportTarget<'a> {
    /// The file's name without `.jsonl`: the id where the header has none. A name that cannot be an id is made one,
    /// together with a hash of it and of the first row.
    pub name: &'a str,
    /// The agent.
    pub agent_id: &'a str,
    /// Session key to put it behind; `agent:<agent>:<id>` when `None`.
    pub key: Option<&'a str>,
    /// How long to wait for a turn that runs in the session.
    pub wait: Duration,
}

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportProgress {
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes there are, where known.
    pub bytes_total: Option<u64>,
    /// Entries read.
    pub entries: usize,
}

impl Store {
    /// Whether lines can be imported at all; reads up to the header. Stores nothing.
    ///
    /// # Errors
    ///
    /// The lines cannot be read, or are no transcript.
    pub fn check_transcript(&self, lines: &mut dyn TranscriptLines) -> Result<(), StoreError> {
        preview(lines, &self.attempt("import into")).map(drop)
    }

    /// Imports a transcript in OpenClaw's JSONL format, all or nothing.
    ///
    /// Reads it as a stream: memory is that of its longest lines, and of id and place of each row. Rows are stored
    /// exactly as written; lines that cannot be read are left out and reported. A transcript that is there already gets
    /// the rows that are new and keeps its key, whatever the target says; the report names it. No turn runs in the
    /// session meanwhile; those of other sessions go on. Nobody sees the rows before the last one is there.
    ///
    /// `progress` is called about every 4 MiB.
    ///
    /// # Errors
    ///
    /// The lines cannot be read or are no transcript, the key or the id is that of another transcript, the transcript
    /// that is there has gone on differently, the key cannot be one, somebody else imports it or runs a turn in it, or
    /// the store cannot be written. Nothing is stored then.
    pub fn import(
        &mut self,
        lines: &mut dyn TranscriptLines,
        target: &ImportTarget<'_>,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<ImportReport, StoreError> {
        let attempt = self.attempt("import into");
        self.sweep_imports(None)?;
        let preview = preview(lines, &attempt)?;
        let id = preview.session_id(target.name);
        let Some(_claim) = self.claim_import(&id)? else {
            return Err(attempt.kind(StoreErrorKind::ImportRunning(id)));
        };
        let known = sessions::by_id(&self.connection, &id, &attempt)?;
        let place = Place { id: &id, target };
        place.check_key(&self.connection, &attempt)?;
        let key = place.key(&self.connection, known.as_ref(), &attempt)?;
        let _lane = match self.lanes(target.wait).enter(&key) {
            Ok(lane) => lane,
            Err(error) => return Err(attempt.kind(StoreErrorKind::Lane(error))),
        };
        // A turn may have run before the lane was free.
        let known = sessions::by_id(&self.connection, &id, &attempt)?;
        let is_new = known.is_none();
        let mut reading =
            Reading::new(lines, &preview).map_err(|error| unreadable(error, &attempt))?;
        let mut new_rows = true;
        if let Some(session) = &known {
            new_rows = pass_known_rows(&self.connection, session, &mut reading, &attempt)?;
        }
        let target = match known {
            Some(session) => Target::Known(session.with_key(key)),
            None => Target::New {
                header: preview.stored_header(&id, &self.ambient.timestamp()),
                key,
                id: id.clone(),
            },
        };
        self.expect_many(true, &attempt)?;
        let stored = self.store_rows(&mut reading, new_rows, target, progress, &attempt);
        let (session, rows) = stored.inspect_err(|_| self.drop_hidden(&id))?;
        self.expect_many(false, &attempt)?;
        let imported = match rows {
            _ if is_new => Imported::New,
            0 => Imported::Unchanged,
            entries => Imported::Extended { entries },
        };
        let mends = self.mends_of(&session)?;
        Ok(report(
            session,
            imported,
            preview.version(),
            reading.finish(),
            mends,
        ))
    }

    /// Keeps the indexes of a large transcript in memory while it is stored, and its log for longer.
    fn expect_many(&self, many: bool, attempt: &Attempt) -> Result<(), StoreError> {
        let (cache_kib, log_pages) = if many {
            (64 * 1024, 8_000)
        } else {
            (2_000, 1_000)
        };
        let pragmas =
            format!("PRAGMA cache_size = -{cache_kib}; PRAGMA wal_autocheckpoint = {log_pages}");
        self.connection
            .execute_batch(&pragmas)
            .map_err(|error| attempt.sql(error))
    }

    fn store_rows(
        &mut self,
        reading: &mut Reading<'_>,
        has_rows: bool,
        target: Target,
        progress: &mut dyn FnMut(ImportProgress),
        attempt: &Attempt,
    ) -> Result<(Session, usize), StoreError> {
        let mut stage = Stage::new(self, target);
        if has_rows {
            let reading = std::cell::RefCell::new(reading);
            let next = || {
                let row = reading.borrow_mut().next_row();
                row.map_err(|error| unreadable(error, attempt))
            };
            count::count_each(next, |counted| {
                stage.take(counted)?;
                let reading = reading.borrow();
                progress(ImportProgress {
                    bytes_read: reading.bytes_read(),
                    bytes_total: reading.bytes_total(),
                    entries: reading.entries(),
                });
                Ok(())
            })?;
        }
        stage.finish()
    }
}

fn report(
    session: Session,
    imported: Imported,
    version: u32,
    facts: Facts,
    mends: Option<Vec<Mend>>,
) -> ImportReport {
    ImportReport {
        session_id: session.id,
        session_key: session.key,
        version,
        imported,
        entries: facts.entries,
        messages: usize::try_from(session.message_count).unwrap_or(0),
        skipped_lines: facts.skipped_lines,
        migrated_rows: facts.migrated_rows,
        faults: facts.faults.first,
        fault_count: facts.faults.count,
        path_faults: facts.path_faults.first,
        path_fault_count: facts.path_faults.count,
        mends,
    }
}

fn unreadable(error: std::io::Error, attempt: &Attempt) -> StoreError {
    attempt.kind(StoreErrorKind::Transcript(error))
}

fn preview(lines: &mut dyn TranscriptLines, attempt: &Attempt) -> Result<Preview, StoreError> {
    Preview::of(lines).map_err(|refusal| match refusal {
        Refusal::Unreadable(error) => unreadable(error, attempt),
        Refusal::NoTranscript(reason) => attempt.kind(StoreErrorKind::NoTranscript(reason)),
    })
}

/// What a lane that somebody else has is to those who do not wait.
fn unless_busy<T>(entered: Result<T, LaneError>) -> Result<Option<T>, StoreErrorKind> {
    match entered {
        Ok(lane) => Ok(Some(lane)),
        Err(LaneError::Busy { .. }) => Ok(None),
        Err(error) => Err(StoreErrorKind::Lane(error)),
    }
}

struct Place<'a> {
    id: &'a str,
    target: &'a ImportTarget<'a>,
}

impl Place<'_> {
    /// The key the transcript has, else the one it will get.
    fn key(
        &self,
        connection: &Connection,
        known: Option<&Session>,
        attempt: &Attempt,
    ) -> Result<String, StoreError> {
        if let Some(session) = known
            && let Some(key) = sessions::key_of(connection, &session.id, attempt)?
        {
            return Ok(key);
        }
        let default = || format!("agent:{}:{}", self.target.agent_id, self.id);
        let key = self.target.key.map_or_else(default, str::to_owned);
        self.check(&key, connection, attempt)?;
        Ok(key)
    }

    /// Refuses a key that cannot be one or that leads to another transcript, also where it would not be needed.
    fn check_key(&self, connection: &Connection, attempt: &Attempt) -> Result<(), StoreError> {
        match self.target.key {
            Some(key) => self.check(key, connection, attempt),
            None => Ok(()),
        }
    }

    fn check(
        &self,
        key: &str,
        connection: &Connection,
        attempt: &Attempt,
    ) -> Result<(), StoreError> {
        sessions::check_session_key(key).map_err(|kind| attempt.kind(kind))?;
        match sessions::by_key(connection, key, attempt)? {
            Some(other) if other.id != self.id => Err(attempt.kind(StoreErrorKind::KeyTaken {
                key: key.to_owned(),
                session_id: other.id,
            })),
            _ => Ok(()),
        }
    }
}

/// Reads the rows that the session has already: all it has, or all there are. Whether it has no more than these.
fn pass_known_rows(
    connection: &Connection,
    session: &Session,
    reading: &mut Reading<'_>,
    attempt: &Attempt,
) -> Result<bool, StoreError> {
    let sql = |error| attempt.sql(error);
    let mut statement = connection
        .prepare("SELECT row FROM entries WHERE session_id = ?1 ORDER BY seq")
        .map_err(sql)?;
    let mut stored = statement.query([&session.id]).map_err(sql)?;
    let mut is_first = true;
    while let Some(stored) = stored.next().map_err(sql)? {
        let next = reading.next_row();
        let Some(row): Option<Row> = next.map_err(|error| unreadable(error, attempt))? else {
            return Ok(false);
        };
        let text = stored.get_ref(0).and_then(|text| Ok(text.as_str()?));
        if text.map_err(sql)? != row.raw() {
            let session_id = session.id.clone();
            return Err(attempt.kind(if is_first {
                StoreErrorKind::SessionTaken(session_id)
            } else {
                StoreErrorKind::Forked {
                    session_id,
                    line: row.line(),
                }
            }));
        }
        is_first = false;
    }
    Ok(true)
}
