//! The contract's crate as part of a new crate: its sources, its Cargo.toml without this workspace, and the versions of
//! what both need, which lie in cargo's cache where this program was built.

use std::collections::{BTreeMap, BTreeSet};

/// Sources of the contract's crate, and its licences: path and text.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/interface.rs"));
const WORKSPACE: &str = include_str!("../../../../../../Cargo.toml");
const LOCK: &str = include_str!("../../../../../../Cargo.lock");

/// Name of the contract's crate.
pub(super) const INTERFACE: &str = "openclaw-interface";
const SEPARATOR: &str = "\n[[package]]\n";
/// What a new crate needs.
const DEPENDENCIES: [&str; 2] = [INTERFACE, "tempfile"];

/// The files of the contract's crate: path and text.
pub(super) fn files() -> Vec<(&'static str, String)> {
    let file = |&(name, text): &(&'static str, &str)| match name {
        "Cargo.toml" => (name, standalone(text)),
        _ => (name, text.to_owned()),
    };
    SOURCES.iter().map(file).collect()
}

/// A Cargo.toml of this workspace with what it inherits written out, and without what only this workspace runs.
fn standalone(text: &str) -> String {
    let mut made = String::from(
        "# The contract with OpenClaw, as the `openclaw` that made this crate has it.\n",
    );
    let mut is_kept = true;
    for line in text.lines() {
        if line.starts_with('[') {
            is_kept = !["[lints]", "[dev-dependencies]", "[[bench]]"].contains(&line);
        }
        if !is_kept {
            continue;
        }
        let inherited = line.strip_suffix(".workspace = true");
        made.push_str(inherited.and_then(of_workspace).unwrap_or(line));
        made.push('\n');
    }
    // Its tests need what only this workspace has.
    made.push_str("\n[lib]\ntest = false\ndoctest = false\n");
    made
}

/// The workspace's own line for a key.
fn of_workspace(key: &str) -> Option<&'static str> {
    let mut lines = WORKSPACE.lines();
    lines.find(|line| {
        line.strip_prefix(key)
            .is_some_and(|it| it.starts_with(" = "))
    })
}

/// The value of a key of `[workspace.package]`, with its quotes.
pub(super) fn package_value(key: &str) -> &'static str {
    let line = of_workspace(key).unwrap_or_default();
    line.split_once(" = ").map_or("\"\"", |(_, value)| value)
}

/// A package of a Cargo.lock.
struct Locked {
    name: &'static str,
    version: &'static str,
    /// Lines that say where it comes from.
    origin: Vec<&'static str>,
    /// As written: a name, with its version where there are several.
    dependencies: Vec<&'static str>,
}

/// Whether cargo would take a crate of this name for one that it needs.
pub(super) fn is_taken(name: &str) -> bool {
    needed().iter().any(|package| package.name == name)
}

/// The Cargo.lock of a new crate.
pub(super) fn lock(name: &str, version: &str) -> String {
    let packages = needed();
    // Cargo names a version only where there are several.
    let short = |dependency: &'static str| {
        let name = dependency.split(' ').next().unwrap_or_default();
        let count = packages
            .iter()
            .filter(|package| package.name == name)
            .count();
        if count > 1 { dependency } else { name }
    };
    let mut entries: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for package in &packages {
        let dependencies = package.dependencies.iter().map(|it| short(it));
        let text = entry(package.name, package.version, &package.origin, dependencies);
        entries.insert((package.name, package.version), text);
    }
    let own = entry(name, version, &[], DEPENDENCIES.into_iter());
    entries.insert((name, version), own);
    let head = LOCK.split(SEPARATOR).next().unwrap_or_default();
    let entries: String = entries.into_values().collect();
    format!("{}\n{entries}", head.trim_end())
}

fn entry<'a>(
    name: &str,
    version: &str,
    origin: &[&str],
    dependencies: impl Iterator<Item = &'a str>,
) -> String {
    let mut text = format!("{SEPARATOR}name = \"{name}\"\nversion = \"{version}\"\n");
    for line in origin {
        text.push_str(line);
        text.push('\n');
    }
    let dependencies: String = dependencies.map(|it| format!(" \"{it}\",\n")).collect();
    if !dependencies.is_empty() {
        text.push_str(&format!("dependencies = [\n{dependencies}]\n"));
    }
    text
}

