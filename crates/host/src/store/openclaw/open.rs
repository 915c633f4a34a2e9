//! Opens a database of another program so that nothing of it, or beside it, is written.

use super::OpenClawStoreErrorKind as Kind;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// One consistent view of a database.
#[derive(Debug)]
pub(super) struct Opened {
    connection: Connection,
    /// Read without locks: valid as long as the file stays as it was.
    unlocked: Option<(PathBuf, Stamp)>,
    _copy: Option<TempDir>,
}

/// What changes when a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    has_log: bool,
}

impl Opened {
    /// - With a log and its index beside it, the database may be in use: it is read with SQLite's own locks.
    /// - With a log or a journal alone nobody uses it, but SQLite would write to read it: a private copy is read.
    /// - With neither, SQLite would make a log to read a database that keeps one: it is read without locks, and looked at
    ///   again at the end. A database of the older kind is read with locks, which leaves nothing.
    pub(super) fn open(path: &Path) -> Result<Self, Kind> {
        let path = &path.canonicalize()?;
        let [log, index, journal] = ["-wal", "-shm", "-journal"].map(|end| beside(path, end));
        let has_log = log.exists();
        if has_log && index.exists() {
            return Self::locked(path, None);
        }
        if has_log || journal.exists() {
            let directory = tempfile::tempdir()?;
            let copy = directory.path().join("copy.sqlite");
            fs::copy(path, &copy)?;
            for end in ["-wal", "-journal"] {
                if beside(path, end).exists() {
                    fs::copy(beside(path, end), beside(&copy, end))?;
                }
            }
            return Self::locked(&copy, Some(directory));
        }
        if keeps_log(path)? {
            let stamp = Stamp::of(path)?;
            return Ok(Self {
                connection: connect(path, "?immutable=1", OpenFlags::SQLITE_OPEN_READ_ONLY)?,
                unlocked: Some((path.clone(), stamp)),
                _copy: None,
            });
        }
        Self::locked(path, None)
    }

    fn locked(path: &Path, copy: Option<TempDir>) -> Result<Self, Kind> {
        let flags = match copy {
            None => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Some(_) => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let connection = connect(path, "", flags)?;
        connection.execute_batch("PRAGMA query_only = 1; BEGIN")?;
        Ok(Self {
            connection,
            unlocked: None,
            _copy: copy,
        })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Refuses what was read without locks from a file that has changed since.
    pub(super) fn finish(self) -> Result<(), Kind> {
        match self.unlocked {
            Some((path, stamp)) if Stamp::of(&path)? != stamp => Err(Kind::Changed),
            _ => Ok(()),
        }
    }
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            has_log: beside(path, "-wal").exists(),
        })
    }
}

fn connect(path: &Path, query: &str, flags: OpenFlags) -> Result<Connection, Kind> {
    let text = path
        .to_str()
        .ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    let escaped = text
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("file:{escaped}{query}"), flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Whether the database is one that keeps a log (WAL), by its header.
fn keeps_log(path: &Path) -> io::Result<bool> {
    let mut header = Vec::new();
    File::open(path)?.take(20).read_to_end(&mut header)?;
    Ok(header.get(18) == Some(&2))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}
