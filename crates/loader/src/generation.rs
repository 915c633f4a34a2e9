//! One opened library, from the moment it is mapped until nothing needs it any more.
//!
//! Then it stays mapped, which is the safe way: nobody can know what still points into it. It is unmapped only where its
//! author says so in the note, the system can be asked whether it is gone, and its engine never failed.

use crate::libraries::{Fate, Libraries};
use crate::library;
use libloading::Library;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this system tells if a library is still mapped, and keeps one whose thread-locals wait for their destructor.
const CAN_UNLOAD: bool = cfg!(all(target_os = "linux", target_env = "gnu"));

/// An opened library. Factories and instances hold it; the last one to go decides.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// `None` once it is let go.
    library: Option<Library>,
    /// Where its private copy was, which is its name to the system's loader.
    copy: PathBuf,
    bytes: u64,
    may_unload: AtomicBool,
    is_retired: AtomicBool,
    libraries: Libraries,
}

impl Mapping {
    pub(crate) fn new(
        library: Library,
        copy: PathBuf,
        bytes: u64,
        is_unloadable: bool,
        libraries: &Libraries,
    ) -> Self {
        libraries.opened(bytes);
        Self {
            library: Some(library),
            copy,
            bytes,
            may_unload: AtomicBool::new(is_unloadable && CAN_UNLOAD),
            is_retired: AtomicBool::new(false),
            libraries: libraries.clone(),
        }
    }

    pub(crate) fn library(&self) -> &Library {
        self.library
            .as_ref()
            .unwrap_or_else(|| unreachable!("it is let go only in `drop`"))
    }

    /// Keeps it mapped whatever its note says.
    pub(crate) fn keep(&self) {
        self.may_unload.store(false, Ordering::Release);
    }

    /// Whether it stays mapped when nothing needs it any more.
    pub(crate) fn is_kept(&self) -> bool {
        !self.may_unload.load(Ordering::Acquire)
    }

    /// Counts it as replaced.
    pub(crate) fn retire(&self) {
        if !self.is_retired.swap(true, Ordering::AcqRel) {
            self.libraries.moved(Fate::Live, Fate::Retired, self.bytes);
        }
    }

    /// Whether the system has unmapped it.
    fn unload(&self, library: Library) -> bool {
        match library.close() {
            Ok(()) => !library::is_mapped(&self.copy),
            Err(error) => {
                tracing::debug!(path = %self.copy.display(), reason = %error, "library not closed");
                false
            }
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let Some(library) = self.library.take() else {
            return;
        };
        let is_gone = if self.is_kept() {
            std::mem::forget(library);
            false
        } else {
            self.unload(library)
        };
        let from = if *self.is_retired.get_mut() {
            Fate::Retired
        } else {
            Fate::Live
        };
        let to = if is_gone {
            Fate::Unloaded
        } else {
            Fate::Leaked
        };
        self.libraries.moved(from, to, self.bytes);
        tracing::debug!(path = %self.copy.display(), is_gone, "library let go");
    }
}
