//! Runs the `openclaw` command, which is this program started again.

use crate::answer::{Answer, Document};
use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Set for a process of this program that has to be the command.
const MARKER: &str = "TOUR_IS_OPENCLAW";

/// Whether this process was started to be the command.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(MARKER).is_some()
}

/// The command in a home of its own.
#[derive(Debug)]
pub(crate) struct Openclaw {
    program: PathBuf,
    workspace: PathBuf,
    current_dir: PathBuf,
    home: PathBuf,
}

impl Openclaw {
    pub(crate) fn new(home: &Path) -> Result<Self, Failure> {
        let find = |what: &str, found: std::io::Result<PathBuf>| {
            found.map_err(|error| Failure::new(format!("cannot find {what}: {error}")))
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Ok(Self {
            program: find("this program", std::env::current_exe())?,
            workspace: find("the source tree it was built from", source.canonicalize())?,
            current_dir: find("the current directory", std::env::current_dir())?,
            home: find("the temporary home", home.canonicalize())?,
        })
    }

    /// The session that comes with the tour.
    pub(crate) fn own_session(&self) -> PathBuf {
        self.workspace.join("examples/tour/data/allotment.jsonl")
    }

    /// A path in the temporary home.
    pub(crate) fn at_home(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    /// `openclaw.json` of the temporary home.
    pub(crate) fn config_path(&self) -> PathBuf {
        self.at_home(".openclaw/openclaw.json")
    }

    /// A path of the user's, which starts where the tour was started. The command runs in the source tree.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.current_dir.join(path)
    }

    /// Runs a command that has to succeed, with `--json`.
    pub(crate) fn json(&self, args: &[OsString]) -> Result<Document, Failure> {
        let mut command = self.command(args);
        command.arg("--json");
        self.run(command, args)?.document()
    }

    /// Like [`json`](Self::json), with stderr shown: what cargo does takes its time.
    pub(crate) fn slow_json(&self, args: &[OsString]) -> Result<Document, Failure> {
        let mut command = self.command(args);
        command.arg("--json").stderr(Stdio::inherit());
        self.run(command, args)?.document()
    }

    /// Runs a command for the text it prints.
    pub(crate) fn text(&self, args: &[OsString]) -> Result<Answer, Failure> {
        self.run(self.command(args), args)
    }

    fn run(&self, mut command: Command, args: &[OsString]) -> Result<Answer, Failure> {
        let shown = self.shown(args);
        let output = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Failure::new(format!("cannot run `{shown}`: {error}")))?;
        Ok(Answer {
            command: shown,
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// The command in the temporary home, with nothing of the user's settings and with the user's cargo.
    fn command(&self, args: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .current_dir(&self.workspace)
            .stderr(Stdio::piped());
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_foreign(name)) {
            command.env_remove(name);
        }
        if let Some(home) = std::env::home_dir() {
            for (name, directory) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
                if std::env::var_os(name).is_none() {
                    command.env(name, home.join(directory));
                }
            }
        }
        command
            .env("HOME", &self.home)
            .env("OPENCLAW_HOME", &self.home)
            .env("OPENCLAW_LOG", "error,plugin=info")
            .env("NO_COLOR", "1")
            .env(MARKER, "1");
        command
    }

    /// A command as a person types it: `~` for the home, paths of the source tree relative.
    pub(crate) fn shown(&self, args: &[OsString]) -> String {
        let words = args.iter().map(|arg| {
            let word = self.tidy(&arg.to_string_lossy());
            let is_plain = |c: char| c.is_alphanumeric() || "~/._-:=@,+".contains(c);
            if !word.is_empty() && word.chars().all(is_plain) {
                word
            } else {
                format!("'{}'", word.replace('\'', r"'\''"))
            }
        });
        let words: Vec<String> = std::iter::once("openclaw".to_owned())
            .chain(words)
            .collect();
        words.join(" ")
    }

    /// A text with `~` for the home and without the way to the source tree.
    pub(crate) fn tidy(&self, text: &str) -> String {
        let home = self.home.display().to_string();
        let workspace = format!("{}/", self.workspace.display());
        text.replace(&home, "~").replace(&workspace, "")
    }
}

/// Settings of the user's own OpenClaw, and what `cargo run` says of the tour's package.
fn is_foreign(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    ["OPENCLAW_", "CARGO_PKG_", "CARGO_MANIFEST_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// The words of a command.
pub(crate) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<OsString> {
    words.into_iter().map(OsString::from).collect()
}
