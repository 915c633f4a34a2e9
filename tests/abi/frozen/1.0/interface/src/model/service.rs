//! Services of the host, by name, with what they take and answer.
//!
//! Which of them exist differs by hook and host: a call names those it may use in `host_services`. A service that is
//! not named answers `Unsupported`.

use super::open::open_words;
use super::{CompactParams, SessionTarget};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Asks a language model; takes [`Completion`], answers [`CompletionAnswer`].
pub const LLM_COMPLETE: &str = "llm.complete";
/// Reads visible messages behind a cursor; takes [`DeltaRequest`], answers [`Delta`].
pub const TRANSCRIPT_DELTA: &str = "transcript.delta";
/// Replaces entries of the transcript; takes [`Rewrite`], answers [`MaintenanceResult`](super::MaintenanceResult).
pub const TRANSCRIPT_REWRITE: &str = "transcript.rewrite";
/// Runs the host's own compaction; takes [`CompactParams`], answers [`CompactResult`](super::CompactResult).
pub const COMPACTION_DELEGATE: &str = "compaction.delegate";
/// The host's memory section for the system prompt; takes [`MemoryRequest`], answers [`MemoryAddition`].
pub const MEMORY_PROMPT_ADDITION: &str = "memory.promptAddition";

/// A service with the types of its request and answer.
pub trait Service: Serialize {
    /// Name of the service.
    const NAME: &'static str;
    /// What it answers.
    type Answer: for<'de> Deserialize<'de>;
}

/// A request to a language model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Completion {
    /// The conversation, oldest first.
    pub messages: Vec<CompletionMessage>,
    /// Text before the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Tokens the answer may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// 0 for the same answer as far as possible each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Model, where the host's policy lets the engine choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it is for, for the host's records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A message of a request to a language model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionMessage {
    /// Who speaks.
    pub role: CompletionRole,
    /// What is said.
    pub content: String,
}

open_words! {
    /// Who speaks in a request to a language model.
    CompletionRole {
        /// The one who sets the rules.
        System = "system",
        /// The one who asks.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

/// The answer of a language model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompletionAnswer {
    /// The text.
    pub text: String,
    /// Provider that answered.
    pub provider: String,
    /// Model that answered.
    pub model: String,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Tokens it cost.
    pub usage: CompletionUsage,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Tokens an answer cost, as the provider counts them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompletionUsage {
    /// Prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Service for Completion {
    const NAME: &'static str = LLM_COMPLETE;
    type Answer = CompletionAnswer;
}

/// A request for the messages behind a cursor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeltaRequest {
    /// Whose messages.
    pub session_target: SessionTarget,
    /// The cursor of the answer before; `None` starts at the beginning. Keep it unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Messages in a page, 1 to 10,000; 1,000 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_messages: Option<u64>,
    /// Bytes in a page, 1 to 67,108,864; 1,000,000 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

impl Service for DeltaRequest {
    const NAME: &'static str = TRANSCRIPT_DELTA;
    type Answer = Delta;
}

/// Messages behind a cursor, or why there are none.
///
/// Source: transcript semantics, "Reading history".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Delta {
    /// The next messages.
    Page {
        /// Oldest first.
        entries: Vec<DeltaEntry>,
        /// Where to go on.
        cursor: String,
        /// Whether there are more.
        has_more: bool,
        /// Size of the page.
        #[serde(default)]
        serialized_bytes: u64,
        /// The next message alone is larger than the page may be, this much.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        required_bytes: Option<u64>,
    },
    /// The cursor leads nowhere: read everything again from this one.
    Reset {
        /// The start.
        cursor: String,
        /// Why.
        reason: String,
    },
    /// There is no transcript.
    Missing,
    /// Not now; ask again later.
    Unavailable {
        /// Why.
        reason: String,
    },
}

/// A message behind a cursor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeltaEntry {
    /// Id of the entry.
    pub entry_id: String,
    /// Id of the entry before it on the active path.
    #[serde(default)]
    pub parent_id: Option<String>,
    /// Position among the messages, from 1.
    pub seq: u64,
    /// The message object.
    pub message: Value,
    /// Its role.
    pub role: String,
    /// Idempotency key of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A request to replace entries. Only after a commit or a compaction, never in the `maintain` that follows `bootstrap`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rewrite {
    /// What to replace.
    pub replacements: Vec<Replacement>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Service for Rewrite {
    const NAME: &'static str = TRANSCRIPT_REWRITE;
    type Answer = super::MaintenanceResult;
}

/// An entry's new message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Replacement {
    /// The entry.
    pub entry_id: String,
    /// The whole new message object.
    pub message: Value,
}

impl Service for CompactParams {
    const NAME: &'static str = COMPACTION_DELEGATE;
    type Answer = super::CompactResult;
}

/// A request for the host's memory section; only while `assemble` runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryRequest {
    /// Names of the tools the model may call.
    pub available_tools: Vec<String>,
    /// How to cite memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citations_mode: Option<String>,
}

impl Service for MemoryRequest {
    const NAME: &'static str = MEMORY_PROMPT_ADDITION;
    type Answer = MemoryAddition;
}

/// The host's memory section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryAddition {
    /// The section; `None` when there is nothing to add.
    pub text: Option<String>,
}
