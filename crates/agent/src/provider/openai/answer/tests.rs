use super::*;
use openclaw_host::Block;
use serde_json::json;

fn stream(chunks: &[Value]) -> (Result<Box<Answer>, Failure>, Vec<String>) {
    let (mut answer, mut streamed) = (Box::<Answer>::default(), Vec::new());
    for chunk in chunks {
        let data = chunk
            .as_str()
            .map_or_else(|| chunk.to_string(), str::to_owned);
        if let Err(failure) = answer.event(&data, &mut |text| streamed.push(text.to_owned())) {
            return (Err(failure), streamed);
        }
    }
    (Ok(answer), streamed)
}

fn reply(chunks: &[Value]) -> ModelReply {
    stream(chunks).0.unwrap().finish().unwrap()
}

fn delta(delta: Value) -> Value {
    json!({"id": "r1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}], "usage": null})
}

fn said() -> Value {
    delta(json!({"content": "Hi."}))
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn call(id: &str, name: &str, arguments: Value) -> Block {
    Block::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
    }
}

#[test]
fn deltas_become_text_thinking_and_usage() {
    let chunks = [
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"content": null, "reasoning_content": "hm"})),
        delta(json!({"content": "Good "})),
        delta(json!({"content": [{"type": "text", "text": "day."}]})),
        end("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2,
               "prompt_tokens_details": {"cached_tokens": 4}}}),
        json!("[DONE]"),
    ];
    let (answer, streamed) = stream(&chunks);
    let answer = answer.unwrap();
    assert!(answer.saw_done());
    assert_eq!(streamed, ["Good ", "day."]);
    assert_eq!(
        answer.finish().unwrap(),
        ModelReply {
            content: vec![
                Block::Thinking("hm".to_owned()),
                Block::Text("Good day.".to_owned())
            ],
            stop: Stop::Stop,
            usage: Some(Usage {
                input_tokens: 5,
                output_tokens: 2,
                cache_read_tokens: 4,
                cache_write_tokens: 0
            }),
            response_id: Some("r1".to_owned()),
        }
    );
}

#[test]
fn calls_are_put_together_by_index() {
    let piece = |piece: Value| delta(json!({"tool_calls": [piece]}));
    let chunks = [
        piece(
            json!({"index": 0, "id": "a", "type": "function", "function": {"name": "read", "arguments": ""}}),
        ),
        piece(json!({"index": 1, "id": "b", "function": {"name": "list", "arguments": "{}"}})),
        piece(json!({"index": 0, "function": {"arguments": "{\"path\":"}})),
        piece(json!({"index": 0, "id": "a", "function": {"name": "read", "arguments": "\"x\"}"}})),
        end("tool_calls"),
    ];
    let reply = reply(&chunks);
    assert_eq!(
        reply.content,
        [
            call("a", "read", json!({"path": "x"})),
            call("b", "list", json!({}))
        ]
    );
    assert_eq!(reply.stop, Stop::ToolUse);
}

#[test]
fn calls_without_index_or_id_are_understood() {
    let piece = |piece: Value| delta(json!({"tool_calls": [piece]}));
    let chunks = [
        piece(json!({"id": "a", "function": {"name": "read", "arguments": "{\"p\""}})),
        piece(json!({"function": {"arguments": ":1}"}})),
        piece(json!({"id": "b", "function": {"name": "list", "arguments": {"all": true}}})),
        end("stop"),
    ];
    let calls = reply(&chunks);
    assert_eq!(
        calls.content,
        [
            call("a", "read", json!({"p": 1})),
            call("b", "list", json!({"all": true}))
        ]
    );
    assert_eq!(calls.stop, Stop::ToolUse);

    let nameless = reply(&[
        piece(json!({"index": 0, "function": {"name": "now"}})),
        json!("[DONE]"),
    ]);
    assert_eq!(nameless.content, [call("call_0", "now", json!({}))]);
}

#[test]
fn arguments_that_are_no_object_are_a_bad_answer() {
    let check = |arguments: &str, reason: &str, stop: &str| {
        let function = json!({"name": "read", "arguments": arguments});
        let chunks = [
            delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": function}]})),
            end(stop),
        ];
        let failure = stream(&chunks).0.unwrap().finish().unwrap_err();
        assert_eq!(
            (failure.kind, failure.reason.as_str()),
            (ModelErrorKind::BadAnswer, reason)
        );
    };
    check(
        "{\"p\":",
        "arguments of tool call 0 (`read`) are not a JSON object",
        "tool_calls",
    );
    check(
        "[1]",
        "arguments of tool call 0 (`read`) are not a JSON object",
        "tool_calls",
    );
    check(
        "{\"p",
        "arguments of tool call 0 (`read`) are not a JSON object; the output limit cut them off",
        "length",
    );

    let chunks = [
        delta(json!({"tool_calls": [{"index": 0, "id": "a"}]})),
        end("tool_calls"),
    ];
    assert_eq!(
        stream(&chunks).0.unwrap().finish().unwrap_err().reason,
        "tool call 0 has no name"
    );
}

