//! Which hooks an engine gets, in which order and with what.

use openclaw_host::{
    Cancel, CommitOutcome, ModelErrorKind, Scope, ToolNote, ToolOutcome, ToolSpec, Tools,
};
use serde_json::{Value, json};
use support::{Home, ScriptedModel, call, request, say, transcript, turn};

pub(super) fn recorder(hooks: &Value) -> Home {
    Home::new().with_recorder(&json!({}), hooks)
}

/// A tool that answers, with a note for display.
pub(super) struct Lister(Vec<ToolSpec>);

impl Lister {
    pub(super) fn new() -> Self {
        Self(vec![ToolSpec {
            name: "ls".into(),
            description: "Lists files".into(),
            parameters: json!({}),
        }])
    }
}

impl Tools for Lister {
    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn run(&mut self, name: &str, _arguments: &Value, _cancel: &Cancel) -> ToolOutcome {
        ToolOutcome {
            text: format!("{name}: README.md"),
            is_error: false,
            notes: vec![ToolNote {
                custom_type: "nested-tool".into(),
                content: "only for people".into(),
                details: json!({ "files": 1 }),
            }],
        }
    }
}

/// Conformance case 1.
#[test]
fn first_turn_of_a_new_session_has_no_bootstrap() {
    let home = recorder(&json!({}));
    turn(&home.host(), "hello", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(
        home.sequence(),
        [
            "factory#1",
            "assemble#1 messages=0",
            "commitTurn#1 messages=2",
            "maintain#1",
            "dispose#1"
        ]
    );
}

/// Conformance case 2: the message was stored by a try that died before the model was asked.
#[test]
fn message_stored_before_the_run_is_bootstrapped_and_not_seen() {
    let mut home = recorder(&json!({}));
    let delta = json!(["transcript.delta", { "sessionTarget": {} }]);
    home.set_recorder(&json!({}), &json!({ "bootstrap": delta }));
    let host = home.host();
    let mut model = ScriptedModel::new(9_000, [Err(ModelErrorKind::Refused), Ok(say("yes"))]);
    turn(&host, "hello", Some("t1"), &mut model).unwrap_err();
    home.clear_recording();
    let session_id = host.store().session("agent:main:main").unwrap().unwrap().id;
    let target = json!({ "sessionId": session_id, "sessionKey": "agent:main:main" });
    let delta = json!(["transcript.delta", { "sessionTarget": target }]);
    home.set_recorder(&json!({}), &json!({ "bootstrap": delta }));
    drop(host);
    turn(&home.host(), "hello", Some("t1"), &mut model).unwrap();
    assert_eq!(
        home.sequence(),
        [
            "factory#1",
            "bootstrap#1",
            "maintain#1",
            "assemble#1 messages=0",
            "commitTurn#1 messages=2",
            "maintain#1",
            "dispose#1"
        ]
    );
    let page = &home.calls_of("bootstrap")[0].service;
    assert_eq!(
        (&page["kind"], &page["entries"]),
        (&json!("page"), &json!([]))
    );
}

/// Conformance case 3.
#[test]
fn later_turn_has_every_hook_in_order() {
    let home = recorder(&json!({}));
    let host = home.host();
    turn(&host, "one", None, &mut ScriptedModel::done()).unwrap();
    home.clear_recording();
    turn(&host, "two", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(
        home.sequence(),
        [
            "factory#1",
            "bootstrap#1",
            "maintain#1",
            "assemble#1 messages=2",
            "commitTurn#1 messages=2",
            "maintain#1",
            "dispose#1"
        ]
    );
    let commit = &home.calls_of("commitTurn")[0];
    assert_eq!(commit.roles(), ["user", "assistant"]);
    assert_eq!(commit.params["isHeartbeat"], false);
}

/// Conformance cases 4 and 34: what is only for display is committed and never assembled.
#[test]
fn tool_turn_is_assembled_once_and_its_notes_are_for_display_only() {
    let home = recorder(&json!({}));
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Ok(call("c1", "ls")), Ok(say("one file"))]);
    host.turn(request("list"), &mut model, &mut Lister::new(), &mut |_| {})
        .unwrap();
    assert_eq!(home.calls_of("assemble").len(), 1);
    let commit = &home.calls_of("commitTurn")[0];
    assert_eq!(
        commit.roles(),
        ["user", "assistant", "toolResult", "custom", "assistant"]
    );
    let note = &commit.messages[3];
    assert_eq!(note["excludeFromContext"], true);
    assert_eq!(note["content"], "only for people");
    let (_, in_turn) = model.requests.last().unwrap();
    assert_eq!(in_turn.len(), 3, "{in_turn:?}");
    turn(&host, "next", None, &mut model).unwrap();
    let next = &home.calls_of("assemble")[1];
    assert_eq!(
        next.roles(),
        ["user", "assistant", "toolResult", "assistant"]
    );
    let (_, messages) = model.requests.last().unwrap();
    assert!(messages.iter().all(|it| it["role"] != "custom"));
}

