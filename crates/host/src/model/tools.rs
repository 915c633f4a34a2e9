//! The tools a model may call, as the host sees them.

use crate::cancel::Cancel;
use serde_json::Value;

/// A tool as offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Name, `[A-Za-z0-9_.:-]`, at most 64 bytes.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// Runs the tools a model calls.
pub trait Tools: Send {
    /// The tools on offer.
    fn specs(&self) -> &[ToolSpec];

    /// Runs one call. A failure is an outcome the model gets to see, not an error of the turn.
    ///
    /// - `cancel`: ends early what takes long; the outcome of a cancelled call is not used.
    fn run(&mut self, name: &str, arguments: &Value, cancel: &Cancel) -> ToolOutcome;
}

/// What a tool call came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutcome {
    /// Text for the model.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// What people may see of it and models never: stored and committed with the turn.
    pub notes: Vec<ToolNote>,
}

/// A message for display only.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolNote {
    /// What kind of note, such as `openclaw.nested-tool.v1`.
    pub custom_type: String,
    /// Text for people; may be empty.
    pub content: String,
    /// Data for programs.
    pub details: Value,
}

/// No tools: each call is answered with an error the model can read.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl Tools for NoTools {
    fn specs(&self) -> &[ToolSpec] {
        &[]
    }

    fn run(&mut self, name: &str, _arguments: &Value, _cancel: &Cancel) -> ToolOutcome {
        ToolOutcome {
            text: format!("Tool {name} not found"),
            is_error: true,
            notes: Vec::new(),
        }
    }
}
