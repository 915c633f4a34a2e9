//! What a summariser gets to see.

use super::message_of;
use crate::support::{field, list, oracle, text};
use openclaw_host::compaction::{conversation, is_conversation};
use openclaw_transcript::Message;
use serde_json::{Value, json};

#[test]
fn conversations_are_written_as_the_original_writes_them() {
    oracle("serialize conversation", |captured, tally| {
        for (index, case) in list(&captured.golden("serialize-conversation"))
            .iter()
            .enumerate()
        {
            let messages: Vec<Message> = list(field(case, "messages"))
                .iter()
                .map(message_of)
                .collect();
            let actual = conversation(&messages.iter().collect::<Vec<_>>());
            tally.same(index, "text", text(case, "text"), actual.as_str());
        }
    });
}

#[test]
fn conversation_is_told_from_noise_as_in_the_original() {
    oracle("real conversation", |captured, tally| {
        for (index, case) in list(&captured.golden("real-conversation"))
            .iter()
            .enumerate()
        {
            let messages = around(field(case, "message"));
            let messages: Vec<&Message> = messages.iter().collect();
            let actual = is_conversation(&messages, messages.len() - 1);
            tally.same(index, "real", field(case, "real").as_bool(), Some(actual));
        }
    });
}

/// The message of a case, last; before it what the recording describes in words.
fn around(message: &Value) -> Vec<Message> {
    let user = json!({ "role": "user", "content": "hi" });
    let silent = json!({ "role": "assistant", "content": [] });
    let result =
        json!({ "role": "toolResult", "toolCallId": "c", "toolName": "x", "content": "r" });
    let between = match message.as_str() {
        None => return vec![message_of(message)],
        Some("toolResult with user message 2 back") => 1,
        Some("toolResult with no anchor in 20") => 20,
        Some(other) => panic!("no case {other}"),
    };
    let silent = std::iter::repeat_n(&silent, between);
    [&user]
        .into_iter()
        .chain(silent)
        .chain([&result])
        .map(message_of)
        .collect()
}
