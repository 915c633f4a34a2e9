//! Maintenance behind the reply.

use openclaw_host::{Host, HostSettings, LaneError, NoTools, TurnError, TurnRequest, read_health};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use support::{Home, ScriptedModel, request, turn};

const LONG: Duration = Duration::from_secs(600);

fn in_background(maintain: &Value) -> Home {
    let hooks = json!({ "maintain": maintain });
    Home::new().with_recorder(&json!({ "turnMaintenanceMode": "background" }), &hooks)
}

fn say(host: &Host, text: &str) -> Result<String, TurnError> {
    turn(host, text, None, &mut ScriptedModel::done()).map(|outcome| outcome.reply)
}

/// Conformance case 39.
#[test]
fn background_maintenance_delays_no_reply_and_the_next_turn_waits_for_it() {
    let gate = tempfile::tempdir().unwrap();
    let file = gate.path().join("open");
    let home = in_background(&json!({ "until": file }));
    let host = home.host();
    assert_eq!(say(&host, "one").unwrap(), "done");
    // The gate is closed: maintenance cannot have ended. Another process is told so, other sessions do not wait.
    let other = home.host();
    let busy = say(&other, "two").unwrap_err();
    assert!(
        matches!(busy, TurnError::Lane(LaneError::Busy { .. })),
        "{busy}"
    );
    let elsewhere = TurnRequest {
        session_key: "agent:main:elsewhere".into(),
        ..request("two")
    };
    let mut model = ScriptedModel::done();
    host.turn(elsewhere, &mut model, &mut NoTools, &mut |_| {})
        .unwrap();
    assert!(!host.settle(Duration::ZERO));
    fs::write(&file, "").unwrap();
    say(&host, "three").unwrap();
    assert!(host.settle(LONG));
    let ends = home.call_ends();
    let at = |hook: &str, instance: u64, is_end: bool| {
        let mut calls = ends.iter();
        let found =
            calls.rposition(|it| it.hook == hook && it.instance == instance && it.is_end == is_end);
        found.unwrap_or_else(|| panic!("no {hook}#{instance}: {ends:#?}"))
    };
    assert!(at("commitTurn", 1, true) < at("maintain", 1, false));
    assert!(at("maintain", 1, true) < at("dispose", 1, false));
    assert!(at("dispose", 1, true) < at("factory", 3, false));
    let params = &ends[at("maintain", 1, false)].params;
    let context = &params["runtimeContext"];
    assert_eq!(context["allowDeferredCompactionExecution"], true);
    assert_eq!(context["modelId"], "script");
    // What follows bootstrap is in the foreground.
    let in_turn = home
        .calls_of("maintain")
        .into_iter()
        .find(|it| it.instance == 3)
        .unwrap();
    let context = &in_turn.params["runtimeContext"];
    assert_eq!(context["allowDeferredCompactionExecution"], Value::Null);
}

/// The end of a host cancels what runs behind replies and waits for it.
#[test]
fn end_of_the_host_cancels_background_maintenance() {
    let home = in_background(&json!("until-cancelled"));
    let host = home.host();
    say(&host, "one").unwrap();
    drop(host);
    let ends = home.call_ends();
    let maintained = ends.iter().find(|it| it.hook == "maintain" && it.is_end);
    assert!(maintained.unwrap().was_cancelled, "{ends:#?}");
    assert_eq!(ends.last().map(|it| it.hook.as_str()), Some("dispose"));
}

#[test]
fn background_maintenance_that_fails_has_no_consequence() {
    for how in ["fail", "panic"] {
        let home = in_background(&json!(how));
        let host = home.host();
        say(&host, "one").unwrap();
        assert!(host.settle(LONG));
        assert_eq!(home.calls_of("maintain").len(), 1);
        let health = read_health(&HostSettings::health_dir(&home.native_dir()));
        assert_eq!(health, [], "{how}");
    }
}
