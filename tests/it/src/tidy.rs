//! The house rules that can be read off the tree: floors, and where `unsafe` may stand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The floor of each crate. A crate depends on lower floors only.
const FLOORS: [(&str, u8); 9] = [
    ("openclaw-interface", 0),
    ("openclaw-config", 0),
    ("openclaw-transcript", 1),
    ("openclaw-loader", 1),
    ("openclaw-host", 2),
    ("openclaw-archive", 2),
    ("openclaw-agent", 3),
    ("openclaw-cli", 4),
    ("openclaw-node", 4),
];

/// Crates that the plugins may see.
const PLUGINS_SEE: [&str; 3] = [
    "openclaw-interface",
    "openclaw-transcript",
    "openclaw-archive",
];

/// Where `unsafe` may stand, from the root of the tree.
const UNSAFE_FILES: &[&str] = &[
    "crates/interface/src/abi/c.rs",
    "crates/interface/src/author/export.rs",
    "crates/interface/src/author/host.rs",
    "crates/interface/src/guard.rs",
    "crates/interface/src/hosting/engine.rs",
    "crates/interface/src/model/message.rs",
    "crates/loader/src/c_door",
    "crates/loader/src/library.rs",
    "crates/node/",
    "tests/abi/",
    "tests/plugins/",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Package name to the house crates it depends on, for the packages in `folder`.
fn dependencies(folder: &str) -> BTreeMap<String, Vec<String>> {
    let directories = fs::read_dir(root().join(folder)).unwrap().flatten();
    directories
        .filter_map(|directory| fs::read_to_string(directory.path().join("Cargo.toml")).ok())
        .map(|text| {
            let manifest: toml::Table = text.parse().unwrap();
            let name = manifest["package"]["name"].as_str().unwrap().to_owned();
            let listed = manifest
                .get("dependencies")
                .and_then(toml::Value::as_table)
                .cloned()
                .unwrap_or_default();
            let house = listed
                .keys()
                .filter(|name| name.starts_with("openclaw-"))
                .cloned()
                .collect();
            (name, house)
        })
        .collect()
}

fn floor(name: &str) -> u8 {
    FLOORS
        .iter()
        .find(|(listed, _)| *listed == name)
        .unwrap_or_else(|| panic!("`{name}` has no floor"))
        .1
}

#[test]
fn crates_depend_on_lower_floors_only() {
    let crates = dependencies("crates");
    assert!(crates.len() >= 7, "{crates:?}");
    for (name, dependencies) in crates {
        for dependency in dependencies {
            assert!(
                floor(&dependency) < floor(&name),
                "`{name}` must not know `{dependency}`"
            );
        }
    }
}

#[test]
fn plugins_see_the_contract_and_pure_helpers_only() {
    for (name, dependencies) in dependencies("plugins") {
        for dependency in dependencies {
            assert!(
                PLUGINS_SEE.contains(&dependency.as_str()),
                "`{name}` must not know `{dependency}`"
            );
        }
    }
}

fn rust_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Code of a line: without its comment, and nothing for a line that is one.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .any(|found| found == word)
}

#[test]
fn unsafe_stands_only_where_the_boundary_is() {
    let root = root();
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    assert!(files.len() > 100, "only {} files found", files.len());
    for path in files {
        let place = path
            .strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        if UNSAFE_FILES
            .iter()
            .any(|allowed| place.starts_with(allowed))
            || place.ends_with("tidy.rs")
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let at = text.lines().position(|line| has_word(code(line), "unsafe"));
        assert_eq!(at.map(|line| line + 1), None, "`unsafe` in {place}");
    }
}

#[test]
fn crates_away_from_the_boundary_forbid_unsafe() {
    for name in ["config", "transcript", "host", "agent", "cli"] {
        let text = fs::read_to_string(root().join("crates").join(name).join("src/lib.rs")).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "crates/{name}");
    }
    let plugin = fs::read_to_string(root().join("plugins/window/src/lib.rs")).unwrap();
    assert!(plugin.contains("#![forbid(unsafe_code)]"), "plugins/window");
}

/// Files a reader must scroll for minutes hold a second concept.
#[test]
fn no_source_file_is_endless() {
    let mut files = Vec::new();
    rust_files(&root(), &mut files);
    for path in files {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 700, "{} has {lines} lines", path.display());
    }
}
