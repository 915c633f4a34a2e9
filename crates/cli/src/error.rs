//! Errors as a person meets them: what failed, why, and what to do next.

use openclaw_agent::SettingsError;
use openclaw_config::{ConfigError, EditError, PathsError, PlaceholderError, WriteError};
use openclaw_host::{StoreError, TurnError};
use openclaw_loader::LoadError;
use std::error::Error;
use std::fmt;

/// An error with its causes in one line and the next step in another.
#[derive(Debug)]
pub struct CliError {
    text: String,
    help: Option<String>,
    code: Option<&'static str>,
    exit_code: u8,
}

impl CliError {
    /// An error of the command itself.
    pub(crate) fn new(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            help: Some(help.into()),
            code: None,
            exit_code: 1,
        }
    }

    /// An error whose causes are joined into its text.
    pub(crate) fn caused(error: &dyn Error, help: impl Into<String>) -> Self {
        Self::new(chain(error), help)
    }

    /// Something with a file that the system refused.
    pub(crate) fn io(what: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::new(
            format!("cannot {what} {}: {error}", path.display()),
            "check the path and its permissions",
        )
    }

    /// The same with a stable code.
    pub(crate) fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// The same for a command line that cannot be understood.
    pub(crate) fn wrong_usage(mut self) -> Self {
        self.exit_code = 2;
        self
    }

    /// What the process exits with.
    pub(crate) fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// What to do next.
    pub(crate) fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The error as a JSON document.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "ok": false, "error": { "message": self.text, "help": self.help, "code": self.code } })
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for CliError {}

/// An error and its causes, joined by colons. A cause that only repeats what stands there is left out.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

impl From<PathsError> for CliError {
    fn from(error: PathsError) -> Self {
        Self {
            exit_code: 2,
            ..Self::caused(&error, error.help()).code(error.code())
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::caused(&error, error.help()).code(error.code())
    }
}

impl From<EditError> for CliError {
    fn from(error: EditError) -> Self {
        Self::caused(&error, error.help()).code(error.code())
    }
}

impl From<WriteError> for CliError {
    fn from(error: WriteError) -> Self {
        Self::caused(&error, error.help()).code(error.code())
    }
}

impl From<PlaceholderError> for CliError {
    fn from(error: PlaceholderError) -> Self {
        Self::caused(&error, error.help()).code(error.code())
    }
}

impl From<LoadError> for CliError {
    fn from(error: LoadError) -> Self {
        Self::caused(&error, error.help()).code(error.code())
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::caused(&error, error.help())
    }
}

impl From<TurnError> for CliError {
    fn from(error: TurnError) -> Self {
        Self::caused(&error, error.help())
    }
}

impl From<SettingsError> for CliError {
    fn from(error: SettingsError) -> Self {
        Self::caused(&error, error.help())
    }
}
