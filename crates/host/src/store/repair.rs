//! A damaged store: set aside as it is, and a new one made of what can be read of it.

#[cfg(test)]
mod tests;

use super::entries::insert;
use super::error::{Attempt, StoreError, StoreErrorKind};
use super::salvage::{Old, patch_header};
use super::sessions::{self, Session};
use super::upkeep;
use super::{Store, beside};
use crate::ambient::Ambient;
use openclaw_transcript::{header_row, parse_row};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What came of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// There is no store.
    Missing,
    /// Nothing is wrong with it; it was left as it is.
    Sound,
    /// The damaged store lies aside, and a new one is in its place.
    Replaced(RepairReport),
}

/// What could be saved of a damaged store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// What was wrong.
    pub damage: String,
    /// Where the damaged store is now.
    pub set_aside: PathBuf,
    /// Sessions saved.
    pub sessions: usize,
    /// Entries saved.
    pub entries: usize,
    /// Entries that are known to be missing now.
    pub lost_entries: usize,
    /// Turns saved.
    pub turns: usize,
    /// Turns waiting for an engine that were saved.
    pub outbox: usize,
    /// Keys of the sessions that lack entries now.
    pub incomplete: Vec<String>,
}

impl Store {
    /// Looks through the whole file.
    ///
    /// # Errors
    ///
    /// It is damaged, or cannot be read.
    pub fn verify(&self) -> Result<(), StoreError> {
        let attempt = self.attempt("check");
        let found: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(|error| attempt.sql(error))?;
        if found == "ok" {
            Ok(())
        } else {
            Err(attempt.damaged(found))
        }
    }

    /// Makes a sound store of a damaged one. What is damaged is only read and then moved aside, with all of its bytes; a
    /// sound store is left alone. No other process may use the store meanwhile.
    ///
    /// A session that lost entries becomes another history (its generation changes), so that engines take it up anew.
    ///
    /// # Errors
    ///
    /// The store is somebody else's or a newer version's, in use, or the directory cannot be written. The damaged store
    /// is still in its place then.
    pub fn repair(path: &Path, ambient: &Ambient) -> Result<Repair, StoreError> {
        let attempt = Attempt::new("repair", path);
        if !path.exists() && !beside(path, "-wal").exists() {
            return Ok(Repair::Missing);
        }
        let opened = Self::open(path, ambient.clone());
        let damage = match opened.and_then(|store| store.verify()) {
            Ok(()) => return Ok(Repair::Sound),
            Err(error) => match error.kind {
                StoreErrorKind::Damaged(damage) => damage,
                kind => return Err(attempt.kind(kind)),
            },
        };
        let directory = path.parent().unwrap_or(Path::new("."));
        let work = tempfile::Builder::new()
            .prefix(".repair-")
            .tempdir_in(directory)
            .map_err(|error| attempt.io(error))?;
        let new_path = work.path().join("new.sqlite");
        let mut new = Self::open(&new_path, ambient.clone())?;
        let copy = work.path().join("damaged.sqlite");
        let old = copy_of(path, &copy, &new_path).map_err(|error| attempt.io(error))?;
        let mut report = RepairReport {
            damage,
            set_aside: aside(path, ambient),
            sessions: 0,
            entries: 0,
            lost_entries: 0,
            turns: 0,
            outbox: 0,
            incomplete: Vec::new(),
        };
        if let Some(old) = &old {
            new.save_from(old, &mut report)?;
        }
        drop(old);
        new.verify()?;
        new.close(&attempt)?;
        swap(path, &new_path, &report.set_aside).map_err(|error| attempt.io(error))?;
        Ok(Repair::Replaced(report))
    }

    /// Ends the connection with all data in the file itself and no log beside it.
    fn close(self, attempt: &Attempt) -> Result<(), StoreError> {
        self.connection
            .close()
            .map_err(|(_, error)| attempt.sql(error))
    }

    fn save_from(&mut self, old: &Old, report: &mut RepairReport) -> Result<(), StoreError> {
        let ambient = self.ambient.clone();
        self.transaction("repair", |transaction, attempt| {
            let mut saved = Saved {
                new: transaction,
                ambient: &ambient,
                attempt,
                sessions: BTreeMap::new(),
            };
            saved.sessions(old)?;
            saved.entries(old, report)?;
            saved.keys(old)?;
            report.turns = old.copy_rows(transaction, "turns");
            report.outbox = old.copy_rows(transaction, "outbox");
            saved.finish(report)
        })
    }
}

/// A session on its way into the new store.
struct Rescued {
    session: Session,
    /// The next position the damaged store knew of; `None` when it knew nothing of the session.
    next_seq: Option<i64>,
    entries: i64,
    last_seq: i64,
    updated_at_ms: i64,
}

struct Saved<'a> {
    new: &'a Connection,
    ambient: &'a Ambient,
    attempt: &'a Attempt,
    sessions: BTreeMap<String, Rescued>,
}

