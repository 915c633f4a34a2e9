//! What hooks answer.

use super::open::open_words;
use super::{Messages, SessionTarget};
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
        let indices = indices.into_iter();
        let mut picks = Vec::with_capacity(indices.size_hint().0);
        let mut estimated_tokens = 0u64;
        for index in indices {
            if let (Some(message), Ok(place)) = (messages.get(index), u32::try_from(index)) {
                picks.push(Pick::input(place));
                estimated_tokens += u64::from(message.tokens());
            }
        }
        Self {
            picks,
            estimated_tokens,
            ..Self::default()
        }
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
    pub context_projection: Option<ContextProjection>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

open_words! {
    /// Which size counts when the host checks for overflow.
    PromptAuthority {
        /// The assembled list; also what any other word means.
        Assembled = "assembled",
        /// The history before assembly may be too large even when the answer fits.
        PreassemblyMayOverflow = "preassembly_may_overflow",
    }
}

/// How a host with persistent threads projects an assembled list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextProjection {
    /// When to project.
    pub mode: ProjectionMode,
    /// Name of this state of the context; another one projects anew. Needed by `thread_bootstrap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    /// Fingerprint of the projected context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

open_words! {
    /// When a host with persistent threads projects.
    ProjectionMode {
        /// In every turn.
        PerTurn = "per_turn",
        /// When a thread starts, and when the epoch changes.
        ThreadBootstrap = "thread_bootstrap",
    }
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
    /// What changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Compaction>,
}

/// What a compaction changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Compaction {
    /// What stands for the folded messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The first entry that stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_kept_entry_id: Option<String>,
    /// Tokens before.
    pub tokens_before: u64,
    /// Tokens after, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// More for the host's records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Successor: the transcript the session goes on with. The host makes it; it must not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Successor as an address; agent, session key and store must stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_target: Option<SessionTarget>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
