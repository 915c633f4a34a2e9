//! Which engines lie in a directory, whatever kind of directory it is. Asks their notes, runs nothing.

use crate::directory::read_file;
use crate::inspect::inspect;
use std::fs;
use std::path::{Path, PathBuf};

/// Where cargo puts libraries in its target directory.
const PROFILES: [&str; 3] = ["", "debug", "release"];

/// The engine that a library brings; `None` for any other file.
#[must_use]
pub fn engine_in(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_string_lossy();
    if !name.ends_with(std::env::consts::DLL_SUFFIX) {
        return None;
    }
    let facts = inspect(&read_file(file).ok()?).ok()?;
    Some(facts.note.engine_id)
}

/// The engine libraries in a directory and, when it is cargo's target directory, in those of its profiles: each file, and
/// the engine it brings. Sorted by profile and name.
#[must_use]
pub fn engines_in(directory: &Path) -> Vec<(PathBuf, String)> {
    let places = PROFILES.iter().map(|profile| directory.join(profile));
    let files = places.flat_map(|place| {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    });
    files
        .filter_map(|file| engine_in(&file).map(|engine| (file, engine)))
        .collect()
}
