//! Contexts that are too large, compaction by hand, and successors.

use super::hooks::{Lister, recorder};
use openclaw_host::{
    Cancel, CompactRequest, Host, HostSettings, ModelErrorKind, TurnError, read_health,
};
use serde_json::{Value, json};
use support::{Home, ScriptedModel, call, request, say, transcript, turn};

const OVERFLOW: ModelErrorKind = ModelErrorKind::ContextOverflow;

fn compacted() -> Value {
    json!({ "ok": true, "compacted": true, "result": { "tokensBefore": 9, "tokensAfter": 4 } })
}

fn successor(compaction: &Value) -> Value {
    json!({ "ok": true, "compacted": true, "result": compaction })
}

/// A home with one turn behind it, whose engine answers so to `compact`.
fn with_history(compact: &Value, assemble: &Value) -> Home {
    let home = recorder(&json!({ "compact": compact, "assemble": assemble }));
    turn(&home.host(), "before", None, &mut ScriptedModel::done()).unwrap();
    home.clear_recording();
    home
}

fn session_id(host: &Host) -> String {
    host.store().session("agent:main:main").unwrap().unwrap().id
}

/// Conformance case 35.
#[test]
fn overflow_is_compacted_and_the_turn_committed_once() {
    let home = with_history(&compacted(), &json!(null));
    let host = home.host();
    let mut model = ScriptedModel::new(9_000, [Err(OVERFLOW), Ok(say("fits"))]);
    let outcome = turn(&host, "hello", Some("t2"), &mut model).unwrap();
    assert_eq!(outcome.reply, "fits");
    assert_eq!(
        home.sequence(),
        [
            "factory#1",
            "bootstrap#1",
            "maintain#1",
            "assemble#1 messages=2",
            "compact#1",
            "maintain#1",
            "bootstrap#1",
            "maintain#1",
            "assemble#1 messages=2",
            "commitTurn#1 messages=2",
            "maintain#1",
            "dispose#1"
        ]
    );
    let params = &home.calls_of("compact")[0].params;
    assert_eq!(params["force"], true);
    assert_eq!(params["compactionTarget"], "budget");
    assert_eq!(params["tokenBudget"], 9_000);
    assert!(params["currentTokenCount"].as_u64().unwrap() > 9_000);
    let context = &params["runtimeContext"];
    assert_eq!(context["trigger"], "overflow");
    assert_eq!(
        (&context["attempt"], &context["maxAttempts"]),
        (&json!(1), &json!(3))
    );
    let settings = &params["runtimeSettings"];
    assert_eq!(
        settings["diagnostics"]["degradedReason"],
        "context_overflow"
    );
    assert_eq!(
        home.calls_of("commitTurn")[0].params["advancementKey"],
        "t2"
    );
    assert!(outcome.record.compactions[0].compacted);
}

