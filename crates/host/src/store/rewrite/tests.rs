//! A rewrite is what its rows say, and nothing else.

use super::*;
use crate::store::arbitrary::{any_steps, empty};
use openclaw_interface::model::service::{Delta, DeltaRequest};
use openclaw_transcript::{Link, active_path, message_row, parse_row};
use proptest::prelude::*;

/// A session with this many user messages `m1`, `m2`, ….
fn home(messages: usize) -> (tempfile::TempDir, Store, Session) {
    let (home, mut store, mut session) = empty();
    for n in 1..=messages {
        let message = format!(r#"{{"role":"user","content":"message {n}"}}"#);
        let row = message_row(
            &format!("m{n}"),
            session.append_parent.as_deref(),
            "",
            &message,
        );
        store.append_rows(&mut session, &[row]).unwrap();
    }
    (home, store, session)
}

fn request(json: &str) -> RewriteRequest {
    serde_json::from_str(json).unwrap()
}

fn replacing(id: &str, text: &str) -> String {
    format!(
        r#"{{"replacements":[{{"entryId":"{id}","message":{{"role":"user","content":"{text}"}}}}]}}"#
    )
}

fn rewritten(store: &mut Store, session: &Session, json: &str) -> MaintenanceResult {
    store.rewrite(&session.id, &request(json)).unwrap()
}

/// The session as stored now.
fn now(store: &Store, session: &Session) -> Session {
    store.session(&session.key).unwrap().unwrap()
}

/// Ids on the path and the texts of its messages.
fn path(store: &Store, session: &Session) -> Vec<(String, String)> {
    let path = store.path_of(&now(store, session)).unwrap();
    let read = |entry: &PathEntry| {
        let message: Value = serde_json::from_str(entry.row.message()?.json()).unwrap();
        Some((
            entry.row.id()?.to_owned(),
            message["content"].as_str()?.to_owned(),
        ))
    };
    path.iter().filter_map(read).collect()
}

fn texts(store: &Store, session: &Session) -> Vec<String> {
    path(store, session)
        .into_iter()
        .map(|(_, text)| text)
        .collect()
}

#[test]
fn a_rewrite_replaces_and_writes_what_follows_again_under_new_ids() {
    let (_home, mut store, session) = home(4);
    let result = rewritten(&mut store, &session, &replacing("m2", "new"));
    assert_eq!(
        result,
        MaintenanceResult {
            changed: true,
            bytes_freed: 6,
            rewritten_entries: 1,
            reason: None
        }
    );
    assert_eq!(
        texts(&store, &session),
        ["message 1", "new", "message 3", "message 4"]
    );
    let path = path(&store, &session);
    assert_eq!(path[0].0, "m1");
    assert!(
        path[1..].iter().all(|(id, _)| id.starts_with("made-")),
        "{path:?}"
    );
    let after = now(&store, &session);
    assert_eq!(after.generation, session.generation);
    assert_eq!(after.message_count, 4);
    let mut lines = 0;
    store
        .export(&after, |_| {
            lines += 1;
            Ok::<(), StoreError>(())
        })
        .unwrap();
    assert_eq!(
        lines,
        1 + 4 + 3 + 1,
        "the branch that was left stays stored"
    );
}

#[test]
fn longer_messages_free_nothing_and_the_last_of_two_counts() {
    let (_home, mut store, session) = home(1);
    let json = r#"{"replacements":[{"entryId":"m1","message":{"role":"user","content":"a"}},{"entryId":" ","message":{}},
        {"entryId":"m1","message":{"role":"user","content":"much longer than before"}}]}"#;
    let result = rewritten(&mut store, &session, json);
    assert_eq!((result.bytes_freed, result.rewritten_entries), (0, 1));
    assert_eq!(texts(&store, &session), ["much longer than before"]);
}

#[test]
fn nothing_to_do_is_said_with_its_reason() {
    let (_home, mut store, session) = home(2);
    let reason = |store: &mut Store, id: &str, json: &str| {
        let result = store.rewrite(id, &request(json)).unwrap();
        assert!(!result.changed);
        result.reason.unwrap()
    };
    let none = r#"{"replacements":[{"entryId":"","message":{"role":"user"}}]}"#;
    assert_eq!(
        reason(&mut store, &session.id, none),
        "no replacements requested"
    );
    let unchanged = "no changed matching message entries";
    assert_eq!(
        reason(&mut store, &session.id, &replacing("m1", "message 1")),
        unchanged
    );
    assert_eq!(
        reason(&mut store, &session.id, &replacing("nobody", "x")),
        unchanged
    );
    let fresh = store.session_or_new("agent:main:fresh", "/").unwrap();
    assert_eq!(
        reason(&mut store, &fresh.id, &replacing("m1", "x")),
        "empty session"
    );
    assert_eq!(now(&store, &session), session, "nothing was written");
}

