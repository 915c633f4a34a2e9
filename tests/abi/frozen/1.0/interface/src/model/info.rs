//! The descriptor: what an engine says of itself.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What an engine says of itself. Reading it has no side effects.
///
/// Source: context engine contract, "`info`".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// Engine id; the same in note, manifest and slot.
    pub id: String,
    /// Name for people; not blank.
    pub name: String,
    /// Version of the engine, free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Host-added parameters the engine accepts; absent means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_host_params: Option<Vec<String>>,
    /// What the engine promises about turns; without it turns run on legacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_semantics: Option<TranscriptSemantics>,
    /// Whether the engine, not the host, decides when to compact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owns_compaction: Option<bool>,
    /// Whether maintenance after a turn may run in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_maintenance_mode: Option<MaintenanceMode>,
    /// Capabilities a host must have, by operation (`agent-run`, `manual-compact`, `subagent-spawn`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub host_requirements: BTreeMap<String, HostRequirement>,
    /// Optional hooks the engine has, by contract name (`bootstrap`, `afterTurn`, …). Absent: the host finds out by
    /// calling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Vec<String>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Info {
    /// A descriptor with id and name and nothing else.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets the version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Declares both promises a durable turn needs; `commit_turn` must keep them.
    #[must_use]
    pub fn durable_turns(mut self) -> Self {
        self.transcript_semantics = Some(TranscriptSemantics::durable());
        self
    }
}

/// What an engine promises about turns. Unknown values count as no promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptSemantics {
    /// `before-current-turn-entry-v1`: nothing of the current turn is used before its commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_turn_fence: Option<String>,
    /// `atomic-idempotent-v1`: one atomic write a commit, and a repeated key changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_advancement_idempotency: Option<String>,
}

impl TranscriptSemantics {
    const FENCE: &str = "before-current-turn-entry-v1";
    const IDEMPOTENCY: &str = "atomic-idempotent-v1";

    /// Both promises.
    #[must_use]
    pub fn durable() -> Self {
        Self {
            current_turn_fence: Some(Self::FENCE.into()),
            turn_advancement_idempotency: Some(Self::IDEMPOTENCY.into()),
        }
    }

    /// Whether the fence is promised.
    #[must_use]
    pub fn fences_current_turn(&self) -> bool {
        self.current_turn_fence.as_deref() == Some(Self::FENCE)
    }

    /// Whether commits are promised to be atomic and idempotent.
    #[must_use]
    pub fn commits_idempotently(&self) -> bool {
        self.turn_advancement_idempotency.as_deref() == Some(Self::IDEMPOTENCY)
    }
}

/// When maintenance after a turn runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MaintenanceMode {
    /// Off the path of the reply.
    Background,
    /// Before the turn ends; also what any other value means.
    #[serde(other)]
    Foreground,
}

/// What an operation needs of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostRequirement {
    /// Names of capabilities, all of them needed.
    #[serde(default)]
    pub required_capabilities: Vec<String>,
    /// What to tell the user when one is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupported_message: Option<String>,
}
