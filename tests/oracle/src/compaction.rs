//! The built-in compactor, rule by rule.
//!
//! Where ours differs on purpose, the case is named with its own expectation, and docs/differences.md says why.

mod cuts;
mod limits;
mod overflow;
mod summaries;
mod text;

use openclaw_transcript::Message;
use serde_json::{Value, json};

/// `user:100` as a message and its tokens, the way the recordings write messages of a given size.
fn sized(short: &str) -> (Message, u64) {
    let (role, tokens) = short.split_once(':').expect("role:tokens");
    let message = match role {
        "user" => json!({ "role": role, "content": "u" }),
        "assistant" => json!({
            "role": role,
            "content": [{ "type": "toolCall", "id": "c", "name": "x", "arguments": {} }],
        }),
        "toolResult" => json!({ "role": role, "toolCallId": "c", "toolName": "x", "content": [] }),
        other => panic!("no role {other}"),
    };
    (message_of(&message), tokens.parse().expect("tokens"))
}

fn message_of(value: &Value) -> Message {
    Message::from_json(&value.to_string()).expect("a recorded message")
}
