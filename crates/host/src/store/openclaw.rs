//! OpenClaw's own store of an agent (`openclaw-agent.sqlite`), to import from. Only read: no file is written or left
//! beside it, and a store that OpenClaw is using at this moment is read in one consistent view.
//!
//! Source: transcript format, "SQLite store".

mod event;
mod open;
#[cfg(test)]
mod tests;

use super::import::TranscriptLines;
use event::Event;
use open::Opened;
use rusqlite::{Connection, params};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Newest schema this program knows.
const NEWEST_SCHEMA: i64 = 23;

/// What is read of each table in any case. Older schemas pack no events.
const NEEDED: [(&str, &[&str]); 3] = [
    ("session_nodes", &["session_key", "current_session_id"]),
    ("session_windows", &["session_id", "session_key"]),
    ("transcript_events", &["session_id", "seq", "event_json"]),
];
const PACKED: [&str; 2] = ["event_zstd", "event_utf8_bytes"];

/// OpenClaw's store, open to read.
#[derive(Debug)]
pub struct OpenClawStore {
    path: PathBuf,
    opened: Opened,
    has_packed: bool,
}

/// A transcript in OpenClaw's store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenClawSession {
    /// Its id.
    pub id: String,
    /// The key that leads to it; `None` for one that its key has left, as after a reset.
    pub key: Option<String>,
    /// Its events, header included.
    pub events: u64,
}

/// Why OpenClaw's store cannot be read. It was left as it is.
#[derive(Debug, thiserror::Error)]
#[error("cannot read OpenClaw's store {}", path.display())]
pub struct OpenClawStoreError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    #[source]
    pub kind: OpenClawStoreErrorKind,
}

/// What is wrong with OpenClaw's store.
#[derive(Debug, thiserror::Error)]
pub enum OpenClawStoreErrorKind {
    /// A newer OpenClaw made it.
    #[error("its schema is version {found}, this program reads up to {NEWEST_SCHEMA}")]
    Newer {
        /// Version in the file.
        found: i64,
    },
    /// It lacks a table or a column.
    #[error(
        "its schema (version {found}) has no {missing}; expected is OpenClaw's schema {NEWEST_SCHEMA} or one like it"
    )]
    Lacks {
        /// Version in the file.
        found: i64,
        /// What is missing.
        missing: String,
    },
    /// OpenClaw wrote it while it was read.
    #[error("OpenClaw changed it while it was read")]
    Changed,
    /// OpenClaw has it to itself.
    #[error("OpenClaw has it locked")]
    Busy,
    /// The file is no database, or a broken one.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// The system refused.
    #[error(transparent)]
    Io(io::Error),
    /// SQLite refused.
    #[error(transparent)]
    Sql(rusqlite::Error),
}

impl OpenClawStoreError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match &self.kind {
            OpenClawStoreErrorKind::Newer { .. } => {
                "update openclaw-native; the file was left as it is"
            }
            OpenClawStoreErrorKind::Lacks { .. } => {
                "give the `openclaw-agent.sqlite` of an agent of OpenClaw 2026.9, or export its sessions as JSONL"
            }
            OpenClawStoreErrorKind::Changed | OpenClawStoreErrorKind::Busy => {
                "try again, or stop OpenClaw for the time of the import"
            }
            OpenClawStoreErrorKind::Damaged(_) => {
                "let OpenClaw repair it (`doctor --session-sqlite recover`), then import again"
            }
            OpenClawStoreErrorKind::Io(_) | OpenClawStoreErrorKind::Sql(_) => {
                "check the path and its permissions"
            }
        }
    }
}

impl From<rusqlite::Error> for OpenClawStoreErrorKind {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged(error.to_string()),
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy,
            _ => Self::Sql(error),
        }
    }
}

impl From<io::Error> for OpenClawStoreErrorKind {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl OpenClawStore {
    /// Whether the file is an SQLite database, by its first bytes.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn is_database(path: &Path) -> io::Result<bool> {
        const MAGIC: &[u8] = b"SQLite format 3\0";
        let mut start = Vec::new();
        std::fs::File::open(path)?
            .take(MAGIC.len() as u64)
            .read_to_end(&mut start)?;
        Ok(start == MAGIC)
    }

