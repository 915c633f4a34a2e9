//! A temporary home with the plugins of a case, in which its command lines are run.

use super::cases::{Case, Made};
use super::edits;
use crate::support::Tally;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MANIFEST: &str = "openclaw.plugin.json";

/// What a plugin is made of, there and here.
const FILES_OF_A_BUILD: [&str; 2] = ["index.js", "package.json"];

pub(super) struct Player {
    root: tempfile::TempDir,
    spaced: Option<&'static str>,
}

pub(super) struct Ran {
    pub(super) succeeded: bool,
    pub(super) said: String,
}

impl Player {
    pub(super) fn new(case: &Case) -> Self {
        let player = Self {
            root: tempfile::tempdir().expect("a temporary directory can be made"),
            spaced: case
                .plugins
                .iter()
                .map(|it| it.0)
                .find(|name| name.contains(' ')),
        };
        fs::create_dir_all(player.work().join("sub")).expect("a directory can be made");
        for (name, made) in case.plugins {
            make(&player.directory(name), *made);
        }
        player
    }

    fn root(&self) -> PathBuf {
        let root = self.root.path().canonicalize();
        root.expect("a temporary directory is there")
    }

    fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    fn config_path(&self) -> PathBuf {
        self.home().join(".openclaw/openclaw.json")
    }

    /// Where a path of a command line leads.
    fn directory(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(below) => self.home().join(below),
            None => self.work().join(name),
        }
    }

    fn config(&self) -> Value {
        let text = fs::read_to_string(self.config_path()).unwrap_or_else(|_| "{}".to_owned());
        serde_json::from_str(&text).expect("what was written into a new file is strict JSON")
    }

    pub(super) fn plugins_section(&self) -> Value {
        self.config().get("plugins").cloned().unwrap_or_default()
    }

    /// A captured section with the paths of this home.
    pub(super) fn captured(&self, section: &Value) -> Value {
        let text = section.to_string();
        let text = text.replace("<work>", &self.work().display().to_string());
        let text = text.replace("<home>", &self.home().display().to_string());
        serde_json::from_str(&text).expect("paths of a temporary home need no escapes")
    }

    pub(super) fn edit(&self, statements: &str) {
        let mut config = self.config();
        edits::apply(&mut config, statements);
        let path = self.config_path();
        fs::create_dir_all(path.parent().expect("a file lies in a directory"))
            .expect("the state directory can be made");
        fs::write(path, config.to_string()).expect("the configuration can be written");
    }

    /// The words of a command line, which was captured without its quotes.
    fn words(&self, line: &str) -> Vec<String> {
        let split = |part: &str| -> Vec<String> {
            part.split_whitespace()
                .map(|word| match word.strip_prefix("~/") {
                    Some(below) => self.home().join(below).display().to_string(),
                    None => word.to_owned(),
                })
                .collect()
        };
        match self.spaced.and_then(|name| line.split_once(name)) {
            None => split(line),
            Some((before, after)) => {
                let spaced = self.spaced.unwrap_or_default().to_owned();
                [
                    split(before.trim_end_matches("./")),
                    vec![spaced],
                    split(after),
                ]
                .concat()
            }
        }
    }

    pub(super) fn run(&self, command: &str) -> Ran {
        let words = self.words(command);
        let is_below = words.iter().any(|word| word.starts_with("../"));
        let output = Command::new(openclaw())
            .args(&words[1..])
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("OPENCLAW_HOME", self.home())
            .current_dir(self.work().join(if is_below { "sub" } else { "" }))
            .output()
            .expect("the command can be run");
        let said = [output.stdout, output.stderr].concat();
        Ran {
            succeeded: output.status.success(),
            said: String::from_utf8_lossy(&said).into_owned(),
        }
    }

    /// Does what a command of the shell did, or compares what it showed.
    pub(super) fn shell(&self, name: &str, command: &str, printed: &[String], tally: &mut Tally) {
        match command.split_whitespace().collect::<Vec<_>>()[..] {
            ["mv", from, to] => fs::rename(self.directory(from), self.directory(to))
                .expect("a directory can be moved"),
            ["touch", file] => fs::write(self.directory(file), "").expect("a file can be made"),
            ["ls", directory] | ["ls", "-a", directory] => {
                let captured = printed.iter().map(String::as_str);
                let shown = captured.filter(|it| !FILES_OF_A_BUILD.contains(it));
                let shown = shown.filter(|it| !["", ".", ".."].contains(it));
                let shown: BTreeSet<String> = shown.map(str::to_owned).collect();
                tally.same(name, "names", shown, names(&self.directory(directory)));
            }
            _ => panic!("{name}: no way to play it and no reason why not"),
        }
    }
}

/// The names in a directory, without the library of a build; none when it is not there.
fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with(std::env::consts::DLL_SUFFIX))
        .collect()
}

/// The command, as cargo builds it beside a suite.
fn openclaw() -> PathBuf {
    let suite = std::env::current_exe().expect("a test knows its own path");
    let profile = suite
        .ancestors()
        .nth(2)
        .expect("a test lies in its profile");
    let name = format!("examples/openclaw-command{}", std::env::consts::EXE_SUFFIX);
    let path = profile.join(name);
    assert!(
        path.exists(),
        "{} is not built: cargo builds it with all tests of this package, not for a filter or --lib",
        path.display()
    );
    path
}

/// Makes a build directory.
fn make(directory: &Path, made: Made) {
    fs::create_dir_all(directory).expect("a directory can be made");
    let manifest = match made {
        Made::Engine(id) => Some(manifest(id, "context-engine", json!({ "type": "object" }))),
        Made::Kind(id, kind) => Some(manifest(id, kind, json!({ "type": "object" }))),
        Made::Settings(id, schema) => {
            let schema = serde_json::from_str(schema).expect("a schema of a case is JSON");
            Some(manifest(id, "context-engine", schema))
        }
        Made::Manifest(_, text) | Made::NoLibrary(text) => Some(text.to_owned()),
        Made::NoManifest => None,
    };
    if let Some(text) = manifest {
        fs::write(directory.join(MANIFEST), text).expect("a manifest can be written");
    }
    let id = match made {
        Made::NoLibrary(_) => return,
        Made::NoManifest => "window",
        Made::Engine(id) | Made::Kind(id, _) | Made::Settings(id, _) | Made::Manifest(id, _) => id,
    };
    let library = ::support::library("window");
    let mut bytes = fs::read(&library).expect("a library can be read");
    rename(&mut bytes, id);
    let name = library.file_name().expect("a library has a name");
    fs::write(directory.join(name), bytes).expect("a library can be written");
}

fn manifest(id: &str, kind: &str, schema: Value) -> String {
    json!({ "id": id, "kind": kind, "version": "0.1.0", "configSchema": schema }).to_string()
}

/// Writes another engine id into the note of a library. Enough for all that runs no engine.
fn rename(library: &mut [u8], id: &str) {
    const OWNER: &[u8] = b"OpenClaw\0\0\0\0OCENGINE";
    const ID: std::ops::Range<usize> = 92..220;
    let note = library.windows(OWNER.len()).position(|at| at == OWNER);
    let note = note.expect("a library has a note");
    let place = &mut library[note..][ID];
    place.fill(0);
    place[..id.len()].copy_from_slice(id.as_bytes());
}
