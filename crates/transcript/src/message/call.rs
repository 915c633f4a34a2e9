//! Calls in assistant messages and what marks their results.

use crate::json::{self, Object};
use crate::message::Content;
use crate::repair::MISSING_RESULT;

/// A tool call that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What a result names to answer this call. Not unique in a session.
    pub id: String,
    /// The tool's name, without surrounding white space.
    pub name: String,
}

/// Why a tool call cannot be answered.
///
/// Source: legacy engine, "Tool-call blocks".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum BrokenCall {
    /// No id.
    #[error("no id")]
    NoId,
    /// Neither `arguments` nor `input`.
    #[error("no arguments")]
    NoArguments,
    /// Arguments that a broken stream left half written.
    #[error("half-written arguments")]
    HalfWritten,
    /// No name, or one no model API accepts.
    #[error("unusable tool name")]
    BadName,
}

/// Where a result names its call; the first field that is there counts.
pub(crate) const RESULT_ID_FIELDS: [&str; 6] = [
    "toolCallId",
    "toolUseId",
    "tool_call_id",
    "tool_use_id",
    "callId",
    "call_id",
];

const MAX_NAME_CHARS: usize = 64;

pub(crate) fn read(block: &Object<'_>) -> Result<Call, BrokenCall> {
    let id = block.filled("id").ok_or(BrokenCall::NoId)?;
    let arguments = block
        .get("arguments")
        .or_else(|| block.get("input"))
        .ok_or(BrokenCall::NoArguments)?;
    if is_half_written(arguments) || block.filled("partialJson").is_some() {
        return Err(BrokenCall::HalfWritten);
    }
    let name = block
        .filled("name")
        .ok_or(BrokenCall::BadName)?
        .trim()
        .to_owned();
    if name.len() > MAX_NAME_CHARS
        || !name
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || b"_:.-".contains(&c))
    {
        return Err(BrokenCall::BadName);
    }
    Ok(Call { id, name })
}

/// Arguments as text are whole when the text is JSON; an empty text is a call without arguments.
fn is_half_written(arguments: &str) -> bool {
    json::string(arguments).is_some_and(|text| {
        !text.trim().is_empty() && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err()
    })
}

pub(super) fn is_synthetic(result: &Object<'_>, content: &Content<'_>) -> bool {
    let marked = result
        .get("details")
        .and_then(|details| Object::read(details).ok())
        .is_some_and(|details| details.is_true("openclawSyntheticMissingToolResult"));
    marked || content.is_text(MISSING_RESULT)
}
