//! Who writes summaries, and why one may not come.

use std::time::Duration;

use openclaw_transcript::Message;

/// Writes summaries: a model, or a rule.
pub trait Summariser {
    /// What one request may take.
    fn limits(&self) -> SummariserLimits;

    /// Whether it works without a model and says so in its text.
    fn is_extractive(&self) -> bool {
        false
    }

    /// Answers one request. Called for one request at a time.
    ///
    /// # Errors
    ///
    /// No summary came. Passing troubles are tried again by the caller, see [`SummaryError::may_pass`].
    fn summarise(&mut self, request: &SummaryRequest<'_>) -> Result<String, SummaryError>;
}

/// What one request to a summariser may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummariserLimits {
    /// Tokens of a request and its answer together.
    pub window_tokens: u64,
    /// Tokens of an answer, where limited.
    pub max_output_tokens: Option<u64>,
}

/// What a summary is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Everything before the kept end.
    History,
    /// The start of a turn whose rest is kept.
    TurnPrefix,
    /// One summary out of those of two parts.
    Merge,
}

/// One request to a summariser: as a prompt for a model, and in parts for a rule.
#[derive(Clone, Copy)]
pub struct SummaryRequest<'a> {
    /// What the summary is for.
    pub purpose: Purpose,
    /// What the model is.
    pub system_prompt: &'a str,
    /// The whole request, conversation included.
    pub prompt: &'a str,
    /// The messages behind the conversation in the prompt; empty for a merge, and for all but the first slice of a
    /// message that is too large for one request.
    pub messages: &'a [&'a Message],
    /// The conversation as text, as far as this request covers it.
    pub conversation: &'a str,
    /// What is known from before.
    pub previous_summary: Option<&'a str>,
    /// Tokens the answer should not exceed.
    pub max_output_tokens: u64,
    /// Whether to stop: cancelled, or out of time. Poll it.
    pub should_stop: &'a dyn Fn() -> bool,
}

/// Why no summary came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// The caller broke it off.
    #[error("cancelled")]
    Cancelled,
    /// It took too long.
    #[error("no answer within {}", seconds(.after))]
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// The request is larger than the model takes.
    #[error("the request is too large: {reason}")]
    TooLarge {
        /// The provider's words.
        reason: String,
    },
    /// The answer holds no text.
    #[error("the model returned no summary text")]
    Empty,
    /// A trouble that may pass: the connection, the server, too many requests.
    #[error("{reason}")]
    Passing {
        /// What happened.
        reason: String,
        /// The wait the server asked for.
        retry_after: Option<Duration>,
    },
    /// A refusal that stays: credentials, the request itself.
    #[error("{reason}")]
    Lasting {
        /// What happened.
        reason: String,
    },
}

impl SummaryError {
    /// Whether another attempt makes sense. Case L-15.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Passing { .. })
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Cancelled => "compact again",
            Self::TimedOut { .. } => "compact again, or choose a faster model for summaries",
            Self::TooLarge { .. } => "choose a model with a larger window for summaries",
            Self::Empty => "compact again, or choose another model for summaries",
            Self::Passing { .. } => "wait a little and compact again",
            Self::Lasting { .. } => {
                "check the model's credentials and settings, then compact again"
            }
        }
    }
}

fn seconds(time: &Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
