//! One turn at a time in a session: within this process, and between processes.

use crate::store::make_private_directory;
use parking_lot::{ArcMutexGuard, Mutex, RawMutex};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a lock that another process holds is tried again.
const RETRY: Duration = Duration::from_millis(25);

/// The lanes of an agent's sessions.
#[derive(Debug)]
pub(crate) struct Lanes {
    directory: PathBuf,
    wait: Duration,
    in_process: Mutex<HashMap<String, Arc<Mutex<()>>>>,
}

/// The right to run a turn in a session. Ends when dropped, and with the process.
pub(crate) struct Lane {
    between_processes: File,
    _in_process: ArcMutexGuard<RawMutex, ()>,
}

impl Drop for Lane {
    /// Closing the file is not enough: a child that is being started meanwhile has it open until its program begins.
    fn drop(&mut self) {
        let _ = self.between_processes.unlock();
    }
}

/// Why a lane cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LaneError {
    /// Another process has it.
    #[error("another openclaw process is running a turn in session `{session_key}` or importing it; waited {} s for it", .waited.as_secs())]
    Busy {
        /// The session.
        session_key: String,
        /// How long.
        waited: Duration,
    },
    /// The system refused.
    #[error("cannot lock the session with {}", path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl Lanes {
    /// - `directory`: where the lock files lie; made when needed.
    /// - `wait`: how long to wait for another process.
    pub(crate) fn new(directory: PathBuf, wait: Duration) -> Self {
        Self {
            directory,
            wait,
            in_process: Mutex::default(),
        }
    }

    /// Waits for the session: for turns of this process as long as they take, for another process as long as allowed.
    pub(crate) fn enter(&self, session_key: &str) -> Result<Lane, LaneError> {
        let in_process = self.lane(session_key).lock_arc();
        let file = self.file(session_key)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    return Ok(Lane {
                        between_processes: file,
                        _in_process: in_process,
                    });
                }
                Err(TryLockError::Error(error)) => {
                    return Err(self.refused(session_key, error));
                }
                Err(TryLockError::WouldBlock) if started.elapsed() >= self.wait => {
                    return Err(LaneError::Busy {
                        session_key: session_key.to_owned(),
                        waited: self.wait,
                    });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
            }
        }
    }

    /// The session if nobody has it, without waiting.
    pub(crate) fn try_enter(&self, session_key: &str) -> Result<Option<Lane>, LaneError> {
        let Some(in_process) = self.lane(session_key).try_lock_arc() else {
            return Ok(None);
        };
        let file = self.file(session_key)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lane {
                between_processes: file,
                _in_process: in_process,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(self.refused(session_key, error)),
        }
    }

    fn lane(&self, session_key: &str) -> Arc<Mutex<()>> {
        let mut lanes = self.in_process.lock();
        Arc::clone(lanes.entry(session_key.to_owned()).or_default())
    }

    fn file(&self, session_key: &str) -> Result<File, LaneError> {
        make_private_directory(&self.directory)
            .and_then(|()| {
                OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(self.path(session_key))
            })
            .map_err(|error| self.refused(session_key, error))
    }

    fn path(&self, session_key: &str) -> PathBuf {
        self.directory.join(file_name(session_key))
    }

    fn refused(&self, session_key: &str, error: io::Error) -> LaneError {
        LaneError::Io {
            path: self.path(session_key),
            error,
        }
    }
}

/// A name that any session key can have.
fn file_name(session_key: &str) -> String {
    let hash = Sha256::digest(session_key);
    let hex: String = hash
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{hex}.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_ends_when_dropped_though_a_child_still_has_its_file() {
        let home = tempfile::tempdir().unwrap();
        let lanes = Lanes::new(home.path().join("locks"), Duration::ZERO);
        let lane = lanes.enter("s").unwrap();
        let inherited = lane.between_processes.try_clone().unwrap();
        drop(lane);
        assert!(lanes.try_enter("s").unwrap().is_some());
        drop(inherited);
    }
}