#[test]
fn finish_reasons_are_known_or_refused() {
    let check = |reason: &str, expected: Stop| {
        assert_eq!(reply(&[said(), end(reason)]).stop, expected, "{reason}")
    };
    check("stop", Stop::Stop);
    check("length", Stop::Length);
    check("max_tokens", Stop::Length);
    check("tool_calls", Stop::Stop); // without a call
    let refused = |reason: &str| stream(&[end(reason)]).0.unwrap_err().kind;
    assert_eq!(refused("content_filter"), ModelErrorKind::Refused);
    assert_eq!(refused("lunch"), ModelErrorKind::BadAnswer);
}

#[test]
fn errors_inside_a_stream_are_classified() {
    let check = |error: Value, expected: ModelErrorKind| {
        let failure = stream(&[json!({"error": error})]).0.unwrap_err();
        assert_eq!(failure.kind, expected, "{error}");
    };
    check(
        json!({"message": "prompt is too long"}),
        ModelErrorKind::ContextOverflow,
    );
    check(
        json!({"message": "slow down", "code": 429}),
        ModelErrorKind::RateLimited { retry_after: None },
    );
    check(
        json!({"message": "oops", "code": 502}),
        ModelErrorKind::Server,
    );
    check(json!("oops"), ModelErrorKind::Server);
}

#[test]
fn what_is_no_chunk_is_a_bad_answer() {
    let (answer, _) = stream(&[json!("{\"choices\":")]);
    assert_eq!(answer.unwrap_err().kind, ModelErrorKind::BadAnswer);
    for odd in [
        json!(3),
        json!({}),
        json!({"choices": []}),
        json!({"choices": [{"delta": null}]}),
        json!(null),
    ] {
        let (answer, _) = stream(std::slice::from_ref(&odd));
        assert!(!answer.unwrap().is_complete(), "{odd}");
    }
}

#[test]
fn usage_without_numbers_is_no_usage() {
    let with = |value: Value| {
        let mut end = end("stop");
        end["usage"] = value;
        reply(&[said(), end]).usage
    };
    assert_eq!(with(json!(null)), None);
    assert_eq!(with(json!({"prompt_tokens": -1})), None);
    assert_eq!(
        with(json!({"prompt_tokens": 3})).map(|usage| usage.input_tokens),
        Some(3)
    );
    let odd =
        with(json!({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 9}})).unwrap();
    assert_eq!((odd.input_tokens, odd.cache_read_tokens), (0, 9));
}

#[test]
fn a_document_is_read_like_a_stream() {
    let mut answer = Box::<Answer>::default();
    let document = json!({"id": "r2", "choices": [{"message": {"role": "assistant", "content": "Hi.", "tool_calls":
        [{"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}]}}]});
    answer.document(&document, &mut |_| {}).unwrap();
    let reply = answer.finish().unwrap();
    assert_eq!(
        reply.content,
        [Block::Text("Hi.".to_owned()), call("a", "now", json!({}))]
    );

    for bad in [json!({}), json!({"choices": []}), json!([])] {
        let failure = Box::<Answer>::default()
            .document(&bad, &mut |_| {})
            .unwrap_err();
        assert_eq!(failure.kind, ModelErrorKind::BadAnswer, "{bad}");
    }
}

#[test]
fn an_answer_without_content_is_a_bad_answer() {
    let check = |chunks: &[Value], reason: &str| {
        let failure = stream(chunks).0.unwrap().finish().unwrap_err();
        assert_eq!(
            (failure.kind, failure.reason.as_str()),
            (ModelErrorKind::BadAnswer, reason)
        );
    };
    check(&[json!("[DONE]")], "the answer is empty");
    check(&[end("stop")], "the answer is empty");
    check(&[end("tool_calls")], "the answer is empty");
    check(
        &[
            delta(json!({"role": "assistant", "content": ""})),
            end("stop"),
        ],
        "the answer is empty",
    );
    check(
        &[end("length")],
        "the answer is empty; the output limit was reached before a word",
    );
    let mut answer = Box::<Answer>::default();
    let document = json!({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]});
    answer.document(&document, &mut |_| {}).unwrap();
    assert_eq!(answer.finish().unwrap_err().kind, ModelErrorKind::BadAnswer);
}

/// Case F-5.
#[test]
fn half_an_emoji_in_a_chunk_is_replaced() {
    let chunks = [
        json!(r#"{"choices":[{"delta":{"content":"a\ud83d"}}]}"#),
        json!(r#"{"choices":[{"delta":{"content":"\ude00b \ud83d\ude00"}}]}"#),
        json!(
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"p\":\"\\ud83d\"}"}}]}}]}"#
        ),
        end("stop"),
    ];
    assert_eq!(
        reply(&chunks).content,
        [
            Block::Text("a\u{fffd}\u{fffd}b \u{1f600}".to_owned()),
            call("c", "f", json!({"p": "\u{fffd}"}))
        ]
    );
}
