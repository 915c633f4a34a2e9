//! One message: its exact JSON, and what pairing, cutting and the tree have to know of it.

mod call;
mod content;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use openclaw_interface::Role;

use crate::json::{self, Object};
use crate::scan::{self, MAX_DEPTH};

pub use call::{BrokenCall, Call};
pub(crate) use call::{RESULT_ID_FIELDS, read as read_call};
pub(crate) use content::{Content, is_call, is_type};

/// How deep a message may nest: one level less than the row it will stand in.
const MAX_MESSAGE_DEPTH: usize = MAX_DEPTH - 1;

/// A message that can be read.
///
/// More shapes are accepted than are written today: no content, `null`, a string, one block instead of a list, a
/// result without `isError`, a custom message without `customType`, the old role `hookMessage`, unknown roles.
///
/// Source: transcript format, "Messages".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    json: Arc<str>,
    role: Role,
    calls: Vec<Call>,
    broken_calls: Vec<(Option<String>, BrokenCall)>,
    result_of: Option<String>,
    stop_reason: Option<StopReason>,
    idempotency_key: Option<String>,
    timestamp_ms: Option<i64>,
    excluded: bool,
    synthetic: bool,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The answer is complete.
    Stop,
    /// The model waits for results of its calls.
    ToolUse,
    /// The output limit was reached.
    Length,
    /// The request failed.
    Error,
    /// The user or the host broke it off.
    Aborted,
    /// A reason this version does not know.
    Other,
}

/// Why a text is no readable message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The text is not JSON.
    #[error("not JSON: {reason}")]
    NotJson {
        /// The parser's words.
        reason: String,
    },
    /// The text is JSON, but no object.
    #[error("not a JSON object")]
    NotAnObject,
    /// The text nests too deep.
    #[error("nested deeper than {MAX_MESSAGE_DEPTH} levels")]
    TooDeep,
    /// `role` is missing or no text.
    #[error("`role` is missing or not text")]
    NoRole,
    /// `content` is a number or a truth value.
    #[error("`content` is neither text nor blocks")]
    BadContent,
    /// A content block is no object with a textual `type`.
    #[error("content block {index} is not an object with a `type`")]
    BadBlock {
        /// The block, from 0.
        index: usize,
    },
    /// A field this role needs is missing or no text.
    #[error("`{field}` is missing or not text")]
    MissingField {
        /// The field.
        field: &'static str,
    },
}

impl Message {
    /// Reads a message.
    ///
    /// The JSON is kept as given, except that escapes of half a surrogate pair become `\ufffd`.
    ///
    /// # Errors
    ///
    /// When the text is not a message as the transcript format calls readable; see [`MessageError`].
    pub fn from_json(json: &str) -> Result<Self, MessageError> {
        let readable =
            scan::readable_within(json.trim(), MAX_MESSAGE_DEPTH).ok_or(MessageError::TooDeep)?;
        Self::read(&readable)
    }

    /// Reads a message from a text that has passed [`scan::readable`].
    pub(crate) fn read(text: &str) -> Result<Self, MessageError> {
        let object = Object::read(text).map_err(|error| {
            if error.is_data() {
                MessageError::NotAnObject
            } else {
                MessageError::NotJson {
                    reason: json::reason(&error),
                }
            }
        })?;
        let role = role(&object.string("role").ok_or(MessageError::NoRole)?);
        let content = checked_content(role, &object)?;

        let mut message = Self {
            json: text.into(),
            role,
            calls: Vec::new(),
            broken_calls: Vec::new(),
            result_of: None,
            stop_reason: object
                .string("stopReason")
                .map(|reason| StopReason::from_name(&reason)),
            idempotency_key: object.filled("idempotencyKey"),
            timestamp_ms: object.integer("timestamp"),
            excluded: object.is_true("excludeFromContext"),
            synthetic: false,
        };
        match role {
            Role::Assistant => {
                for block in content.blocks().iter().filter(|block| is_call(block)) {
                    match call::read(block) {
                        Ok(call) => message.calls.push(call),
                        Err(broken) => message.broken_calls.push((block.filled("id"), broken)),
                    }
                }
            }
            Role::ToolResult => {
                message.result_of = call::RESULT_ID_FIELDS
                    .iter()
                    .find_map(|field| object.filled(field));
                message.synthetic = call::is_synthetic(&object, &content);
            }
            Role::User
            | Role::Custom
            | Role::CompactionSummary
            | Role::BranchSummary
            | Role::BashExecution
            | Role::Other => {}
        }
        Ok(message)
    }