/// Conformance case 5.
#[test]
fn owning_engine_assembles_before_each_request() {
    let home = Home::new().with_recorder(&json!({ "ownsCompaction": true }), &json!({}));
    let host = home.host();
    turn(&host, "before", None, &mut ScriptedModel::done()).unwrap();
    home.clear_recording();
    let mut model = ScriptedModel::new(100_000, [Ok(call("c1", "ls")), Ok(say("done"))]);
    let mut tools = Lister::new();
    let outcome = host.turn(request("list"), &mut model, &mut tools, &mut |_| {});
    assert_eq!(outcome.unwrap().record.model.requests, 2);
    let assembled = home.calls_of("assemble");
    assert_eq!(assembled.len(), 3);
    for call in &assembled {
        assert_eq!(call.roles(), ["user", "assistant"]);
        assert_eq!(call.params["prompt"], "list");
        assert_eq!(call.params["availableTools"], json!(["ls"]));
    }
    let budgets: Vec<u64> = assembled
        .iter()
        .map(|it| it.token_budget.unwrap())
        .collect();
    assert!(budgets[1] < 100_000, "{budgets:?}");
    assert!(budgets[2] < budgets[1], "{budgets:?}");
    let roles = |index: usize| -> Vec<String> {
        let (_, messages): &(String, Vec<Value>) = &model.requests[index];
        let roles = messages.iter().map(|it| it["role"].as_str().unwrap());
        roles.map(str::to_owned).collect()
    };
    assert_eq!(roles(0), ["user", "assistant", "user"]);
    assert_eq!(
        roles(1),
        ["user", "assistant", "user", "assistant", "toolResult"]
    );
    assert_eq!(home.calls_of("commitTurn")[0].messages.len(), 5);
}

/// An owning engine that fails between two requests is set aside, and the turn goes on with what the host has.
#[test]
fn owning_engine_that_fails_in_the_tool_loop_costs_no_reply() {
    let hooks = json!({ "assemble": { "fail": 3 } });
    let home = Home::new().with_recorder(&json!({ "ownsCompaction": true }), &hooks);
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Ok(call("c1", "ls")), Ok(say("done"))]);
    let mut tools = Lister::new();
    let outcome = host
        .turn(request("list"), &mut model, &mut tools, &mut |_| {})
        .unwrap();
    assert_eq!(outcome.reply, "done");
    assert_eq!(home.calls_of("assemble").len(), 3);
    let substitution = outcome.record.substitution.unwrap();
    assert_eq!(
        (substitution.operation.as_str(), substitution.scope),
        ("assemble", Scope::Quarantined)
    );
    assert_eq!(model.last_user_texts(), ["list"]);
}

