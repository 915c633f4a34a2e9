//! What a compaction leaves alone: turns that are tried again, branches, readers, groups of calls.

use super::recovery::little;
use super::{Windowed, by_hand, said, stored, summaries, talked, text_of};
use openclaw_host::{ModelErrorKind, NoTools, TurnRequest};
use serde_json::{Value, json};
use support::{Home, ScriptedModel, import, request, turn};

/// The turn fails behind its compaction and is tried again with its id: the message is there once, and the summary of the
/// dead try lies on a branch of its own.
#[test]
fn a_turn_that_failed_behind_its_compaction_goes_on_with_its_id() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    let failures = [ModelErrorKind::ContextOverflow, ModelErrorKind::Refused];
    let mut model = Windowed::new(20_000).failing(failures);
    let again = || TurnRequest {
        turn_id: Some("t1".into()),
        ..request("And now?")
    };
    host.turn(again(), &mut model, &mut NoTools, &mut |_| {})
        .unwrap_err();
    assert_eq!(summaries(&host).len(), 1);
    let mut model = Windowed::new(20_000);
    let outcome = host
        .turn(again(), &mut model, &mut NoTools, &mut |_| {})
        .unwrap();
    assert_eq!(outcome.reply, "done");
    assert_eq!(model.asked[0].len(), 25, "the path is that of before");
    said(&host, "Next.", &mut model).unwrap();
    let next = &model.asked[1];
    let users = next.iter().filter(|it| text_of(it) == "And now?");
    assert_eq!(users.count(), 1);
    assert_eq!(next.len(), 27);
    assert_eq!(stored(&host), 12 * 2 + 4);
}

/// A reader sees every message as before: a summary is no message, and no reset.
#[test]
fn readers_go_on_over_a_compaction() {
    let mut home = Home::new()
        .compacting(little())
        .with_recorder(&json!({}), &json!({}));
    home.set_recorder(
        &json!({}),
        &json!({ "maintain": ["transcript.delta", { "sessionTarget": { "sessionId": "id-0000" } }] }),
    );
    let home = talked(home, 12);
    let host = home.host();
    let read = |home: &Home| home.calls_of("maintain").last().unwrap().service.clone();
    let before = read(&home);
    assert!(
        host.compact(&by_hand(), &mut Windowed::new(20_000))
            .unwrap()
            .compacted
    );
    let after = read(&home);
    let entries = |page: &Value| page["entries"].as_array().map(Vec::len);
    assert_eq!(entries(&after), Some(24), "{after}");
    assert_eq!(entries(&before), entries(&after));
    assert_eq!(home.calls_of("compact").len(), 1);
}

/// Cases P-1 and P-7: wherever the cut lies, what a model gets of the rest is in pairs.
#[test]
fn calls_stay_with_their_results_over_a_compaction() {
    for keep in [1, 200, 500, 900, 2_000] {
        let home = Home::new().compacting(openclaw_host::compaction::CompactionPolicy {
            settings: openclaw_host::compaction::CompactionSettings {
                keep_recent_tokens: keep,
                ..little().settings
            },
            ..little()
        });
        let host = home.host();
        import(
            &mut host.store(),
            "tools",
            session_with_tools().as_bytes(),
            Some(super::SESSION),
        );
        let outcome = host
            .compact(&by_hand(), &mut Windowed::new(20_000))
            .unwrap();
        assert!(outcome.compacted, "{keep}: {outcome:?}");
        let mut model = ScriptedModel::new(20_000, []);
        let mends = turn(&host, "next", None, &mut model)
            .unwrap()
            .record
            .history_mends;
        // Only their order is mended, which is as it was stored.
        let moved = |mend: &String| mend.contains("moved behind its call");
        assert!(mends.iter().all(moved), "{keep}: {mends:?}");
        let mut open: Vec<String> = Vec::new();
        for message in &model.requests[0].1 {
            match message["role"].as_str().unwrap() {
                "toolResult" => {
                    let id = message["toolCallId"].as_str().unwrap();
                    assert!(open.iter().any(|it| it == id), "{keep}: {id}");
                    open.retain(|it| it != id);
                }
                _ => assert!(open.is_empty(), "{keep}: {open:?}"),
            }
            let blocks = message["content"].as_array().into_iter().flatten();
            let calls = blocks.filter(|block| block["type"] == "toolCall");
            open.extend(calls.map(|call| call["id"].as_str().unwrap().to_owned()));
        }
        assert!(open.is_empty(), "{keep}: {open:?}");
    }
}

/// A session of long turns: each has three calls at once, answered out of order, and a word at the end.
fn session_with_tools() -> String {
    let long = "the valve opens and the pump stops ".repeat(12);
    let mut messages = Vec::new();
    for turn in 0..6 {
        messages.push(json!({ "role": "user", "content": format!("Turn {turn}: {long}") }));
        for step in 0..2 {
            let id = |call: &str| format!("{call}{turn}{step}");
            let calls = ["a", "b", "c"].map(|call| {
                json!({ "type": "toolCall", "id": id(call), "name": "read", "arguments": { "path": call } })
            });
            messages
                .push(json!({ "role": "assistant", "content": calls, "stopReason": "toolUse" }));
            for call in ["b", "a", "c"] {
                messages.push(json!({
                    "role": "toolResult", "toolCallId": id(call), "toolName": "read",
                    "content": [{ "type": "text", "text": long }],
                }));
            }
        }
        messages.push(json!({
            "role": "assistant", "content": [{ "type": "text", "text": "Read." }], "stopReason": "stop",
        }));
    }
    let mut lines = vec![
        json!({ "type": "session", "version": 4, "id": "tools", "timestamp": "", "cwd": "/" }),
    ];
    for (at, message) in messages.iter().enumerate() {
        let parent = at.checked_sub(1).map(|before| format!("m{before}"));
        lines.push(json!({
            "type": "message", "id": format!("m{at}"), "parentId": parent, "timestamp": "", "message": message,
        }));
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}
