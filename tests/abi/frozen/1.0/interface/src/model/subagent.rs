//! What hooks around a subagent receive.

use super::open::open_words;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Parameters of `prepare_subagent_spawn`.
///
/// Source: context engine contract, "prepareSubagentSpawn".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpawnParams {
    /// Session key of the parent.
    pub parent_session_key: String,
    /// Session key of the child.
    pub child_session_key: String,
    /// Whether the child starts empty.
    pub context_mode: SpawnMode,
    /// Transcript of the parent; only when the child forks it.
    pub parent_session_id: Option<String>,
    /// Transcript of the child; only when it is a fork.
    pub child_session_id: Option<String>,
    /// Time the child may take, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for SpawnParams {
    fn default() -> Self {
        Self {
            parent_session_key: String::new(),
            child_session_key: String::new(),
            context_mode: SpawnMode::Isolated,
            parent_session_id: None,
            child_session_id: None,
            ttl_ms: None,
            extra: Map::new(),
        }
    }
}

open_words! {
    /// What a child starts with.
    SpawnMode {
        /// Nothing.
        Isolated = "isolated",
        /// A copy of the parent's transcript.
        Fork = "fork",
    }
}

/// What an engine prepared for a spawn: handed back to the same instance when the spawn fails, at most once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SpawnHandle(pub Value);

/// Parameters of `on_subagent_ended`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubagentEndedParams {
    /// Session key of the child.
    pub child_session_key: String,
    /// Why it ended.
    pub reason: EndReason,
    /// The child's directory of state.
    pub agent_dir: Option<PathBuf>,
    /// The child's workspace.
    pub workspace_dir: Option<PathBuf>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for SubagentEndedParams {
    fn default() -> Self {
        Self {
            child_session_key: String::new(),
            reason: EndReason::Completed,
            agent_dir: None,
            workspace_dir: None,
            extra: Map::new(),
        }
    }
}

open_words! {
    /// Why a subagent ended.
    EndReason {
        /// Its run finished; the session is kept.
        Completed = "completed",
        /// Its session was deleted.
        Deleted = "deleted",
        /// It was kept for long enough.
        Swept = "swept",
        /// Its entry was released.
        Released = "released",
    }
}