/// Conformance cases 11 and 14: a failing engine is set aside, its turn waits in the outbox, and the model sees the
/// host's history. The same holds for what a failing hook has after it.
#[test]
fn engine_that_fails_before_the_reply_is_replaced_and_owed_the_turn() {
    for (hook, calls) in [
        (
            "assemble",
            &["factory", "bootstrap", "maintain", "assemble", "dispose"][..],
        ),
        ("bootstrap", &["factory", "bootstrap", "dispose"]),
    ] {
        let mut home = recorder(&json!({}));
        turn(&home.host(), "before", None, &mut ScriptedModel::done()).unwrap();
        home.clear_recording();
        home.set_recorder(&json!({ hook: "fail" }), &json!({}));
        let host = home.host();
        let mut model = ScriptedModel::done();
        let outcome = turn(&host, "hello", Some("t2"), &mut model).unwrap();
        assert_eq!(model.last_user_texts(), ["before", "hello"]);
        assert_eq!(model.requests[0].0, "You help.\n\nToday is Friday.");
        let called: Vec<String> = home.calls().into_iter().map(|it| it.hook).collect();
        assert_eq!(called, calls, "{hook}");
        assert!(matches!(
            outcome.record.commit,
            CommitOutcome::Queued { .. }
        ));
        drop(host);
        home.set_recorder(&json!({}), &json!({}));
        let recovered = turn(&home.host(), "later", None, &mut model)
            .unwrap()
            .record;
        assert_eq!(recovered.recovered_commits[0].turn_id, "t2");
    }
}

/// Conformance case 12: here an answer has a type; one that is no list of messages is one whose message is none.
#[test]
fn answer_without_messages_counts_as_a_failure() {
    let home = recorder(&json!({ "assemble": { "messages": [{ "estimatedTokens": 1 }] } }));
    let mut model = ScriptedModel::done();
    let outcome = turn(&home.host(), "hello", None, &mut model).unwrap();
    assert_eq!(model.last_user_texts(), ["hello"]);
    let substitution = outcome.record.substitution.unwrap();
    assert!(
        substitution.reason.contains("newMessages[0]"),
        "{}",
        substitution.reason
    );
}

/// Conformance case 13.
#[test]
fn assembled_messages_and_addition_are_what_the_model_gets() {
    let own = json!([{ "role": "user", "content": "made by the engine" }]);
    let hooks = json!({ "assemble": { "messages": own, "addition": "Be brief." } });
    let home = recorder(&hooks);
    let host = home.host();
    let mut model = ScriptedModel::done();
    turn(&host, "one", None, &mut model).unwrap();
    turn(&host, "two", None, &mut model).unwrap();
    let (system_prompt, messages) = model.requests.last().unwrap();
    assert_eq!(system_prompt, "You help.\n\nBe brief.\n\nToday is Friday.");
    assert_eq!(messages.len(), 2);
    assert_eq!(model.last_user_texts(), ["made by the engine", "two"]);
    assert_eq!(
        transcript(&host).len(),
        5,
        "what an engine made is not stored"
    );
}

/// Conformance case 40.
#[test]
fn empty_list_of_accepted_parameters_leaves_the_base() {
    let home = Home::new().with_recorder(&json!({ "acceptedHostParams": [] }), &json!({}));
    let host = home.host();
    for text in ["one", "two"] {
        turn(&host, text, None, &mut ScriptedModel::done()).unwrap();
    }
    let added = [
        "sessionKey",
        "prompt",
        "runtimeSettings",
        "sessionTarget",
        "runtimeContext",
        "abortSignal",
    ];
    for call in home.calls() {
        let keys = call.keys();
        assert!(added.iter().all(|key| !keys.contains(key)), "{call:?}");
    }
    let last = |hook: &str| home.calls_of(hook).pop().unwrap();
    for hook in ["bootstrap", "maintain"] {
        let call = last(hook);
        let base: Vec<_> = call
            .keys()
            .into_iter()
            .filter(|key| *key != "hostServices")
            .collect();
        assert_eq!(base, ["sessionId", "sessionFile"]);
    }
    let commit = last("commitTurn");
    let mut keys = commit.keys();
    keys.sort_unstable();
    let base = [
        "admission",
        "advancementKey",
        "isHeartbeat",
        "sessionId",
        "terminal",
    ];
    assert_eq!(keys, base);
    assert_eq!(last("assemble").messages.len(), 2);
}
