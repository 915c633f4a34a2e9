//! Requests as they go out, and answers that are complete.

use super::*;
use serde_json::{Value, json};

#[test]
fn a_stream_becomes_a_reply() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"#;
    let there = r#"{"choices":[{"delta":{"content":" there"}}]}"#;
    let outcome = ask(vec![send(events(&[HI, there, STOP, usage, "[DONE]"]))]);
    assert_eq!(outcome.streamed, ["Hi", " there"]);
    let usage = Usage {
        input_tokens: 3,
        output_tokens: 2,
        cache_read_tokens: 4,
        cache_write_tokens: 0,
    };
    assert_eq!(
        outcome.reply.unwrap(),
        ModelReply {
            content: vec![Block::Text("Hi there".to_owned())],
            stop: Stop::Stop,
            usage: Some(usage),
            response_id: Some("r1".to_owned()),
        }
    );
}

#[test]
fn the_request_has_key_system_prompt_messages_and_tools() {
    let tool = ToolSpec {
        name: "now".to_owned(),
        description: "Time.".to_owned(),
        parameters: json!({}),
    };
    let script = vec![send(events(&[HI, STOP]))];
    let outcome = ask_with(
        script,
        |settings| settings.max_output_tokens = Some(500),
        &[tool],
        &|| false,
    );
    assert_eq!(outcome.text(), "Hi");
    let request = outcome.server.requests.recv().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{head}"
    );
    let head = head.to_lowercase();
    for line in [
        "authorization: bearer made-up-key",
        "content-type: application/json",
        "accept-encoding: identity",
    ] {
        assert!(
            head.lines().any(|header| header == line),
            "{line} in {head}"
        );
    }
    assert_eq!(
        serde_json::from_str::<Value>(body).unwrap(),
        json!({
            "model": "m1",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {"name": "now", "description": "Time.", "parameters": {}}}],
            "tool_choice": "auto",
            "max_completion_tokens": 500,
        })
    );
}

#[test]
fn without_a_key_no_credentials_are_sent() {
    let outcome = ask_with(
        vec![send(events(&[HI, STOP]))],
        |settings| settings.api_key = None,
        &[],
        &|| false,
    );
    assert_eq!(outcome.text(), "Hi");
    let request = outcome.server.requests.recv().unwrap().to_lowercase();
    assert!(!request.contains("authorization"), "{request}");
}

#[test]
fn a_tool_call_in_pieces_is_put_together() {
    let outcome = ask(vec![send(events(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"pa"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"th\":\"a\"}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ]))]);
    let reply = outcome.reply.unwrap();
    let (id, name) = ("c1".to_owned(), "read".to_owned());
    assert_eq!(
        reply.content,
        [Block::ToolCall {
            id,
            name,
            arguments: json!({"path": "a"})
        }]
    );
    assert_eq!((reply.stop, reply.usage), (Stop::ToolUse, None));
}

#[test]
fn a_plain_document_is_understood() {
    let body =
        r#" {"id":"r2","choices":[{"message":{"content":"Plain."},"finish_reason":"length"}]}"#;
    let outcome = ask(vec![send(answer(
        "200 OK",
        "content-type: application/json\r\n",
        body,
    ))]);
    assert_eq!(outcome.text(), "Plain.");
    assert_eq!(outcome.reply.unwrap().stop, Stop::Length);
}

#[test]
fn chunks_may_end_inside_a_character() {
    let (head, tail) = (
        r#"data: {"choices":[{"delta":{"content":"日"#,
        "\"}}]}\n\ndata: [DONE]\n\n",
    );
    let bytes = [head.as_bytes(), tail.as_bytes()].concat();
    let (first, second) = bytes.split_at(head.len() - 1);
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut answer = head.to_vec();
    for chunk in [first, second, b""] {
        answer.extend(
            format!("{:x}\r\n", chunk.len())
                .bytes()
                .chain(chunk.iter().copied())
                .chain(*b"\r\n"),
        );
    }
    let outcome = ask(vec![Box::new(move |stream| {
        std::io::Write::write_all(stream, &answer).unwrap()
    })]);
    assert_eq!(outcome.text(), "日");
}

#[test]
fn configured_headers_are_sent_and_go_before_our_own() {
    let script = vec![send(events(&[HI, STOP]))];
    let set = |settings: &mut ProviderSettings| {
        settings.headers = vec![
            Header::new("X-Team", "blue team"),
            Header::new("Authorization", "Basic made-up"),
        ];
    };
    let outcome = ask_with(script, set, &[], &|| false);
    assert_eq!(outcome.text(), "Hi");
    let request = outcome.server.requests.recv().unwrap();
    let lines: Vec<&str> = request.lines().collect();
    assert!(lines.contains(&"x-team: blue team"), "{request}");
    assert!(lines.contains(&"authorization: Basic made-up"), "{request}");
    assert_eq!(request.matches("authorization:").count(), 1, "{request}");
    assert!(!request.contains(KEY), "{request}");
}

#[test]
fn values_of_headers_are_hidden_in_errors() {
    let script = vec![send(answer("401 No", "", "no such token: sekrit-token"))];
    let set = |settings: &mut ProviderSettings| {
        settings.headers = vec![Header::new("Authorization", "Bearer sekrit-token")];
        assert!(!format!("{settings:?}").contains("sekrit"));
    };
    let outcome = ask_with(script, set, &[], &|| false);
    let reason = outcome.fails(ModelErrorKind::Unauthorized);
    assert_eq!(reason, "HTTP 401: no such token: ***");
}
