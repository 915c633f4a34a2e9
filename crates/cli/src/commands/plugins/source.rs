//! Reads the build directory that a command names. Says what to do when it is another one than meant.

use super::text::{file_name, word};
use crate::error::CliError;
use openclaw_loader::{
    BuildDirectory, LoadError, LoadErrorKind, MANIFEST_FILE, Manifest, Trust, engine_in, engines_in,
};
use std::fs;
use std::path::{Path, PathBuf};

const BUILD_SOME_CRATE: &str =
    "make a build directory with `openclaw plugins build <crate>` and link that";

/// Reads, inspects and judges the build directory at `path` (absolute).
pub(super) fn read(path: &Path, trust: &Trust) -> Result<BuildDirectory, CliError> {
    let read = BuildDirectory::read(path).and_then(|plugin| {
        plugin.check_trust(trust)?;
        Ok(plugin)
    });
    read.map_err(|error| match better_help(&error, path) {
        Some(help) => CliError::caused(&error, help).code(error.code()),
        None => error.into(),
    })
}

/// What to do, where the path itself tells more than the error does.
fn better_help(error: &LoadError, path: &Path) -> Option<String> {
    match &error.kind {
        LoadErrorKind::NotADirectory => of_file(path),
        LoadErrorKind::NoManifest { .. } => Some(
            of_crate(path)
                .or_else(|| of_libraries(path))
                .unwrap_or_else(|| error.help()),
        ),
        LoadErrorKind::NoLibrary { .. } => of_crate(path),
        _ => None,
    }
}

/// A library was named instead of the directory it is in.
fn of_file(path: &Path) -> Option<String> {
    let engine = engine_in(path)?;
    let parent = path.parent()?;
    if Manifest::read(parent).is_ok_and(|manifest| manifest.id == engine) {
        return Some(format!("name its directory: {}", install(parent)));
    }
    Some(format!(
        "it brings engine `{engine}`; {}",
        build_then_link(path, &engine)
    ))
}

/// The path is a crate or a workspace.
fn of_crate(path: &Path) -> Option<String> {
    let cargo_toml = path.join("Cargo.toml");
    if !cargo_toml.is_file() {
        return None;
    }
    let cargo_toml = fs::read_to_string(cargo_toml).ok()?;
    if path.join(MANIFEST_FILE).exists() {
        return Some(format!(
            "this is a crate: run {}, then link the directory it names, or do both with `openclaw plugins install -l {} \
             --build`",
            build(path),
            word(path)
        ));
    }
    if !cargo_toml.lines().any(|line| line.trim() == "[workspace]") {
        return Some(format!(
            "this is a crate: write {MANIFEST_FILE} beside its Cargo.toml, run {}, then link the directory it names",
            build(path)
        ));
    }
    let crates: Vec<String> = engine_crates(path)
        .iter()
        .map(|(_, path)| build(path))
        .collect();
    Some(match crates.as_slice() {
        [] => "this is a workspace: run `openclaw plugins build <crate>` for the engine's crate, then link the \
               directory it names"
            .to_owned(),
        crates => format!(
            "this is a workspace: run {}, then link the directory it names",
            crates.join(" or ")
        ),
    })
}

/// The path holds engine libraries, as cargo's target directory does, and no manifest.
fn of_libraries(path: &Path) -> Option<String> {
    let engines = engines_in(path);
    let (_, first) = engines.first()?;
    let found: Vec<String> = engines
        .iter()
        .map(|(file, engine)| {
            let name = file.strip_prefix(path).unwrap_or(file).display();
            format!("{name} brings engine `{engine}`")
        })
        .collect();
    let mut steps: Vec<String> = engines
        .iter()
        .map(|(_, engine)| build_then_link(path, engine))
        .collect();
    steps.dedup();
    if steps.iter().all(|step| step == BUILD_SOME_CRATE) {
        steps.push(format!(
            r#"write {MANIFEST_FILE} beside the library, such as {{"id": "{first}", "kind": "context-engine", "configSchema": {{"type": "object", "additionalProperties": false}}}}"#
        ));
    }
    Some(format!("{}; {}", found.join(", "), steps.join("; or ")))
}

/// How to get a build directory of `engine`, whose library lies at or below `path`.
fn build_then_link(path: &Path, engine: &str) -> String {
    // Where `plugins build` puts it: <target directory>/openclaw/<engine id>.
    let made = path
        .ancestors()
        .take(3)
        .map(|target| target.join("openclaw").join(engine))
        .find(|made| BuildDirectory::read(made).is_ok());
    if let Some(made) = made {
        return format!(
            "the build directory of `{engine}` is there: {}",
            install(&made)
        );
    }
    match crate_of_engine(path, engine) {
        Some(own) => format!(
            "make a build directory of `{engine}` with {} and link that, or do both with `openclaw plugins install -l {} \
             --build`",
            build(&own),
            word(&own)
        ),
        None => BUILD_SOME_CRATE.into(),
    }
}

/// The crate of an engine whose library or build directory lies at or below `path`.
pub(super) fn crate_of_engine(path: &Path, engine: &str) -> Option<PathBuf> {
    let mut crates = path.ancestors().take(5).flat_map(engine_crates);
    crates.find(|(id, _)| id == engine).map(|(_, path)| path)
}

/// Crates with a manifest, one or two levels below a directory with a Cargo.toml, and the directory itself: engine id and path.
pub(super) fn engine_crates(root: &Path) -> Vec<(String, PathBuf)> {
    if !root.join("Cargo.toml").exists() {
        return Vec::new();
    }
    let is_looked_into = |path: &PathBuf| {
        let name = file_name(path);
        path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules"
    };
    let mut places: Vec<PathBuf> = children(root).into_iter().filter(is_looked_into).collect();
    let deeper: Vec<PathBuf> = places
        .iter()
        .flat_map(|place| children(place))
        .filter(is_looked_into)
        .collect();
    places.extend(deeper);
    places.insert(0, root.to_owned());
    places
        .into_iter()
        .filter(|place| place.join("Cargo.toml").exists())
        .filter_map(|place| Some((Manifest::read(&place).ok()?.id, place)))
        .collect()
}

fn children(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn install(path: &Path) -> String {
    format!("`openclaw plugins install -l {}`", word(path))
}

fn build(path: &Path) -> String {
    format!("`openclaw plugins build {}`", word(path))
}
