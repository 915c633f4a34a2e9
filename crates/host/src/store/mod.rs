//! The store of one agent's sessions: transcripts, outbox and turn records in one SQLite file.
//!
//! Append-only: a stored entry is never changed. The active path is kept beside the entries, so that appending and
//! reading cost what is new. Several processes may have it open; one transaction runs at a time.

#[cfg(test)]
pub(crate) mod arbitrary;
mod cursor;
mod delta;
mod entries;
mod error;
mod fence;
mod import;
mod links;
mod outbox;
mod path;
mod rotation;
mod schema;
mod sessions;
mod turns;
mod upkeep;

pub use delta::DeltaError;
pub use error::{StoreError, StoreErrorKind};
pub use fence::FenceViolation;
pub use import::{ImportReport, Imported};
pub use outbox::Backlog;
pub(crate) use outbox::{OutboxRow, PendingTurn};
pub use path::PathEntry;
pub(crate) use rotation::{MovedTurn, Rotation};
pub use sessions::{Session, SessionSummary};
pub(crate) use turns::TurnState;

use crate::ambient::Ambient;
use error::Attempt;
use rusqlite::{Connection, OpenFlags};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An open store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
    ambient: Ambient,
    /// Entries whose text was read since it was opened: what a read costs.
    rows_read: Cell<u64>,
}

impl Store {
    /// Opens the store at `path` for writing, and makes it when there is none: the directory with mode 0700, the file
    /// with 0600.
    ///
    /// # Errors
    ///
    /// The file is no store, or a newer version made it. The file is left as it was.
    pub fn open(path: &Path, ambient: Ambient) -> Result<Self, StoreError> {
        let attempt = Attempt::new("open", path);
        if let Some(directory) = path.parent() {
            make_private_directory(directory).map_err(|error| attempt.io(error))?;
        }
        make_private_file(path).map_err(|error| attempt.io(error))?;
        let mut connection = Connection::open(path).map_err(|error| attempt.sql(error))?;
        connection
            .busy_timeout(BUSY_TIMEOUT)
            .map_err(|error| attempt.sql(error))?;
        schema::prepare(&mut connection, &attempt)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            ambient,
            rows_read: Cell::new(0),
        })
    }

    /// Opens the store at `path` for reading; `None` when there is none. Works while another process writes, and for a
    /// file that may only be read.
    ///
    /// # Errors
    ///
    /// The file is no store, or a newer version made it.
    pub fn open_to_read(path: &Path, ambient: Ambient) -> Result<Option<Self>, StoreError> {
        let attempt = Attempt::new("read", path);
        if !path.try_exists().map_err(|error| attempt.io(error))? {
            return Ok(None);
        }
        let may_write = path
            .metadata()
            .is_ok_and(|metadata| !metadata.permissions().readonly());
        let connection = if may_write {
            reader(path, &attempt)
        } else {
            Err(attempt.kind(StoreErrorKind::ReadOnly))
        };
        let connection =
            connection.or_else(|error| untouched(path, &attempt).unwrap_or(Err(error)))?;
        Ok(Some(Self {
            path: path.to_owned(),
            connection,
            ambient,
            rows_read: Cell::new(0),
        }))
    }

    /// Where the store lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Entries whose text was read since the store was opened.
    #[must_use]
    pub fn rows_read(&self) -> u64 {
        self.rows_read.get()
    }

    fn attempt(&self, what: &'static str) -> Attempt {
        Attempt::new(what, &self.path)
    }

    /// Runs `work` in one transaction: all of it is stored, or nothing.
    pub(crate) fn transaction<T>(
        &mut self,
        what: &'static str,
        work: impl FnOnce(&rusqlite::Transaction<'_>, &Attempt) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let attempt = self.attempt(what);
        let transaction = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(|error| attempt.sql(error))?;
        let value = work(&transaction, &attempt)?;
        transaction.commit().map_err(|error| attempt.sql(error))?;
        Ok(value)
    }
}

/// Makes `directory` and its parents; what is made is readable by its owner only.
pub(crate) fn make_private_directory(directory: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn make_private_file(path: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// A connection that writes nothing of the data, only what SQLite keeps beside it while others write.
fn reader(path: &Path, attempt: &Attempt) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(path, flags).map_err(|error| attempt.sql(error))?;
    connection
        .busy_timeout(BUSY_TIMEOUT)
        .map_err(|error| attempt.sql(error))?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(|error| attempt.sql(error))?;
    schema::check(&connection, attempt)?;
    Ok(connection)
}

/// A connection for a file that may only be read and that nobody is writing: makes no file. `None` when somebody is.
fn untouched(path: &Path, attempt: &Attempt) -> Option<Result<Connection, StoreError>> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        return None;
    }
    let escaped: String = path
        .to_str()?
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags);
    Some(
        connection
            .map_err(|error| attempt.sql(error))
            .and_then(|connection| {
                schema::check(&connection, attempt)?;
                Ok(connection)
            }),
    )
}
