//! The plugin's file: committed turns and what is remembered of each window. Knows SQLite and nothing of budgets.
//!
//! One user at a time, by a lock beside the file: a host that reloads the plugin has two copies of SQLite for a while, and
//! locks within the file belong to the process, so the copies would not see each other.

use crate::memory::Memory;
use openclaw_interface::{CommitStatus, Messages};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Name of the file in the agent's directory.
pub(crate) const FILE_NAME: &str = "window.sqlite";

/// Name of the file whose lock stands for the other.
const LOCK_NAME: &str = "window.lock";

/// How often a lock that somebody holds is tried again.
const RETRY: Duration = Duration::from_millis(2);

/// How long to wait for another process, session or build of the plugin. Its use takes milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const SCHEMA_VERSION: i64 = 1;

/// Messages are never rewritten. `entry_id` is empty where the host has none, so only ids that exist are unique.
const SCHEMA: &str = "
    CREATE TABLE turns (
        session_id TEXT NOT NULL,
        advancement_key TEXT NOT NULL,
        is_heartbeat INTEGER NOT NULL,
        first_entry_id TEXT NOT NULL,
        last_entry_id TEXT NOT NULL,
        PRIMARY KEY (session_id, advancement_key)
    ) WITHOUT ROWID;
    CREATE TABLE messages (
        seq INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL,
        advancement_key TEXT NOT NULL,
        entry_id TEXT NOT NULL,
        json TEXT NOT NULL
    );
    CREATE UNIQUE INDEX messages_by_entry ON messages (session_id, entry_id) WHERE entry_id <> '';
    CREATE TABLE windows (
        session_id TEXT PRIMARY KEY,
        memory TEXT NOT NULL
    ) WITHOUT ROWID;
    PRAGMA user_version = 1;
";

/// The file could not be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", path.display())]
pub(crate) struct StoreError {
    /// The file.
    pub(crate) path: PathBuf,
    /// Why.
    pub(crate) kind: StoreErrorKind,
}

/// Why the file could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreErrorKind {
    /// Written by a newer version of this plugin.
    #[error(
        "has schema version {found}, this version of the plugin knows up to {SCHEMA_VERSION}; update the plugin or move \
         the file away"
    )]
    NewerSchema {
        /// The version in the file.
        found: i64,
    },
    /// A database, but not this plugin's.
    #[error("is a database of something else; move the file away")]
    Foreign,
    /// The file or its directory could not be made.
    #[error("cannot be created: {0}; check the directory's permissions")]
    Create(std::io::Error),
    /// Somebody else was writing all the time.
    #[error("is in use by another process; the turn can be tried again")]
    Busy,
    /// SQLite refused.
    #[error("{0}; if the file is damaged, move it away")]
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for StoreErrorKind {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}

/// A turn to store.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    /// Id of the transcript.
    pub(crate) session_id: &'a str,
    /// Id of the logical turn.
    pub(crate) advancement_key: &'a str,
    /// Whether it was a heartbeat.
    pub(crate) is_heartbeat: bool,
    /// Entry id of the admission.
    pub(crate) first_entry_id: &'a str,
    /// Entry id of the terminal.
    pub(crate) last_entry_id: &'a str,
    /// Its messages.
    pub(crate) messages: Messages<'a>,
}

/// The file while it is used. Dropped as soon as that is done: others wait.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    // Closed before the lock is given back.
    connection: Connection,
    _alone: File,
}

impl Store {
    /// Opens the file in `agent_dir`. A directory or file that is missing is made, for the owner only.
    pub(crate) fn open(agent_dir: &Path) -> Result<Self, StoreError> {
        let path = agent_dir.join(FILE_NAME);
        let opened = make(agent_dir, &path)
            .map_err(StoreErrorKind::Create)
            .and_then(|()| lock(&agent_dir.join(LOCK_NAME)))
            .and_then(|alone| Ok((connect(&path)?, alone)));
        match opened {
            Ok((connection, alone)) => Ok(Self {
                path,
                connection,
                _alone: alone,
            }),
            Err(kind) => Err(StoreError { path, kind }),
        }
    }

    /// Stores a turn in one transaction. When this returns, the turn survives a power failure.
    pub(crate) fn commit(&mut self, turn: &Turn<'_>) -> Result<CommitStatus, StoreError> {
        commit(&mut self.connection, turn).map_err(|error| self.failed(error))
    }

