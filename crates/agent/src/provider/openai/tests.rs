use super::*;
use openclaw_host::ModelErrorKind;

fn write(
    system_prompt: &str,
    messages: &[&str],
    tools: &[ToolSpec],
    accepts_images: bool,
) -> Value {
    let info = ModelInfo {
        provider: "acme".to_owned(),
        id: "m1".to_owned(),
        api: "openai-completions".to_owned(),
        context_window_tokens: 8_000,
        max_output_tokens: Some(2_000),
    };
    let request = ModelRequest {
        system_prompt,
        messages,
        tools,
        is_cancelled: &|| false,
    };
    let text = body(&info, request, accepts_images).unwrap();
    assert_eq!(text, body(&info, request, accepts_images).unwrap());
    serde_json::from_str(&text).unwrap()
}

fn check(messages: &[&str], expected: Value) {
    assert_eq!(write("", messages, &[], true)["messages"], expected);
}

/// A message whose only point is that something follows.
const NEXT: &str = r#"{"role":"user","content":"next"}"#;

fn next() -> Value {
    json!({"role": "user", "content": "next"})
}

#[test]
fn the_body_has_the_known_fields_in_order() {
    let parameters = json!({"type": "object", "properties": {}});
    let tool = ToolSpec {
        name: "now".to_owned(),
        description: "Tells the time.".to_owned(),
        parameters,
    };
    let body = write("Be kind.", &[NEXT], &[tool], false);
    assert_eq!(
        body.to_string(),
        json!({
            "model": "m1",
            "messages": [{"role": "system", "content": "Be kind."}, next()],
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {"name": "now", "description": "Tells the time.",
                       "parameters": {"type": "object", "properties": {}}}}],
            "tool_choice": "auto",
            "max_completion_tokens": 2_000,
        })
        .to_string()
    );
    let without = write("", &[NEXT], &[], false);
    assert_eq!(
        (without.get("tools"), without.get("tool_choice")),
        (None, None)
    );
}

/// Cases Q-8 and T-8.
#[test]
fn text_is_sent_as_it_is() {
    check(
        &[
            r#"{"role":"user","content":"see <|endoftext|> and <|im_start|>system here "}"#,
            r#"{"role":"user","content":[{"type":"text","text":"one"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
            r#"{"role":"user","content":[]}"#,
            r#"{"role":"user","content":"half \ud83d pair"}"#,
        ],
        json!([
            {"role": "user", "content": "see <|endoftext|> and <|im_start|>system here "},
            {"role": "user", "content": "one"},
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            {"role": "user", "content": "[empty content omitted]"},
            {"role": "user", "content": "half \u{fffd} pair"},
        ]),
    );
}

#[test]
fn internal_roles_become_user_messages() {
    check(
        &[
            r#"{"role":"compactionSummary","summary":"so far","tokensBefore":9}"#,
            r#"{"role":"branchSummary","summary":"elsewhere","fromId":"x"}"#,
            r#"{"role":"branchSummary","summary":""}"#,
            r#"{"role":"custom","customType":"note","content":"a note","display":false}"#,
            r#"{"role":"marginalia","content":"?"}"#,
        ],
        json!([
            {"role": "user", "content": "The conversation history before this point was compacted into the following \
                summary:\n\n<summary>\nso far\n</summary>"},
            {"role": "user", "content": "The following is a summary of a branch that this conversation came back \
                from:\n\n<summary>\nelsewhere</summary>"},
            {"role": "user", "content": "a note"},
        ]),
    );
}

#[test]
fn a_shell_run_becomes_a_text_of_the_user() {
    let run = |fields: &str, expected: &str| {
        let message = format!(r#"{{"role":"bashExecution",{fields}}}"#);
        check(&[&message], json!([{"role": "user", "content": expected}]));
    };
    run(
        r#""command":"ls","output":"a\nb","exitCode":0"#,
        "Ran `ls`\n```\na\nb\n```",
    );
    run(
        r#""command":"true","output":"","exitCode":null"#,
        "Ran `true`\n(no output)",
    );
    run(
        r#""command":"x","output":"","exitCode":2"#,
        "Ran `x`\n(no output)\n\nCommand exited with code 2",
    );
    run(
        r#""command":"x","output":"","exitCode":1,"cancelled":true"#,
        "Ran `x`\n(no output)\n\n(command cancelled)",
    );
    run(
        r#""command":"cat","output":"```\n","truncated":true,"fullOutputPath":"/out/full.txt""#,
        "Ran `cat`\n````\n```\n\n````\n\n[Output truncated. Full output: /out/full.txt]",
    );
}

#[test]
fn excluded_messages_stay_here() {
    check(
        &[
            r#"{"role":"user","content":"secret","excludeFromContext":true}"#,
            r#"{"role":"bashExecution","command":"x","output":"","excludeFromContext":true}"#,
            NEXT,
        ],
        json!([next()]),
    );
}

#[test]
fn calls_and_results_share_a_safe_id() {
    check(
        &[
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},
               {"type":"toolCall","id":"call_1!","name":"read","arguments":{"path":"a"}},
               {"type":"toolCall","id":"call_1?","name":"read","arguments":{}}],"stopReason":"toolUse"}"#,
            r#"{"role":"toolResult","toolCallId":"call_1?","toolName":"read","content":[{"type":"text","text":"B"}],"isError":false}"#,
            r#"{"role":"toolResult","toolCallId":"call_1!","toolName":"read","content":"A","isError":true,"details":{"n":1e999}}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"Both."}]}"#,
        ],
        json!([
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
                {"id": "call163785ba9", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
            {"role": "tool", "content": "A", "tool_call_id": "call1"},
            {"role": "tool", "content": "B", "tool_call_id": "call163785ba9"},
            {"role": "assistant", "content": "Both."},
        ]),
    );
}

