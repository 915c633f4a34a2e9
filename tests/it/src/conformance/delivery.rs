//! What is delivered when, after turns that ended in odd ways.

use super::Reporting;
use openclaw_host::{
    Backlog, CommitOutcome, Host, Model, ModelError, ModelInfo, ModelReply, ModelRequest, Scope,
    Slot,
};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{Home, ScriptedModel, turn, turn_in};

/// A model that takes the process down, as far as the store can tell: nothing after its request is done.
struct Killer(ScriptedModel);

impl Model for Killer {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn respond(
        &mut self,
        _request: ModelRequest<'_>,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        std::panic::panic_any("killed")
    }
}

/// A turn that dies while the model works.
fn killed(host: &Host, text: &str, turn_id: &str) {
    let mut model = Killer(ScriptedModel::done());
    let died = catch_unwind(AssertUnwindSafe(|| {
        turn(host, text, Some(turn_id), &mut model).is_ok()
    }));
    assert!(died.is_err());
}

fn hooks(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["hook"].as_str().unwrap())
        .collect()
}

/// Conformance case 18.
#[test]
fn a_duplicate_is_an_acknowledgement() {
    let home = Reporting::new(json!({ "commitTurn": "duplicate" }));
    let host = home.home.host();
    let outcome = turn(&host, "one", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(outcome.record.commit, CommitOutcome::Duplicate);
    assert_eq!(host.store().backlog().unwrap(), []);
    assert_eq!(
        hooks(&home.lines()),
        ["assemble", "commitTurn", "maintain", "dispose"]
    );
}

/// Conformance case 23.
#[test]
fn a_turn_that_died_before_its_reply_is_never_delivered() {
    let home = Reporting::new(json!({}));
    killed(&home.home.host(), "one", "t1");
    home.lines();
    let host = home.home.host();
    let outcome = turn(&host, "two", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(outcome.record.recovered_commits, []);
    assert_eq!(outcome.record.commit, CommitOutcome::Committed);
    assert_eq!(host.store().backlog().unwrap(), []);
    let committed = home.lines();
    let commits = committed.iter().filter(|line| line["hook"] == "commitTurn");
    assert_eq!(commits.count(), 1);
}

/// Conformance case 24.
#[test]
fn a_turn_that_died_in_its_commit_is_delivered_before_anything_else() {
    let mut home = Reporting::new(json!({ "commitTurn": "panic" }));
    turn(
        &home.home.host(),
        "one",
        Some("t1"),
        &mut ScriptedModel::done(),
    )
    .unwrap();
    home.set(json!({}));
    home.lines();
    let outcome = turn(&home.home.host(), "two", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(outcome.record.recovered_commits[0].turn_id, "t1");
    let lines = home.lines();
    assert_eq!(hooks(&lines)[..2], ["commitTurn", "bootstrap"]);
}

/// Conformance case 26.
#[test]
fn turns_of_other_sessions_are_delivered_with_the_next_one() {
    let mut home = Reporting::new(json!({ "commitTurn": "error" }));
    let mut model = ScriptedModel::done();
    for (session, turn_id) in [("agent:main:a", "a1"), ("agent:main:b", "b1")] {
        turn_in(
            &home.home.host(),
            session,
            "hello",
            Some(turn_id),
            &mut model,
        )
        .unwrap();
    }
    home.set(json!({}));
    home.lines();
    let host = home.home.host();
    let outcome = turn_in(&host, "agent:main:c", "hello", Some("c1"), &mut model).unwrap();
    let delivered: Vec<&str> = outcome
        .record
        .recovered_commits
        .iter()
        .map(|it| it.turn_id.as_str())
        .collect();
    assert_eq!(delivered, ["a1", "b1"]);
    assert_eq!(outcome.record.commit, CommitOutcome::Committed);
    assert_eq!(host.store().backlog().unwrap(), []);
    let lines = home.lines();
    assert_eq!(
        hooks(&lines),
        [
            "assemble",
            "commitTurn",
            "commitTurn",
            "commitTurn",
            "maintain",
            "maintain",
            "maintain",
            "dispose"
        ]
    );
    let sessions: Vec<&Value> = lines[4..7].iter().map(|line| &line["session"]).collect();
    let committed: Vec<&Value> = lines[1..4].iter().map(|line| &line["session"]).collect();
    assert_eq!(sessions, committed, "each session is maintained once");
}

/// Conformance case 43; decision: the engine the turn was meant for first is owed it.
#[test]
fn a_turn_meant_for_another_engine_is_not_taken_from_it() {
    let mut home = Home::new()
        .with_engine("unruly", Value::Null)
        .with_engine("window", Value::Null);
    home.set_slot(Slot::Engine("unruly".into()));
    killed(&home.host(), "one", "t1");
    home.set_slot(Slot::Engine("window".into()));
    let host = home.host();
    let outcome = turn(&host, "one", Some("t1"), &mut ScriptedModel::done()).unwrap();
    let substitution = outcome.record.substitution.unwrap();
    assert_eq!(
        (substitution.scope, substitution.operation.as_str()),
        (Scope::Degraded, "outbox")
    );
    assert_eq!(
        substitution.reason,
        "pending durable turn advancement could not be checked before the next turn: \
         advancement key collision: turn `t1` is meant for engine `unruly`"
    );
    let waiting = Backlog {
        engine_id: "unruly".into(),
        waiting: 1,
        blocked: 0,
        last_error: None,
    };
    assert_eq!(host.store().backlog().unwrap(), [waiting]);
    let next = turn(&host, "two", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(next.record.served.engine_id, "window");
}

/// Case D-6; decision: an engine that refuses everything is the fault, not the turns that wait.
#[test]
fn turns_of_other_sessions_are_not_held_up_by_an_engine_that_refuses_all() {
    let mut home = Reporting::new(json!({ "commitTurn": "error" }));
    let mut model = ScriptedModel::done();
    for number in 0..8 {
        let session = format!("agent:main:{number}");
        turn_in(&home.home.host(), &session, "hello", None, &mut model).unwrap();
    }
    let backlog = home.home.host().store().backlog().unwrap();
    assert_eq!((backlog[0].waiting, backlog[0].blocked), (8, 0));
    home.set(json!({}));
    let host = home.home.host();
    turn_in(&host, "agent:main:last", "hello", None, &mut model).unwrap();
    assert_eq!(host.store().backlog().unwrap(), []);
}
