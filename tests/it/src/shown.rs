//! What a model is shown of a session: valid for its provider, inside the budget, and the same bytes turn by turn.

mod results;

use openclaw_host::{TurnLimit, TurnRequest, ViewSettings};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Home, Lister, ScriptedModel, call, import, refusal, request, say};

const DIALECTS: [(&str, &str); 4] = [
    ("scripted", "openai-completions"),
    ("anthropic", "anthropic-messages"),
    ("ollama", "ollama"),
    ("openai", "openai-responses"),
];

/// A message of a history that went through much.
fn message() -> impl Strategy<Value = Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = |id: &str| json!({"type": "toolCall", "id": id, "name": "ls", "arguments": {}});
    let said = |content: Value, stop: &str| json!({"role": "assistant", "content": content, "stopReason": stop, "provider": "scripted", "model": "script"});
    let ids = || prop::sample::select(vec!["c1", "c_2", "c-2", "toolu_3"]);
    let result = |id: &str| json!({"role": "toolResult", "toolCallId": id, "toolName": "ls", "content": "r", "isError": false});
    prop_oneof![
        8 => "[a-z ]{1,40}".prop_map(|words| json!({"role": "user", "content": words})),
        6 => "[a-z]{1,40}".prop_map(move |words| said(json!([text(&words)]), "stop")),
        5 => ids().prop_map(move |id| said(json!([text("look"), call(id)]), "toolUse")),
        5 => ids().prop_map(result),
        1 => ids().prop_map(move |id| said(json!([call(id)]), "aborted")),
        1 => Just(said(json!([]), "error")),
        1 => Just(said(json!([{"type": "thinking", "thinking": "t"}, text("x")]), "stop")),
        1 => Just(json!({"role": "user", "content": " "})),
        1 => Just(json!({"role": "user", "content": "[OpenClaw heartbeat poll]"})),
        1 => Just(said(json!([text("HEARTBEAT_OK")]), "stop")),
        1 => Just(json!({"role": "user", "content": "x", "excludeFromContext": true})),
    ]
}

/// The lines of a transcript with these messages.
fn lines(messages: &[Value]) -> Vec<u8> {
    let header = json!({"type": "session", "version": 4, "id": "s", "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/ws"});
    let mut lines = vec![header];
    for (index, message) in messages.iter().enumerate() {
        let parent = index.checked_sub(1).map(|before| format!("m{before}"));
        lines.push(
            json!({"type": "message", "id": format!("m{index}"), "parentId": parent,
            "timestamp": "2026-05-01T10:00:00.000Z", "message": message}),
        );
    }
    lines
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<String>()
        .into_bytes()
}

/// Three turns, the second with a tool call. Each request is checked.
fn talk(home: &Home, model: &mut ScriptedModel, api: &str, is_steady: bool) {
    let host = home.host();
    for (question, answers) in [("one", 1), ("two", 2), ("three", 1)] {
        let before = model.requests.len();
        let outcome = host
            .turn(
                request(question),
                &mut *model,
                &mut Lister::saying("README.md"),
                &mut |_| {},
            )
            .unwrap();
        assert_eq!(model.requests.len() - before, answers);
        let context = &outcome.record.context;
        assert_eq!(outcome.record.substitution, None);
        assert!(
            context.assembled_tokens <= context.budget_tokens,
            "{context:?}"
        );
    }
    let mut earlier: &[Value] = &[];
    for (_, messages) in &model.requests {
        assert_eq!(refusal(messages, api), None);
        if is_steady {
            assert!(messages.len() > earlier.len());
            // A question that nobody had answered is joined with its neighbour in the turn after.
            let settled = earlier
                .iter()
                .zip(messages)
                .take_while(|(a, b)| a == b)
                .count();
            assert_eq!(settled, earlier.len(), "{earlier:#?}\n{messages:#?}");
        }
        earlier = messages;
    }
}

fn model(window_tokens: u64, (provider, api): (&str, &str)) -> ScriptedModel {
    let script = [
        Ok(say("yes")),
        Ok(call("c1", "ls")),
        Ok(say("a file")),
        Ok(say("no")),
    ];
    ScriptedModel::new(window_tokens, script).at(provider, api)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Cases P-1, P-2 and P-5 to P-7.
    #[test]
    fn any_history_is_shown_as_its_provider_takes_it(messages in prop::collection::vec(message(), 0..30)) {
        for dialect in DIALECTS {
            for engine in [None, Some("window")] {
                // A small window makes both engines' lists lose their beginning.
                for window_tokens in [400, 100_000] {
                    let home = match engine {
                        None => Home::new(),
                        Some(name) => Home::new().with_engine(name, Value::Null),
                    };
                    import(&mut home.host().store(), "s", &lines(&messages), Some("agent:main:main"));
                    let is_answered = messages.last().is_none_or(|last| last["role"] == "assistant" && last["stopReason"] == "stop");
                    let is_steady = window_tokens > 400 && is_answered;
                    talk(&home, &mut model(window_tokens, dialect), dialect.1, is_steady);
                }
            }
        }
    }
}

#[test]
fn a_limit_shows_the_last_turns_and_moves_in_steps() {
    let home = Home::new();
    let host = home.host();
    let mut model = ScriptedModel::done();
    let mut shown = Vec::new();
    for number in 0..8 {
        let request = TurnRequest {
            view: ViewSettings {
                turn_limit: TurnLimit::new(2.0),
                ..ViewSettings::default()
            },
            ..request(&format!("question {number}"))
        };
        host.turn(request, &mut model, &mut Lister::saying(""), &mut |_| {})
            .unwrap();
        shown.push(model.last_user_texts().len() - 1);
    }
    assert_eq!(shown, [0, 1, 2, 3, 2, 3, 2, 3]);
}

#[test]
fn a_heartbeat_with_nothing_to_tell_is_not_shown_again() {
    let home = Home::new();
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Ok(say("HEARTBEAT_OK")), Ok(say("hello"))]);
    let view = ViewSettings {
        heartbeat_prompt: Some("Read HEARTBEAT.md".into()),
        ..ViewSettings::default()
    };
    for text in ["Read HEARTBEAT.md, then act", "hi", "and?"] {
        let request = TurnRequest {
            view: view.clone(),
            ..request(text)
        };
        host.turn(request, &mut model, &mut Lister::saying(""), &mut |_| {})
            .unwrap();
    }
    assert_eq!(model.last_user_texts(), ["hi", "and?"]);
}

#[test]
fn a_provider_gets_ids_of_calls_as_it_takes_them() {
    let home = Home::new();
    let host = home.host();
    let script = [
        Ok(call("call_1", "ls")),
        Ok(say("a")),
        Ok(call("call-1", "ls")),
        Ok(say("b")),
    ];
    let mut model = ScriptedModel::new(100_000, script).at("scripted", "openai-completions");
    for question in ["one", "two"] {
        host.turn(
            request(question),
            &mut model,
            &mut Lister::saying("r"),
            &mut |_| {},
        )
        .unwrap();
    }
    let (_, messages) = model.requests.last().unwrap();
    let ids: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["toolCallId"].as_str())
        .collect();
    assert_eq!(ids[0], "call1");
    assert!(ids[1].starts_with("call1") && ids[1] != "call1", "{ids:?}");
    let stored = support::transcript(&host);
    let stored = stored
        .iter()
        .filter_map(|line| line["message"]["toolCallId"].as_str());
    assert_eq!(stored.collect::<Vec<_>>(), ["call_1", "call-1"]);
}