    /// Opens the store and checks that it is one this program reads.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is none of OpenClaw's, or a newer OpenClaw made it.
    pub fn open(path: &Path) -> Result<Self, OpenClawStoreError> {
        let failed = |kind| OpenClawStoreError {
            path: path.to_owned(),
            kind,
        };
        let opened = Opened::open(path).map_err(failed)?;
        let has_packed = check(opened.connection()).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            opened,
            has_packed,
        })
    }

    fn failed(&self, kind: impl Into<OpenClawStoreErrorKind>) -> OpenClawStoreError {
        OpenClawStoreError {
            path: self.path.clone(),
            kind: kind.into(),
        }
    }

    /// All transcripts that have events, sorted by key and id.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn sessions(&self) -> Result<Vec<OpenClawSession>, OpenClawStoreError> {
        let sql = "SELECT e.session_id AS id, (SELECT min(n.session_key) FROM session_nodes n \
                   WHERE n.current_session_id = e.session_id) AS key, count(*) \
                   FROM transcript_events e GROUP BY e.session_id ORDER BY key IS NULL, key, id";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(OpenClawSession {
                id: row.get(0)?,
                key: row.get(1)?,
                events: row.get::<_, i64>(2)?.unsigned_abs(),
            })
        };
        self.opened
            .connection()
            .prepare(sql)
            .and_then(|mut statement| statement.query_map([], read)?.collect())
            .map_err(|error| self.failed(error))
    }

    /// The transcripts with this key or id: those the key has left too, the current one first.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn sessions_named(&self, name: &str) -> Result<Vec<OpenClawSession>, OpenClawStoreError> {
        let sql = "SELECT 1 FROM session_windows WHERE session_id = ?1 AND session_key = ?2";
        let mut was_behind = self
            .opened
            .connection()
            .prepare(sql)
            .map_err(|error| self.failed(error))?;
        let mut named = Vec::new();
        for session in self.sessions()? {
            let is_named = session.id == name
                || session.key.as_deref() == Some(name)
                || was_behind
                    .exists([session.id.as_str(), name])
                    .map_err(|error| self.failed(error))?;
            if is_named {
                named.push(session);
            }
        }
        Ok(named)
    }

    /// The events of a transcript as lines of JSONL, header first.
    #[must_use]
    pub fn lines(&self, session: &OpenClawSession) -> EventLines<'_> {
        EventLines {
            connection: self.opened.connection(),
            columns: if self.has_packed {
                "event_json, event_zstd, event_utf8_bytes"
            } else {
                "event_json, NULL, NULL"
            },
            session_id: session.id.clone(),
            next_seq: i64::MIN,
            bytes: 0,
        }
    }

    /// Makes sure that what was read is what the store holds, now that all is read.
    ///
    /// # Errors
    ///
    /// OpenClaw has changed it meanwhile.
    pub fn finish(self) -> Result<(), OpenClawStoreError> {
        let path = self.path;
        self.opened
            .finish()
            .map_err(|kind| OpenClawStoreError { path, kind })
    }
}

/// The events of a transcript as lines. An event that cannot be unpacked becomes a line that is no JSON and says why.
#[derive(Debug)]
pub struct EventLines<'a> {
    connection: &'a Connection,
    columns: &'static str,
    session_id: String,
    next_seq: i64,
    bytes: u64,
}

impl TranscriptLines for EventLines<'_> {
    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        let sql = format!(
            "SELECT seq, {} FROM transcript_events WHERE session_id = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1",
            self.columns
        );
        let mut statement = self
            .connection
            .prepare_cached(&sql)
            .map_err(io::Error::other)?;
        let mut rows = statement
            .query(params![self.session_id, self.next_seq])
            .map_err(io::Error::other)?;
        let Some(row) = rows.next().map_err(io::Error::other)? else {
            return Ok(false);
        };
        let seq: i64 = row.get(0).map_err(io::Error::other)?;
        match Event::read(row).and_then(|event| event.into_line(line)) {
            Ok(()) => {}
            Err(reason) => {
                line.clear();
                line.extend_from_slice(format!("event {seq}: {reason}").as_bytes());
            }
        }
        line.push(b'\n');
        self.bytes += line.len() as u64;
        self.next_seq = seq.saturating_add(1);
        Ok(true)
    }

    fn rewind(&mut self) -> io::Result<()> {
        (self.next_seq, self.bytes) = (i64::MIN, 0);
        Ok(())
    }

    fn bytes_read(&self) -> u64 {
        self.bytes
    }

    fn bytes_total(&self) -> Option<u64> {
        None
    }
}

/// Refuses a database with another schema; whether events may be packed.
fn check(connection: &Connection) -> Result<bool, OpenClawStoreErrorKind> {
    let found: i64 =
        connection.query_row("SELECT user_version FROM pragma_user_version", [], |row| {
            row.get(0)
        })?;
    if found > NEWEST_SCHEMA {
        return Err(OpenClawStoreErrorKind::Newer { found });
    }
    for (table, columns) in NEEDED {
        let there = columns_of(connection, table)?;
        let lacks = |column: &&&str| !there.iter().any(|name| name == **column);
        let missing = if there.is_empty() {
            Some(format!("table `{table}`"))
        } else {
            let lacking = columns.iter().find(lacks);
            lacking.map(|column| format!("column `{column}` in `{table}`"))
        };
        if let Some(missing) = missing {
            return Err(OpenClawStoreErrorKind::Lacks { found, missing });
        }
    }
    let there = columns_of(connection, "transcript_events")?;
    Ok(PACKED
        .iter()
        .all(|column| there.iter().any(|name| name == column)))
}

fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}
