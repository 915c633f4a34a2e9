//! Readable and unreadable messages, and makers of messages for other tests.

use super::*;

/// A message with a text.
pub(crate) fn say(role: &str, text: &str) -> Message {
    let content = json::quote(text);
    Message::from_json(&format!(r#"{{"role":"{role}","content":{content}}}"#)).unwrap()
}

/// An assistant message with calls.
pub(crate) fn call(ids: &[&str]) -> Message {
    calls_with(ids, "")
}

/// An assistant message with calls and further members.
pub(crate) fn calls_with(ids: &[&str], members: &str) -> Message {
    let block = |id| format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{}}}}"#);
    let blocks: Vec<_> = ids.iter().map(block).collect();
    Message::from_json(&format!(
        r#"{{"role":"assistant","content":[{}]{members}}}"#,
        blocks.join(",")
    ))
    .unwrap()
}

/// A result of a call.
pub(crate) fn result(id: &str) -> Message {
    result_saying(id, "done")
}

/// A result of a call with a text.
pub(crate) fn result_saying(id: &str, text: &str) -> Message {
    let text = json::quote(text);
    Message::from_json(&format!(
        r#"{{"role":"toolResult","toolCallId":"{id}","content":[{{"type":"text","text":{text}}}],"isError":false}}"#
    ))
    .unwrap()
}

/// Cases Q-8 and F-13.
#[test]
fn loose_shapes_are_read_and_kept_as_written() {
    for json in [
        r#"{"role":"user"}"#,
        r#"{"role":"user","content":null}"#,
        r#"{"role":"user","content":"plain text"}"#,
        r#"{"role":"user","content":[]}"#,
        r#"{"role":"assistant","content":"plain text"}"#,
        r#"{"role":"toolResult","toolCallId":"a","content":"plain text"}"#,
        r#"{"role":"toolResult","toolCallId":"a","content":{"type":"text","text":"x"}}"#,
        r#"{"role":"toolResult","content":[]}"#,
        r#"{"role":"system","content":7}"#,
        r#"{"role":"custom","content":"no type"}"#,
        r#"{"role":"compactionSummary"}"#,
        r#"{ "role":"user", "extra" : {"x":[1,2]}, "content":[{"type":"new","n":1e999}] }"#,
    ] {
        let message = Message::from_json(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(message.json(), json);
    }
}

#[test]
fn what_is_no_message_is_refused_with_the_reason() {
    let deep = format!(
        r#"{{"role":"user","content":{}1{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    for (json, expected) in [
        ("[]", MessageError::NotAnObject),
        ("3", MessageError::NotAnObject),
        ("{}", MessageError::NoRole),
        (r#"{"role":1}"#, MessageError::NoRole),
        (r#"{"role":"user","content":7}"#, MessageError::BadContent),
        (
            r#"{"role":"user","content":[{"type":"text"},{"text":"x"}]}"#,
            MessageError::BadBlock { index: 1 },
        ),
        (
            r#"{"role":"user","content":[3]}"#,
            MessageError::BadBlock { index: 0 },
        ),
        (
            r#"{"role":"bashExecution","command":"ls"}"#,
            MessageError::MissingField { field: "output" },
        ),
        (&deep, MessageError::TooDeep),
    ] {
        assert_eq!(Message::from_json(json), Err(expected), "{json}");
    }
    assert!(matches!(
        Message::from_json("{"),
        Err(MessageError::NotJson { .. })
    ));
}

#[test]
fn facts_are_read_from_their_fields() {
    let message = Message::from_json(
        r#"{"role":"assistant","content":[{"type":"text","text":"x"},
            {"type":"tool_use","id":"a","name":" read ","input":{}},{"type":"toolCall","id":"b","name":"ls","arguments":"{}"}],
            "stopReason":"aborted","timestamp":12.5,"idempotencyKey":"k:1","excludeFromContext":true}"#,
    )
    .unwrap();
    let calls: Vec<_> = message
        .calls()
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str()))
        .collect();
    assert_eq!(calls, [("a", "read"), ("b", "ls")]);
    assert_eq!(message.role(), Role::Assistant);
    assert_eq!(message.stop_reason(), Some(StopReason::Aborted));
    assert_eq!(message.timestamp_ms(), Some(12));
    assert_eq!(message.idempotency_key(), Some("k:1"));
    assert!(message.excluded() && message.failed());
}

