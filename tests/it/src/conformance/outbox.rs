//! Rows of the outbox that an earlier process left behind.

use super::hooks::recorder;
use openclaw_host::{CommitOutcome, HostSettings};
use rusqlite::Connection;
use serde_json::json;
use support::{Home, ScriptedModel, transcript, turn};

fn store(home: &Home) -> Connection {
    Connection::open(HostSettings::store_path(&home.native_dir(), "main")).unwrap()
}

/// Makes accepted turns wait once more, as after a crash in their commit.
fn wait_again(home: &Home, turn_id: Option<&str>, facts: Option<&str>) {
    let sql = "INSERT INTO outbox SELECT turn_id, 'recorder', session_id, 'ready', coalesce(?2, commit_facts), 0, NULL, \
               started_at_ms FROM turns WHERE ?1 IS NULL OR turn_id = ?1 ORDER BY admission_seq";
    store(home).execute(sql, (turn_id, facts)).unwrap();
}

/// Conformance case 25.
#[test]
fn sixteen_turns_are_delivered_and_the_next_turn_runs_without_the_engine() {
    let home = recorder(&json!({}));
    let host = home.host();
    for index in 0..17 {
        turn(&host, &index.to_string(), None, &mut ScriptedModel::done()).unwrap();
    }
    drop(host);
    wait_again(&home, None, None);
    home.clear_recording();
    let host = home.host();
    let record = turn(&host, "next", None, &mut ScriptedModel::done())
        .unwrap()
        .record;
    assert_eq!(record.served.engine_id, "legacy");
    let reason = record.substitution.unwrap().reason;
    assert!(reason.contains("could not be completed"), "{reason}");
    assert_eq!(record.recovered_commits.len(), 16);
    assert_eq!(home.calls_of("commitTurn").len(), 16);
    assert_eq!(host.store().backlog().unwrap()[0].waiting, 1);
    let record = turn(&host, "after", None, &mut ScriptedModel::done())
        .unwrap()
        .record;
    assert_eq!(record.served.engine_id, "recorder");
    assert_eq!(record.recovered_commits.len(), 1);
}

/// Conformance case 41: a row whose entries stand elsewhere now is blocked, and holds up nobody.
#[test]
fn turn_that_was_written_anew_since_is_blocked_and_the_next_one_is_normal() {
    let mut home = recorder(&json!({}));
    let host = home.host();
    turn(&host, "one", Some("t1"), &mut ScriptedModel::done()).unwrap();
    let facts: String = store(&home)
        .query_row(
            "SELECT commit_facts FROM turns WHERE turn_id = 't1'",
            (),
            |row| row.get(0),
        )
        .unwrap();
    let user = transcript(&host)[1]["id"].clone();
    drop(host);
    let message = json!({ "role": "user", "content": "rewritten" });
    let request = json!({ "replacements": [{ "entryId": user, "message": message }] });
    let rewrite = json!({ "maintain": ["transcript.rewrite", request] });
    home.set_recorder(&json!({}), &rewrite);
    let host = home.host();
    turn(&host, "two", None, &mut ScriptedModel::done()).unwrap();
    let answers = home.calls_of("maintain");
    assert_eq!(answers.last().unwrap().service["changed"], true);
    drop(host);
    home.set_recorder(&json!({}), &json!({}));
    wait_again(&home, Some("t1"), Some(&facts));
    home.clear_recording();
    let host = home.host();
    let record = turn(&host, "three", None, &mut ScriptedModel::done())
        .unwrap()
        .record;
    assert_eq!(
        (record.substitution, record.commit),
        (None, CommitOutcome::Committed)
    );
    assert_eq!(
        home.calls_of("commitTurn").len(),
        1,
        "the old row is not offered"
    );
    let backlog = &host.store().backlog().unwrap()[0];
    assert_eq!((backlog.waiting, backlog.blocked), (0, 1));
    assert!(
        backlog
            .last_error
            .as_ref()
            .unwrap()
            .contains("no longer holds")
    );
}
