//! OpenClaw's own transcripts into the store.

#[cfg(test)]
mod tests;

use super::Store;
use super::entries::{insert, tokens_of};
use super::error::{Attempt, StoreError, StoreErrorKind};
use super::sessions::{self, Session};
use super::upkeep;
use openclaw_transcript::{
    Fault, Header, IdSeed, Link, Mend, Message, Row, Transcript, active_path, context, header_row,
    migrate, pair, parse, stable_hash,
};
use rusqlite::Connection;

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
    /// Messages on its active path.
    pub messages: usize,
    /// Lines that could not be read. Their bytes stay in the file, which is left as it is.
    pub skipped_lines: usize,
    /// Rows whose text was brought to today's shape.
    pub migrated_rows: usize,
    /// What was skipped or repaired on reading, by line.
    pub faults: Vec<Fault>,
    /// Links of the tree that could not be followed as written, by line.
    pub path_faults: Vec<Fault>,
    /// What has to be repaired each time the transcript goes to a model; the stored rows stay as they are.
    pub mends: Vec<Mend>,
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

impl Store {
    /// Imports a transcript in OpenClaw's JSONL format, all or nothing.
    ///
    /// Rows are stored exactly as written; lines that cannot be read are left out and reported. A transcript that is
    /// there already gets the rows that are new and keeps its key, whatever `key` says; the report names it.
    ///
    /// - `name`: the file's name without `.jsonl`, the id where the header has none. A name that cannot be an id is
    ///   made one, together with a hash of it and of the first row.
    /// - `key`: session key to put it behind; `agent:<agent>:<id>` when `None`.
    ///
    /// # Errors
    ///
    /// The key or the id is that of another transcript, the transcript that is there has gone on differently, the key
    /// cannot be one, or the store cannot be written. Nothing is stored then.
    pub fn import(
        &mut self,
        bytes: &[u8],
        name: &str,
        agent_id: &str,
        key: Option<&str>,
    ) -> Result<ImportReport, StoreError> {
        let transcript = parse(bytes);
        let version = transcript.header.as_ref().map_or(1, Header::version);
        let session_id = session_id(&transcript, name);
        // Not the name: the same transcript in another file gets the same ids.
        let (header_id, first_row) = fingerprint(&transcript);
        let seed = IdSeed {
            source: &first_row,
            session_id: &header_id,
        };
        let migrated = migrate(transcript, &seed);
        let transcript = migrated.transcript;
        let place = Place {
            id: &session_id,
            agent_id,
            key,
        };
        let (imported, session_key) = self.store(&transcript, &place)?;
        let links: Vec<Link> = transcript.rows.iter().map(Row::link).collect();
        let path = active_path(&links);
        let rows: Vec<&Row> = path
            .rows
            .iter()
            .map(|&index| &transcript.rows[index])
            .collect();
        Ok(ImportReport {
            session_id,
            session_key,
            version,
            imported,
            entries: transcript.rows.len(),
            messages: rows.iter().filter(|row| row.message().is_some()).count(),
            skipped_lines: transcript.unread.len(),
            migrated_rows: migrated.changed.len(),
            path_faults: path
                .faults
                .into_iter()
                .map(|fault| fault.in_file(&transcript.rows))
                .collect(),
            mends: mends(&rows),
            faults: transcript.faults,
        })
    }

    fn store(
        &mut self,
        transcript: &Transcript,
        place: &Place<'_>,
    ) -> Result<(Imported, String), StoreError> {
        let id = place.id;
        let ambient = self.ambient.clone();
        let header = match &transcript.header {
            Some(header) => header.raw().to_owned(),
            None => header_row(id, &ambient.timestamp(), ""),
        };
        let generation = ambient.new_id();
        // Counted before the transaction: others wait for it.
        let tokens: Vec<u64> = transcript.rows.iter().map(tokens_of).collect();
        self.transaction("import into", |transaction, attempt| {
            place.check_key(transaction, attempt)?;
            let (mut session, known) = match sessions::by_id(transaction, id, attempt)? {
                Some(mut session) => {
                    let known = known_rows(transaction, &session, &transcript.rows, attempt)?;
                    if sessions::key_of(transaction, id, attempt)?.is_none() {
                        session.key = place.key();
                        sessions::bind(transaction, &session.key, id, attempt)?;
                    }
                    (session, Some(known))
                }
                None => {
                    let key = place.key();
                    let new = (key.as_str(), id, header.as_str(), generation.as_str());
                    (
                        sessions::create(transaction, new, ambient.now_ms(), attempt)?,
                        None,
                    )
                }
            };
            let fresh = &transcript.rows[known.unwrap_or(0)..];
            for (row, tokens) in fresh.iter().zip(&tokens[known.unwrap_or(0)..]) {
                insert(transaction, &mut session, row, *tokens, attempt)?;
            }
            if !fresh.is_empty() {
                upkeep::rebuild(transaction, &mut session, attempt)?;
                session.save(transaction, ambient.now_ms(), attempt)?;
            }
            let imported = match known {
                None => Imported::New,
                Some(_) if fresh.is_empty() => Imported::Unchanged,
                Some(_) => Imported::Extended {
                    entries: fresh.len(),
                },
            };
            Ok((imported, session.key))
        })
    }
}