/// Case P-8.
#[test]
fn calls_that_cannot_be_answered_are_told_apart() {
    for (block, expected) in [
        (r#""name":"read","arguments":{}"#, BrokenCall::NoId),
        (r#""id":"a","name":"read""#, BrokenCall::NoArguments),
        (
            r#""id":"a","name":"read","arguments":"{\"path\":\"a""#,
            BrokenCall::HalfWritten,
        ),
        (
            r#""id":"a","name":"read","arguments":{},"partialJson":"{""#,
            BrokenCall::HalfWritten,
        ),
        (r#""id":"a","arguments":{}"#, BrokenCall::BadName),
        (
            r#""id":"a","name":"bad name!","arguments":{}"#,
            BrokenCall::BadName,
        ),
    ] {
        let json = format!(r#"{{"role":"assistant","content":[{{"type":"toolCall",{block}}}]}}"#);
        let message = Message::from_json(&json).unwrap();
        assert_eq!(message.calls(), [], "{json}");
        assert_eq!(message.broken_calls()[0].1, expected, "{json}");
    }
}

#[test]
fn the_first_result_id_field_counts() {
    for field in call::RESULT_ID_FIELDS {
        let message = Message::from_json(&format!(
            r#"{{"role":"toolResult","{field}":"a","content":[]}}"#
        ))
        .unwrap();
        assert_eq!(message.result_of(), Some("a"), "{field}");
    }
    let both = r#"{"role":"toolResult","call_id":"b","toolCallId":"a","content":[]}"#;
    assert_eq!(Message::from_json(both).unwrap().result_of(), Some("a"));
}

/// Case F-5.
#[test]
fn half_an_emoji_becomes_a_replacement_character() {
    let message = Message::from_json(r#"{"role":"user","content":"a\ud83d"}"#).unwrap();
    assert_eq!(message.json(), r#"{"role":"user","content":"a\ufffd"}"#);
}

#[test]
fn text_and_single_blocks_become_lists_where_the_runtime_loads_them_so() {
    for (json, expected) in [
        (
            r#"{"role":"assistant","content":"x","n":1}"#,
            Some(r#"{"role":"assistant","content":[{"type":"text","text":"x"}],"n":1}"#),
        ),
        (
            r#"{"role":"toolResult","content":{"type":"text","text":"x"}}"#,
            Some(r#"{"role":"toolResult","content":[{"type":"text","text":"x"}]}"#),
        ),
        (r#"{"role":"user","content":"x"}"#, None),
        (r#"{"role":"assistant","content":[]}"#, None),
        (r#"{"role":"toolResult"}"#, None),
    ] {
        assert_eq!(
            Message::from_json(json)
                .unwrap()
                .with_block_content()
                .as_deref(),
            expected,
            "{json}"
        );
    }
}

/// Case F-14.
#[test]
fn a_message_that_is_read_can_be_read_again_from_its_row() {
    let nested = |levels| {
        format!(
            r#"{{"role":"system","x":{}{}}}"#,
            "[".repeat(levels),
            "]".repeat(levels)
        )
    };
    let deepest = nested(MAX_MESSAGE_DEPTH - 1);
    assert!(Message::from_json(&deepest).is_ok());
    assert_eq!(
        Message::from_json(&nested(MAX_MESSAGE_DEPTH)),
        Err(MessageError::TooDeep)
    );
    let row = crate::message_row("a", None, "", &deepest);
    assert!(
        matches!(crate::parse_line(1, row.as_bytes(), &mut Vec::new()), crate::Line::Row(row) if row.message().is_some())
    );
}