/// What a new crate needs, and what that needs, out of this workspace's Cargo.lock.
fn needed() -> Vec<Locked> {
    let packages: Vec<Locked> = LOCK.split(SEPARATOR).skip(1).map(locked).collect();
    let find = |wanted: &str| {
        let (name, version) = wanted.split_once(' ').unwrap_or((wanted, ""));
        packages
            .iter()
            .position(|it| it.name == name && (version.is_empty() || it.version == version))
    };
    let mut kept = BTreeSet::new();
    let mut open: Vec<usize> = DEPENDENCIES.iter().filter_map(|name| find(name)).collect();
    while let Some(index) = open.pop() {
        if kept.insert(index) {
            let dependencies = packages[index].dependencies.iter();
            open.extend(dependencies.filter_map(|it| find(it)));
        }
    }
    let numbered = packages.into_iter().enumerate();
    numbered
        .filter_map(|(index, package)| kept.contains(&index).then_some(package))
        .collect()
}

fn locked(text: &'static str) -> Locked {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.map_or("", |value| value.trim_matches('"'))
    };
    let name = value("name = ");
    let is_origin = |line: &&str| line.starts_with("source = ") || line.starts_with("checksum = ");
    let mut dependencies: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix(" \"")?.strip_suffix("\","))
        .collect();
    if name == INTERFACE {
        // Its own tests are not run in a new crate.
        dependencies.retain(|it| interface_dependencies().any(|used| used == *it));
    }
    Locked {
        name,
        version: value("version = "),
        origin: text.lines().filter(is_origin).collect(),
        dependencies,
    }
}

/// What the contract's crate needs, its tests aside.
fn interface_dependencies() -> impl Iterator<Item = &'static str> {
    let cargo_toml = SOURCES.iter().find(|(name, _)| *name == "Cargo.toml");
    let lines = cargo_toml.map_or("", |(_, text)| text).lines();
    let after = lines.skip_while(|line| *line != "[dependencies]").skip(1);
    let own = after.take_while(|line| !line.starts_with('['));
    own.filter_map(|line| line.split_once('.').map(|(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_stands_alone_with_the_versions_of_this_workspace() {
        let files = files();
        let find = |name: &str| &files.iter().find(|(it, _)| *it == name).unwrap().1;
        let cargo_toml: toml::Value = toml::from_str(find("Cargo.toml")).unwrap();
        let package = &cargo_toml["package"];
        assert_eq!(package["name"].as_str(), Some(INTERFACE));
        assert_eq!(package["edition"].as_str(), Some("2024"));
        assert_eq!(
            cargo_toml["dependencies"]["abi_stable"]["version"].as_str(),
            Some("=0.11.3")
        );
        for absent in ["dev-dependencies", "lints", "bench"] {
            assert!(cargo_toml.get(absent).is_none(), "{absent}");
        }
        assert_eq!(cargo_toml["lib"]["doctest"].as_bool(), Some(false));
        assert!(!find("Cargo.toml").contains("workspace"));
        assert!(find("src/abi/object.rs").contains("sabi_trait"));
    }

    #[test]
    fn lock_is_closed_and_sorted_and_holds_nothing_else() {
        let lock: toml::Value = toml::from_str(&lock("demo", "0.1.0")).unwrap();
        let packages = lock["package"].as_array().unwrap();
        let names: Vec<_> = packages
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert!(names.is_sorted(), "{names:?}");
        let mut used: BTreeSet<&str> = BTreeSet::from(["demo"]);
        for package in packages {
            let dependencies = package.get("dependencies").and_then(|it| it.as_array());
            for dependency in dependencies.into_iter().flatten() {
                used.insert(dependency.as_str().unwrap().split(' ').next().unwrap());
            }
        }
        assert_eq!(used, names.iter().copied().collect());
        assert!(!used.contains("trybuild"));
    }
}
