//! A history that grows is the history made from scratch, and reads only what is new.

use super::*;
use crate::store::arbitrary::{any_steps, empty};
use crate::store::{Session, Store};
use openclaw_transcript::{NewCompaction, compaction_row, message_row};
use proptest::prelude::*;

const LIMIT: usize = 1 << 30;

/// The messages of a history before `end`, and how many entries were read for it.
fn read(histories: &Histories, store: &Store, session: &Session, end: i64) -> (usize, u64) {
    let before = store.rows_read();
    let past = histories
        .before(store, session, end, &Manner::default())
        .unwrap();
    (past.history.messages().len(), store.rows_read() - before)
}

/// Appends user messages behind the end.
fn say(store: &mut Store, session: &mut Session, count: i64) {
    for _ in 0..count {
        let id = format!("u{}", session.next_seq);
        let message = r#"{"role":"user","content":"hi"}"#;
        let row = message_row(&id, session.append_parent.as_deref(), "", message);
        store.append_rows(session, &[row]).unwrap();
    }
}

fn compact(store: &mut Store, session: &mut Session, first_kept: &str) {
    let compaction = NewCompaction {
        summary: "s",
        first_kept_entry_id: Some(first_kept),
        tokens_before: 1,
        tokens_after: None,
        details_json: None,
        from_hook: false,
    };
    let id = format!("k{}", session.next_seq);
    let row = compaction_row(&id, session.append_parent.as_deref(), "", &compaction);
    store.append_rows(session, &[row]).unwrap();
}

#[test]
fn a_history_that_is_kept_reads_only_what_is_new() {
    let (_home, mut store, mut session) = empty();
    let histories = Histories::new(LIMIT);
    say(&mut store, &mut session, 100);
    assert_eq!(read(&histories, &store, &session, 100), (100, 100));
    assert_eq!(read(&histories, &store, &session, 100), (100, 0));
    say(&mut store, &mut session, 3);
    assert_eq!(read(&histories, &store, &session, 102), (102, 2));
    assert_eq!(read(&histories, &store, &session, 103), (103, 1));
}

#[test]
fn what_a_compaction_puts_behind_is_not_read() {
    let (_home, mut store, mut session) = empty();
    say(&mut store, &mut session, 100);
    compact(&mut store, &mut session, "u96");
    say(&mut store, &mut session, 2);
    // The summary, five kept messages, two behind; the boundary is read once more to learn what it keeps.
    assert_eq!(read(&Histories::new(LIMIT), &store, &session, 103), (8, 9));
}

#[test]
fn the_history_used_longest_ago_goes_when_room_is_short() {
    let (_home, mut store, mut session) = empty();
    say(&mut store, &mut session, 10);
    let mut other = store.session_or_new("agent:main:other", "/ws").unwrap();
    say(&mut store, &mut other, 10);
    let one = History::of_path(&store.path_of(&session).unwrap()).size_bytes();
    let histories = Histories::new(one + one / 2);
    assert_eq!(read(&histories, &store, &session, 10), (10, 10));
    assert_eq!(read(&histories, &store, &session, 10), (10, 0));
    assert_eq!(read(&histories, &store, &other, 10), (10, 10));
    assert_eq!(
        read(&histories, &store, &session, 10),
        (10, 10),
        "was forgotten"
    );
    let none = Histories::new(one / 2);
    assert_eq!(read(&none, &store, &session, 10), (10, 10));
    assert_eq!(
        read(&none, &store, &session, 10),
        (10, 10),
        "too large to keep"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_history_that_grew_is_the_history_made_from_scratch(
        steps in any_steps(40),
        reads in prop::collection::vec((any::<bool>(), 0..3_i64), 40),
    ) {
        let (_home, mut store, mut session) = empty();
        let histories = Histories::new(LIMIT);
        for (step, (is_read, back)) in steps.iter().zip(reads) {
            let row = step.row(&session);
            store.append_rows(&mut session, &[row]).unwrap();
            if !is_read {
                continue;
            }
            let end = (session.path_length - back).max(0);
            let past = histories.before(&store, &session, end, &Manner::default()).unwrap();
            let grown = past.history;
            let path = store.path_between(&session, 0..end).unwrap();
            let scratch = History::of_path(&path);
            prop_assert_eq!(grown.messages(), scratch.messages());
            prop_assert_eq!(grown.mends(), scratch.mends());
        }
    }
}
