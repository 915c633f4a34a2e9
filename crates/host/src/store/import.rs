//! OpenClaw's own transcripts into the store.

use super::Store;
use super::entries::{insert, rebuild_path};
use super::error::{Attempt, StoreError, StoreErrorKind};
use super::sessions::{self, Session};
use openclaw_transcript::{
    Fault, Header, IdSeed, Link, Mend, Message, PathFault, Row, Transcript, active_path, context,
    header_row, migrate, pair, parse,
};
use rusqlite::Connection;

/// What came of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportReport {
    /// The transcript's id: that of its header, else the name given.
    pub session_id: String,
    /// Key of the session it is behind.
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
    pub path_faults: Vec<PathFault>,
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
    /// there already gets the rows that are new.
    ///
    /// - `name`: the file's name without `.jsonl`, the id where the header has none.
    /// - `key`: session key to put it behind; `agent:<agent>:<id>` when `None`.
    ///
    /// # Errors
    ///
    /// The id is taken by another transcript, or the store cannot be written. Nothing is stored then.
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
        let seed = IdSeed {
            source: name,
            session_id: &session_id,
        };
        let migrated = migrate(transcript, &seed);
        let transcript = migrated.transcript;
        let session_key =
            key.map_or_else(|| format!("agent:{agent_id}:{session_id}"), str::to_owned);
        let imported = self.store(&transcript, &session_id, &session_key)?;
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
                .map(|fault| at_line(fault, &transcript.rows))
                .collect(),
            mends: mends(&rows),
            faults: transcript.faults,
        })
    }

    fn store(
        &mut self,
        transcript: &Transcript,
        id: &str,
        key: &str,
    ) -> Result<Imported, StoreError> {
        let ambient = self.ambient.clone();
        let header = match &transcript.header {
            Some(header) => header.raw().to_owned(),
            None => header_row(id, &ambient.timestamp(), ""),
        };
        let generation = ambient.new_id();
        self.transaction("import into", |transaction, attempt| {
            let (mut session, known) = match sessions::by_id(transaction, id, attempt)? {
                Some(session) => {
                    let known = known_rows(transaction, &session, &transcript.rows, attempt)?;
                    (session, Some(known))
                }
                None => {
                    let new = (key, id, header.as_str(), generation.as_str());
                    (
                        sessions::create(transaction, new, ambient.now_ms(), attempt)?,
                        None,
                    )
                }
            };
            let fresh = &transcript.rows[known.unwrap_or(0)..];
            for row in fresh {
                insert(transaction, &mut session, row, attempt)?;
            }
            if !fresh.is_empty() {
                rebuild_path(transaction, &mut session, attempt)?;
                session.save(transaction, ambient.now_ms(), attempt)?;
            }
            Ok(match known {
                None => Imported::New,
                Some(_) if fresh.is_empty() => Imported::Unchanged,
                Some(_) => Imported::Extended {
                    entries: fresh.len(),
                },
            })
        })
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
    if stored
        .iter()
        .zip(rows)
        .any(|(stored, row)| stored != row.raw())
    {
        return Err(attempt.kind(StoreErrorKind::SessionTaken(session.id.clone())));
    }
    Ok(stored.len())
}

fn session_id(transcript: &Transcript, name: &str) -> String {
    let of_header = transcript
        .header
        .as_ref()
        .and_then(Header::id)
        .filter(|id| is_session_id(id));
    let cleaned = || {
        name.chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(128)
            .collect()
    };
    of_header.map_or_else(cleaned, str::to_owned)
}

fn is_session_id(id: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.len() <= 128
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(is_word)
}

/// The fault with the row's line in the file instead of its index.
fn at_line(fault: PathFault, rows: &[Row]) -> PathFault {
    PathFault {
        row: rows.get(fault.row).map_or(0, Row::line),
        ..fault
    }
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
