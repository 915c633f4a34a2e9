//! A failing engine never stops a reply, and is never replaced in silence.

use openclaw_host::{
    CommitOutcome, Host, HostSettings, ModelErrorKind, Scope, Slot, TurnError, read_health,
};
use serde_json::{Value, json};
use support::{Home, ScriptedModel, say, transcript, turn};

fn unruly(settings: Value) -> Home {
    Home::new().with_engine("unruly", settings)
}

/// Cases: every way to fail in every hook before the reply.
#[test]
fn reply_arrives_from_the_built_in_engine_whatever_fails() {
    for (settings, operation, reason, panics) in [
        (
            json!({"create": "panic"}),
            "factory",
            "unruly panics in create",
            true,
        ),
        (
            json!({"create": "error"}),
            "factory",
            "unruly fails in create",
            false,
        ),
        (
            json!({"bootstrap": "panic"}),
            "bootstrap",
            "unruly panics in bootstrap",
            true,
        ),
        (json!({"bootstrap": "bomb"}), "bootstrap", "no text", true),
        (
            json!({"bootstrap": "error"}),
            "bootstrap",
            "unruly fails in bootstrap",
            false,
        ),
        (
            json!({"maintain": "panic"}),
            "maintain",
            "unruly panics in maintain",
            true,
        ),
        (
            json!({"assemble": "panic"}),
            "assemble",
            "unruly panics in assemble",
            true,
        ),
        (
            json!({"assemble": "panic", "drop": true}),
            "assemble",
            "unruly panics in assemble",
            true,
        ),
        (json!({"assemble": "bomb"}), "assemble", "no text", true),
        (
            json!({"assemble": "index"}),
            "assemble",
            "out of bounds",
            true,
        ),
        (
            json!({"assemble": "error"}),
            "assemble",
            "unruly fails in assemble",
            false,
        ),
        (
            json!({"assemble": "pick-out-of-range"}),
            "assemble",
            "messages[4294967295], there are 2",
            false,
        ),
        (
            json!({"assemble": "pick-twice"}),
            "assemble",
            "a second time",
            false,
        ),
        (
            json!({"assemble": "foreign-pick"}),
            "assemble",
            "list 7",
            false,
        ),
        (
            json!({"assemble": "bad-message"}),
            "assemble",
            "newMessages[0]",
            false,
        ),
    ] {
        let mut home = unruly(Value::Null);
        turn(&home.host(), "before", None, &mut ScriptedModel::done()).unwrap();
        home.set_settings(&settings);
        let host = home.host();
        let mut model = ScriptedModel::new(100_000, [Ok(say("still here"))]);
        let outcome = turn(&host, "hello", None, &mut model).unwrap();
        assert_eq!(outcome.reply, "still here", "{settings}");
        assert_eq!(model.last_user_texts(), ["before", "hello"], "{settings}");
        assert_eq!(outcome.record.served.engine_id, "legacy", "{settings}");
        let substitution = outcome.record.substitution.unwrap();
        assert_eq!(
            (substitution.operation.as_str(), substitution.scope),
            (operation, Scope::Quarantined),
            "{settings}"
        );
        assert!(
            substitution.reason.contains(reason),
            "{settings}: {}",
            substitution.reason
        );
        let location = substitution.location.unwrap_or_default();
        assert_eq!(
            location.contains("unruly/src/lib.rs:"),
            panics,
            "{settings}: {location}"
        );
        assert_eq!(transcript(&host).len(), 5, "{settings}");
    }
}

/// Case Q-10: the first failure decides for the process; a new process tries again.
#[test]
fn quarantined_engine_is_not_called_again_until_the_process_ends() {
    let mut home = unruly(json!({"assemble": "panic", "create": "error"}));
    home.set_settings(&json!({"assemble": "panic"}));
    let host = home.host();
    let mut model = ScriptedModel::done();
    turn(&host, "one", None, &mut model).unwrap();
    let second = turn(&host, "two", None, &mut model).unwrap().record;
    assert_eq!(second.substitution.unwrap().operation, "assemble");
    assert!(
        second.hooks.iter().all(|call| call.engine_id == "legacy"),
        "{:?}",
        second.hooks
    );
    let health = read_health(&HostSettings::health_dir(&home.native_dir()));
    assert_eq!(health.len(), 1);
    assert!(health[0].is_in_force);
    assert_eq!(
        (
            health[0].record.engine_id.as_str(),
            health[0].record.operation.as_str()
        ),
        ("unruly", "assemble")
    );
    drop(host);
    home.set_settings(&Value::Null);
    let third = turn(&home.host(), "three", None, &mut model)
        .unwrap()
        .record;
    assert_eq!(
        (third.served.engine_id.as_str(), third.substitution),
        ("unruly", None)
    );
}

fn waiting(host: &Host) -> i64 {
    host.store()
        .backlog()
        .unwrap()
        .iter()
        .map(|backlog| backlog.waiting)
        .sum()
}

