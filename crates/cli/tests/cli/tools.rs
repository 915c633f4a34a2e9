//! A model that calls tools, and what it is told of the workspace. The server plays a script, one answer a request.

use crate::home::Home;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// Answers in the dialect of Anthropic, as whole messages; hands out what it was asked.
fn server(script: Vec<Value>) -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for content in script {
            let (stream, _) = listener.accept().unwrap();
            if sender.send(exchange(stream, &content)).is_err() {
                return;
            }
        }
    });
    (address, receiver)
}

fn exchange(mut stream: TcpStream, content: &Value) -> Value {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut size, mut line) = (0, String::from("POST"));
    while !line.trim().is_empty() {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            size = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; size];
    reader.read_exact(&mut body).unwrap();
    let is_call = content.get("name").is_some();
    let reason = if is_call { "tool_use" } else { "end_turn" };
    let answer = json!({ "content": [content], "stop_reason": reason }).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        answer.len()
    );
    stream
        .write_all(format!("{head}{answer}").as_bytes())
        .unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn call(name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": format!("call{name}"), "name": name, "input": input })
}

fn said(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn config(home: &Home, base_url: &str, tools: Value) {
    let config = json!({
        "models": { "providers": { "acme": {
            "baseUrl": base_url, "apiKey": "${ACME_KEY}", "api": "anthropic-messages", "models": [{ "id": "m1" }],
        } } },
        "agents": { "defaults": { "workspace": home.path("ws"), "userTimezone": "Europe/Berlin" } },
        "tools": tools,
    });
    home.write_config(&config.to_string());
}

/// The text of the last tool result of a request.
fn result(request: &Value) -> &str {
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let block = last["content"].as_array().unwrap().last().unwrap();
    block["content"][0]["text"].as_str().unwrap()
}

#[test]
fn tools_work_in_the_workspace_and_get_no_secret() {
    let home = Home::new().probed();
    let script = vec![
        call(
            "write",
            json!({ "path": "notes/a.txt", "content": "hello\n" }),
        ),
        call(
            "exec",
            json!({ "command": "cat notes/a.txt key; env; pwd" }),
        ),
        call(
            "read",
            json!({ "path": "../../home/.openclaw/openclaw.json" }),
        ),
        said("Done."),
    ];
    let (base_url, requests) = server(script);
    config(&home, &base_url, json!({}));
    fs::create_dir_all(home.path("ws/skills/tea")).unwrap();
    fs::write(home.path("ws/key"), "sk-secret\n").unwrap();
    fs::write(home.path("ws/AGENTS.md"), "Always be kind to gulls.").unwrap();
    fs::write(
        home.path("ws/skills/tea/SKILL.md"),
        "---\nname: tea\ndescription: Makes tea.\n---\nBoil.",
    )
    .unwrap();

    let mut command = home.command(["agent", "-m", "go"]);
    let ran = home.finish(command.env("ACME_KEY", "sk-secret")).succeeds();
    assert_eq!(ran.stdout, "Done.\n");
    assert_eq!(
        fs::read_to_string(home.path("ws/notes/a.txt")).unwrap(),
        "hello\n"
    );

    let requests: Vec<Value> = requests.try_iter().collect();
    let system = requests[0]["system"][0]["text"].as_str().unwrap();
    for part in [
        "gulls",
        "<name>tea</name>",
        "[MISSING] Expected at: ",
        "Time zone: Europe/Berlin",
        "model=acme/m1",
    ] {
        assert!(system.contains(part), "{part} in {system}");
    }
    assert!(!system.contains("Boil."), "{system}");
    assert_eq!(requests[0]["tools"].as_array().unwrap().len(), 7);
    assert_eq!(result(&requests[1]), "Wrote 6 bytes to notes/a.txt");
    let shown = result(&requests[2]);
    assert!(
        shown.starts_with("hello\n***\n") && shown.contains("PATH=") && shown.ends_with("/ws"),
        "{shown}"
    );
    assert!(
        result(&requests[3]).contains("lies outside of"),
        "{}",
        result(&requests[3])
    );
    assert!(!json!(requests).to_string().contains("sk-secret"));
    let exported = home.run("sessions export").succeeds();
    assert!(!exported.stdout.contains("sk-secret"));
}

#[test]
fn tools_that_are_denied_are_not_offered() {
    let home = Home::new().probed();
    let (base_url, requests) = server(vec![
        call("exec", json!({ "command": "touch made" })),
        said("Fine."),
    ]);
    config(&home, &base_url, json!({ "deny": ["group:runtime"] }));
    let mut command = home.command(["agent", "-m", "go"]);
    home.finish(command.env("ACME_KEY", "sk-secret")).succeeds();
    let requests: Vec<Value> = requests.try_iter().collect();
    let names: Vec<&str> = requests[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["ls", "read", "edit", "write", "apply_patch"]);
    assert!(result(&requests[1]).starts_with("there is no tool `exec`"));
    assert!(!home.path("ws/made").exists());
}

#[test]
fn a_policy_that_cannot_be_read_stops_the_turn() {
    let home = Home::new().probed();
    home.write_config("{tools: {deny: 'exec'}}");
    home.run("agent -m hello").fails().shows(&["tools.deny"]);
}
