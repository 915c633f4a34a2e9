//! Where a build directory goes. It is there as a whole or not at all.

use super::super::text::{file_name, word};
use crate::built::RECORD;
use crate::error::CliError;
use crate::output::Output;
use openclaw_loader::MANIFEST_FILE;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A path that may become a build directory.
#[derive(Debug)]
pub(super) struct Place {
    /// The path with links followed, where something is there.
    path: PathBuf,
    /// Whether a build directory is there already.
    is_taken: bool,
}

/// A file of a build directory.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: Vec<u8>,
    pub(super) mode: u32,
}

impl Place {
    /// Judges `path` (absolute). Free, an empty directory, or a build directory: anything else is somebody's and stays.
    pub(super) fn check(path: &Path) -> Result<Self, CliError> {
        let refused = |reason: String| {
            CliError::new(
                format!(
                    "cannot write a build directory to {}: {reason}",
                    path.display()
                ),
                "name a directory that does not exist yet, with --out",
            )
        };
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    path: path.to_owned(),
                    is_taken: false,
                });
            }
            Err(error) => return Err(refused(error.to_string())),
            Ok(_) => {}
        }
        let real = path
            .canonicalize()
            .map_err(|error| refused(format!("it is a link that leads nowhere ({error})")))?;
        if !real.is_dir() {
            return Err(refused("this is a file".into()));
        }
        let entries = fs::read_dir(&real).map_err(|error| refused(error.to_string()))?;
        let entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let mut foreign: Vec<_> = entries
            .iter()
            .filter(|entry| !is_ours(entry))
            .map(|entry| file_name(entry))
            .collect();
        if !entries.is_empty() && !real.join(MANIFEST_FILE).exists() {
            return Err(refused(format!(
                "it is not empty and no build directory: it has no {MANIFEST_FILE}"
            )));
        }
        if !foreign.is_empty() {
            foreign.sort();
            foreign.truncate(5);
            let foreign = foreign.join(", ");
            return Err(refused(format!(
                "it holds more than a build directory does: {foreign}"
            )));
        }
        Ok(Self {
            is_taken: !entries.is_empty(),
            path: real,
        })
    }

    /// Writes the files beside the place and moves them in. On any error the place is as it was.
    pub(super) fn fill(self, files: &[File<'_>], output: &mut Output) -> Result<PathBuf, CliError> {
        let Self { path, is_taken } = self;
        let failed = |error: &io::Error| CliError::io("write", &path, error);
        let parent = path.parent().unwrap_or(&path);
        fs::create_dir_all(parent).map_err(|error| CliError::io("make", parent, &error))?;
        // Both are removed when this ends, except what was moved away.
        let staging = tempfile::Builder::new()
            .prefix(".openclaw-build-")
            .tempdir_in(parent)
            .map_err(|error| failed(&error))?;
        let fresh = staging.path().join("new");
        write(&fresh, files).map_err(|error| failed(&error))?;
        if is_taken {
            let former = staging.path().join("old");
            fs::rename(&path, &former).map_err(|error| failed(&error))?;
            if let Err(error) = fs::rename(&fresh, &path) {
                if let Err(second) = fs::rename(&former, &path) {
                    let kept = staging.keep().join("old");
                    output.warning(&format!(
                        "the former build directory could not be put back ({second}); it is in {}",
                        word(&kept)
                    ));
                }
                return Err(failed(&error));
            }
        } else {
            fs::rename(&fresh, &path).map_err(|error| failed(&error))?;
        }
        Ok(path)
    }
}

/// Whether a file is one that a build directory has.
fn is_ours(entry: &Path) -> bool {
    let name = file_name(entry);
    let is_known = [
        MANIFEST_FILE,
        "package.json",
        "index.js",
        "bridge.node",
        RECORD,
        ".DS_Store",
    ]
    .contains(&name.as_str());
    entry.is_file() && (is_known || name.ends_with(std::env::consts::DLL_SUFFIX))
}

fn write(directory: &Path, files: &[File<'_>]) -> io::Result<()> {
    fs::create_dir(directory)?;
    for file in files {
        let path = directory.join(file.name);
        fs::write(&path, &file.bytes)?;
        set_mode(&path, file.mode)?;
        // Before the rename that makes it count.
        fs::File::open(&path)?.sync_all()?;
    }
    set_mode(directory, 0o755)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}
