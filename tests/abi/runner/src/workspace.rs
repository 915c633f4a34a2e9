//! A generated workspace: a copy of the contract and of the loader, a probe engine and a probe host, under one name.

use crate::variants::{Bump, Edit};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Problems end the run; their text is all there is to say.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// What a copy is made of: where in the tree, and what it is called in the copy.
const PARTS: [(&str, &str); 4] = [
    ("crates/interface", "interface"),
    ("crates/loader", "loader"),
    ("tests/abi/engine", "engine"),
    ("tests/abi/host", "host"),
];

/// Built in seconds rather than small or fast; what is read a lot is.
const PROFILE: &str = "
[profile.dev]
debug = false
incremental = false
panic = \"unwind\"
strip = \"symbols\"
";

/// Places of a run.
pub(crate) struct Places {
    /// Root of the source tree.
    pub(crate) root: PathBuf,
    /// Where everything made lies.
    pub(crate) work: PathBuf,
}

/// Files of a workspace, by path.
#[derive(Clone)]
pub(crate) struct Sources(BTreeMap<PathBuf, Vec<u8>>);

impl Sources {
    /// The contract as it stands in the tree.
    pub(crate) fn current(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for (from, to) in PARTS {
            read_tree(&root.join(from), Path::new(to), &mut files)?;
        }
        for (path, bytes) in &mut files {
            trim(path, bytes);
        }
        let manifest = read_text(&root.join("Cargo.toml"))?;
        files.insert(
            "Cargo.toml".into(),
            workspace_manifest(&manifest).into_bytes(),
        );
        Ok(Self(files))
    }

    /// A frozen copy.
    pub(crate) fn frozen(directory: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        read_tree(directory, Path::new(""), &mut files)?;
        Ok(Self(files))
    }

    /// `1.0.0`: the version of the contract.
    pub(crate) fn version(&self) -> Result<[u16; 3]> {
        let manifest = self.text("interface/Cargo.toml")?;
        let version = manifest
            .lines()
            .find_map(|line| line.strip_prefix("version = \""))
            .and_then(|rest| rest.split('"').next());
        let numbers: Option<Vec<u16>> = version
            .unwrap_or_default()
            .split('.')
            .map(|number| number.parse().ok())
            .collect();
        numbers
            .and_then(|numbers| <[u16; 3]>::try_from(numbers).ok())
            .ok_or_else(|| "interface/Cargo.toml has no version of three numbers".into())
    }

    fn text(&self, path: &str) -> Result<String> {
        let bytes = self
            .0
            .get(Path::new(path))
            .ok_or_else(|| format!("there is no {path}"))?;
        String::from_utf8(bytes.clone()).map_err(|_| format!("{path} is no text"))
    }

    /// Replaces the one place where `edit.find` stands.
    pub(crate) fn edit(&mut self, edit: &Edit) -> Result<()> {
        let text = self.text(edit.file)?;
        let count = text.matches(edit.find).count();
        if count != 1 {
            let (file, find) = (edit.file, edit.find);
            return Err(format!(
                "{file} has {count} places with {find:?}: the edit of this variant needs care"
            ));
        }
        self.0.insert(
            edit.file.into(),
            text.replacen(edit.find, edit.put, 1).into_bytes(),
        );
        Ok(())
    }

    /// Gives the contract another version.
    pub(crate) fn bump(&mut self, bump: Bump) -> Result<()> {
        let [major, minor, patch] = self.version()?;
        let (next, in_source) = match bump {
            Bump::None => return Ok(()),
            Bump::Minors(count) => ([major, minor + count, 0], true),
            Bump::Major => ([major + 1, 0, 0], true),
            Bump::MajorOfCrateOnly => ([major + 1, 0, 0], false),
        };
        let version = |[a, b, c]: [u16; 3]| format!("version = \"{a}.{b}.{c}\"");
        self.replace(
            "interface/Cargo.toml",
            &version([major, minor, patch]),
            &version(next),
        )?;
        self.replace(
            "Cargo.toml",
            &format!("path = \"interface\", {}", version([major, minor, patch])),
            "path = \"interface\"",
        )?;
        if in_source {
            for (name, old, new) in [("MAJOR", major, next[0]), ("MINOR", minor, next[1])] {
                let constant = |number| format!("pub const CONTRACT_{name}: u16 = {number};");
                self.replace("interface/src/lib.rs", &constant(old), &constant(new))?;
            }
        }
        Ok(())
    }

    fn replace(&mut self, file: &str, find: &str, put: &str) -> Result<()> {
        let text = self.text(file)?;
        if !text.contains(find) {
            return Err(format!("{file} lacks {find:?}"));
        }
        self.0
            .insert(file.into(), text.replacen(find, put, 1).into_bytes());
        Ok(())
    }

    /// Writes what differs below `directory`, so that nothing is built twice, and removes what is no part of it.
    pub(crate) fn write(&self, directory: &Path) -> Result<()> {
        let mut there = BTreeMap::new();
        if directory.exists() {
            read_tree(directory, Path::new(""), &mut there)?;
        }
        for path in there.keys().filter(|path| !self.0.contains_key(*path)) {
            if path != Path::new("Cargo.lock") {
                fs::remove_file(directory.join(path)).map_err(at(path))?;
            }
        }
        for (path, bytes) in &self.0 {
            if there.get(path) != Some(bytes) {
                let path = directory.join(path);
                let parent = path.parent().ok_or("a file lies in a directory")?;
                fs::create_dir_all(parent).map_err(at(parent))?;
                fs::write(&path, bytes).map_err(at(&path))?;
            }
        }
        Ok(())
    }

