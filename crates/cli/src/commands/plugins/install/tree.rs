//! Copies a directory into a stage. Directories and regular files only: what a link leads to can change later.

use super::stage::{Refused, Stage};
use std::fs::{self, File};
use std::path::Path;

/// Copies everything in `directory`.
pub(super) fn copy(directory: &Path, stage: &mut Stage) -> Result<(), Refused> {
    copy_into(directory, "", stage)
}

fn copy_into(directory: &Path, prefix: &str, stage: &mut Stage) -> Result<(), Refused> {
    let mut children: Vec<_> = fs::read_dir(directory)?.collect::<Result<_, _>>()?;
    children.sort_by_key(fs::DirEntry::file_name);
    for child in children {
        let name = child.file_name();
        let Some(name) = name.to_str() else {
            return Err(Refused(format!("the name {name:?} is not UTF-8")));
        };
        let name = format!("{prefix}{name}");
        let kind = child.file_type()?;
        if kind.is_dir() {
            stage.directory(&name)?;
            copy_into(&child.path(), &format!("{name}/"), stage)?;
        } else if kind.is_file() {
            let mut file = File::open(child.path())?;
            let is_executable = is_executable(&file.metadata()?);
            stage.file(&name, is_executable, &mut file)?;
        } else if kind.is_symlink() {
            return Err(Refused(format!("{name:?} is a link")));
        } else {
            return Err(Refused(format!("{name:?} is no regular file")));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}
