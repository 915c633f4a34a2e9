//! What an engine is made from.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// What an engine is made from.
///
/// An instance lives for one operation: a turn, a compaction, a spawn. Whatever has to outlive it belongs on disk below
/// `agent_dir`.
///
/// Source: context engine contract, "Factory".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateContext {
    /// The plugin's settings (`plugins.entries.<id>.config`), checked against the manifest's schema.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// Absolute directory of the agent's state. It may not exist yet. Absent for some operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_dir: Option<PathBuf>,
    /// Absolute directory the agent works in. Absent for some operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_dir: Option<PathBuf>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
