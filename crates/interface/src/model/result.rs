//! What hooks answer.

use super::Messages;
use crate::abi::Pick;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An assembled prompt: picks out of the input, new messages, and text for the system prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// The list the model gets, oldest first.
    pub picks: Vec<Pick>,
    /// Message objects the engine made, as JSON text.
    pub new_messages: Vec<String>,
    /// The engine's guess, in tokens, for messages and addition. The host counts again.
    pub estimated_tokens: u64,
    /// Text for the system prompt; blank counts as none.
    pub system_prompt_addition: Option<String>,
    /// The rest of the answer.
    pub extra: AssemblyExtra,
}

impl Assembly {
    /// The messages at `indices`, unchanged, with their token sum as the estimate. Indices out of range are passed over.
    #[must_use]
    pub fn keeping(messages: Messages<'_>, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut assembly = Self::default();
        for (index, message) in indices
            .into_iter()
            .filter_map(|index| Some((index, messages.get(index)?)))
        {
            let Ok(index) = u32::try_from(index) else {
                break;
            };
            assembly.picks.push(Pick::input(index));
            assembly.estimated_tokens += u64::from(message.tokens());
        }
        assembly
    }

    /// All messages, unchanged.
    #[must_use]
    pub fn pass_through(messages: Messages<'_>) -> Self {
        Self::keeping(messages, 0..messages.len())
    }
}

/// The part of an assembly that grows with the contract.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AssemblyExtra {
    /// Which size counts when the host checks for overflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_authority: Option<PromptAuthority>,
    /// How hosts with persistent threads project the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_projection: Option<Value>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Which size counts when the host checks for overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptAuthority {
    /// The history before assembly may be too large even when the answer fits.
    PreassemblyMayOverflow,
    /// The assembled list; also what any other value means.
    #[serde(other)]
    Assembled,
}

/// Answer of `bootstrap`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BootstrapResult {
    /// Whether the engine took the session over.
    pub bootstrapped: bool,
    /// Messages imported by this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_messages: Option<u64>,
    /// Why not, or how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answer of `maintain`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MaintenanceResult {
    /// Whether anything changed.
    pub changed: bool,
    /// Bytes freed.
    pub bytes_freed: u64,
    /// Transcript entries rewritten.
    pub rewritten_entries: u64,
    /// Why not, or how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answer of `ingest` and `ingest_batch`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IngestResult {
    /// `ingest`: whether the message was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingested: Option<bool>,
    /// `ingest_batch`: messages taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingested_count: Option<u64>,
}

/// Answer of `commit_turn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitResult {
    /// What happened to the turn.
    pub status: CommitStatus,
}

/// What happened to a committed turn. Any other answer counts as not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitStatus {
    /// Stored by this call.
    Committed,
    /// Stored by an earlier call with the same key; nothing changed.
    Duplicate,
}

/// Answer of `compact`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactResult {
    /// Whether the engine did its work.
    pub ok: bool,
    /// Whether the context got smaller.
    pub compacted: bool,
    /// Why not, or how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Summary, first kept entry, sizes, successor session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Map<String, Value>>,
}
