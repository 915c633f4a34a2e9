//! What hooks receive besides messages.
//!
//! Missing keys have defaults and unknown ones are kept, so that either side may be the older one.

use super::RuntimeSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Address of a transcript, as the host names it.
///
/// `store_path` differs between calls for one transcript: never use it as a key. Key by agent and session id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionTarget {
    /// Owning agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Id of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Stable logical name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Opaque locator of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_path: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Parameters of `bootstrap` and `maintain`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionParams {
    /// Id of the transcript.
    pub session_id: String,
    /// Stable logical name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Kept for compatibility: the session key, not a path. Do not open it.
    pub session_file: String,
    /// Address of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_target: Option<SessionTarget>,
    /// Facts about this run, schema version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_settings: Option<RuntimeSettings>,
    /// Open record of what the host knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_context: Option<Map<String, Value>>,
    /// Services of the host that this call may use, by name; see [`service`](crate::model::service).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_services: Vec<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Parameters of `assemble` besides messages and budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AssembleParams {
    /// Id of the transcript.
    pub session_id: String,
    /// Stable logical name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// The user's text of this turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Model id the messages are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names of the tools the model may call.
    pub available_tools: Vec<String>,
    /// Facts about this run, schema version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_settings: Option<RuntimeSettings>,
    /// How to cite memory; only where the configuration says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citations_mode: Option<String>,
    /// Open record of what the host knows; most hosts send none here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_context: Option<Map<String, Value>>,
    /// Services of the host that this call may use, by name; see [`service`](crate::model::service).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_services: Vec<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Parameters of `ingest`, `ingest_batch` and `after_turn` besides messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BatchParams {
    /// Id of the transcript.
    pub session_id: String,
    /// Stable logical name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Whether the run was a heartbeat.
    pub is_heartbeat: bool,
    /// `after_turn` only: index where this run's messages start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_prompt_message_count: Option<u64>,
    /// `after_turn` only: tokens the whole prompt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u64>,
    /// `after_turn` only: facts about this run, schema version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_settings: Option<RuntimeSettings>,
    /// `after_turn` only: open record of what the host knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_context: Option<Map<String, Value>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Place of an entry, frozen when it was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Anchor {
    /// Owning agent.
    pub agent_id: String,
    /// Id of the transcript.
    pub session_id: String,
    /// Stable logical name of the session.
    pub session_key: String,
    /// Opaque locator of the store.
    pub store_path: String,
    /// Token of the history this place belongs to; another token is another history.
    pub generation: String,
    /// Id of the entry.
    pub entry_id: String,
    /// Position among all rows, header 0.
    pub raw_seq: u64,
    /// Id of the entry before it on the active path.
    pub effective_parent_id: Option<String>,
    /// Position among the messages of the active path, from 0.
    pub active_message_position: u64,
    /// Idempotency key of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Fields this version does not know, `logicalTurnId` and `role` of an admission among them.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Parameters of `commit_turn` besides messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommitParams {
    /// Id of the logical turn; the same over retries and restarts.
    pub advancement_key: String,
    /// The user entry that opened the turn.
    pub admission: Anchor,
    /// The last message entry of the turn.
    pub terminal: Anchor,
    /// Id of the transcript.
    pub session_id: String,
    /// Stable logical name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Address of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_target: Option<SessionTarget>,
    /// Whether the turn was a heartbeat.
    pub is_heartbeat: bool,
    /// Facts about the model: `provider`, `modelId`, `modelContextWindow`, `tokenBudget`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_context: Option<Map<String, Value>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Parameters of `compact`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactParams {
    /// Id of the transcript.
    pub session_id: String,
    /// Stable logical name of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Tokens the whole prompt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u64>,
    /// Tokens the prompt takes now, as far as known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_token_count: Option<u64>,
    /// Whether to compact even below the threshold.
    pub force: bool,
    /// `budget` or `threshold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction_target: Option<String>,
    /// What the user asked the summary to focus on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// Address of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_target: Option<SessionTarget>,
    /// Facts about this run, schema version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_settings: Option<RuntimeSettings>,
    /// Open record of what the host knows, `trigger` among it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_context: Option<Map<String, Value>>,
    /// Services of the host that this call may use, by name; see [`service`](crate::model::service).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_services: Vec<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
