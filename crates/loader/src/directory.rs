//! A build directory: manifest and library side by side.

use crate::error::{LoadError, LoadErrorKind};
use crate::inspect::{InspectFault, LibraryFacts, inspect};
use crate::manifest::{MANIFEST_FILE, Manifest, open_regular};
use crate::steps::Steps;
use crate::trust::Trust;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

const SIZE_LIMIT_BYTES: u64 = 1 << 30;

/// The file name of an engine's library on this system: `libmy_engine.so` for `my_engine`.
#[must_use]
pub fn library_file_name(target: &str) -> String {
    format!(
        "{}{target}{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    )
}

/// A build directory whose manifest was read and whose library was inspected. Nothing of it has run.
#[derive(Clone, Debug)]
pub struct BuildDirectory {
    /// Absolute path, as given by the user: links in it are kept.
    pub path: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
    /// Path of the library.
    pub library: PathBuf,
    /// Bytes of the library: those that were inspected, and those that will run.
    pub(crate) bytes: Vec<u8>,
    /// SHA-256 of those bytes, lower-case hex.
    pub sha256: String,
    /// What the library says of itself.
    pub facts: LibraryFacts,
    pub(crate) steps: Steps,
}

impl BuildDirectory {
    /// Reads and inspects the build directory at `path`, which must be absolute.
    ///
    /// The library is the one file beside the manifest whose note names the manifest's id.
    ///
    /// # Errors
    ///
    /// Something is missing, unclear, or refused; see [`LoadErrorKind`].
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        check_is_directory(path)?;
        let manifest = Manifest::read(path)?;
        let mut steps = Steps::default();
        let (library, bytes, facts) = find_library(path, &manifest.id, &mut steps)
            .map_err(|error| error.of_plugin(&manifest.id))?;
        let sha256 = steps.time("hash", || hex(&Sha256::digest(&bytes)));
        Ok(Self {
            path: path.to_owned(),
            manifest,
            library,
            bytes,
            sha256,
            facts,
            steps,
        })
    }

    /// Judges who may change the plugin, and whether it is the one that was allowed.
    ///
    /// # Errors
    ///
    /// The first reason not to trust it; see [`TrustFault`](crate::TrustFault).
    pub fn check_trust(&self, trust: &Trust) -> Result<(), LoadError> {
        trust
            .check(self)
            .map_err(|error| error.of_plugin(&self.manifest.id))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_is_directory(path: &Path) -> Result<(), LoadError> {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LoadErrorKind::Missing.at(path));
        }
        Err(error) => return Err(LoadErrorKind::Unreadable(error).at(path)),
    };
    if !metadata.is_dir() {
        return Err(LoadErrorKind::NotADirectory.at(path));
    }
    if !path.join(MANIFEST_FILE).exists() {
        let found = file_names(path)?;
        let found = found
            .iter()
            .take(5)
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        let is_crate = path.join("Cargo.toml").exists();
        return Err(LoadErrorKind::NoManifest { found, is_crate }.at(path));
    }
    Ok(())
}

fn file_names(path: &Path) -> Result<Vec<OsString>, LoadError> {
    let entries = fs::read_dir(path).map_err(|error| LoadErrorKind::Unreadable(error).at(path))?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    Ok(names)
}

pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, LoadErrorKind> {
    let file = open_regular(path).map_err(LoadErrorKind::Unreadable)?;
    let bytes = file.metadata().map_err(LoadErrorKind::Unreadable)?.len();
    if bytes > SIZE_LIMIT_BYTES {
        return Err(LoadErrorKind::LibraryTooLarge {
            bytes,
            limit: SIZE_LIMIT_BYTES,
        });
    }
    let mut read = Vec::with_capacity(bytes as usize);
    file.take(SIZE_LIMIT_BYTES)
        .read_to_end(&mut read)
        .map_err(LoadErrorKind::Unreadable)?;
    Ok(read)
}

