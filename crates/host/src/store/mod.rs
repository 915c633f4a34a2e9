//! The store of one agent's sessions: transcripts, outbox and turn records in one SQLite file.
//!
//! Append-only: a stored entry is never changed. The active path is kept beside the entries, so that appending and
//! reading cost what is new. Several processes may have it open; one transaction runs at a time.

#[cfg(test)]
pub(crate) mod arbitrary;
mod cursor;
mod delta;
#[cfg(test)]
mod effort;
mod entries;
mod error;
mod fence;
mod import;
mod links;
mod openclaw;
mod outbox;
mod path;
mod repair;
mod rewrite;
mod rotation;
mod salvage;
mod schema;
mod sessions;
mod turns;
mod upkeep;

pub use delta::DeltaError;
pub use error::{StoreError, StoreErrorKind};
pub use fence::FenceViolation;
pub use import::{
    FileLines, ImportProgress, ImportReport, ImportTarget, Imported, NoTranscript, TranscriptLines,
};
pub use openclaw::{
    EventLines, OpenClawSession, OpenClawStore, OpenClawStoreError, OpenClawStoreErrorKind,
};
pub use outbox::Backlog;
pub(crate) use outbox::{OutboxRow, PendingTurn};
pub use path::PathEntry;
pub use repair::{Repair, RepairReport};
pub(crate) use rewrite::{RewriteError, RewriteRequest};
pub(crate) use rotation::{MovedTurn, Rotation};
pub use sessions::{Session, SessionSummary};
pub(crate) use turns::TurnState;

use crate::ambient::Ambient;
use error::Attempt;
use rusqlite::{Connection, OpenFlags};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often an opening that met a lock is tried again.
const RETRY: Duration = Duration::from_millis(10);

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
    /// A file that is there is never replaced, not even an empty one: a store appears under its name only when it is
    /// whole, so an empty file is one that lost its data.
    ///
    /// # Errors
    ///
    /// The file is no store, is damaged, or a newer version made it; or another process has it locked for longer than
    /// the ambient's wait. The file is left as it was.
    pub fn open(path: &Path, ambient: Ambient) -> Result<Self, StoreError> {
        let attempt = Attempt::new("open", path);
        if let Some(directory) = path.parent() {
            make_private_directory(directory).map_err(|error| attempt.io(error))?;
        }
        if !path.try_exists().map_err(|error| attempt.io(error))? {
            if beside(path, "-wal").exists() {
                return Err(attempt.damaged("its log is there, and the file itself is not"));
            }
            make(path, &attempt)?;
        }
        let metadata = path.metadata().map_err(|error| attempt.io(error))?;
        if metadata.len() == 0 {
            return Err(attempt.damaged("the file is empty"));
        }
        let wait = ambient.store_wait();
        let connection = patiently(wait, || {
            let mut connection = Connection::open_with_flags(
                path,
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            )
            .map_err(|error| attempt.sql(error))?;
            connection
                .busy_timeout(wait)
                .map_err(|error| attempt.sql(error))?;
            schema::prepare(&mut connection, &attempt)?;
            Ok(connection)
        })?;
        let mut store = Self {
            path: path.to_owned(),
            connection,
            ambient,
            rows_read: Cell::new(0),
        };
        // A little at a time: nobody waits at the start for what a large import left. What cannot be swept now is swept
        // another time.
        let _ = store.sweep_imports(Some(1));
        Ok(store)
    }

    /// Opens the store at `path` for reading; `None` when there is none. Works while another process writes, and for a
    /// file that may only be read. One that an older version made is brought up to date first.
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
        if path.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            return Err(attempt.damaged("the file is empty"));
        }
        let wait = ambient.store_wait();
        let connection = if may_write {
            let read = || patiently(wait, || reader(path, wait, &attempt));
            read().or_else(|error| match error.kind {
                StoreErrorKind::Older { .. } => {
                    Self::open(path, ambient.clone())?;
                    read()
                }
                _ => Err(error),
            })
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

/// Makes an empty store beside the place and gives it its name when it is whole. Another process may be faster: then its
/// store is kept.
fn make(path: &Path, attempt: &Attempt) -> Result<(), StoreError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let new = tempfile::Builder::new()
        .prefix(".new-")
        .tempfile_in(directory)
        .map_err(|error| attempt.io(error))?
        .into_temp_path();
    let mut connection = Connection::open(&new).map_err(|error| attempt.sql(error))?;
    schema::prepare(&mut connection, attempt)?;
    connection
        .close()
        .map_err(|(_, error)| attempt.sql(error))?;
    match new.persist_noclobber(path) {
        Err(error) if !path.exists() => Err(attempt.io(error.error)),
        _ => Ok(()),
    }
}

/// Tries again while another process has the store locked: not every lock is waited for by SQLite itself, such as that
/// for the switch to a log.
fn patiently<T>(
    wait: Duration,
    mut work: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let started = Instant::now();
    loop {
        match work() {
            Err(error)
                if matches!(error.kind, StoreErrorKind::Busy) && started.elapsed() < wait =>
            {
                std::thread::sleep(RETRY);
            }
            done => return done,
        }
    }
}

/// The path with `end` behind its name.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// A connection that writes nothing of the data, only what SQLite keeps beside it while others write.
fn reader(path: &Path, wait: Duration, attempt: &Attempt) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(path, flags).map_err(|error| attempt.sql(error))?;
    connection
        .busy_timeout(wait)
        .map_err(|error| attempt.sql(error))?;
    schema::check_to_read(&connection, attempt)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(|error| attempt.sql(error))?;
    Ok(connection)
}

/// A connection for a file that may only be read and that nobody is writing: makes no file. `None` when somebody is.
fn untouched(path: &Path, attempt: &Attempt) -> Option<Result<Connection, StoreError>> {
    if beside(path, "-wal").exists() {
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
                schema::check_to_read(&connection, attempt)?;
                Ok(connection)
            }),
    )
}
