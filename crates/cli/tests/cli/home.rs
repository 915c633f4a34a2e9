//! A temporary home, and the real command run in it.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A temporary directory with a home and a current directory for the command.
pub(crate) struct Home {
    root: tempfile::TempDir,
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    /// A home in which nothing has happened.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory can be made");
        fs::create_dir(root.path().join("here")).expect("a directory can be made");
        Self { root }
    }

    /// The same home, in which the window engine has been probed already, as far as it has its default settings: probing
    /// takes seconds.
    pub(crate) fn probed(self) -> Self {
        for (name, verdict) in window_verdicts() {
            write(&self.probes().join(name), verdict);
        }
        self
    }

    fn probes(&self) -> PathBuf {
        self.state_dir().join("native/probes")
    }

    /// A path in the current directory of the command.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("here").join(name)
    }

    /// The state directory. It is made by the command.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.root.path().join("home/.openclaw")
    }

    pub(crate) fn config_path(&self) -> PathBuf {
        self.state_dir().join("openclaw.json")
    }

    /// The config's text; `None` when there is no file.
    pub(crate) fn config(&self) -> Option<String> {
        fs::read_to_string(self.config_path()).ok()
    }

    pub(crate) fn config_json(&self) -> Value {
        let text = self.config().expect("there is a config");
        serde_json::from_str(&text).expect("the config is strict JSON")
    }

    pub(crate) fn write_config(&self, text: &str) {
        write(&self.config_path(), text);
    }

    /// The command, with nothing of this process's environment but the search path.
    pub(crate) fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openclaw"));
        command
            .args(args)
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("OPENCLAW_HOME", self.root.path().join("home"))
            .current_dir(self.root.path().join("here"));
        command
    }

    /// Runs a command line given as words with single spaces between them.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.finish(&mut self.command(line.split(' ')))
    }

    /// Runs a command to its end. The temporary directory is shown as `~~`.
    pub(crate) fn finish(&self, command: &mut Command) -> Ran {
        let output = command.output().expect("the command can be run");
        let root = self.root.path().display().to_string();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&root, "~~");
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

/// Links the test engine `unruly`, selects it as `slot` and gives it `settings`.
pub(crate) fn select_unruly(home: &Home, slot: &str, settings: Value) -> PathBuf {
    select(home, "unruly", slot, settings)
}

/// Links test engine `name`, selects it as `slot` and gives it `settings`; by hand, so that it is not probed.
pub(crate) fn select(home: &Home, name: &str, slot: &str, settings: Value) -> PathBuf {
    let directory = support::build_directory(name, &home.path("plugins"));
    let config = serde_json::json!({ "plugins": {
        "load": { "paths": [directory] },
        "slots": { "contextEngine": slot },
        "entries": { (name): { "enabled": true, "config": settings } },
    } });
    home.write_config(&config.to_string());
    directory
}

impl Ran {
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, 0, "{self:#?}");
        self
    }

    /// Wrong usage: exit code 2.
    #[track_caller]
    pub(crate) fn refused(self) -> Self {
        assert_eq!(self.code, 2, "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn fails(self) -> Self {
        assert_eq!(self.code, 1, "{self:#?}");
        self
    }

    /// Whether stdout or stderr holds each of the texts.
    #[track_caller]
    pub(crate) fn shows(self, texts: &[&str]) -> Self {
        for text in texts {
            let shown = self.stdout.contains(text) || self.stderr.contains(text);
            assert!(shown, "{text:?} is not shown: {self:#?}");
        }
        self
    }

    /// Stdout, which must be one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// Writes a file and the directories it needs.
pub(crate) fn write(path: &Path, text: &str) {
    let directory = path.parent().expect("a file lies in a directory");
    fs::create_dir_all(directory).expect("a directory can be made");
    fs::write(path, text).expect("a file can be written");
}

/// What probing the window engine found, by file name; probed once.
fn window_verdicts() -> &'static [(String, String)] {
    static VERDICTS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    VERDICTS.get_or_init(|| {
        let home = Home::new();
        let plugin = support::build_directory("window", &home.path("plugins"));
        let link = [
            "plugins".as_ref(),
            "install".as_ref(),
            "-l".as_ref(),
            plugin.as_os_str(),
        ];
        home.finish(&mut home.command(link)).succeeds();
        let files = fs::read_dir(home.probes()).expect("a verdict was kept");
        let read = files.flatten().map(|file| {
            let text = fs::read_to_string(file.path()).expect("a verdict is text");
            (file.file_name().to_string_lossy().into_owned(), text)
        });
        read.collect()
    })
}