type Found = (PathBuf, Vec<u8>, LibraryFacts);

/// The library of engine `id`. Broken files are the answer only when no other file is the engine.
fn find_library(directory: &Path, id: &str, steps: &mut Steps) -> Result<Found, LoadError> {
    let mut engines: Vec<Found> = Vec::new();
    let mut broken: Vec<(PathBuf, InspectFault)> = Vec::new();
    let mut others = Vec::new();
    for file_name in file_names(directory)? {
        let name = file_name.to_string_lossy();
        if !name.ends_with(std::env::consts::DLL_SUFFIX) {
            continue;
        }
        let path = directory.join(&file_name);
        if path.exists() && !path.is_file() {
            others.push(format!("{name} is not a regular file"));
            continue;
        }
        let bytes = steps
            .time("read", || read_file(&path))
            .map_err(|kind| kind.at(&path))?;
        match steps.time("inspect", || inspect(&bytes)) {
            Ok(facts) if facts.note.engine_id == id => engines.push((path, bytes, facts)),
            Ok(facts) => others.push(format!("{name} brings engine `{}`", facts.note.engine_id)),
            Err(fault @ InspectFault::NoNote) => others.push(format!("{name} is {fault}")),
            Err(fault) => broken.push((path, fault)),
        }
    }
    match (engines.len(), broken.into_iter().next()) {
        (1, _) => engines
            .pop()
            .ok_or_else(|| LoadErrorKind::Missing.at(directory)),
        (0, Some((path, fault))) => Err(LoadErrorKind::Inspect(fault).at(&path)),
        (0, None) => Err(LoadErrorKind::NoLibrary {
            id: id.to_owned(),
            found: others,
        }
        .at(directory)),
        _ => {
            let found = engines.iter().filter_map(|(path, ..)| path.file_name());
            let found = found
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            Err(LoadErrorKind::SeveralLibraries {
                id: id.to_owned(),
                found,
            }
            .at(directory))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(manifest: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(MANIFEST_FILE), manifest).unwrap();
        directory
    }

    /// Case M-1.
    #[cfg(unix)]
    #[test]
    fn library_that_is_a_pipe_is_not_opened() {
        let directory = directory("{id: 'a', configSchema: {}}");
        let name = library_file_name("a");
        let made = std::process::Command::new("mkfifo")
            .arg(directory.path().join(&name))
            .status();
        assert!(made.unwrap().success());
        let error = BuildDirectory::read(directory.path()).unwrap_err();
        let LoadErrorKind::NoLibrary { found, .. } = &error.kind else {
            panic!("{error:?}")
        };
        assert_eq!(found, &[format!("{name} is not a regular file")]);
    }

    #[cfg(unix)]
    #[test]
    fn file_names_that_are_not_utf8_are_read_under_their_name() {
        use std::os::unix::ffi::OsStringExt;
        let directory = directory("{id: 'a', configSchema: {}}");
        let name = OsString::from_vec(b"lib\xff.so".to_vec());
        fs::write(directory.path().join(name), "no library").unwrap();
        let error = BuildDirectory::read(directory.path()).unwrap_err();
        assert!(
            !matches!(error.kind, LoadErrorKind::Unreadable(_)),
            "{error:?}"
        );
    }

    /// Case N-13.
    #[test]
    fn fault_names_the_directory_that_was_asked_for() {
        let (cut, empty) = (
            directory("{id: 'a',"),
            directory("{id: 'b', configSchema: {}}"),
        );
        let paths = [cut.path().to_owned(), empty.path().to_owned()];
        let discovery = crate::discover(paths.clone());
        let named: Vec<&PathBuf> = discovery.faults.iter().map(|(path, _)| path).collect();
        assert_eq!(named, [&paths[0], &paths[1]]);
        assert_eq!(discovery.faults[1].1.plugin.as_deref(), Some("b"));
    }
}
