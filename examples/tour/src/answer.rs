//! What the command answered.

use crate::failure::Failure;
use serde_json::Value;

/// Exit code and output of one command.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The command as a person types it.
    pub(crate) command: String,
    /// The exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The JSON document of a command.
#[derive(Debug)]
pub(crate) struct Document {
    command: String,
    pub(crate) value: Value,
    pub(crate) stderr: String,
}

impl Answer {
    /// The document of a command that succeeded.
    pub(crate) fn document(self) -> Result<Document, Failure> {
        let document: Option<Value> = serde_json::from_str(&self.stdout).ok();
        match (self.code, document) {
            (Some(0), Some(value)) => Ok(Document {
                command: self.command,
                value,
                stderr: self.stderr,
            }),
            (_, document) => Err(self.failure(document.as_ref())),
        }
    }

    /// Why the command failed, in its own words.
    fn failure(&self, document: Option<&Value>) -> Failure {
        let told = |key: &str| document?.pointer(&format!("/error/{key}"))?.as_str();
        let code = self.code.map_or("a signal".into(), |code| code.to_string());
        let why = told("message").unwrap_or(self.stderr.trim());
        let failure = Failure::new(format!("`{}` ended with {code}: {why}", self.command));
        match told("help") {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}

impl Document {
    /// The text at a JSON pointer.
    pub(crate) fn text(&self, pointer: &str) -> Result<&str, Failure> {
        let found = self.value.pointer(pointer).and_then(Value::as_str);
        found.ok_or_else(|| self.lacks(pointer, "text"))
    }

    /// The number at a JSON pointer.
    pub(crate) fn number(&self, pointer: &str) -> Result<u64, Failure> {
        let found = self.value.pointer(pointer).and_then(Value::as_u64);
        found.ok_or_else(|| self.lacks(pointer, "number"))
    }

    /// The truth value at a JSON pointer.
    pub(crate) fn is(&self, pointer: &str) -> Result<bool, Failure> {
        let found = self.value.pointer(pointer).and_then(Value::as_bool);
        found.ok_or_else(|| self.lacks(pointer, "truth value"))
    }

    /// The list at a JSON pointer.
    pub(crate) fn list(&self, pointer: &str) -> Result<&[Value], Failure> {
        let found = self.value.pointer(pointer).and_then(Value::as_array);
        found
            .map(Vec::as_slice)
            .ok_or_else(|| self.lacks(pointer, "list"))
    }

    fn lacks(&self, pointer: &str, what: &str) -> Failure {
        Failure::new(format!(
            "the answer of `{}` has no {what} at {pointer}",
            self.command
        ))
    }
}
