//! Who may change a plugin.
//!
//! The rules of the original: whoever may write the directory or the library may run code as the user of this host.

use crate::error::{LoadError, LoadErrorKind};
use std::fs::Metadata;
use std::path::Path;

/// Checks a build directory and its library.
///
/// # Errors
///
/// One of them is world-writable, belongs to somebody else, or the library leads out of the directory.
pub(crate) fn check(directory: &Path, library: &Path) -> Result<(), LoadError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error| LoadErrorKind::Unreadable(error).at(&path)
    };
    let real_directory = directory.canonicalize().map_err(unreadable(directory))?;
    let real_library = library.canonicalize().map_err(unreadable(library))?;
    if !real_library.starts_with(&real_directory) {
        let text = format!(
            "the library leads out of the build directory, to {}",
            real_library.display()
        );
        return Err(LoadErrorKind::Untrusted(text).at(library));
    }
    for path in [&real_directory, &real_library] {
        let metadata = path.metadata().map_err(unreadable(path))?;
        if let Some(reason) = fault(&metadata) {
            return Err(LoadErrorKind::Untrusted(reason).at(path));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn fault(metadata: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    if metadata.mode() & 0o002 != 0 {
        return Some(format!(
            "blocked: everybody may write it (mode {:04o})",
            metadata.mode() & 0o7777
        ));
    }
    let Some(own) = own_uid() else {
        return Some(
            "blocked: cannot tell the user of this process, because no temporary file can be made"
                .into(),
        );
    };
    (metadata.uid() != own && metadata.uid() != 0).then(|| {
        format!(
            "blocked: it belongs to user {}, this host runs as user {own}",
            metadata.uid()
        )
    })
}

#[cfg(not(unix))]
fn fault(_metadata: &Metadata) -> Option<String> {
    None
}

/// The user this process runs as, read off a file of its own; `None` when none can be made.
#[cfg(unix)]
fn own_uid() -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(tempfile::tempfile().ok()?.metadata().ok()?.uid())
}
