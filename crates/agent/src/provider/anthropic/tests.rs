use super::*;
use crate::provider::Dialect;
use crate::provider::tests::ask_in;
use crate::provider::tests::server::{answer, events, send};
use openclaw_host::{Block, ModelErrorKind, ModelReply, Stop, ToolSpec, Usage};

fn write(messages: &[&str], tools: &[ToolSpec]) -> Value {
    let info = ModelInfo {
        provider: "acme".to_owned(),
        id: "m1".to_owned(),
        api: Dialect::Anthropic.api().to_owned(),
        context_window_tokens: 8_000,
        max_output_tokens: None,
    };
    let request = ModelRequest {
        system_prompt: "Be kind.",
        messages,
        tools,
        is_cancelled: &|| false,
    };
    serde_json::from_str(&body(&info, request, true).unwrap()).unwrap()
}

#[test]
fn the_body_says_everything_in_the_dialect() {
    let tool = ToolSpec {
        name: "now".to_owned(),
        description: "Time.".to_owned(),
        parameters: json!({"type": "object"}),
    };
    let mark = json!({"type": "ephemeral"});
    let history = [
        r#"{"role":"assistant","content":"Welcome."}"#,
        r#"{"role":"user","content":"Hi"}"#,
        r#"{"role":"user","content":[{"type":"image","data":"QQ==","mimeType":"image/png"}]}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":" "},{"type":"toolCall","id":"a_1","name":"now","arguments":{"x":1}}]}"#,
        r#"{"role":"toolResult","toolCallId":"a_1","toolName":"now","isError":true,"content":[{"type":"text","text":"no"}]}"#,
        r#"{"role":"user","content":"Well?"}"#,
    ];
    assert_eq!(
        write(&history, &[tool]),
        json!({
            "model": "m1",
            "max_tokens": 4_000,
            "system": [{"type": "text", "text": "Be kind.", "cache_control": mark}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": CONTINUED}]},
                {"role": "assistant", "content": [{"type": "text", "text": "Welcome."}]},
                {"role": "user", "content": [
                    {"type": "text", "text": "Hi"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}},
                ]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a1", "name": "now", "input": {"x": 1}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a1", "content": [{"type": "text", "text": "no"}], "is_error": true},
                    {"type": "text", "text": "Well?", "cache_control": mark},
                ]},
            ],
            "stream": true,
            "tools": [{"name": "now", "description": "Time.", "input_schema": {"type": "object"}}],
        })
    );
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":7,"cache_read_input_tokens":4,"cache_creation_input_tokens":2,"output_tokens":1}}}"#;
const HI: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

#[test]
fn a_stream_becomes_a_reply_with_calls_and_usage() {
    let script = [
        START,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        HI,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"now","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"zone\":"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"UTC\"}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#,
        STOP,
    ];
    let outcome = ask_in(Dialect::Anthropic, vec![send(events(&script))]);
    assert_eq!(outcome.streamed, ["Hi"]);
    let call = Block::ToolCall {
        id: "t1".to_owned(),
        name: "now".to_owned(),
        arguments: json!({"zone": "UTC"}),
    };
    assert_eq!(
        outcome.reply.unwrap(),
        ModelReply {
            content: vec![Block::Text("Hi".to_owned()), call],
            stop: Stop::ToolUse,
            usage: Some(Usage {
                input_tokens: 7,
                output_tokens: 9,
                cache_read_tokens: 4,
                cache_write_tokens: 2
            }),
            response_id: Some("msg_1".to_owned()),
        }
    );
    let request = outcome.server.requests.recv().unwrap().to_lowercase();
    assert!(
        request.starts_with("post /v1/messages http/1.1\r\n"),
        "{request}"
    );
    for line in [
        "x-api-key: made-up-key\r\n",
        "anthropic-version: 2023-06-01\r\n",
    ] {
        assert!(request.contains(line), "{line} in {request}");
    }
    assert!(!request.contains("authorization"), "{request}");
}

#[test]
fn a_message_in_one_piece_is_understood() {
    let message = r#"{"id":"msg_2","type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let outcome = ask_in(
        Dialect::Anthropic,
        vec![send(answer("200 OK", "", message))],
    );
    assert_eq!(outcome.text(), "Hi");
}

#[test]
fn errors_are_told_apart() {
    let check = |status: &str, kind_of_error: &str, message: &str, kind| {
        let body = json!({"type": "error", "error": {"type": kind_of_error, "message": message}})
            .to_string();
        ask_in(Dialect::Anthropic, vec![send(answer(status, "", &body))]).fails(kind);
        let in_stream = events(&[START, &body]);
        ask_in(Dialect::Anthropic, vec![send(in_stream)]).fails(kind);
    };
    check(
        "401 No",
        "authentication_error",
        "bad key made-up-key",
        ModelErrorKind::Unauthorized,
    );
    check(
        "429 Slow",
        "rate_limit_error",
        "slow down",
        ModelErrorKind::RateLimited { retry_after: None },
    );
    check(
        "529 Busy",
        "overloaded_error",
        "Overloaded",
        ModelErrorKind::Server,
    );
    check(
        "400 Bad",
        "invalid_request_error",
        "no such model",
        ModelErrorKind::Refused,
    );
    check(
        "400 Bad",
        "invalid_request_error",
        "prompt is too long: 9 tokens > 8 maximum",
        ModelErrorKind::ContextOverflow,
    );
    check(
        "413 Large",
        "request_too_large",
        "too large",
        ModelErrorKind::ContextOverflow,
    );
}

#[test]
fn a_stream_that_is_cut_is_no_answer() {
    let outcome = ask_in(Dialect::Anthropic, vec![send(events(&[START, HI]))]);
    assert_eq!(
        outcome.fails(ModelErrorKind::Transport),
        "the stream ended before the answer was complete"
    );
    let refusal = r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#;
    ask_in(
        Dialect::Anthropic,
        vec![send(events(&[START, HI, refusal, STOP]))],
    )
    .fails(ModelErrorKind::Refused);
    let cut = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
    let outcome = ask_in(
        Dialect::Anthropic,
        vec![send(events(&[START, HI, cut, STOP]))],
    );
    assert_eq!(outcome.reply.unwrap().stop, Stop::Length);
}

/// Case P-8.
#[test]
fn half_arguments_of_a_call_are_no_answer() {
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"now","input":{}}}"#;
    let half = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a"}}"#;
    let cut = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
    let outcome = ask_in(
        Dialect::Anthropic,
        vec![send(events(&[START, call, half, cut, STOP]))],
    );
    let reason = outcome.fails(ModelErrorKind::BadAnswer);
    assert!(
        reason.ends_with("the output limit cut them off"),
        "{reason}"
    );
}

#[test]
fn a_longer_history_only_adds_but_for_the_mark() {
    let hi = r#"{"role":"user","content":"Hi"}"#;
    let hello = r#"{"role":"assistant","content":"Hello"}"#;
    let unmarked = |messages: &[&str]| {
        let mut messages = write(messages, &[])["messages"].take();
        for message in messages.as_array_mut().unwrap() {
            for block in message["content"].as_array_mut().unwrap() {
                block.as_object_mut().unwrap().remove("cache_control");
            }
        }
        messages
    };
    let (short, long) = (unmarked(&[hi]), unmarked(&[hi, hello, hi]));
    assert_eq!(short[0], long[0]);
}
