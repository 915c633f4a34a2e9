//! What an engine may ask and see while a turn runs.

use super::{Reporting, SESSION, asking_delta, delta, users};
use openclaw_host::{CommitOutcome, HostSettings, ModelErrorKind, Scope, read_health};
use serde_json::{Value, json};
use support::{ScriptedModel, say, turn};

/// The engine reads in every hook: nothing waits for itself, and each hook sees what it may.
#[test]
fn every_hook_sees_what_stands_before_the_turn_until_the_model_has_answered() {
    let ask = asking_delta(&json!({}));
    let home = Reporting::new(json!({
        "bootstrap": ask, "assemble": ask, "commitTurn": ask, "maintain": ask, "dispose": ask,
    }));
    let host = home.home.host();
    let mut model = ScriptedModel::done();
    turn(&host, "one", None, &mut model).unwrap();
    home.lines();
    let outcome = turn(&host, "two", None, &mut model).unwrap();
    assert_eq!(outcome.record.substitution, None);
    assert_eq!(outcome.record.commit, CommitOutcome::Committed);
    let lines = home.lines();
    let seen: Vec<(&str, Value, Vec<&str>)> = lines[..5]
        .iter()
        .map(|line| {
            let hook = line["hook"].as_str().unwrap();
            (hook, line["offered"].clone(), users(&line["answer"]))
        })
        .collect();
    let (reads, rewrites) = (
        json!(["transcript.delta"]),
        json!(["transcript.delta", "transcript.rewrite"]),
    );
    assert_eq!(
        seen,
        [
            ("bootstrap", reads.clone(), vec!["one"]),
            ("maintain", reads.clone(), vec!["one"]),
            ("assemble", reads, vec!["one"]),
            ("commitTurn", Value::Null, vec!["one", "two"]),
            ("maintain", rewrites, vec!["one", "two"]),
        ]
    );
    assert_eq!(lines[5]["hook"], "dispose");
    assert_eq!(
        lines[5]["error"],
        "transcript.delta can be called only while a hook runs that it is offered to"
    );
}

/// Conformance case 2: in the first turn a read under the fence is an empty page.
#[test]
fn in_the_first_turn_there_is_nothing_to_see() {
    let home = Reporting::new(json!({ "assemble": asking_delta(&json!({})) }));
    turn(&home.home.host(), "one", None, &mut ScriptedModel::done()).unwrap();
    let page = &home.lines()[0]["answer"];
    assert_eq!(
        (&page["kind"], &page["hasMore"]),
        (&json!("page"), &json!(false))
    );
    assert_eq!(page["entries"], json!([]));
}

/// Conformance case 30, case D-4; decision: a violation is thrown into the call and degrades the turn.
#[test]
fn a_cursor_inside_the_turn_degrades_this_turn_alone() {
    for hands_on in [true, false] {
        let mut home = Reporting::new(json!({}));
        let host = home.home.host();
        let mut model =
            ScriptedModel::new(100_000, [Ok(say("first")), Err(ModelErrorKind::Refused)]);
        turn(&host, "one", None, &mut model).unwrap();
        turn(&host, "two", Some("t2"), &mut model).unwrap_err();
        let inside = delta(&host, None)["cursor"].clone();
        let mut ask = asking_delta(&json!({ "cursor": inside }));
        if hands_on {
            ask["hand-on"] = true.into();
        }
        home.set(json!({ "bootstrap": ask }));
        drop(host);
        home.lines();
        let host = home.home.host();
        let outcome = turn(&host, "two", Some("t2"), &mut model).unwrap();
        assert_eq!(outcome.record.served.engine_id, "legacy");
        let substitution = outcome.record.substitution.unwrap();
        let reason = "transcript cursor stands at message 2, the current turn begins at 2";
        assert_eq!(
            (
                substitution.scope,
                substitution.operation.as_str(),
                substitution.reason.as_str()
            ),
            (Scope::Degraded, "fence", reason)
        );
        assert_eq!(
            home.lines()[0]["error"],
            format!("transcript.delta: {reason}")
        );
        let health = read_health(&HostSettings::health_dir(&home.home.native_dir()));
        assert_eq!(health, [], "the engine is not set aside");
        // The same cursor stands before the next turn.
        let next = turn(&host, "three", None, &mut model).unwrap().record;
        assert_eq!(
            (next.served.engine_id.as_str(), next.substitution),
            ("unruly", None)
        );
    }
}

/// A read that names another store or key while the fence stands.
#[test]
fn a_read_by_another_address_degrades_with_its_own_reason() {
    for (target, reason) in [
        (
            json!({ "sessionKey": SESSION, "storePath": "elsewhere" }),
            "belongs to a different transcript store",
        ),
        (
            json!({ "sessionId": "id-0000", "sessionKey": "agent:main:other" }),
            "belongs to a different session key",
        ),
    ] {
        let ask = asking_delta(&json!({ "sessionTarget": target }));
        let home = Reporting::new(json!({ "assemble": ask }));
        let outcome = turn(&home.home.host(), "one", None, &mut ScriptedModel::done()).unwrap();
        let substitution = outcome.record.substitution.unwrap();
        assert_eq!(substitution.operation, "fence");
        assert!(
            substitution.reason.contains(reason),
            "{}",
            substitution.reason
        );
        // What it ran at admission it is owed.
        assert!(matches!(
            outcome.record.commit,
            CommitOutcome::Queued { .. }
        ));
    }
}

/// A service that is not there, and one that is not offered here.
#[test]
fn what_is_not_offered_is_refused_and_harms_nobody() {
    for (service, error) in [
        ("explode", "explode is not implemented"),
        (
            "transcript.rewrite",
            "transcript.rewrite is not offered to this assemble: it may be called in the maintain that follows an \
             acknowledged commit or a compaction",
        ),
    ] {
        let home = Reporting::new(json!({ "assemble": { "ask": service } }));
        let outcome = turn(&home.home.host(), "one", None, &mut ScriptedModel::done()).unwrap();
        assert_eq!(outcome.record.substitution, None);
        assert_eq!(home.lines()[0]["error"], error);
    }
}
