//! The messages a repair makes.

use crate::json::{self, Object};
use crate::message::{Call, Content, Message, is_call, is_type, read_call};

/// The message without its broken calls; `None` when nothing worth keeping is left.
pub(super) fn without_broken_calls(message: &Message) -> Option<String> {
    let mut object = message.object();
    let content = Content::read(object.get("content")).ok()?;
    let signed = content.blocks().iter().any(is_signed_reasoning);
    let kept: Vec<String> = content
        .blocks()
        .iter()
        .filter(|block| !is_call(block) || read_call(block).is_ok())
        .filter(|block| !(signed && is_reasoning(block)))
        .map(Object::write)
        .collect();
    if kept.is_empty() {
        return None;
    }
    let blocks = format!("[{}]", kept.join(","));
    object.set("content", &blocks);
    Some(object.write())
}

fn is_reasoning(block: &Object<'_>) -> bool {
    is_type(block, "thinking") || is_type(block, "redacted_thinking")
}

/// Reasoning that only the provider who signed it accepts, and only in an unchanged message.
fn is_signed_reasoning(block: &Object<'_>) -> bool {
    is_type(block, "redacted_thinking")
        || (is_type(block, "thinking") && block.filled("thinkingSignature").is_some())
}

/// The result of the only call before it, marked as an error since it never said what it answers.
pub(super) fn adopted(result: &Message, call: &Call) -> String {
    let mut object = result.object();
    let id = json::quote(&call.id);
    object.set("toolCallId", &id);
    object.set("isError", "true");
    object.write()
}

/// A made-up result for a call that has none.
pub(super) fn missing(caller: &Message, call: &Call, text: &str) -> String {
    let block = json::object([("type", "\"text\""), ("text", &json::quote(text))]);
    let content = format!("[{block}]");
    let details = r#"{"openclawSyntheticMissingToolResult":true,"reason":"missing_tool_result"}"#;
    let (id, name) = (json::quote(&call.id), json::quote(&call.name));
    let timestamp = caller.timestamp_ms().map(|ms| ms.to_string());

    let mut members = vec![
        ("role", "\"toolResult\""),
        ("toolCallId", id.as_str()),
        ("toolName", &name),
        ("content", &content),
        ("details", details),
        ("isError", "true"),
    ];
    members.extend(timestamp.as_deref().map(|ms| ("timestamp", ms)));
    json::object(members)
}
