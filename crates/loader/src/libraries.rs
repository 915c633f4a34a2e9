//! Where private copies are made, and what became of every library that was opened from one.

use parking_lot::Mutex;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

const PREFIX: &str = "library-";
/// Held while a copy lies there: shared by those who open libraries, exclusively by the one who tidies up.
const IN_USE: &str = "in-use.lock";

/// The libraries a host has opened: the directory of its private copies, and counts. Clones share both.
#[derive(Clone, Debug)]
pub struct Libraries(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    swept: Once,
    census: Mutex<Census>,
}

/// Opened libraries, counted by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// In use.
    pub live: u64,
    /// Replaced, and still used by calls in flight.
    pub retired: u64,
    /// Out of use, and still mapped: they stay until the process ends.
    pub leaked: u64,
    /// Unmapped, which was checked.
    pub unloaded: u64,
    /// Size of the files of all that are mapped: about what they cost, without the heap they own.
    pub mapped_bytes: u64,
}

/// What a library is, for the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Live,
    Retired,
    Leaked,
    Unloaded,
}

impl Census {
    fn count(&mut self, fate: Fate) -> &mut u64 {
        match fate {
            Fate::Live => &mut self.live,
            Fate::Retired => &mut self.retired,
            Fate::Leaked => &mut self.leaked,
            Fate::Unloaded => &mut self.unloaded,
        }
    }
}

impl Libraries {
    /// - `directory`: where private copies lie while they are opened; made at the first load. What an earlier process that
    ///   was killed left there goes then.
    #[must_use]
    pub fn below(directory: &Path) -> Self {
        Self(Arc::new(Shared {
            directory: directory.to_owned(),
            swept: Once::new(),
            census: Mutex::default(),
        }))
    }

    /// What became of them so far.
    #[must_use]
    pub fn census(&self) -> Census {
        *self.0.census.lock()
    }

    pub(crate) fn opened(&self, bytes: u64) {
        let mut census = self.0.census.lock();
        census.live += 1;
        census.mapped_bytes += bytes;
    }

    pub(crate) fn moved(&self, from: Fate, to: Fate, bytes: u64) {
        let mut census = self.0.census.lock();
        *census.count(from) -= 1;
        *census.count(to) += 1;
        if to == Fate::Unloaded {
            census.mapped_bytes -= bytes;
        }
    }

    /// A fresh private directory, whose name this process never used before: the system's loader takes a known name for the
    /// library it already has.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn scratch(&self) -> io::Result<Scratch> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.0.directory)?;
        self.0.swept.call_once(|| sweep(&self.0.directory));
        let in_use = lock_file(&self.0.directory)?;
        in_use.lock_shared()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-{number}-", std::process::id()))
            .tempdir_in(&self.0.directory)?;
        Ok(Scratch {
            directory,
            _in_use: in_use,
        })
    }
}

/// A private directory that is removed when dropped, or else by the next process.
#[derive(Debug)]
pub struct Scratch {
    directory: tempfile::TempDir,
    /// Goes after the directory.
    _in_use: File,
}

impl Scratch {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn lock_file(directory: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    options.open(directory.join(IN_USE))
}

/// Removes copies that nobody opens any more. Not now, when somebody is opening one; what cannot be removed stays.
fn sweep(directory: &Path) {
    let alone = lock_file(directory).and_then(|file| match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    });
    let Ok(Some(_alone)) = alone else {
        return;
    };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        if let Err(error) = fs::remove_dir_all(entry.path()) {
            tracing::debug!(path = %entry.path().display(), reason = %error, "stale copy not removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_left_by_a_killed_process_are_removed_and_those_in_use_are_not() {
        let home = tempfile::tempdir().unwrap();
        let stale = home.path().join("library-1-0-abc");
        fs::create_dir(&stale).unwrap();
        fs::write(stale.join("libx.so"), "copy").unwrap();
        fs::write(home.path().join("other"), "not ours").unwrap();
        let first = Libraries::below(home.path()).scratch().unwrap();
        assert!(!stale.exists());
        assert!(home.path().join("other").exists());
        fs::create_dir(&stale).unwrap();
        let second = Libraries::below(home.path()).scratch().unwrap();
        assert!(
            first.path().exists() && stale.exists(),
            "somebody is opening a copy"
        );
        assert_ne!(first.path(), second.path());
        drop((first, second));
        let third = Libraries::below(home.path()).scratch().unwrap();
        assert!(!stale.exists() && third.path().exists());
    }
}
