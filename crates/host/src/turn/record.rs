//! What happened in a turn: who was asked, who served, what was mended and why.

use crate::model::{ModelError, Usage};
use serde::{Deserialize, Serialize};

/// What happened in a turn. Kept in the store and shown by `--json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnRecord {
    /// Id of the logical turn, and its advancement key.
    pub turn_id: String,
    /// Id of the transcript.
    pub session_id: String,
    /// Stable logical name of the session.
    pub session_key: String,
    /// Milliseconds since 1970.
    pub started_at_ms: i64,
    /// The engine the configuration asks for, and why.
    pub asked: Asked,
    /// The engine that served.
    pub served: Served,
    /// Why another engine served than the one asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub substitution: Option<Substitution>,
    /// What had to be repaired in the stored history so that it is valid for a model, in words. The stored rows stay
    /// as they are, so that it is the same again in the next turn.
    pub history_mends: Vec<String>,
    /// What the host had to mend in the engine's answer, in words.
    pub mends: Vec<String>,
    /// Sizes.
    pub context: ContextSizes,
    /// How the prompt compared with its budget before it was sent; absent for an engine that owns compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_budget: Option<ContextBudgetStatus>,
    /// Commits of earlier turns delivered before this one.
    pub recovered_commits: Vec<RecoveredCommit>,
    /// What became of this turn's commit.
    pub commit: CommitOutcome,
    /// The model that answered.
    pub model: ModelUse,
    /// Requests that came to nothing and were made again, of this model or one asked before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_attempts: Vec<FailedAttempt>,
    /// Compactions in this turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compactions: Vec<CompactionRecord>,
    /// Calls into engines, in order.
    pub hooks: Vec<HookTiming>,
    /// Why the turn failed; absent for one that was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The engine the configuration asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Asked {
    /// Engine id.
    pub engine_id: String,
    /// Why that one.
    pub reason: String,
}

/// The engine that served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Served {
    /// Engine id.
    pub engine_id: String,
    /// Version the engine gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// SHA-256 of its library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library_sha256: Option<String>,
    /// Which build of it, counted from 1 in the process that ran the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
}

/// Why another engine served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Substitution {
    /// How far it reaches.
    pub scope: Scope,
    /// What failed.
    pub operation: String,
    /// Why.
    pub reason: String,
    /// `file:line:column` of a panic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// How far a substitution reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// This turn only; the next one tries the engine again.
    Degraded,
    /// The rest of this process.
    Quarantined,
}

/// Sizes of the context, in messages and tokens as the host counts them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContextSizes {
    /// Messages before the turn.
    pub history_messages: usize,
    /// Their tokens.
    pub history_tokens: u64,
    /// What history and prompt addition may take.
    pub budget_tokens: u64,
    /// Messages of the history that went to the model.
    pub assembled_messages: usize,
    /// Tokens of those and of the addition.
    pub assembled_tokens: u64,
    /// Whether the engine added to the system prompt.
    pub has_prompt_addition: bool,
}

impl ContextSizes {
    /// Messages that did not go to the model.
    #[must_use]
    pub fn left_out_messages(&self) -> usize {
        self.history_messages
            .saturating_sub(self.assembled_messages)
    }
}

/// How a prompt compared with its budget before it was sent. It blocks nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContextBudgetStatus {
    /// What would make it fit: `fits`, `compact_only`, `truncate_tool_results_only`, `compact_then_truncate`.
    pub route: String,
    /// An estimate on the high side.
    pub estimated_prompt_tokens: u64,
    /// What prompt and answer may take together.
    pub context_token_budget: u64,
    /// What the estimate is held against.
    pub prompt_budget_tokens: u64,
    /// Tokens kept free.
    pub reserve_tokens: u64,
    /// By how much the estimate is too large.
    pub overflow_tokens: u64,
    /// UTF-16 units that shorter tool results would free.
    pub tool_result_reducible_chars: u64,
    /// Messages of the prompt.
    pub message_count: usize,
    /// Messages it would have without the engine.
    pub unwindowed_message_count: usize,
}

/// A commit of an earlier turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecoveredCommit {
    /// Id of that turn.
    pub turn_id: String,
    /// What became of it.
    pub outcome: CommitOutcome,
}

/// What became of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "status")]
pub enum CommitOutcome {
    /// No engine is owed one: the built-in engine served, or the turn failed.
    #[default]
    NotOwed,
    /// Stored by the engine.
    Committed,
    /// The engine had it already.
    Duplicate,
    /// Waits in the outbox and is offered again before the engine's next turn.
    Queued {
        /// Why it was not acknowledged.
        reason: String,
    },
}

/// The model that answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelUse {
    /// Provider name.
    pub provider: String,
    /// Model id.
    pub id: String,
    /// Requests made, tool loop included.
    pub requests: u32,
    /// Prompt tokens of the last request, as the provider counts them.
    pub input_tokens: Option<u64>,
    /// Answer tokens, summed over requests.
    pub output_tokens: Option<u64>,
}

impl ModelUse {
    pub(crate) fn add(&mut self, usage: Option<Usage>) {
        self.requests += 1;
        self.input_tokens = usage.map(|usage| {
            let prompt = [
                usage.input_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
            ];
            prompt.into_iter().fold(0, u64::saturating_add)
        });
        if let Some(usage) = usage {
            self.output_tokens = Some(
                self.output_tokens
                    .unwrap_or(0)
                    .saturating_add(usage.output_tokens),
            );
        }
    }
}

/// A request that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedAttempt {
    /// Provider name.
    pub provider: String,
    /// Model id.
    pub model: String,
    /// Why.
    pub reason: String,
}

impl FailedAttempt {
    pub(super) fn new(error: &ModelError) -> Self {
        Self {
            provider: error.provider.clone(),
            model: error.model.clone(),
            reason: error.reason.clone(),
        }
    }
}

/// An answer to the request to make the context smaller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionRecord {
    /// The engine.
    pub engine_id: String,
    /// Whether the context got smaller, as the engine says.
    pub compacted: bool,
    /// What the engine says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it was asked: `overflow`, `budget`, `timeout_recovery`, or `manual`.
    #[serde(default)]
    pub trigger: String,
    /// Tokens before, as the engine counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// Tokens after, as the engine counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// How long it took.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// Who wrote the summary, where the host did: a model as `provider/id`, or `extractive` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summariser: Option<String>,
}

/// A call into an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookTiming {
    /// The engine.
    pub engine_id: String,
    /// The hook.
    pub hook: String,
    /// How long it took.
    pub elapsed_us: u64,
}
