//! Calls and their results.

use crate::support::{field, list, oracle, parsed, text};
use openclaw_transcript::{MISSING_RESULT, Message, Piece, Repaired, pair_with};
use serde_json::Value;
use std::collections::VecDeque;

/// The recorded histories in which pairing has something to do. The others are about other steps of the pipeline.
const CASES: [&str; 10] = [
    "missingResult",
    "missingOneOfTwo",
    "orphanResult",
    "displacedResult",
    "duplicateResult",
    "wrongOrder",
    "erroredWithCall",
    "idReuse",
    "idCollision",
    "badCalls",
];

#[test]
fn pairs_are_repaired_as_the_original_does() {
    oracle("replay pairs", |captured, tally| {
        let golden = captured.golden("replay-pipeline");
        let recorded = list(&golden);
        let policies = recorded.iter().filter(|one| text(one, "kind") == "policy");
        for api in policies.map(|policy| text(policy, "modelApi")) {
            for name in CASES {
                let case = recorded
                    .iter()
                    .filter(|one| text(one, "kind") == "case")
                    .find(|one| text(one, "name") == name && text(one, "modelApi") == api)
                    .unwrap_or_else(|| panic!("no case {name} for {api}"));
                let messages = messages(list(field(case, "input")));
                let missing_text = missing_text(api);
                let repaired = texts(&messages, pair_with(&messages, missing_text));
                let case_name = format!("{name} for {api}");
                tally.same(
                    &case_name,
                    "sanitized",
                    comparable(list(field(case, "sanitized"))),
                    comparable(&repaired),
                );
                let again = pair_with(&self::messages(&repaired), missing_text);
                tally.same(&case_name, "mends of a second repair", vec![], again.mends);
            }
        }
    });
}

fn missing_text(api: &str) -> &'static str {
    if api == "openai-responses" {
        "aborted"
    } else {
        MISSING_RESULT
    }
}

fn messages(list: &[Value]) -> Vec<Message> {
    list.iter()
        .map(|message| Message::from_json(&message.to_string()).expect("a recorded message"))
        .collect()
}

fn texts(given: &[Message], repaired: Repaired) -> Vec<Value> {
    let texts = repaired.pieces.into_iter().map(|piece| match piece {
        Piece::Keep(index) => given[index].json().to_owned(),
        Piece::New { json, .. } => json,
    });
    texts
        .map(|text| parsed("repaired message", &text))
        .collect()
}

/// A list without what other steps of the pipeline change: an id becomes the position of its call, and usage, details
/// and times are left out.
fn comparable(messages: &[Value]) -> Vec<Value> {
    let mut messages = messages.to_vec();
    let mut open = VecDeque::new();
    let mut calls = 0_usize;
    for message in &mut messages {
        let members = message.as_object_mut().expect("a message is an object");
        for name in ["usage", "details", "timestamp"] {
            members.remove(name);
        }
        if let Some(id) = members.get_mut("toolCallId") {
            let call = open.iter().position(|(open, _)| open == id);
            let call = call.and_then(|at| open.remove(at));
            *id = call.map_or(Value::from("no call"), |(_, call)| Value::from(call));
        }
        let blocks = members.get_mut("content").and_then(Value::as_array_mut);
        for block in blocks.into_iter().flatten() {
            if text(block, "type") == "toolCall" {
                open.push_back((block["id"].take(), calls));
                block["id"] = Value::from(calls);
                calls += 1;
            }
        }
    }
    messages
}