    /// The JSON text of the message object.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The JSON text, shared.
    #[must_use]
    pub fn shared_json(&self) -> Arc<str> {
        Arc::clone(&self.json)
    }

    /// Who speaks.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The tool calls of an assistant message that can be answered, in order.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The tool calls that cannot be answered, with their ids as far as they have one.
    #[must_use]
    pub fn broken_calls(&self) -> &[(Option<String>, BrokenCall)] {
        &self.broken_calls
    }

    /// The id of the call a tool result answers; `None` for other roles and for a result without an id.
    #[must_use]
    pub fn result_of(&self) -> Option<&str> {
        self.result_of.as_deref()
    }

    /// Why the model stopped.
    #[must_use]
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop_reason
    }

    /// Whether the model request failed or was broken off.
    #[must_use]
    pub fn failed(&self) -> bool {
        matches!(
            self.stop_reason,
            Some(StopReason::Error | StopReason::Aborted)
        )
    }

    /// The key under which the message is stored once only.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// When the message was made, in milliseconds since 1970.
    #[must_use]
    pub fn timestamp_ms(&self) -> Option<i64> {
        self.timestamp_ms
    }

    /// Whether the message is kept from the model (`excludeFromContext`).
    #[must_use]
    pub fn excluded(&self) -> bool {
        self.excluded
    }

    /// Whether this is a tool result that a repair made up for a missing one.
    #[must_use]
    pub fn synthetic(&self) -> bool {
        self.synthetic
    }

    /// The message with its content as a list of blocks, where the runtime would load it so: an assistant's or
    /// result's text, a result's single block. `None` when the message is in that form already.
    #[must_use]
    pub fn with_block_content(&self) -> Option<String> {
        with_block_content(self.role, &self.json)
    }

    pub(crate) fn object(&self) -> Object<'_> {
        Object::read(&self.json).expect("a message is a JSON object")
    }
}

impl StopReason {
    fn from_name(name: &str) -> Self {
        match name {
            "stop" => Self::Stop,
            "toolUse" => Self::ToolUse,
            "length" => Self::Length,
            "error" => Self::Error,
            "aborted" => Self::Aborted,
            _ => Self::Other,
        }
    }
}

fn role(name: &str) -> Role {
    // The name before version 3.
    if name == "hookMessage" {
        Role::Custom
    } else {
        Role::from_name(name)
    }
}

fn checked_content<'a>(role: Role, object: &Object<'a>) -> Result<Content<'a>, MessageError> {
    match role {
        Role::User | Role::Assistant | Role::ToolResult | Role::Custom => {
            Content::read(object.get("content"))
        }
        Role::BashExecution => {
            for field in ["command", "output"] {
                object
                    .string(field)
                    .ok_or(MessageError::MissingField { field })?;
            }
            Ok(Content::Nothing)
        }
        Role::CompactionSummary | Role::BranchSummary | Role::Other => Ok(Content::Nothing),
    }
}

fn with_block_content(role: Role, json: &str) -> Option<String> {
    let mut object = Object::read(json).ok()?;
    let content = object.get("content")?;
    let blocks = match (role, content.as_bytes().first()?) {
        (Role::Assistant | Role::ToolResult, b'"') => {
            let block = json::object([("type", "\"text\""), ("text", content)]);
            format!("[{block}]")
        }
        (Role::ToolResult, b'{') => format!("[{content}]"),
        _ => return None,
    };
    object.set("content", &blocks);
    Some(object.write())
}