#[test]
fn a_suffix_that_was_not_counted_on_is_refused_and_nothing_is_written() {
    let (_home, mut store, session) = home(4);
    let allowing = |ids: &str| {
        let with = format!(r#","allowedRewriteSuffixEntryIds":[{ids}]}}"#);
        replacing("m2", "new").strip_suffix('}').unwrap().to_owned() + &with
    };
    for (ids, missing) in [("", "m3"), (r#""m3""#, "m4"), (r#""nope""#, "m3")] {
        let error = store
            .rewrite(&session.id, &request(&allowing(ids)))
            .unwrap_err();
        assert!(
            matches!(&error, RewriteError::NotAllowed { entry_id } if entry_id == missing),
            "{error}"
        );
        assert_eq!(now(&store, &session), session);
    }
    assert!(rewritten(&mut store, &session, &allowing(r#""m3","m4""#)).changed);
}

#[test]
fn a_message_that_is_none_is_refused_by_its_entry() {
    let (_home, mut store, session) = home(1);
    let json = r#"{"replacements":[{"entryId":"m1","message":{"content":"no role"}}]}"#;
    let error = store.rewrite(&session.id, &request(json)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the new message of entry `m1` cannot be one: `role` is missing or not text"
    );
}

fn delta(store: &Store, session: &Session, cursor: Option<String>, max: Option<u64>) -> Delta {
    let mut asked = DeltaRequest {
        cursor,
        max_messages: max,
        ..DeltaRequest::default()
    };
    asked.session_target.session_id = Some(session.id.clone());
    serde_json::from_str(&store.delta("main", &asked).unwrap()).unwrap()
}

/// Conformance cases 28 and 29.
#[test]
fn cursors_before_the_rewrite_go_on_and_those_in_it_are_reset() {
    let (_home, mut store, session) = home(4);
    let cursor = |delta: Delta| match delta {
        Delta::Page { cursor, .. } => cursor,
        other => panic!("no page: {other:?}"),
    };
    let before = cursor(delta(&store, &session, None, Some(1)));
    let inside = cursor(delta(&store, &session, None, Some(3)));
    rewritten(&mut store, &session, &replacing("m2", "new"));
    let Delta::Reset { reason, .. } = delta(&store, &session, Some(inside), None) else {
        panic!("no reset")
    };
    assert_eq!(reason, "anchor_missing");
    let Delta::Page { entries, .. } = delta(&store, &session, Some(before), None) else {
        panic!("no page")
    };
    let seqs: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, [2, 3, 4]);
}

/// What a rewrite near the end of a long session writes.
#[test]
fn a_rewrite_costs_what_stands_behind_it() {
    let (_home, mut store, session) = home(300);
    let before = store.connection.total_changes();
    rewritten(&mut store, &session, &replacing("m299", "new"));
    // Two places left, two entries with their places, the leaf row, the session.
    assert_eq!(store.connection.total_changes() - before, 8);
}

/// The content of a row without what a copy changes.
fn said(row: &Row) -> Value {
    let mut value: Value = serde_json::from_str(row.raw()).unwrap();
    for field in [
        "id",
        "parentId",
        "appendMode",
        "firstKeptEntryId",
        "targetId",
    ] {
        value.as_object_mut().unwrap().remove(field);
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_rewritten_path_is_the_path_of_all_rows_and_says_the_same_but_for_the_message(
        steps in any_steps(24),
        which in any::<prop::sample::Index>(),
    ) {
        let (_home, mut store, mut session) = empty();
        for step in &steps {
            let row = step.row(&session);
            store.append_rows(&mut session, &[row]).unwrap();
        }
        let before = store.path_of(&session).unwrap();
        let messages: Vec<usize> = (0..before.len())
            .filter(|&at| before[at].message_position.is_some() && before[at].row.id().is_some())
            .collect();
        if messages.is_empty() {
            return Ok(());
        }
        let at = messages[which.index(messages.len())];
        let id = before[at].row.id().unwrap();
        let result = match store.rewrite(&session.id, &request(&replacing(id, "rewritten"))) {
            Err(RewriteError::NoId { .. }) => {
                prop_assert!(before[..at].last().is_some_and(|entry| entry.row.id().is_none()));
                prop_assert_eq!(&now(&store, &session), &session);
                return Ok(());
            }
            result => result.unwrap(),
        };
        prop_assert!(result.changed);
        let session = now(&store, &session);
        let mut rows = Vec::new();
        store.export(&session, |line| { rows.push(line.to_owned()); Ok::<(), StoreError>(()) }).unwrap();
        let rows: Vec<Row> = rows[1..].iter().map(|line| parse_row(1, line).unwrap()).collect();
        let links: Vec<Link> = rows.iter().map(Row::link).collect();
        let all = active_path(&links);
        let after = store.path_of(&session).unwrap();
        let seqs: Vec<i64> = after.iter().map(|it| it.seq).collect();
        prop_assert_eq!(&seqs, &all.rows.iter().map(|&row| row as i64 + 1).collect::<Vec<_>>());
        prop_assert_eq!(&session.tip, &all.tip(&links));
        prop_assert_eq!(&session.append_parent, &all.append_parent);
        prop_assert_eq!(after.len(), before.len());
        for (index, (old, new)) in before.iter().zip(&after).enumerate() {
            prop_assert_eq!(old.message_position, new.message_position);
            prop_assert_eq!(index < at, old.seq == new.seq);
            if index != at {
                prop_assert_eq!(said(&old.row), said(&new.row));
            }
        }
    }
}
