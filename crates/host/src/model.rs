//! The model a turn talks to, as the host sees it. Implemented by `agent`; the host knows no provider.

use std::fmt;
use std::time::Duration;

mod candidates;
mod tools;

pub use candidates::{Candidate, Candidates};
pub use tools::{NoTools, ToolNote, ToolOutcome, ToolSpec, Tools};

/// What a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Provider name as configured; `offline` for the built-in model.
    pub provider: String,
    /// Model id at the provider.
    pub id: String,
    /// Dialect spoken, such as `openai-completions`.
    pub api: String,
    /// Tokens a request and its answer may take together.
    pub context_window_tokens: u64,
    /// Tokens an answer may take, where known.
    pub max_output_tokens: Option<u64>,
}

/// One request. Everything is borrowed from the turn.
#[derive(Clone, Copy)]
pub struct ModelRequest<'a> {
    /// System prompt, the engine's addition included.
    pub system_prompt: &'a str,
    /// Transcript message objects as JSON text, oldest first; the last one is a user message or a tool result.
    pub messages: &'a [&'a str],
    /// Tools the model may call.
    pub tools: &'a [ToolSpec],
    /// Whether the turn was cancelled; asked between pieces of a streamed answer.
    pub is_cancelled: &'a dyn Fn() -> bool,
}

/// A part of an answer, in the transcript's words.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text for the user.
    Text(String),
    /// Reasoning, kept but not shown.
    Thinking(String),
    /// A request to run a tool.
    ToolCall {
        /// Id that the result refers to.
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments; an object.
        arguments: serde_json::Value,
    },
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The model was done.
    Stop,
    /// The model waits for tool results.
    ToolUse,
    /// The output limit was reached.
    Length,
}

/// Tokens a request cost, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens that were not read from a cache.
    pub input_tokens: u64,
    /// Answer tokens.
    pub output_tokens: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write_tokens: u64,
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// Its parts, in order.
    pub content: Vec<Block>,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost; `None` when the provider did not say.
    pub usage: Option<Usage>,
    /// The provider's id of the answer.
    pub response_id: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[error("model {provider}/{model} gave no answer: {reason}")]
pub struct ModelError {
    /// Provider name as configured.
    pub provider: String,
    /// Model id.
    pub model: String,
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// What happened, one line without secrets: status, the provider's own message, or the transport's.
    pub reason: String,
}

/// What kind of failure a model had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Nothing listens at the server's address, or there is no such server.
    Unreachable,
    /// The connection could not be made in time, or broke.
    Transport,
    /// The server sent nothing for too long.
    Timeout,
    /// Credentials were refused.
    Unauthorized,
    /// Too many requests; the server may have said how long to wait.
    RateLimited {
        /// Wait the server asked for.
        retry_after: Option<Duration>,
    },
    /// The prompt is larger than the model takes.
    ContextOverflow,
    /// The server failed (5xx).
    Server,
    /// The server refused the request (other 4xx).
    Refused,
    /// The answer is not what the dialect says.
    BadAnswer,
    /// The turn was cancelled.
    Cancelled,
}

/// A language model.
pub trait Model: Send {
    /// What it is.
    fn info(&self) -> &ModelInfo;

    /// Answers one request, handing each piece of text to `on_text` as it arrives.
    ///
    /// # Errors
    ///
    /// No complete answer came. Pieces handed out before do not count.
    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError>;
}

impl fmt::Debug for ModelRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Contents stay out of logs.
        write!(
            f,
            "ModelRequest({} messages, {} tools)",
            self.messages.len(),
            self.tools.len()
        )
    }
}