/// Where a transcript is to go.
struct Place<'a> {
    id: &'a str,
    agent_id: &'a str,
    /// The key asked for.
    key: Option<&'a str>,
}

impl Place<'_> {
    fn key(&self) -> String {
        let default = || format!("agent:{}:{}", self.agent_id, self.id);
        self.key.map_or_else(default, str::to_owned)
    }

    /// Refuses a key that cannot be one or that leads to another transcript, also where it would not be needed.
    fn check_key(&self, connection: &Connection, attempt: &Attempt) -> Result<(), StoreError> {
        let Some(key) = self.key else {
            return Ok(());
        };
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

/// How many of `rows` the session has already: all it has, or all there are.
fn known_rows(
    connection: &Connection,
    session: &Session,
    rows: &[Row],
    attempt: &Attempt,
) -> Result<usize, StoreError> {
    let mut statement = connection
        .prepare("SELECT row FROM entries WHERE session_id = ?1 ORDER BY seq LIMIT ?2")
        .map_err(|error| attempt.sql(error))?;
    let limit = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let stored: Vec<String> = statement
        .query_map(rusqlite::params![session.id, limit], |row| row.get(0))
        .and_then(Iterator::collect)
        .map_err(|error| attempt.sql(error))?;
    let parted = stored
        .iter()
        .zip(rows)
        .position(|(stored, row)| stored != row.raw());
    match parted {
        None => Ok(stored.len()),
        Some(0) => Err(attempt.kind(StoreErrorKind::SessionTaken(session.id.clone()))),
        Some(index) => Err(attempt.kind(StoreErrorKind::Forked {
            session_id: session.id.clone(),
            line: rows[index].line(),
        })),
    }
}

/// What stays the same of a transcript, whatever its file is called and however it grows: its header's id, or else the
/// text of its first row. The other one is empty.
fn fingerprint(transcript: &Transcript) -> (String, String) {
    let header_id = transcript.header.as_ref().and_then(Header::id);
    match header_id {
        Some(id) => (id.to_owned(), String::new()),
        None => (String::new(), first_row(transcript).to_owned()),
    }
}

fn first_row(transcript: &Transcript) -> &str {
    transcript.rows.first().map_or("", Row::raw)
}

fn session_id(transcript: &Transcript, name: &str) -> String {
    let of_header = transcript
        .header
        .as_ref()
        .and_then(Header::id)
        .filter(|id| is_session_id(id));
    match of_header {
        Some(id) => id.to_owned(),
        None if is_session_id(name) => name.to_owned(),
        None => made_id(name, first_row(transcript)),
    }
}

/// An id for a name that cannot be one. Of different names what is left may be equal, so a hash tells them apart.
fn made_id(name: &str, first_row: &str) -> String {
    let hash = stable_hash(&[name, first_row]);
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let cleaned: String = name.chars().map(word).take(100).collect();
    match cleaned.trim_matches('-') {
        "" => format!("{hash:016x}"),
        cleaned => format!("{cleaned}-{hash:016x}"),
    }
}

fn is_session_id(id: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.len() <= 128
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(is_word)
}

/// What [`pair`] has to do to the context of a path.
fn mends(path: &[&Row]) -> Vec<Mend> {
    let context = context(path);
    let messages: Vec<Message> = context
        .messages
        .iter()
        .filter_map(|message| Message::from_json(&message.json).ok())
        .collect();
    pair(&messages).mends
}
