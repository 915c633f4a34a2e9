//! Finds the plugins that cargo has built beside this test.

use openclaw_loader::{Libraries, LoadError, Plugin, Trust, Vetted};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The library of plugin `name` as cargo built it for this profile: an ordinary dependency of this crate. Copy it before
/// breaking or replacing it.
///
/// # Panics
///
/// Cargo built no such library.
#[must_use]
pub fn library(name: &str) -> PathBuf {
    let file = format!(
        "{}{name}{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let test = std::env::current_exe().expect("a test knows its own path");
    let directories = test
        .ancestors()
        .skip(1)
        .take(2)
        .flat_map(|dir| [dir.join("deps"), dir.to_owned()]);
    let candidates: Vec<_> = directories.map(|dir| dir.join(&file)).collect();
    candidates
        .iter()
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("none of {candidates:?} exists"))
        .clone()
}

/// A build directory of plugin `name` below `parent`: a copy of the library and of its manifest.
///
/// # Panics
///
/// As [`library`], or when it cannot be written.
#[must_use]
pub fn build_directory(name: &str, parent: &Path) -> PathBuf {
    let directory = parent.join(name);
    let library = library(name);
    fs::create_dir_all(&directory).expect("a temporary directory can be made");
    let target = directory.join(library.file_name().expect("a library has a name"));
    fs::copy(&library, target).expect("a library can be copied");
    fs::copy(manifest(name), directory.join("openclaw.plugin.json"))
        .expect("a manifest can be copied");
    directory
}

/// Loads the plugin in a build directory, without settings, from a private copy beside the directory.
///
/// # Errors
///
/// As [`Vetted::read`] and [`Vetted::load`].
///
/// # Panics
///
/// The directory has no parent.
pub fn load(directory: &Path) -> Result<Plugin, LoadError> {
    let parent = directory
        .parent()
        .expect("a build directory lies in a home");
    let libraries = Libraries::below(&parent.join("private"));
    Vetted::read(directory, &Value::Null, &Trust::default())?.load(&libraries)
}

fn manifest(name: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = ["plugins", "tests/plugins"].map(|place| {
        workspace
            .join(place)
            .join(name)
            .join("openclaw.plugin.json")
    });
    places
        .iter()
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("none of {places:?} exists"))
        .clone()
}