/// Case D-6: a turn that is refused for ever holds up nobody for ever, and is not forgotten.
#[test]
fn turn_that_is_refused_too_often_is_set_aside() {
    let mut home = unruly(json!({"commitTurn": "error"}));
    for index in 0..5 {
        turn(
            &home.host(),
            &format!("{index}"),
            None,
            &mut ScriptedModel::done(),
        )
        .unwrap();
    }
    home.set_settings(&Value::Null);
    let host = home.host();
    let backlog = host.store().backlog().unwrap();
    assert_eq!(
        (backlog[0].waiting, backlog[0].blocked),
        (0, 1),
        "{backlog:?}"
    );
    assert!(
        backlog[0]
            .last_error
            .as_deref()
            .unwrap()
            .contains("unruly fails")
    );
    let outcome = turn(&host, "works", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(
        (outcome.record.substitution, outcome.record.commit),
        (None, CommitOutcome::Committed)
    );
    host.recommit("agent:main:main").unwrap();
    assert_eq!(host.store().backlog().unwrap(), []);
}

/// Conformance cases 15 to 17; decision: a turn the engine ran at admission is owed to it even when it failed later.
#[test]
fn commit_that_is_not_acknowledged_is_repeated_before_the_next_turn() {
    let mut home = unruly(json!({"commitTurn": "error"}));
    let host = home.host();
    let mut model = ScriptedModel::done();
    let outcome = turn(&host, "one", Some("t1"), &mut model).unwrap();
    assert!(matches!(
        outcome.record.commit,
        CommitOutcome::Queued { .. }
    ));
    assert_eq!(waiting(&host), 1);
    drop(host);
    let host = home.host();
    let outcome = turn(&host, "two", Some("t2"), &mut model).unwrap();
    assert_eq!(outcome.record.served.engine_id, "legacy");
    assert_eq!(outcome.record.substitution.unwrap().operation, "commitTurn");
    assert_eq!(outcome.record.commit, CommitOutcome::NotOwed);
    assert_eq!(waiting(&host), 1);
    drop(host);
    home.set_settings(&Value::Null);
    let host = home.host();
    let outcome = turn(&host, "three", None, &mut model).unwrap();
    let recovered: Vec<_> = outcome
        .record
        .recovered_commits
        .iter()
        .map(|it| it.turn_id.as_str())
        .collect();
    assert_eq!(recovered, ["t1"]);
    assert_eq!(
        outcome.record.recovered_commits[0].outcome,
        CommitOutcome::Committed
    );
    assert_eq!(outcome.record.commit, CommitOutcome::Committed);
    assert_eq!(host.store().backlog().unwrap(), []);
}

/// Nothing is lost to an engine that failed after the turn had begun.
#[test]
fn turn_in_which_the_engine_failed_is_delivered_later() {
    let mut home = unruly(json!({"assemble": "error"}));
    let host = home.host();
    let outcome = turn(&host, "one", Some("t1"), &mut ScriptedModel::done()).unwrap();
    let CommitOutcome::Queued { reason } = outcome.record.commit else {
        panic!("{:?}", outcome.record.commit)
    };
    assert!(reason.contains("assemble failed"), "{reason}");
    drop(host);
    home.set_settings(&Value::Null);
    let outcome = turn(&home.host(), "two", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(outcome.record.recovered_commits[0].turn_id, "t1");
}

#[test]
fn failure_after_the_reply_does_not_touch_it() {
    for settings in [
        json!({"commitTurn": "panic"}),
        json!({"commitTurn": "bomb"}),
        json!({"dispose": "panic"}),
        json!({"dispose": "error"}),
        json!({"drop": true}),
    ] {
        let home = unruly(settings.clone());
        let mut model = ScriptedModel::new(100_000, [Ok(say("safe"))]);
        let outcome = turn(&home.host(), "hello", None, &mut model).unwrap();
        assert_eq!(
            (outcome.reply.as_str(), outcome.record.substitution),
            ("safe", None),
            "{settings}"
        );
    }
}

/// Case T-3: what the engine says is recounted and cut.
#[test]
fn answer_over_budget_is_cut_and_said() {
    let home = unruly(json!({"assemble": "everything-twice-as-large"}));
    let host = home.host();
    let mut model = ScriptedModel::new(2_000, []);
    let long = "words that take up room ".repeat(60);
    for index in 0..4 {
        turn(&host, &format!("{index} {long}"), None, &mut model).unwrap();
    }
    let record = turn(&host, "last", None, &mut model).unwrap().record;
    assert_eq!(record.served.engine_id, "unruly");
    assert!(
        record.context.assembled_tokens <= record.context.budget_tokens,
        "{:?}",
        record.context
    );
    assert!(
        record.mends.iter().any(|mend| mend.contains("left out")),
        "{:?}",
        record.mends
    );
}

/// Case P-1 at the host: an engine that tears a pair apart is mended.
#[test]
fn split_pair_is_mended_before_the_model_sees_it() {
    let home = unruly(json!({"assemble": "split-pair"}));
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Ok(support::call("c1", "ls")), Ok(say("a"))]);
    turn(&host, "list", None, &mut model).unwrap();
    let record = turn(&host, "again", None, &mut model).unwrap().record;
    assert!(
        record.mends.iter().any(|mend| mend.contains("c1")),
        "{:?}",
        record.mends
    );
    let (_, messages) = model.requests.last().unwrap();
    assert!(
        messages
            .iter()
            .all(|message| message["role"] != "toolResult"),
        "{messages:?}"
    );
}

