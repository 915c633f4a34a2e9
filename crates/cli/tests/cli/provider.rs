//! Turns through an OpenAI-compatible server on loopback.

use crate::home::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// A server that answers every request with the same streamed reply and hands out what it was asked.
fn server() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if sender.send(answer(stream)).is_err() {
                return;
            }
        }
    });
    (address, receiver)
}

fn answer(mut stream: TcpStream) -> Value {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut size = 0;
    let mut asked_head = String::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            size = value.trim().parse().unwrap();
        }
        asked_head.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; size];
    reader.read_exact(&mut body).unwrap();
    let pieces =
        ["Good ", "morning."].map(|text| json!({ "choices": [{ "delta": { "content": text } }] }));
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 77, "completion_tokens": 3 } });
    let events: String = pieces
        .iter()
        .chain([&end, &usage])
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream
        .write_all(format!("{head}{events}data: [DONE]\n\n").as_bytes())
        .unwrap();
    let mut asked: Value = serde_json::from_slice(&body).unwrap();
    asked["head"] = asked_head.into();
    asked
}

#[test]
fn configured_server_gets_the_assembled_messages_and_the_engines_addition() {
    let (base_url, requests) = server();
    let home = Home::new().probed();
    let plugin = support::build_directory("window", &home.path("plugins"));
    let config = json!({
        "models": { "providers": { "local": {
            "baseUrl": base_url,
            "apiKey": "${LOCAL_KEY}",
            "api": "openai-completions",
            "models": [{ "id": "m1", "contextWindow": 6000 }],
        } } },
        "agents": { "defaults": { "model": "local/m1" } },
    });
    home.write_config(&config.to_string());
    let run = |args: &[&str]| home.finish(home.command(args).env("LOCAL_KEY", "sk-secret"));
    run(&["plugins", "install", "-l", plugin.to_str().unwrap()]).succeeds();
    let long = "a word and another word and ".repeat(80);
    for index in 0..14 {
        let ran = run(&["agent", "-m", &format!("{index}: {long}")]).succeeds();
        assert_eq!(ran.stdout, "Good morning.\n");
        assert!(!ran.stderr.contains("sk-secret"), "{}", ran.stderr);
        ran.shows(&["engine window", "model local/m1"]);
    }
    let last = requests.try_iter().last().unwrap();
    assert_eq!(
        (&last["stream"], &last["model"]),
        (&json!(true), &json!("m1"))
    );
    let messages = last["messages"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "system");
    let system_prompt = messages[0]["content"].as_str().unwrap();
    assert!(
        system_prompt.contains("not shown"),
        "the engine's addition is missing: {system_prompt}"
    );
    assert!(
        messages.len() < 28,
        "{} messages: nothing was left out",
        messages.len()
    );
    assert!(
        messages.last().unwrap()["content"]
            .as_str()
            .unwrap()
            .starts_with("13: ")
    );
    let body = json!({ "messages": messages, "model": last["model"], "tools": last["tools"] });
    assert!(!body.to_string().contains("sk-secret"));
}

#[test]
fn server_that_is_not_there_is_named_with_the_next_step() {
    let home = Home::new().probed();
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let config = json!({ "models": { "providers": { "local": {
        "baseUrl": format!("http://{address}/v1"), "models": [{ "id": "m1" }] } } } });
    home.write_config(&config.to_string());
    home.run("agent -m hello")
        .fails()
        .shows(&["local/m1", "help:", "baseUrl"]);
    let kept = home.run("sessions export").succeeds();
    assert!(kept.stdout.contains("hello"), "{kept:#?}");
}

#[test]
fn configured_headers_are_sent_and_never_shown() {
    let (base_url, requests) = server();
    let home = Home::new().probed();
    let config = json!({ "models": { "providers": { "local": {
        "baseUrl": base_url, "apiKey": "sk-unused", "models": [{ "id": "m1" }],
        "headers": { "X-Team": "blue", "Authorization": "Basic ${LOCAL_KEY}" },
    } } } });
    home.write_config(&config.to_string());
    let mut command = home.command(["agent", "-m", "hello", "-vv"]);
    let ran = home
        .finish(command.env("LOCAL_KEY", "sk-secret"))
        .succeeds();
    assert!(!ran.stderr.contains("sk-secret"), "{}", ran.stderr);
    for filter in ["trace", "ureq_proto=trace", "ureq_proto::util=trace"] {
        let mut command = home.command(["agent", "-m", "hello"]);
        command
            .env("LOCAL_KEY", "sk-secret")
            .env("OPENCLAW_LOG", filter);
        let ran = home.finish(&mut command).succeeds();
        // The client's dumps break lines at 16 bytes.
        for part in ["sk-secret", "7365 6372 6574"] {
            assert!(!ran.stderr.contains(part), "{}", ran.stderr);
        }
    }
    let asked = requests.try_iter().last().unwrap();
    let head = asked["head"].as_str().unwrap();
    assert!(head.contains("x-team: blue\r\n"), "{head}");
    assert!(
        head.contains("authorization: Basic sk-secret\r\n"),
        "{head}"
    );
    assert!(!head.contains("sk-unused"), "{head}");
}

#[test]
fn fallback_answers_when_the_model_is_not_there() {
    let home = Home::new().probed();
    let config = |fallback: &str| {
        json!({
            "models": { "providers": { "local": {
                "baseUrl": "http://127.0.0.1:1/v1", "models": [{ "id": "m1" }] } } },
            "agents": { "defaults": { "model": { "primary": "local/m1", "fallbacks": [fallback] } } },
        })
    };
    home.write_config(&config("offline").to_string());
    let ran = home.run("agent -m hello --json").succeeds().shows(&[
        "warning:",
        "local/m1",
        "is asked instead",
    ]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["turn"]["model"]["provider"], "offline");
    assert_eq!(document["turn"]["failedAttempts"][0]["model"], "m1");
    home.run("doctor").shows(&["local/m1, then offline/"]);
    let ran = home.run("agent -m hello --model local/m1").fails();
    assert!(!ran.stderr.contains("instead"), "{ran:#?}");

    home.write_config(&config("nowhere/m2").to_string());
    home.run("agent -m hello")
        .fails()
        .shows(&["fallbacks", "there is no provider `nowhere`"]);
}

#[test]
fn model_that_names_none_stops_the_turn() {
    for (model, key) in [
        (json!("local/"), "`agents.defaults.model`"),
        (json!(""), "`agents.defaults.model`"),
        (json!({}), "`agents.defaults.model.primary`"),
        (json!({ "primary": "" }), "`agents.defaults.model.primary`"),
    ] {
        let home = Home::new().probed();
        home.write_config(&json!({ "agents": { "defaults": { "model": model } } }).to_string());
        home.run("agent -m hello").fails().shows(&[key]);
    }
}

#[test]
fn provider_with_the_name_of_the_built_in_model_is_refused() {
    let home = Home::new().probed();
    let provider = json!({ "baseUrl": "http://127.0.0.1:1/v1", "models": [{ "id": "m1" }] });
    for name in ["offline", "Offline"] {
        home.write_config(&json!({ "models": { "providers": { name: provider } } }).to_string());
        let key = format!("models.providers.{name}");
        home.run("agent -m hello")
            .fails()
            .shows(&[&key, "built-in"]);
        home.run("doctor").fails().shows(&[&key]);
    }
}