/// Cases P-1, P-2 and P-5.
#[test]
fn broken_pairs_never_reach_a_server() {
    check(
        &[
            r#"{"role":"toolResult","toolCallId":"lost","toolName":"x","content":"orphan","isError":false}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"Wait."},{"type":"toolCall","id":"t1","name":"x","arguments":{}}],"stopReason":"toolUse"}"#,
            NEXT,
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"t2","name":"x","arguments":{}}],"stopReason":"error"}"#,
            NEXT,
        ],
        json!([
            {"role": "assistant", "content": "Wait.", "tool_calls":
                [{"id": "t1", "type": "function", "function": {"name": "x", "arguments": "{}"}}]},
            {"role": "tool", "content": openclaw_transcript::MISSING_RESULT, "tool_call_id": "t1"},
            next(),
            next(),
        ]),
    );
}

/// Case P-8.
#[test]
fn a_broken_answer_keeps_its_text() {
    check(
        &[
            r#"{"role":"assistant","content":[{"type":"text","text":"So far"}],"stopReason":"aborted"}"#,
            r#"{"role":"assistant","content":[],"stopReason":"error"}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}"#,
            NEXT,
        ],
        json!([{"role": "assistant", "content": "So far"}, next()]),
    );
}

#[test]
fn images_go_where_the_dialect_has_room() {
    let user = r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"QQ==","mimeType":"image/png"}]}"#;
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"shot","arguments":{}}]}"#;
    let result = r#"{"role":"toolResult","toolCallId":"t","toolName":"shot","content":[{"type":"image","data":"Qg==","mimeType":"image/png"}],"isError":false}"#;
    let image = |data: &str| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}});

    let sent = write("", &[user, call, result, NEXT], &[], true);
    assert_eq!(
        sent["messages"][0]["content"],
        json!([{"type": "text", "text": "see"}, image("QQ==")])
    );
    assert_eq!(sent["messages"][2]["content"], "(see attached image)");
    assert_eq!(
        sent["messages"][3]["content"],
        json!([{"type": "text", "text": "Attached image(s) from tool result:"}, image("Qg==")])
    );
    assert_eq!(sent["messages"][4], next());

    let blind = write("", &[user, call, result], &[], false);
    assert_eq!(
        blind["messages"][0]["content"][1]["text"],
        "(image omitted: model does not support images)"
    );
    assert_eq!(
        blind["messages"][2]["content"],
        "(tool image omitted: model does not support images)"
    );
    assert_eq!(blind["messages"].as_array().map(Vec::len), Some(3));
}

/// Case E-1.
#[test]
fn a_longer_history_only_adds() {
    let history = [
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"assistant","content":[{"type":"toolCall","id":"dup","name":"x","arguments":{}}]}"#,
        r#"{"role":"toolResult","toolCallId":"dup","toolName":"x","content":"1","isError":false}"#,
        r#"{"role":"assistant","content":[{"type":"toolCall","id":"dup","name":"x","arguments":{}}]}"#,
        r#"{"role":"toolResult","toolCallId":"dup","toolName":"x","content":"2","isError":false}"#,
        NEXT,
    ];
    let sent = |count: usize| {
        write("", &history[..count], &[], false)["messages"]
            .as_array()
            .unwrap()
            .clone()
    };
    let whole = sent(history.len());
    assert_eq!(whole[4]["tool_call_id"], "dup2");
    for count in [1, 3, 5] {
        assert_eq!(sent(count), whole[..count]);
    }
}

#[test]
fn a_message_that_cannot_be_read_stops_the_request() {
    let info = ModelInfo {
        provider: String::new(),
        id: String::new(),
        api: String::new(),
        context_window_tokens: 1,
        max_output_tokens: None,
    };
    let messages = [NEXT, r#"{"content":"no role"}"#];
    let request = ModelRequest {
        system_prompt: "",
        messages: &messages,
        tools: &[],
        is_cancelled: &|| false,
    };
    let failure = body(&info, request, false).unwrap_err();
    assert_eq!(failure.kind, ModelErrorKind::Refused);
    assert_eq!(
        failure.reason,
        "message 1 of the request cannot be sent: `role` is missing or not text"
    );
}
