//! Heartbeats, and turns whose message is not stored.

use super::hooks::recorder;
use openclaw_host::{CommitOutcome, NoTools, TurnKind, TurnRequest};
use serde_json::json;
use support::{ScriptedModel, request, say, transcript, turn};

/// Conformance case 38.
#[test]
fn heartbeat_is_marked_in_the_commit_alone() {
    let home = recorder(&json!({}));
    let host = home.host();
    turn(&host, "one", None, &mut ScriptedModel::done()).unwrap();
    home.clear_recording();
    let heartbeat = TurnRequest {
        kind: TurnKind::Heartbeat,
        ..request("anything to do?")
    };
    let mut model = ScriptedModel::done();
    host.turn(heartbeat, &mut model, &mut NoTools, &mut |_| {})
        .unwrap();
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
    for call in home.calls() {
        let is_commit = call.hook == "commitTurn";
        let marked = call.params.to_string().contains("\"isHeartbeat\":true");
        assert_eq!(marked, is_commit, "{call:?}");
    }
}

/// Conformance case 33.
#[test]
fn announcement_is_assembled_and_not_committed_and_its_reply_is_seen_later() {
    let mut home = recorder(&json!({}));
    let host = home.host();
    turn(&host, "one", None, &mut ScriptedModel::done()).unwrap();
    home.clear_recording();
    let announcement = || TurnRequest {
        kind: TurnKind::Announcement,
        turn_id: Some("news".into()),
        ..request("the child is done")
    };
    let mut model = ScriptedModel::new(100_000, [Ok(say("good to know"))]);
    let outcome = host
        .turn(announcement(), &mut model, &mut NoTools, &mut |_| {})
        .unwrap();
    assert_eq!(model.last_user_texts(), ["one", "the child is done"]);
    assert_eq!(outcome.record.commit, CommitOutcome::NotOwed);
    assert_eq!(outcome.record.served.engine_id, "recorder");
    assert_eq!(
        home.sequence(),
        [
            "factory#1",
            "bootstrap#1",
            "maintain#1",
            "assemble#1 messages=2",
            "dispose#1"
        ]
    );
    assert_eq!(host.store().backlog().unwrap(), []);
    let stored = transcript(&host);
    assert_eq!(stored.len(), 4);
    let reply = "good to know";
    assert_eq!(stored[3]["message"]["content"][0]["text"], reply);

    let repeat = host
        .turn(announcement(), &mut model, &mut NoTools, &mut |_| {})
        .unwrap();
    assert_eq!((repeat.is_repeat, &*repeat.reply), (true, reply));
    assert_eq!(model.requests.len(), 1);

    let session_id = host.store().session("agent:main:main").unwrap().unwrap().id;
    let target = json!({ "sessionId": session_id, "sessionKey": "agent:main:main" });
    let delta = json!(["transcript.delta", { "sessionTarget": target }]);
    drop(host);
    home.set_recorder(&json!({}), &json!({ "bootstrap": delta }));
    home.clear_recording();
    turn(&home.host(), "two", None, &mut model).unwrap();
    let page = &home.calls_of("bootstrap")[0].service;
    let entries = page["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 3, "{page}");
    assert_eq!(entries[2]["message"]["content"][0]["text"], reply);
    assert_eq!(
        home.calls_of("commitTurn")[0].roles(),
        ["user", "assistant"]
    );
}
