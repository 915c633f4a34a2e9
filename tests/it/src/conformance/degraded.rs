//! Engines that may not serve a turn.

use super::hooks::recorder;
use openclaw_host::{
    Candidate, Candidates, CommitOutcome, ExecutionHost, NoTools, Scope, TurnError, read_health,
};
use openclaw_host::{HostSettings, TurnOutcome};
use serde_json::{Value, json};
use support::{Home, ScriptedModel, request, turn};

fn served_by_legacy(descriptor: &Value) -> (Home, TurnOutcome) {
    let home = Home::new().with_recorder(descriptor, &json!({}));
    let outcome = turn(&home.host(), "hello", None, &mut ScriptedModel::done()).unwrap();
    assert_eq!(outcome.reply, "done");
    assert_eq!(outcome.record.served.engine_id, "legacy");
    assert_eq!(outcome.record.commit, CommitOutcome::NotOwed);
    (home, outcome)
}

/// Conformance cases 6 and 7: what an engine does not promise is known from its descriptor, so that not even its factory
/// runs.
#[test]
fn engine_without_the_promises_of_durable_turns_does_not_serve_them() {
    let fence = "before-current-turn-entry-v1";
    for (semantics, reason) in [
        (json!(null), "fencing is not declared"),
        (json!({}), "fencing is not declared"),
        (
            json!({ "currentTurnFence": fence }),
            "atomic idempotent turn advancement is not declared",
        ),
    ] {
        let descriptor = json!({ "transcriptSemantics": semantics });
        let (home, outcome) = served_by_legacy(&descriptor);
        let substitution = outcome.record.substitution.unwrap();
        assert_eq!(substitution.scope, Scope::Degraded);
        assert!(substitution.reason.contains(reason), "{substitution:?}");
        assert_eq!(home.sequence(), [""; 0], "{semantics}");
    }
}

/// Conformance case 8, as the documents say: the failure sets the engine aside, and its text is kept.
#[test]
fn factory_that_fails_sets_the_engine_aside() {
    let home = recorder(&json!({ "factory": "fail" }));
    let host = home.host();
    for text in ["one", "two"] {
        let record = turn(&host, text, None, &mut ScriptedModel::done())
            .unwrap()
            .record;
        let substitution = record.substitution.unwrap();
        assert_eq!(
            (
                substitution.operation.as_str(),
                substitution.reason.as_str()
            ),
            ("factory", "recorder fails in factory")
        );
    }
    assert_eq!(home.sequence(), ["factory#1"], "it is not tried again");
    let health = read_health(&HostSettings::health_dir(&home.native_dir()));
    assert_eq!(health[0].record.operation, "factory");
}

/// Conformance case 9: what a library says of itself is checked before it makes an instance; its methods are there by
/// its type.
#[test]
fn descriptor_without_a_name_is_refused() {
    let (home, outcome) = served_by_legacy(&json!({ "name": " " }));
    let substitution = outcome.record.substitution.unwrap();
    assert_eq!(substitution.operation, "load");
    assert!(substitution.reason.contains("name"), "{substitution:?}");
    assert_eq!(home.sequence(), [""; 0]);
}

/// Conformance case 10, as the documents say: the run fails closed before any candidate runs.
#[test]
fn need_that_one_candidate_does_not_meet_fails_before_the_first() {
    let needs = json!({ "requiredCapabilities": ["assemble-before-prompt", "compact"] });
    let descriptor = json!({ "hostRequirements": { "agent-run": needs } });
    let home = Home::new().with_recorder(&descriptor, &json!({}));
    let host = home.host();
    let (mut first, mut second) = (ScriptedModel::done(), ScriptedModel::done());
    let candidates = Candidates::new(
        Candidate {
            model: &mut first,
            host: ExecutionHost::embedded(),
        },
        vec![Candidate {
            model: &mut second,
            host: ExecutionHost::cli_backend("backend"),
        }],
    );
    let error = host
        .turn(request("hello"), candidates, &mut NoTools, &mut |_| {})
        .unwrap_err();
    let TurnError::Requirement(unmet) = &error else {
        panic!("{error}")
    };
    assert_eq!(unmet.unmet.len(), 1);
    assert_eq!(
        unmet.unmet[0].missing,
        ["assemble-before-prompt", "compact"]
    );
    assert!(error.to_string().contains("cli:backend"), "{error}");
    assert!(first.requests.is_empty() && second.requests.is_empty());
    assert_eq!(home.sequence(), [""; 0]);
    turn(&host, "hello", None, &mut first).unwrap();
    assert_eq!(home.calls_of("commitTurn").len(), 1);
}
