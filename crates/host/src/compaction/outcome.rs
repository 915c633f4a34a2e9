//! What a compaction came to.

use std::fmt;

use openclaw_transcript::{NewCompaction, compaction_row};
use serde::Serialize;

use super::audit::Flaw;
use super::files::FileLists;
use super::summariser::SummaryError;

/// What a compaction came to. Only [`Outcome::Compacted`] asks for a write.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A row to append.
    Compacted(Box<Compacted>),
    /// There was no reason to write one; no fault.
    Skipped(Skip),
    /// The caller broke it off.
    Cancelled,
}

/// A finished compaction. The transcript is as before until its row is appended.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    /// What stands for the folded messages.
    pub summary: String,
    /// The first row that stays in context; `None` when none does.
    pub first_kept_entry_id: Option<String>,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Tokens of summary and kept rows.
    pub tokens_after: u64,
    /// What is kept beside the summary.
    pub details: CompactionDetails,
    /// Messages that the summary stands for.
    pub folded_messages: usize,
    /// Whether the summary was made without a model.
    pub extractive: bool,
}

/// What is kept beside a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionDetails {
    /// Files read and changed up to here.
    #[serde(flatten)]
    pub files: FileLists,
    /// The request that had no answer yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_unresolved_user_request: Option<String>,
}

impl Compacted {
    /// The row to append behind the leaf.
    ///
    /// - `timestamp`: ISO 8601 with milliseconds, in UTC.
    #[must_use]
    pub fn row(&self, id: &str, parent: Option<&str>, timestamp: &str) -> String {
        let details = serde_json::to_string(&self.details).unwrap_or_else(|_| "{}".to_owned());
        let compaction = NewCompaction {
            summary: &self.summary,
            first_kept_entry_id: self.first_kept_entry_id.as_deref(),
            tokens_before: self.tokens_before,
            tokens_after: Some(self.tokens_after),
            details_json: Some(&details),
            from_hook: false,
        };
        compaction_row(id, parent, timestamp, &compaction)
    }
}

/// Why there was nothing to do. Never a reason to fail a turn. Cases L-2, L-10, L-14.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Skip {
    /// Nothing was said since the last compaction.
    #[error("already compacted: nothing was said since")]
    AlreadyCompacted,
    /// Everything belongs to the part that is kept.
    #[error("nothing to compact: the session is too small")]
    TooSmall,
    /// What would be folded holds no conversation.
    #[error("nothing to compact: {messages} older messages hold no conversation")]
    NoConversation {
        /// The messages.
        messages: usize,
    },
    /// A summary would not make the context smaller.
    #[error("nothing to gain: {before_tokens} tokens now, at least {after_tokens} after")]
    NothingToGain {
        /// Tokens of the context.
        before_tokens: u64,
        /// Tokens it would have.
        after_tokens: u64,
    },
    /// The same was tried before, without gain.
    #[error("nothing to gain: nothing changed since the last attempt")]
    Unchanged,
}

/// A compaction that failed. The transcript is as before.
#[derive(Debug, thiserror::Error)]
#[error("cannot compact the session")]
pub struct CompactionError {
    /// Why.
    #[source]
    pub kind: CompactionErrorKind,
}

/// Why a compaction failed.
#[derive(Debug, thiserror::Error)]
pub enum CompactionErrorKind {
    /// No summary came.
    #[error("no summary: {error}")]
    NoSummary {
        /// The last reason.
        error: SummaryError,
        /// Requests made.
        requests: usize,
    },
    /// Every summary was refused.
    #[error("the summary failed its checks {attempts} times: {}", Listed(.flaws))]
    Refused {
        /// Why the last one was.
        flaws: Vec<Flaw>,
        /// Summaries made.
        attempts: usize,
    },
    /// The fixed part of each request leaves no room.
    #[error(
        "system prompt, tools and the new message take {fixed_tokens} of {budget_tokens} tokens; no summary can be small \
         enough"
    )]
    NoRoom {
        /// Tokens of the fixed part.
        fixed_tokens: u64,
        /// Tokens a request may take.
        budget_tokens: u64,
    },
}

impl CompactionError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match &self.kind {
            CompactionErrorKind::NoSummary { error, .. } => error.help(),
            CompactionErrorKind::Refused { .. } => {
                "try again, or choose another model for summaries; the history is kept as it is"
            }
            CompactionErrorKind::NoRoom { .. } => {
                "shorten the workspace files, offer fewer tools, or choose a model with a larger window"
            }
        }
    }
}

struct Listed<'a>(&'a [Flaw]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, flaw) in self.0.iter().enumerate() {
            write!(f, "{}{flaw}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}
