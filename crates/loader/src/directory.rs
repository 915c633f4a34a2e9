//! A build directory: manifest and library side by side.

use crate::error::{LoadError, LoadErrorKind};
use crate::inspect::{InspectFault, LibraryFacts, inspect};
use crate::manifest::{MANIFEST_FILE, Manifest, open_regular};
use crate::plugin::sha256_hex;
use crate::trust;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
    /// What the library says of itself.
    pub facts: LibraryFacts,
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
        let (library, bytes, facts) =
            find_library(path, &manifest.id).map_err(|error| error.of_plugin(&manifest.id))?;
        Ok(Self {
            path: path.to_owned(),
            manifest,
            library,
            bytes,
            facts,
        })
    }

    /// SHA-256 of the library, lower-case hex.
    #[must_use]
    pub fn sha256(&self) -> String {
        sha256_hex(&self.bytes)
    }

    /// Judges who may write the directory and the library.
    ///
    /// # Errors
    ///
    /// Somebody else than this user may, or the library leads out of the directory.
    pub fn check_trust(&self) -> Result<(), LoadError> {
        trust::check(&self.path, &self.library).map_err(|error| error.of_plugin(&self.manifest.id))
    }
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

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

type Found = (PathBuf, Vec<u8>, LibraryFacts);

/// The library of engine `id`. Broken files are the answer only when no other file is the engine.
fn find_library(directory: &Path, id: &str) -> Result<Found, LoadError> {
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
        let bytes = read_file(&path).map_err(|error| LoadErrorKind::Unreadable(error).at(&path))?;
        match inspect(&bytes) {
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