#[test]
fn overflow_that_nothing_makes_smaller_fails_with_advice() {
    let cases = [
        (json!(null), "nothing to compact", 1),
        (json!("fail"), "recorder fails in compact", 1),
        (compacted(), "the last compaction brought nothing", 1),
    ];
    for (compact, reason, compactions) in cases {
        let home = with_history(&compact, &json!(null));
        let host = home.host();
        let mut model = ScriptedModel::new(9_000, (0..9).map(|_| Err(OVERFLOW)));
        let error = turn(&host, "hello", None, &mut model).unwrap_err();
        assert!(matches!(error, TurnError::Overflow { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert!(error.help().contains("--session-key"));
        assert_eq!(home.calls_of("compact").len(), compactions, "{compact}");
        assert_eq!(home.calls_of("commitTurn").len(), 0);
        assert_eq!(host.store().backlog().unwrap(), []);
        assert_eq!(transcript(&host).len(), 4, "the message stays");
        let health = read_health(&HostSettings::health_dir(&home.native_dir()));
        assert_eq!(health.len(), usize::from(compact == "fail"));
    }
}

#[test]
fn built_in_engine_says_that_there_is_nothing_to_compact() {
    let host = Home::new().host();
    let mut model = ScriptedModel::new(9_000, [Err(OVERFLOW)]);
    let error = turn(&host, "hello", None, &mut model).unwrap_err();
    assert!(error.to_string().contains("nothing to compact"), "{error}");
}

/// Three compactions in a row at most, and anew once the model has answered.
#[test]
fn compactions_are_counted_until_the_model_answers() {
    let home = recorder(&json!({ "compact": compacted(), "assemble": { "drop": 1 } }));
    let host = home.host();
    for index in 0..6 {
        turn(
            &host,
            &format!("turn {index}"),
            None,
            &mut ScriptedModel::done(),
        )
        .unwrap();
    }
    home.clear_recording();
    let mut model = ScriptedModel::new(9_000, (0..9).map(|_| Err(OVERFLOW)));
    let error = turn(&host, "hello", None, &mut model).unwrap_err();
    assert!(error.to_string().contains("3 times in a row"), "{error}");
    assert_eq!(home.calls_of("compact").len(), 3);

    home.clear_recording();
    let script = [
        Err(OVERFLOW),
        Err(OVERFLOW),
        Ok(call("c1", "ls")),
        Err(OVERFLOW),
        Err(OVERFLOW),
        Ok(say("done")),
    ];
    let mut model = ScriptedModel::new(9_000, script);
    let mut tools = Lister::new();
    let outcome = host
        .turn(request("again"), &mut model, &mut tools, &mut |_| {})
        .unwrap();
    assert_eq!(outcome.record.compactions.len(), 4);
    let attempts = home.calls_of("compact");
    let numbers: Vec<_> = attempts
        .iter()
        .map(|it| it.params["runtimeContext"]["attempt"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 1, 2]);
    assert_eq!(home.calls_of("commitTurn")[0].messages.len(), 5);
}

/// Conformance case 36, better than the program it is taken from: the turn goes along as a whole.
#[test]
fn successor_takes_the_running_turn_along() {
    let home = with_history(&successor(&json!({ "sessionId": "s-next" })), &json!(null));
    let host = home.host();
    let old_id = session_id(&host);
    let script = [Ok(call("c1", "ls")), Err(OVERFLOW), Ok(say("moved"))];
    let mut model = ScriptedModel::new(9_000, script);
    let request = openclaw_host::TurnRequest {
        turn_id: Some("t2".into()),
        ..request("hello")
    };
    let outcome = host
        .turn(request, &mut model, &mut Lister::new(), &mut |_| {})
        .unwrap();
    assert_eq!(outcome.record.session_id, "s-next");
    assert_eq!(
        home.sequence(),
        [
            "factory#1",
            "bootstrap#1",
            "maintain#1",
            "assemble#1 messages=2",
            "compact#1",
            "maintain#1",
            "bootstrap#1",
            "maintain#1",
            "assemble#1 messages=0",
            "commitTurn#1 messages=5",
            "maintain#1",
            "dispose#1"
        ]
    );
    let commit = &home.calls_of("commitTurn")[0];
    assert_eq!(
        commit.roles(),
        ["user", "assistant", "toolResult", "custom", "assistant"]
    );
    assert_eq!(commit.params["advancementKey"], "t2");
    for place in ["admission", "terminal"] {
        assert_eq!(commit.params[place]["sessionId"], "s-next");
    }
    assert_eq!(commit.params["admission"]["idempotencyKey"], "t2:user");
    assert_eq!(home.calls_of("maintain")[1].params["sessionId"], "s-next");
    assert_eq!(session_id(&host), "s-next");
    let old = host.store().session_named(&old_id).unwrap();
    assert_eq!((old.key.as_str(), old.message_count), (old_id.as_str(), 6));
    assert_eq!(host.store().backlog().unwrap(), []);
    let repeat = turn(&host, "hello", Some("t2"), &mut model).unwrap();
    assert_eq!((repeat.is_repeat, &*repeat.reply), (true, "moved"));
    turn(&host, "next", None, &mut model).unwrap();
    assert_eq!(model.last_user_texts(), ["hello", "next"]);
}

/// Conformance case 37, and its kind: what names another agent, key or store, two ids, or one that is taken.
#[test]
fn successor_that_cannot_be_one_changes_nothing() {
    let target =
        |key: &str, value: &str| json!({ "sessionTarget": { "sessionId": "s-next", key: value } });
    let mut cases = vec![
        target("sessionKey", "agent:main:other"),
        target("agentId", "another"),
        target("storePath", "elsewhere"),
        json!({ "sessionId": "a", "sessionTarget": { "sessionId": "b" } }),
        json!({ "sessionId": " " }),
    ];
    cases.push(json!({ "sessionId": "taken" }));
    for compaction in cases {
        let home = with_history(&successor(&compaction), &json!(null));
        let host = home.host();
        if compaction["sessionId"] == "taken" {
            let lines = b"{\"type\":\"session\",\"version\":4,\"id\":\"taken\",\"timestamp\":\"\",\"cwd\":\"\"}\n";
            support::import(&mut host.store(), "taken", lines, None);
        }
        let before = session_id(&host);
        let error = host
            .compact(&by_hand(), &mut ScriptedModel::done())
            .unwrap_err();
        assert!(!error.to_string().is_empty());
        assert_eq!(session_id(&host), before, "{compaction}");
        assert_eq!(
            home.sequence(),
            ["factory#1", "compact#1", "dispose#1"],
            "{compaction}"
        );
        let mut model = ScriptedModel::new(9_000, [Err(OVERFLOW)]);
        turn(&host, "hello", None, &mut model).unwrap_err();
        assert_eq!(session_id(&host), before, "{compaction}");
    }
}

fn by_hand() -> CompactRequest {
    CompactRequest {
        session: "agent:main:main".into(),
        instructions: Some("keep the names".into()),
        context_tokens: Some(9_000),
        cancel: Cancel::new(),
    }
}

#[test]
fn compaction_by_hand_is_forced_maintained_and_follows_the_successor() {
    let home = with_history(&successor(&json!({ "sessionId": "s-next" })), &json!(null));
    let host = home.host();
    let outcome = host
        .compact(&by_hand(), &mut ScriptedModel::done())
        .unwrap();
    assert!(outcome.compacted);
    assert_eq!(
        (outcome.engine_id.as_str(), outcome.session_id.as_str()),
        ("recorder", "s-next")
    );
    assert_eq!(
        home.sequence(),
        ["factory#1", "compact#1", "maintain#1", "dispose#1"]
    );
    let params = &home.calls_of("compact")[0].params;
    assert_eq!(params["compactionTarget"], "threshold");
    assert_eq!(params["customInstructions"], "keep the names");
    assert_eq!(params["runtimeContext"]["trigger"], "manual");
    assert_eq!(params["force"], true);
    assert_eq!(home.calls_of("maintain")[0].params["sessionId"], "s-next");
}

#[test]
fn engine_that_fails_to_compact_by_hand_is_set_aside() {
    let home = with_history(&json!("fail"), &json!(null));
    let host = home.host();
    let error = host
        .compact(&by_hand(), &mut ScriptedModel::done())
        .unwrap_err();
    assert!(
        error.to_string().contains("recorder fails in compact"),
        "{error}"
    );
    let second = host
        .compact(&by_hand(), &mut ScriptedModel::done())
        .unwrap();
    assert_eq!(
        (second.engine_id.as_str(), second.compacted),
        ("legacy", false)
    );
    assert!(second.is_skipped);
    assert!(second.reason.unwrap().contains("nothing to"));
    assert_eq!(home.calls_of("factory").len(), 1);
}