impl Saved<'_> {
    fn add(
        &mut self,
        new: (&str, &str, &str, &str),
        next_seq: Option<i64>,
        updated_at_ms: i64,
    ) -> Result<(), StoreError> {
        let session = sessions::add(self.new, new, updated_at_ms, self.attempt)?;
        let rescued = Rescued {
            session,
            next_seq,
            entries: 0,
            last_seq: 0,
            updated_at_ms,
        };
        self.sessions.insert(new.1.to_owned(), rescued);
        Ok(())
    }

    fn sessions(&mut self, old: &Old) -> Result<(), StoreError> {
        // What an import that did not end left is no session.
        let mut hidden = Vec::new();
        old.each("imports", "session_id", |row| {
            hidden.push(row.get::<_, String>(0)?);
            Ok(())
        });
        let mut found = Vec::new();
        let columns = "session_key, session_id, header, generation, next_seq, updated_at_ms";
        old.each("sessions", columns, |row| {
            let texts: [String; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
            found.push((texts, row.get(4)?, row.get(5)?));
            Ok(())
        });
        for ([key, id, header, generation], next_seq, updated_at_ms) in found {
            if !hidden.contains(&id) && !self.sessions.contains_key(&id) {
                let new = (&*key, &*id, &*header, &*generation);
                self.add(new, Some(next_seq), updated_at_ms)?;
            }
        }
        Ok(())
    }

    fn entries(&mut self, old: &Old, report: &mut RepairReport) -> Result<(), StoreError> {
        let mut failed = None;
        let columns = "session_id, seq, row, tokens";
        let unreadable = old.each("entries", columns, |row| {
            let (id, seq, text): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let tokens: i64 = row.get(3)?;
            if failed.is_none() {
                match self.entry(&id, seq, &text, tokens.unsigned_abs()) {
                    Ok(is_saved) => report.entries += usize::from(is_saved),
                    Err(error) => failed = Some(error),
                }
            }
            Ok(())
        });
        report.lost_entries += unreadable;
        failed.map_or(Ok(()), Err)
    }

    fn entry(&mut self, id: &str, seq: i64, text: &str, tokens: u64) -> Result<bool, StoreError> {
        let number = usize::try_from(seq).unwrap_or(0);
        let Some(row) = parse_row(number, text).filter(|_| seq > 0) else {
            return Ok(false);
        };
        if id.ends_with('+') {
            return Ok(false);
        }
        if !self.sessions.contains_key(id) {
            let header = header_row(id, &self.ambient.timestamp(), "");
            let key = format!("agent:main:{id}");
            let new = (&*key, id, &*header, &*self.ambient.new_id());
            self.add(new, None, self.ambient.now_ms())?;
        }
        let Some(rescued) = self.sessions.get_mut(id) else {
            return Ok(false);
        };
        rescued.session.next_seq = seq;
        // A second row in one place is damage too: the first is kept.
        if insert(self.new, &mut rescued.session, &row, tokens, self.attempt).is_err() {
            return Ok(false);
        }
        rescued.entries += 1;
        rescued.last_seq = rescued.last_seq.max(seq);
        Ok(true)
    }

    fn keys(&mut self, old: &Old) -> Result<(), StoreError> {
        let mut found = Vec::new();
        old.each("session_keys", "session_key, session_id", |row| {
            found.push((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
            Ok(())
        });
        for (key, id) in &found {
            if self.sessions.contains_key(id)
                && sessions::by_key(self.new, key, self.attempt)?.is_none()
            {
                sessions::bind(self.new, key, id, self.attempt)?;
            }
        }
        for (id, rescued) in &mut self.sessions {
            if let Some(key) = sessions::key_of(self.new, id, self.attempt)? {
                rescued.session.key = key;
                continue;
            }
            let key = [rescued.session.key.clone(), format!("agent:main:{id}")];
            for key in key {
                let is_free = sessions::by_key(self.new, &key, self.attempt)?.is_none();
                if is_free && sessions::check_session_key(&key).is_ok() {
                    sessions::bind(self.new, &key, id, self.attempt)?;
                    rescued.session.key = key;
                    break;
                }
            }
        }
        Ok(())
    }

    fn finish(self, report: &mut RepairReport) -> Result<(), StoreError> {
        for rescued in self.sessions.into_values() {
            let mut session = rescued.session;
            let expected = rescued.next_seq.map_or(rescued.last_seq, |next| next - 1);
            let lost = expected.max(rescued.last_seq) - rescued.entries;
            session.next_seq = expected.max(rescued.last_seq) + 1;
            if lost > 0 || rescued.next_seq.is_none() {
                report.incomplete.push(session.key.clone());
                report.lost_entries = report
                    .lost_entries
                    .max(usize::try_from(lost).unwrap_or(usize::MAX));
                session.become_other(self.new, &self.ambient.new_id(), self.attempt)?;
            }
            upkeep::rebuild(self.new, &mut session, self.attempt)?;
            session.save(self.new, rescued.updated_at_ms, self.attempt)?;
            report.sessions += 1;
        }
        Ok(())
    }
}

/// A copy that may be written to, so that it can be read; `None` when there is no sense in it at all.
fn copy_of(path: &Path, copy: &Path, sound: &Path) -> io::Result<Option<Old>> {
    match fs::copy(path, copy) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    if beside(path, "-wal").exists() {
        fs::copy(beside(path, "-wal"), beside(copy, "-wal"))?;
    }
    if let Some(old) = Old::open(copy) {
        return Ok(Some(old));
    }
    patch_header(copy, sound)?;
    Ok(Old::open(copy))
}

/// A name beside the store that nothing has yet.
fn aside(path: &Path, ambient: &Ambient) -> PathBuf {
    let time = ambient.timestamp().replace(':', "-");
    let first = format!(".damaged-{time}");
    let more = (2..).map(|number| format!("{first}-{number}"));
    std::iter::once(first.clone())
        .chain(more)
        .map(|end| beside(path, &end))
        .find(|path| !path.exists() && !beside(path, "-wal").exists())
        .unwrap_or_else(|| beside(path, &first))
}

/// Gives the damaged store its new name and the new one its place. At no moment is there an empty place.
fn swap(path: &Path, new: &Path, aside: &Path) -> io::Result<()> {
    if path.exists() && fs::hard_link(path, aside).is_err() {
        fs::copy(path, aside)?;
    }
    for end in ["-wal", "-shm"] {
        match fs::rename(beside(path, end), beside(aside, end)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(new, path)
}
