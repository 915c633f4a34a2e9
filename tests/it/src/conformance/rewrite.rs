//! Engines that rewrite the transcript.

use super::{Reporting, delta, users};
use openclaw_host::CommitOutcome;
use serde_json::{Value, json};
use support::{ScriptedModel, transcript, turn};

fn asking_rewrite(entry_id: &Value, more: Value) -> Value {
    let mut with = json!({
        "replacements": [{ "entryId": entry_id, "message": { "role": "user", "content": "rewritten" } }],
    });
    for (key, value) in more.as_object().unwrap() {
        with[key] = value.clone();
    }
    json!({ "ask": "transcript.rewrite", "with": with })
}

/// Conformance cases 28, 29 and 42; decisions: a cursor in the part written again is reset at once, and before a turn
/// nothing is rewritten.
#[test]
fn after_a_commit_an_entry_is_replaced_and_the_turns_stay_what_they_were() {
    let mut home = Reporting::new(json!({}));
    let mut model = ScriptedModel::done();
    let host = home.home.host();
    turn(&host, "one", Some("t1"), &mut model).unwrap();
    let start = delta(&host, None);
    turn(&host, "two", Some("t2"), &mut model).unwrap();
    let end = delta(&host, None);
    let first_of_two = &end["entries"][2]["entryId"];
    home.set(json!({ "maintain": asking_rewrite(first_of_two, json!({})) }));
    drop(host);
    home.lines();

    let host = home.home.host();
    let outcome = turn(&host, "three", Some("t3"), &mut model).unwrap();
    assert_eq!(outcome.record.substitution, None);
    assert_eq!(outcome.record.commit, CommitOutcome::Committed);
    assert_eq!(model.last_user_texts(), ["one", "two", "three"]);
    let lines = home.lines();
    let maintained: Vec<&Value> = lines.iter().filter(|it| it["hook"] == "maintain").collect();
    let refused = maintained[0]["error"].as_str().unwrap();
    assert!(
        refused.contains("is not offered to this maintain"),
        "{refused}"
    );
    let old = end["entries"][2]["message"].to_string().len();
    let freed = old
        - json!({ "role": "user", "content": "rewritten" })
            .to_string()
            .len();
    assert_eq!(
        maintained[1]["answer"],
        json!({ "changed": true, "bytesFreed": freed, "rewrittenEntries": 1 })
    );

    let after = delta(&host, None);
    assert_eq!(users(&after), ["one", "rewritten", "three"]);
    let reset = delta(&host, end["cursor"].as_str());
    assert_eq!(
        (&reset["kind"], &reset["reason"]),
        (&json!("reset"), &json!("anchor_missing"))
    );
    assert_eq!(
        users(&delta(&host, start["cursor"].as_str())),
        ["rewritten", "three"]
    );

    // The turns are found where they are now.
    let again = host.recommit("agent:main:main").unwrap();
    assert_eq!((again.committed, again.changed), (3, 0));
    let repeat = turn(&host, "three", Some("t3"), &mut model).unwrap();
    assert!(repeat.is_repeat);
    turn(&host, "four", None, &mut model).unwrap();
    assert_eq!(
        model.last_user_texts(),
        ["one", "rewritten", "three", "four"]
    );
    let stored = transcript(&host).len();
    assert!(
        stored > 9,
        "the branch that was left stays stored: {stored} lines"
    );
}

#[test]
fn a_rewrite_beyond_what_is_allowed_or_elsewhere_is_refused() {
    let mut home = Reporting::new(json!({}));
    let mut model = ScriptedModel::done();
    let host = home.home.host();
    turn(&host, "one", None, &mut model).unwrap();
    let entry = delta(&host, None)["entries"][0]["entryId"].clone();
    drop(host);
    for (more, reason) in [
        (
            json!({ "allowedRewriteSuffixEntryIds": ["nope"] }),
            "is not in allowedRewriteSuffixEntryIds",
        ),
        (
            json!({ "sessionId": "elsewhere" }),
            "session `elsewhere` is not the one this call is for",
        ),
        (
            json!({ "replacements": 7 }),
            "transcript.rewrite: invalid type",
        ),
    ] {
        home.set(json!({ "maintain": asking_rewrite(&entry, more) }));
        home.lines();
        let host = home.home.host();
        let outcome = turn(&host, "more", None, &mut model).unwrap();
        assert_eq!(outcome.record.commit, CommitOutcome::Committed);
        let lines = home.lines();
        let maintained: Vec<&Value> = lines.iter().filter(|it| it["hook"] == "maintain").collect();
        let error = maintained[1]["error"].as_str().unwrap();
        assert!(error.contains(reason), "{error}");
        assert_eq!(users(&delta(&host, None))[0], "one");
    }
}
