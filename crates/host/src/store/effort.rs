//! What SQLite does for the work of a turn does not grow with the session, counted in steps of its virtual machine: a
//! statement that looks through a session instead of an index shows here.

use super::arbitrary::empty;
use super::{Session, Store};
use openclaw_interface::model::service::{Delta, DeltaRequest};
use openclaw_interface::model::{Anchor, SessionTarget};
use openclaw_transcript::{NewCompaction, compaction_row, message_row};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A session with this many messages and a boundary in the middle.
fn filled(messages: usize) -> (tempfile::TempDir, Store, Session) {
    let (home, mut store, mut session) = empty();
    let mut rows = Vec::new();
    let mut parent: Option<String> = None;
    for n in 0..messages {
        let id = format!("m{n}");
        let message = format!(r#"{{"role":"user","content":"{n}","idempotencyKey":"k{n}"}}"#);
        rows.push(message_row(&id, parent.as_deref(), "", &message));
        parent = Some(id);
        if n == messages / 2 {
            let boundary = NewCompaction {
                summary: "s",
                first_kept_entry_id: Some("m1"),
                tokens_before: 1,
                tokens_after: None,
                details_json: None,
                from_hook: false,
            };
            rows.push(compaction_row("boundary", parent.as_deref(), "", &boundary));
            parent = Some("boundary".to_owned());
        }
    }
    store.append_rows(&mut session, &rows).unwrap();
    (home, store, session)
}

/// Steps of SQLite's virtual machine that `work` takes.
fn steps(store: &mut Store, work: impl FnOnce(&mut Store)) -> u64 {
    let count = Arc::new(AtomicU64::new(0));
    let counting = Arc::clone(&count);
    let handler = move || {
        counting.fetch_add(1, Ordering::Relaxed);
        false
    };
    store.connection.progress_handler(1, Some(handler)).unwrap();
    work(store);
    store
        .connection
        .progress_handler(0, None::<fn() -> bool>)
        .unwrap();
    count.load(Ordering::Relaxed)
}

fn request(session: &Session, cursor: Option<String>) -> DeltaRequest {
    DeltaRequest {
        session_target: SessionTarget {
            session_id: Some(session.id.clone()),
            ..SessionTarget::default()
        },
        cursor,
        max_messages: Some(4),
        ..DeltaRequest::default()
    }
}

/// The admission that the session's last message would be.
fn admission(store: &Store, session: &Session) -> Anchor {
    let last = session.path_length - 1;
    let ends = store.path_between(session, last - 1..last + 1).unwrap();
    let position = ends[1].message_position.unwrap();
    Anchor {
        agent_id: "main".into(),
        session_id: session.id.clone(),
        session_key: session.key.clone(),
        store_path: store.path().display().to_string(),
        generation: session.generation.clone(),
        entry_id: ends[1].row.id().unwrap().to_owned(),
        raw_seq: u64::try_from(ends[1].seq).unwrap(),
        effective_parent_id: ends[0].row.id().map(str::to_owned),
        active_message_position: u64::try_from(position).unwrap(),
        extra: [("role".to_owned(), json!("user"))].into_iter().collect(),
        ..Anchor::default()
    }
}

/// A cursor four messages before the end, as an engine keeps one.
fn cursor(store: &Store, session: &Session) -> String {
    let mut cursor = None;
    loop {
        let mut request = request(session, cursor.clone());
        request.max_messages = Some(u64::try_from(session.message_count).unwrap() - 4);
        let answer = store.delta("main", &request).unwrap();
        let Delta::Page {
            cursor: next,
            entries,
            ..
        } = serde_json::from_str(&answer).unwrap()
        else {
            panic!("{answer}")
        };
        if cursor.is_some() || !entries.is_empty() {
            return next;
        }
        cursor = Some(next);
    }
}

type Work = fn(&mut Store, &mut Session, &Anchor, &str);

const WORK: [(&str, Work); 8] = [
    ("append", |store, session, _, _| {
        let parent = session.append_parent.clone();
        let message = r#"{"role":"user","content":"x","idempotencyKey":"x"}"#;
        let row = message_row("x", parent.as_deref(), "", message);
        store.append_rows(session, &[row]).unwrap();
    }),
    ("branch near the end", |store, session, _, _| {
        let last = session.path_length - 3;
        let entry = store.path_between(session, last..last + 1).unwrap();
        let row = message_row(
            "y",
            entry[0].row.id(),
            "",
            r#"{"role":"user","content":"y"}"#,
        );
        store.append_rows(session, &[row]).unwrap();
    }),
    ("open a session", |store, session, _, _| {
        store.session(&session.key).unwrap().unwrap();
    }),
    ("where the context starts", |store, session, _, _| {
        store.context_start(session, session.path_length).unwrap();
    }),
    ("find an entry's place", |store, session, admission, _| {
        let seq = i64::try_from(admission.raw_seq).unwrap();
        store.position_of(session, seq).unwrap().unwrap();
    }),
    ("read behind a cursor", |store, session, _, cursor| {
        let request = request(session, Some(cursor.to_owned()));
        let answer = store.delta("main", &request).unwrap();
        assert!(answer.contains("\"page\""), "{answer}");
    }),
    ("read behind the fence", |store, session, admission, _| {
        let request = request(session, None);
        store
            .fenced_delta("main", &request, Some(admission))
            .unwrap();
    }),
    (
        "rewrite an entry near the end",
        |store, session, admission, _| {
            let request = json!({ "replacements": [
            { "entryId": admission.entry_id, "message": { "role": "user", "content": "other" } },
        ] });
            let request = serde_json::from_value(request).unwrap();
            assert!(store.rewrite(&session.id, &request).unwrap().changed);
        },
    ),
];

#[test]
fn work_of_a_turn_takes_the_same_steps_in_a_long_session() {
    for (name, work) in WORK {
        let counted = [200, 4_000].map(|messages| {
            let (_home, mut store, mut session) = filled(messages);
            let admission = admission(&store, &session);
            let cursor = cursor(&store, &session);
            steps(&mut store, |store| {
                work(store, &mut session, &admission, &cursor)
            })
        });
        let [short, long] = counted;
        assert!(
            short > 0 && long < short + short / 4 + 50,
            "{name}: {short} steps became {long}"
        );
    }
}
