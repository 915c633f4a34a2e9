//! Owner, rights and links of a build directory, its manifest and its library.

use super::TrustFault;
use crate::error::{LoadError, LoadErrorKind};
use crate::manifest::MANIFEST_FILE;
use std::path::Path;

/// Checks a build directory and its library. A manifest that everybody may write is as good as another: it runs nothing.
///
/// # Errors
///
/// The first fault, with the path it is at.
pub(super) fn check(directory: &Path, library: &Path) -> Result<(), LoadError> {
    let real_directory = directory
        .canonicalize()
        .map_err(|e| unreadable(e, directory))?;
    let manifest = directory.join(MANIFEST_FILE);
    inside(&manifest, &real_directory)?;
    inside(library, &real_directory)?;
    if let Ok(to) = library.read_link() {
        return Err(untrusted(TrustFault::IsLink { to }, library));
    }
    own_names(&manifest)?;
    own_names(library)?;
    rights(&real_directory)?;
    rights(library)?;
    // Both ways to it: the one that is written down, and the one that its links lead to.
    parents(directory)?;
    parents(&real_directory)
}

/// Checks who may change a single file that is to become a part of a plugin.
///
/// # Errors
///
/// Somebody else than this user may write or replace it.
pub fn check_file(file: &Path) -> Result<(), LoadError> {
    let real = file.canonicalize().map_err(|e| unreadable(e, file))?;
    rights(&real)?;
    parents(&real)
}

fn unreadable(error: std::io::Error, path: &Path) -> LoadError {
    LoadErrorKind::Unreadable(error).at(path)
}

fn untrusted(fault: TrustFault, path: &Path) -> LoadError {
    LoadErrorKind::Untrusted(fault).at(path)
}

fn inside(file: &Path, real_directory: &Path) -> Result<(), LoadError> {
    let to = file
        .canonicalize()
        .map_err(|error| unreadable(error, file))?;
    if to.starts_with(real_directory) {
        return Ok(());
    }
    Err(untrusted(TrustFault::LeavesDirectory { to }, file))
}

#[cfg(unix)]
fn own_names(file: &Path) -> Result<(), LoadError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata().map_err(|error| unreadable(error, file))?;
    match metadata.nlink() {
        0 | 1 => Ok(()),
        names => Err(untrusted(TrustFault::HardLinks { names }, file)),
    }
}

#[cfg(unix)]
fn rights(path: &Path) -> Result<(), LoadError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().map_err(|error| unreadable(error, path))?;
    let mode = metadata.mode() & 0o7777;
    if mode & 0o002 != 0 {
        return Err(untrusted(TrustFault::WorldWritable { mode }, path));
    }
    let own = own_uid().ok_or_else(|| untrusted(TrustFault::UnknownUser, path))?;
    match metadata.uid() {
        0 => Ok(()),
        owner if owner == own => Ok(()),
        owner => Err(untrusted(TrustFault::ForeignOwner { owner, own }, path)),
    }
}

/// In a sticky directory, such as the one for temporary files, only the owner of an entry may replace it.
#[cfg(unix)]
fn parents(directory: &Path) -> Result<(), LoadError> {
    use std::os::unix::fs::MetadataExt;
    for parent in directory.ancestors().skip(1) {
        let metadata = parent
            .metadata()
            .map_err(|error| unreadable(error, parent))?;
        let mode = metadata.mode() & 0o7777;
        if mode & 0o002 != 0 && mode & 0o1000 == 0 {
            let parent = parent.to_owned();
            let fault = TrustFault::WritableParent { parent, mode };
            return Err(untrusted(fault, directory));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn own_names(_file: &Path) -> Result<(), LoadError> {
    Ok(())
}

#[cfg(not(unix))]
fn rights(_path: &Path) -> Result<(), LoadError> {
    Ok(())
}

#[cfg(not(unix))]
fn parents(_directory: &Path) -> Result<(), LoadError> {
    Ok(())
}

/// The user this process runs as, read off a file of its own; `None` when none can be made.
#[cfg(unix)]
fn own_uid() -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(tempfile::tempfile().ok()?.metadata().ok()?.uid())
}
