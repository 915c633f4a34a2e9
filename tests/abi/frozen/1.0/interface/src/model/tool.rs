//! Agent tools that an engine brings.

use super::CreateContext;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool as offered to a model. Its name must stand in the manifest's `contracts.tools`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolDescriptor {
    /// Name, `[A-Za-z0-9_.:-]`, at most 64 bytes.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One call of a tool. It comes without an engine instance: what the tool needs it opens itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments, as the model gave them.
    pub arguments: Value,
    /// Session the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Settings and directories, as for an instance.
    pub context: CreateContext,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a tool call came to. A failure the model should see is an answer with `is_error`, not an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolAnswer {
    /// Text for the model.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// More for the host's records; the model does not see it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub details: Value,
}
