//! `install --build`: from whatever the user named to a build directory that was just made.

use super::build;
use super::source::{crate_of_engine, engine_crates};
use super::text::word;
use crate::error::CliError;
use crate::output::Output;
use openclaw_loader::{BuildDirectory, MANIFEST_FILE, engines_in};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Builds the engine that `path` (absolute) means, and returns its build directory. A path that is one already is only
/// looked up: the crate it was made from is found through cargo's target directory above it.
pub(super) fn build(path: &Path, output: &mut Output) -> Result<PathBuf, CliError> {
    let crate_dir = crate_dir(path)?;
    if crate_dir != path {
        output.talk(&format!("the engine's crate is {}", crate_dir.display()));
    }
    Ok(build::make(&crate_dir, None, output)?.directory)
}

/// The crate to build: the path itself, the only engine of a workspace, or the one whose engine lies in a target
/// directory.
fn crate_dir(path: &Path) -> Result<PathBuf, CliError> {
    let is_crate = path.join("Cargo.toml").is_file();
    if is_crate && path.join(MANIFEST_FILE).exists() {
        return Ok(path.to_owned());
    }
    let crates: Vec<(String, PathBuf)> = if is_crate {
        engine_crates(path)
    } else {
        let engines = BuildDirectory::read(path).map(|plugin| plugin.manifest.id);
        let engines: BTreeSet<String> = match engines {
            Ok(id) => BTreeSet::from([id]),
            Err(_) => engines_in(path).into_iter().map(|(_, id)| id).collect(),
        };
        let found = engines.into_iter();
        found
            .filter_map(|id| crate_of_engine(path, &id).map(|crate_dir| (id, crate_dir)))
            .collect()
    };
    match crates.as_slice() {
        [(_, only)] => Ok(only.clone()),
        // What is missing, building the path itself tells best.
        [] if is_crate || !path.is_dir() => Ok(path.to_owned()),
        [] => Err(CliError::new(
            format!(
                "nothing to build at {}: no crate of an engine is there or above it",
                path.display()
            ),
            "name the engine's crate, or make one: `openclaw plugins init <id>`",
        )),
        several => {
            let found: Vec<_> = several
                .iter()
                .map(|(id, at)| format!("`{id}` in {}", at.display()))
                .collect();
            let first = several.first().map_or(path, |(_, at)| at);
            Err(CliError::new(
                format!(
                    "{} holds several engines: {}",
                    path.display(),
                    found.join(", ")
                ),
                format!(
                    "name one, such as `openclaw plugins install -l {} --build`",
                    word(first)
                ),
            ))
        }
    }
}