    /// What is remembered of a session; `None` as well when it cannot be read.
    pub(crate) fn recall(&self, session_id: &str) -> Result<Option<Memory>, StoreError> {
        let memory: Option<String> = self
            .connection
            .query_row(
                "SELECT memory FROM windows WHERE session_id = ?1",
                [session_id],
                |row| row.get(0),
            )
            .optional()
            .map_err(|error| self.failed(error))?;
        Ok(memory.and_then(|memory| serde_json::from_str(&memory).ok()))
    }

    /// Replaces what is remembered of a session. A power failure may undo it.
    pub(crate) fn remember(&self, session_id: &str, memory: &Memory) -> Result<(), StoreError> {
        let memory = serde_json::to_string(memory).expect("numbers and flags always serialize");
        self.connection
            .execute(
                "INSERT INTO windows (session_id, memory) VALUES (?1, ?2)
                 ON CONFLICT (session_id) DO UPDATE SET memory = excluded.memory",
                [session_id, &memory],
            )
            .map(drop)
            .map_err(|error| self.failed(error))
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError {
            path: self.path.clone(),
            kind: error.into(),
        }
    }
}

/// Makes directory and file before SQLite would, which knows no modes; its side files inherit the file's.
fn make(agent_dir: &Path, path: &Path) -> std::io::Result<()> {
    let mut directory = DirBuilder::new();
    directory.recursive(true);
    let mut file = OpenOptions::new();
    file.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directory.mode(0o700);
        file.mode(0o600);
    }
    directory.create(agent_dir)?;
    file.open(path).map(drop)
}

/// Waits until nobody else uses the plugin's file.
fn lock(path: &Path) -> Result<File, StoreErrorKind> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(StoreErrorKind::Create)?;
    let end = Instant::now() + BUSY_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(StoreErrorKind::Create(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                return Err(StoreErrorKind::Busy);
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
        }
    }
}

fn connect(path: &Path) -> Result<Connection, StoreErrorKind> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Before anything is changed, the journal mode included. In a transaction, so that no other process changes the
    // file between two looks at it.
    let version = version(&*connection.transaction()?)?;
    if version == 0 {
        create_schema(&mut connection)?;
    }
    // Readers do not wait for writers then. Where the mode cannot be had, the file is as safe without it.
    let _ = connection.pragma_update(None, "journal_mode", "WAL");
    // Enough for a cache; `commit` asks for more.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

/// The schema version, 0 for a file without content.
fn version(connection: &Connection) -> Result<i64, StoreErrorKind> {
    let found = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match found {
        0 => {
            let tables: i64 =
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            if tables == 0 {
                Ok(0)
            } else {
                Err(StoreErrorKind::Foreign)
            }
        }
        SCHEMA_VERSION => Ok(found),
        found if found > SCHEMA_VERSION => Err(StoreErrorKind::NewerSchema { found }),
        _ => Err(StoreErrorKind::Foreign),
    }
}

fn create_schema(connection: &mut Connection) -> Result<(), StoreErrorKind> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been first.
    if version(&transaction)? == 0 {
        transaction.execute_batch(SCHEMA)?;
    }
    Ok(transaction.commit()?)
}

fn commit(connection: &mut Connection, turn: &Turn<'_>) -> rusqlite::Result<CommitStatus> {
    require_durable(connection)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let inserted = transaction.execute(
        "INSERT INTO turns (session_id, advancement_key, is_heartbeat, first_entry_id, last_entry_id)
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
        params![turn.session_id, turn.advancement_key, turn.is_heartbeat, turn.first_entry_id, turn.last_entry_id],
    )?;
    if inserted == 0 {
        return Ok(CommitStatus::Duplicate);
    }
    {
        // Ranges of different turns may overlap: an entry is stored once.
        let mut insert = transaction.prepare(
            "INSERT INTO messages (session_id, advancement_key, entry_id, json) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (session_id, entry_id) WHERE entry_id <> '' DO NOTHING",
        )?;
        for message in turn.messages.iter() {
            insert.execute([
                turn.session_id,
                turn.advancement_key,
                message.id(),
                message.json(),
            ])?;
        }
    }
    transaction.commit()?;
    Ok(CommitStatus::Committed)
}

/// With NORMAL the newest commits of a write-ahead log are lost when the power fails.
fn require_durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")
}

#[cfg(test)]
mod tests;
