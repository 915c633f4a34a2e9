//! The lock that keeps two writers apart. Readers need none: a file is replaced in one step.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Pause between two attempts. Short, since a holder keeps the lock for a few milliseconds.
const PAUSE: Duration = Duration::from_millis(10);

/// Held until dropped. The system releases it when the process ends, however it ends.
pub(crate) struct Lock {
    _file: File,
    path: PathBuf,
}

pub(crate) enum LockError {
    /// Another process held the lock the whole time.
    Busy,
    Io(io::Error),
}

impl Lock {
    /// Takes the lock file `path`, trying for `wait`.
    pub(crate) fn take(path: PathBuf, wait: Duration) -> Result<Self, LockError> {
        let start = Instant::now();
        loop {
            let file = open(&path).map_err(LockError::Io)?;
            match file.try_lock() {
                // A holder removes the file before it lets go; a lock on a removed file keeps nobody out.
                Ok(()) if is_current(&file, &path) => return Ok(Self { _file: file, path }),
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
            }
            if start.elapsed() >= wait {
                return Err(LockError::Busy);
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Where the check in `take` cannot be made the file stays; it is empty and harmless.
        if cfg!(unix) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for a reader.
    if path.exists() && !path.is_file() {
        let reason = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn is_current(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(named)) => held.dev() == named.dev() && held.ino() == named.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_current(_file: &File, _path: &Path) -> bool {
    true
}
