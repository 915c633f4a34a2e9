//! The messages a turn makes, in the transcript's words.

use super::open::Turn;
use crate::model::{Block, ModelInfo, ModelReply, Stop, ToolNote, ToolOutcome, Usage};
use serde_json::{Value, json};

/// The model's answer.
pub(super) fn assistant(reply: &ModelReply, model: &ModelInfo, turn: &Turn<'_>) -> Value {
    let content: Vec<Value> = reply.content.iter().map(block_json).collect();
    let usage = reply.usage.unwrap_or_default();
    let stop = match reply.stop {
        Stop::Stop => "stop",
        Stop::ToolUse => "toolUse",
        Stop::Length => "length",
    };
    let mut message = json!({
        "role": "assistant",
        "content": content,
        "api": model.api,
        "provider": model.provider,
        "model": model.id,
        "usage": usage_json(usage),
        "stopReason": stop,
        "timestamp": turn.host.ambient().now_ms(),
        "__openclaw": { "runId": turn.turn_id },
    });
    if let Some(id) = &reply.response_id {
        message["responseId"] = id.as_str().into();
    }
    message
}

fn block_json(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Thinking(text) => json!({ "type": "thinking", "thinking": text }),
        Block::ToolCall {
            id,
            name,
            arguments,
        } => {
            json!({ "type": "toolCall", "id": id, "name": name, "arguments": arguments })
        }
    }
}

fn usage_json(usage: Usage) -> Value {
    let parts = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    ];
    let total = parts.into_iter().fold(0, u64::saturating_add);
    json!({
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cacheRead": usage.cache_read_tokens,
        "cacheWrite": usage.cache_write_tokens,
        "totalTokens": total,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    })
}

/// What a tool call came to.
pub(super) fn tool_result(id: &str, name: &str, outcome: &ToolOutcome, turn: &Turn<'_>) -> Value {
    json!({
        "role": "toolResult",
        "toolCallId": id,
        "toolName": name,
        "content": [{ "type": "text", "text": outcome.text }],
        "isError": outcome.is_error,
        "timestamp": turn.host.ambient().now_ms(),
        "__openclaw": { "runId": turn.turn_id },
    })
}

/// A message for display: no model sees it.
pub(super) fn note(note: &ToolNote, turn: &Turn<'_>) -> Value {
    json!({
        "role": "custom",
        "customType": note.custom_type,
        "display": true,
        "excludeFromContext": true,
        "content": note.content,
        "details": note.details,
        "timestamp": turn.host.ambient().now_ms(),
        "__openclaw": { "runId": turn.turn_id },
    })
}