#[test]
fn engine_that_is_not_there_is_named_and_replaced() {
    let mut home = Home::new();
    home.set_slot(Slot::Engine("gone".into()));
    let outcome = turn(&home.host(), "hello", None, &mut ScriptedModel::done()).unwrap();
    let substitution = outcome.record.substitution.unwrap();
    assert_eq!(substitution.operation, "resolve");
    assert!(substitution.reason.contains("\"gone\" is not registered"));
    assert_eq!(outcome.record.served.engine_id, "legacy");
}

/// Decision N: strict mode turns a substitution into an error, before or after the message is stored.
#[test]
fn strict_mode_fails_the_turn_instead_of_serving_another_engine() {
    for settings in [json!({"create": "error"}), json!({"assemble": "panic"})] {
        let home = unruly(settings).strict();
        let host = home.host();
        let mut model = ScriptedModel::done();
        let error = turn(&host, "hello", None, &mut model).unwrap_err();
        assert!(matches!(error, TurnError::Strict { .. }), "{error}");
        assert!(error.to_string().contains("unruly") && error.help().contains("native.json5"));
        assert!(model.requests.is_empty());
        assert_eq!(host.store().backlog().unwrap(), []);
    }
}

/// Case Q-3: an engine that was set aside works again in a fresh process with a mended build.
#[test]
fn good_turn_forgets_what_ended_processes_said() {
    let home = unruly(Value::Null);
    let health = HostSettings::health_dir(&home.native_dir());
    std::fs::create_dir_all(&health).unwrap();
    let record = json!({"processId": u32::MAX, "processStart": "1", "quarantined": [{
        "engineId": "unruly", "operation": "assemble", "reason": "old", "failedAtMs": 1}]});
    std::fs::write(health.join("4294967295.json"), record.to_string()).unwrap();
    assert_eq!(read_health(&health).len(), 1);
    let mut failing = ScriptedModel::new(9_000, [Err(ModelErrorKind::Refused)]);
    let host = home.host();
    turn(&host, "one", None, &mut failing).unwrap_err();
    assert_eq!(
        read_health(&health).len(),
        1,
        "a failed turn proves nothing"
    );
    turn(&host, "two", None, &mut failing).unwrap();
    assert_eq!(read_health(&health).len(), 0);
}

/// Decision: what one engine is owed is not settled by another.
#[test]
fn recommit_to_another_engine_leaves_what_the_first_is_owed() {
    let mut home = unruly(json!({"commitTurn": "error"})).with_engine("window", Value::Null);
    home.set_slot(Slot::Engine("unruly".into()));
    turn(&home.host(), "one", Some("t1"), &mut ScriptedModel::done()).unwrap();
    home.set_settings(&Value::Null);
    home.set_slot(Slot::Engine("window".into()));
    let host = home.host();
    assert_eq!(host.recommit("agent:main:main").unwrap().committed, 1);
    assert_eq!(waiting(&host), 1);
    drop(host);
    home.set_slot(Slot::Engine("unruly".into()));
    let record = turn(&home.host(), "two", None, &mut ScriptedModel::done())
        .unwrap()
        .record;
    assert_eq!(record.recovered_commits[0].turn_id, "t1");
}

/// The record of a repeated turn is that of the turn, not of the repetition, and strict mode does not hide the reply.
#[test]
fn repeated_turn_tells_who_served_it() {
    let home = unruly(json!({"assemble": "panic"}));
    let mut model = ScriptedModel::new(9_000, [Ok(say("of legacy"))]);
    let first = turn(&home.host(), "one", Some("t1"), &mut model)
        .unwrap()
        .record;
    let mut home = home.strict();
    home.set_settings(&json!({"create": "error"}));
    let repeat = turn(&home.host(), "one", Some("t1"), &mut model).unwrap();
    assert_eq!(
        (repeat.is_repeat, repeat.reply.as_str()),
        (true, "of legacy")
    );
    assert_eq!(repeat.record.served, first.served);
    assert_eq!(repeat.record.substitution, first.substitution);
    assert!(matches!(repeat.record.commit, CommitOutcome::Queued { .. }));
    home.set_settings(&Value::Null);
    let repeat = turn(&home.host(), "one", Some("t1"), &mut model).unwrap();
    assert_eq!(repeat.record.commit, CommitOutcome::Committed);
    assert_eq!(repeat.record.context, first.context);
}
