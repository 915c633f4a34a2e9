//! A workspace in a temporary directory and the tools on it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use openclaw_host::{Cancel, Tools};
use serde_json::Value;

use super::{ToolSet, ToolSettings};
use crate::workspace::Workspace;

pub(super) struct Bench {
    pub(super) home: tempfile::TempDir,
    pub(super) settings: ToolSettings,
    pub(super) tools: ToolSet,
    pub(super) cancel: Cancel,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(set: impl FnOnce(&mut ToolSettings)) -> Self {
        let home = tempfile::tempdir().unwrap();
        for name in ["ws", "skills"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        let open = |name| Workspace::open(&home.path().join(name)).unwrap();
        let mut settings = ToolSettings {
            workspace: open("ws"),
            readable: vec![open("skills")],
            home: Some(home.path().to_owned()),
            environment: std::env::vars_os().collect(),
            secrets: Vec::new(),
            exec_timeout: Duration::from_secs(60),
        };
        set(&mut settings);
        let tools = ToolSet::new(&settings, |_| true);
        Self {
            home,
            settings,
            tools,
            cancel: Cancel::new(),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("ws").join(name)
    }

    pub(super) fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.home.path().join("ws")).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[track_caller]
    pub(super) fn ok(&mut self, tool: &str, arguments: Value) -> String {
        let outcome = self.tools.run(tool, &arguments, &self.cancel);
        assert!(!outcome.is_error, "{}", outcome.text);
        outcome.text
    }

    #[track_caller]
    pub(super) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let outcome = self.tools.run(tool, &arguments, &self.cancel);
        assert!(outcome.is_error, "{}", outcome.text);
        outcome.text
    }
}
