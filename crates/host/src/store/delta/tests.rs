//! Pages, cursors and the fence.

use super::*;
use crate::store::arbitrary::empty;
use openclaw_interface::model::SessionTarget;
use openclaw_interface::model::service::{Delta, DeltaEntry};
use openclaw_transcript::{custom_row, leaf_row, message_row};

struct Home {
    store: Store,
    session: Session,
    _directory: tempfile::TempDir,
}

/// A session with this many messages `m1`, `m2`, …, a note behind the first.
fn home(messages: usize) -> Home {
    let (directory, mut store, mut session) = empty();
    for n in 1..=messages {
        let parent = session.append_parent.clone();
        let message =
            format!(r#"{{"role":"user","content":"{n}","n":0.10,"idempotencyKey":"k{n}"}}"#);
        let time = "2026-05-01T10:00:00.000Z";
        let mut rows = vec![message_row(
            &format!("m{n}"),
            parent.as_deref(),
            time,
            &message,
        )];
        rows.extend((n == 1).then(|| custom_row("note", Some("m1"), "", "t", "1")));
        store.append_rows(&mut session, &rows).unwrap();
    }
    Home {
        store,
        session,
        _directory: directory,
    }
}

fn request(session: &Session, cursor: Option<&str>) -> DeltaRequest {
    DeltaRequest {
        session_target: SessionTarget {
            session_id: Some(session.id.clone()),
            ..SessionTarget::default()
        },
        cursor: cursor.map(str::to_owned),
        ..DeltaRequest::default()
    }
}

impl Home {
    #[track_caller]
    fn ask(&self, request: &DeltaRequest) -> Delta {
        serde_json::from_str(&self.store.delta("main", request).unwrap()).unwrap()
    }

    #[track_caller]
    fn page(&self, request: &DeltaRequest) -> (Vec<DeltaEntry>, String, bool, Option<u64>) {
        match self.ask(request) {
            Delta::Page {
                entries,
                cursor,
                has_more,
                required_bytes,
                ..
            } => (entries, cursor, has_more, required_bytes),
            other => panic!("no page: {other:?}"),
        }
    }

    #[track_caller]
    fn resets(&self, cursor: &str, expected: &str) {
        match self.ask(&request(&self.session, Some(cursor))) {
            Delta::Reset { cursor, reason } => {
                assert_eq!(reason, expected);
                let start = Cursor::start("main", &self.session.id, &self.session.generation);
                assert_eq!(cursor, start.text());
            }
            other => panic!("no reset: {other:?}"),
        }
    }

    fn append(&mut self, row: String) {
        self.store.append_rows(&mut self.session, &[row]).unwrap();
    }

    /// The admission of a message.
    fn admission(&self, id: &str, seq: u64, parent: &str, position: u64) -> Anchor {
        let mut anchor = Anchor {
            session_id: self.session.id.clone(),
            session_key: self.session.key.clone(),
            store_path: self.store.path().display().to_string(),
            generation: self.session.generation.clone(),
            entry_id: id.to_owned(),
            raw_seq: seq,
            effective_parent_id: Some(parent.to_owned()),
            active_message_position: position,
            ..Anchor::default()
        };
        anchor.extra.insert("role".into(), "user".into());
        anchor
    }
}

fn ids(entries: &[DeltaEntry]) -> Vec<&str> {
    entries
        .iter()
        .map(|entry| entry.entry_id.as_str())
        .collect()
}

#[test]
fn an_entry_has_its_message_as_stored_and_what_stands_before_it() {
    let home = home(2);
    let json = home
        .store
        .delta("main", &request(&home.session, None))
        .unwrap();
    let second = concat!(
        r#"{"entryId":"m2","parentId":"note","seq":2,"message":{"role":"user","content":"2","n":0.10,"idempotencyKey":"k2"},"#,
        r#""role":"user","createdAt":"2026-05-01T10:00:00.000Z","idempotencyKey":"k2"}"#
    );
    assert!(json.contains(second), "{json}");
}

/// Conformance cases 27 and 31.
#[test]
fn pages_follow_one_another_and_cost_what_is_in_them() {
    let mut home = home(50);
    let mut asked = request(&home.session, None);
    asked.max_messages = Some(20);
    let (mut seen, mut pages) = (Vec::new(), 0);
    loop {
        let before = home.store.rows_read();
        let (entries, cursor, has_more, required) = home.page(&asked);
        assert_eq!(home.store.rows_read() - before, entries.len() as u64);
        assert_eq!(required, None);
        seen.extend(entries.iter().map(|entry| entry.seq));
        asked.cursor = Some(cursor);
        pages += 1;
        if !has_more {
            break;
        }
    }
    assert_eq!((seen, pages), ((1..=50).collect(), 3));
    let (entries, cursor, has_more, _) = home.page(&asked);
    assert_eq!((ids(&entries), has_more), (vec![], false));
    assert_eq!(
        Some(&cursor),
        asked.cursor.as_ref(),
        "an empty tail keeps the cursor"
    );
    home.append(message_row(
        "new",
        Some("m50"),
        "",
        r#"{"role":"assistant","content":"x"}"#,
    ));
    assert_eq!(ids(&home.page(&asked).0), ["new"]);
    asked.max_bytes = Some(10);
    let (entries, same, has_more, required) = home.page(&asked);
    assert_eq!((entries.len(), &same, has_more), (0, &cursor, true));
    let size = required.unwrap();
    asked.max_bytes = Some(size);
    assert_eq!(
        ids(&home.page(&asked).0),
        ["new"],
        "{size} bytes are enough"
    );
}

#[test]
fn limits_out_of_range_are_refused_with_numbers() {
    let home = home(1);
    let refused = |messages: Option<u64>, bytes: Option<u64>| {
        let asked = DeltaRequest {
            max_messages: messages,
            max_bytes: bytes,
            ..request(&home.session, None)
        };
        home.store.delta("main", &asked).unwrap_err().to_string()
    };
    assert_eq!(
        refused(Some(0), None),
        "maxMessages must be 1 to 10000, not 0"
    );
    assert_eq!(
        refused(Some(10_001), None),
        "maxMessages must be 1 to 10000, not 10001"
    );
    assert_eq!(
        refused(None, Some(67_108_865)),
        "maxBytes must be 1 to 67108864, not 67108865"
    );
    let mut other = request(&home.session, None);
    other.session_target.agent_id = Some("work".into());
    let error = home.store.delta("main", &other).unwrap_err().to_string();
    assert_eq!(error, "agent `work` is not the agent of this host, `main`");
}

#[test]
fn a_session_that_is_not_there_is_missing() {
    let home = home(1);
    let mut asked = request(&home.session, None);
    asked.session_target.session_id = Some("nobody".into());
    assert_eq!(home.ask(&asked), Delta::Missing);
    asked.session_target = SessionTarget {
        session_key: Some(home.session.key.clone()),
        ..SessionTarget::default()
    };
    assert_eq!(ids(&home.page(&asked).0), ["m1"], "found by its key");
}

/// Conformance case 32.
#[test]
fn a_cursor_that_leads_nowhere_is_reset_with_the_first_reason() {
    let mut home = home(3);
    let own = Cursor::start("main", &home.session.id, &home.session.generation);
    home.resets("garbage", "invalid_cursor");
    home.resets(
        &Cursor::start("main", "other", "g").text(),
        "scope_mismatch",
    );
    home.resets(
        &Cursor::start("work", &home.session.id, "g").text(),
        "scope_mismatch",
    );
    home.resets(
        &Cursor::start("main", &home.session.id, "g").text(),
        "generation_mismatch",
    );
    home.resets(&own.clone().behind(99, 0).text(), "anchor_missing");
    home.resets(&own.clone().behind(3, 2).text(), "anchor_moved");
    home.resets(&own.clone().behind(2, 0).text(), "anchor_moved");
    let at_the_end = own.behind(4, 2).text();
    assert_eq!(home.page(&request(&home.session, Some(&at_the_end))).0, []);
    home.append(leaf_row("l", None, "", Some("m1")));
    home.resets(&at_the_end, "anchor_missing");
}

#[test]
fn a_fenced_read_ends_before_the_admission() {
    let home = home(3);
    let admission = home.admission("m3", 4, "m2", 2);
    let asked = request(&home.session, None);
    let read = |asked: &DeltaRequest| home.store.fenced_delta("main", asked, Some(&admission));
    let page: Delta = serde_json::from_str(&read(&asked).unwrap()).unwrap();
    let Delta::Page {
        entries,
        cursor,
        has_more,
        ..
    } = page
    else {
        panic!("no page")
    };
    assert_eq!((ids(&entries), has_more), (vec!["m1", "m2"], false));
    let again = request(&home.session, Some(&cursor));
    assert!(read(&again).unwrap().contains(r#""entries":[]"#));
    assert_eq!(
        ids(&home.page(&again).0),
        ["m3"],
        "without the fence it goes on"
    );
    // Conformance case 30.
    let (_, inside, ..) = home.page(&asked);
    let error = read(&request(&home.session, Some(&inside)))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "transcript cursor stands at message 2, the current turn begins at 2"
    );
    let other = Anchor {
        session_id: "other".into(),
        ..admission.clone()
    };
    let json = home
        .store
        .fenced_delta("main", &asked, Some(&other))
        .unwrap();
    assert!(json.contains("m3"), "other sessions are not fenced");
}

/// Case D-4: each way an admission can break has a text of its own.
#[test]
fn a_broken_admission_is_an_error_that_says_how() {
    let mut home = home(3);
    let admission = home.admission("m3", 4, "m2", 2);
    let asked = request(&home.session, None);
    let refused = |home: &Home, asked: &DeltaRequest, admission: &Anchor| match home
        .store
        .fenced_delta("main", asked, Some(admission))
    {
        Err(DeltaError::Fence(violation)) => violation,
        other => panic!("not fenced: {other:?}"),
    };
    let id = || "m3".to_owned();
    let with = |change: &dyn Fn(&mut Anchor)| {
        let mut changed = admission.clone();
        change(&mut changed);
        changed
    };
    let check = |home: &Home, admission: &Anchor, expected: FenceViolation| {
        assert_eq!(refused(home, &asked, admission), expected);
    };
    check(
        &home,
        &with(&|it| _ = it.extra.remove("role")),
        FenceViolation::NotAdmittedByUser(id()),
    );
    check(
        &home,
        &with(&|it| it.store_path = "elsewhere".into()),
        FenceViolation::OtherStore(id()),
    );
    let mut named = asked.clone();
    named.session_target.session_key = Some("agent:main:other".into());
    assert_eq!(
        refused(&home, &named, &admission),
        FenceViolation::OtherSessionKey(id())
    );
    named = asked.clone();
    named.session_target.store_path = Some("elsewhere".into());
    assert_eq!(
        refused(&home, &named, &admission),
        FenceViolation::OtherStore(id())
    );
    for changed in [
        with(&|it| it.generation = "g".into()),
        with(&|it| it.raw_seq = 3),
        with(&|it| it.effective_parent_id = None),
        with(&|it| it.active_message_position = 1),
    ] {
        check(&home, &changed, FenceViolation::Changed(id()));
    }
    home.append(message_row(
        "a",
        Some("m3"),
        "",
        r#"{"role":"assistant","content":"x"}"#,
    ));
    let answer = home.admission("a", 5, "m3", 3);
    check(&home, &answer, FenceViolation::NotAUserMessage("a".into()));
    home.append(leaf_row("l", None, "", Some("m2")));
    check(&home, &admission, FenceViolation::NotVisible(id()));
    let texts = [
        FenceViolation::NotVisible(id()),
        FenceViolation::Changed(id()),
    ]
    .map(|it| it.to_string());
    assert_eq!(
        texts,
        [
            "current-turn transcript admission is no longer a visible message: m3",
            "current-turn transcript admission identity changed: m3"
        ]
    );
}

#[test]
fn a_store_that_stays_locked_is_unavailable() {
    let home = home(1);
    home.store
        .connection
        .busy_timeout(std::time::Duration::ZERO)
        .unwrap();
    // With a log beside it nobody can keep a reader out; without, as on a disk that allows none, somebody can.
    home.store
        .connection
        .pragma_update(None, "journal_mode", "delete")
        .unwrap();
    let other = rusqlite::Connection::open(home.store.path()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let asked = request(&home.session, None);
    let reason = "store_locked".to_owned();
    assert_eq!(home.ask(&asked), Delta::Unavailable { reason });
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(ids(&home.page(&asked).0), ["m1"]);
}
