use super::*;
use crate::provider::Dialect;
use crate::provider::tests::ask_in;
use crate::provider::tests::server::{answer, send};
use openclaw_host::{Block, ModelErrorKind, ModelReply, Stop, ToolSpec, Usage};

#[test]
fn the_body_says_everything_in_the_dialect() {
    let info = ModelInfo {
        provider: "local".to_owned(),
        id: "m1".to_owned(),
        api: Dialect::Ollama.api().to_owned(),
        context_window_tokens: 8_000,
        max_output_tokens: Some(500),
    };
    let tool = ToolSpec {
        name: "now".to_owned(),
        description: "Time.".to_owned(),
        parameters: json!({}),
    };
    let messages = [
        r#"{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image","data":"QQ==","mimeType":"image/png"}]}"#,
        r#"{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"now","arguments":{"x":1}}]}"#,
        r#"{"role":"toolResult","toolCallId":"a","toolName":"now","content":"noon"}"#,
    ];
    let request = ModelRequest {
        system_prompt: "Be kind.",
        messages: &messages,
        tools: &[tool],
        is_cancelled: &|| false,
    };
    let written: Value = serde_json::from_str(&body(&info, request, true).unwrap()).unwrap();
    assert_eq!(
        written,
        json!({
            "model": "m1",
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "Hi", "images": ["QQ=="]},
                {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "now", "arguments": {"x": 1}}}]},
                {"role": "tool", "content": "noon", "tool_name": "now"},
            ],
            "stream": true,
            "tools": [{"type": "function", "function": {"name": "now", "description": "Time.", "parameters": {}}}],
            "options": {"num_ctx": 8_000, "num_predict": 500},
        })
    );
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\n\r\n";
const HI: &str = r#"{"message":{"role":"assistant","content":"Hi"},"done":false}"#;
const DONE: &str = r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":2}"#;

#[test]
fn lines_become_a_reply_with_calls_and_usage() {
    let call = r#"{"message":{"content":"","tool_calls":[{"function":{"name":"now","arguments":{"zone":"UTC"}}},{"function":{"name":"now","arguments":{}}}]},"done":false}"#;
    // The last line has no line feed.
    let outcome = ask_in(
        Dialect::Ollama,
        vec![send(format!("{HEAD}{HI}\n\n{call}\r\n{DONE}"))],
    );
    assert_eq!(outcome.streamed, ["Hi"]);
    let call = |id: &str, arguments| Block::ToolCall {
        id: id.to_owned(),
        name: "now".to_owned(),
        arguments,
    };
    assert_eq!(
        outcome.reply.unwrap(),
        ModelReply {
            content: vec![
                Block::Text("Hi".to_owned()),
                call("call_0", json!({"zone": "UTC"})),
                call("call_1", json!({}))
            ],
            stop: Stop::ToolUse,
            usage: Some(Usage {
                input_tokens: 7,
                output_tokens: 2,
                ..Usage::default()
            }),
            response_id: None,
        }
    );
    let request = outcome.server.requests.recv().unwrap();
    assert!(
        request.starts_with("POST /v1/api/chat HTTP/1.1\r\n"),
        "{request}"
    );
}

#[test]
fn failures_are_told_apart() {
    let fails = |text: String, kind| ask_in(Dialect::Ollama, vec![send(text)]).fails(kind);
    fails(format!("{HEAD}{HI}\n"), ModelErrorKind::Transport);
    fails(format!("{HEAD}{HI}\n{{\"mess"), ModelErrorKind::Transport);
    fails(
        format!("{HEAD}{HI}\n{{\"error\":\"out of memory\"}}\n"),
        ModelErrorKind::Server,
    );
    fails(format!("{HEAD}<html>\n"), ModelErrorKind::BadAnswer);
    fails(
        answer("404 Not Found", "", r#"{"error":"model 'm1' not found"}"#),
        ModelErrorKind::Refused,
    );
    let overflow = r#"{"error":"the input length exceeds the context length: exceeds the available context size"}"#;
    fails(
        answer("400 Bad", "", overflow),
        ModelErrorKind::ContextOverflow,
    );
    let cut = format!("{HEAD}{HI}\n{}\n", DONE.replace("\"stop\"", "\"length\""));
    assert_eq!(
        ask_in(Dialect::Ollama, vec![send(cut)]).reply.unwrap().stop,
        Stop::Length
    );
}