    /// Moves all parts into a folder of this name. Cargo tells packages of two workspaces apart by their path from the
    /// workspace's root: without it, workspaces that share a target directory would take each other's libraries.
    fn under(self, name: &str) -> Result<Self> {
        let manifest = self.text("Cargo.toml")?;
        let manifest = PARTS.iter().fold(manifest, |text, (_, part)| {
            text.replace(&format!("\"{part}\""), &format!("\"{name}/{part}\""))
        });
        let moved = self
            .0
            .into_iter()
            .map(|(path, bytes)| (Path::new(name).join(path), bytes));
        let mut files: BTreeMap<_, _> = moved.collect();
        files.remove(&Path::new(name).join("Cargo.toml"));
        files.insert("Cargo.toml".into(), manifest.into_bytes());
        Ok(Self(files))
    }

    /// Builds engine and host.
    pub(crate) fn build(mut self, name: &str, places: &Places) -> Result<Built> {
        let name = name.replace('.', "_");
        let name = name.as_str();
        for part in ["engine", "host"] {
            let manifest = format!("{part}/Cargo.toml");
            let package = |suffix: &str| format!("name = \"probe-{part}{suffix}\"");
            self.replace(&manifest, &package(""), &package(&format!("-{name}")))?;
        }
        let version = self.version()?;
        let directory = places.work.join("sources").join(name);
        self.under(name)?.write(&directory)?;
        let lock = directory.join("Cargo.lock");
        if !lock.exists() {
            fs::copy(places.root.join("Cargo.lock"), &lock).map_err(at(&lock))?;
        }
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--quiet", "--workspace", "--manifest-path"])
            .arg(directory.join("Cargo.toml"))
            .env("CARGO_TARGET_DIR", places.work.join("build"))
            .output()
            .map_err(|error| format!("cannot run cargo: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let out = places.work.join("build/debug");
        let file = format!("probe_engine_{}", name.replace('-', "_"));
        let file = format!(
            "{}{file}{}",
            std::env::consts::DLL_PREFIX,
            std::env::consts::DLL_SUFFIX
        );
        let plugin = places.work.join("plugins").join(name);
        fs::create_dir_all(&plugin).map_err(at(&plugin))?;
        let manifest = plugin.join("openclaw.plugin.json");
        fs::copy(out.join(&file), plugin.join(&file)).map_err(at(&plugin))?;
        fs::copy(
            directory.join(name).join("engine/openclaw.plugin.json"),
            &manifest,
        )
        .map_err(at(&manifest))?;
        Ok(Built {
            version,
            host: out.join(format!("probe-host-{name}{}", std::env::consts::EXE_SUFFIX)),
            plugin,
        })
    }
}

/// An engine and a host of one contract.
pub(crate) struct Built {
    pub(crate) version: [u16; 3],
    pub(crate) host: PathBuf,
    pub(crate) plugin: PathBuf,
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}

fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(at(path))
}

fn read_tree(from: &Path, to: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(from).map_err(at(from))?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let unwanted = ["target", "tests", "benches", "abi.layout"];
        if unwanted.iter().any(|other| name == *other) || name.to_string_lossy().starts_with('.') {
            continue;
        }
        let to = to.join(&name);
        if path.is_dir() {
            read_tree(&path, &to, files)?;
        } else {
            files.insert(to, fs::read(&path).map_err(at(&path))?);
        }
    }
    Ok(())
}

/// Removes what only tests of a crate need.
fn trim(path: &Path, bytes: &mut Vec<u8>) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let trimmed = if path.extension().is_some_and(|extension| extension == "rs") {
        let end = text
            .find("\n#[cfg(test)]\nmod tests {")
            .map_or(text.len(), |at| at);
        text[..end].to_owned()
    } else if path.ends_with("Cargo.toml") {
        without_sections(text, |header| {
            ["[dev-dependencies", "[[bench", "[[test"]
                .iter()
                .any(|start| header.starts_with(start))
        })
    } else {
        return;
    };
    *bytes = trimmed.into_bytes();
}

fn without_sections(text: &str, unwanted: impl Fn(&str) -> bool) -> String {
    let mut keep = true;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            keep = !unwanted(line);
        }
        if keep {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The root manifest with other members: same dependencies, other places.
fn workspace_manifest(root: &str) -> String {
    let shared = without_sections(root, |header| {
        header == "[workspace]" || header.starts_with("[profile")
    });
    let shared = shared.lines().filter(|line| {
        !line.contains("path = \"")
            || PARTS
                .iter()
                .any(|(from, _)| line.contains(&format!("\"{from}\"")))
    });
    let mut text = String::from(
        "[workspace]\nresolver = \"3\"\nmembers = [\"interface\", \"loader\", \"engine\", \"host\"]\n\n",
    );
    for line in shared {
        let line = PARTS.iter().fold(line.to_owned(), |line, (from, to)| {
            line.replace(&format!("\"{from}\""), &format!("\"{to}\""))
        });
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(PROFILE);
    text
}
