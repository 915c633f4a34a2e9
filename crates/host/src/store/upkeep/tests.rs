//! The path kept beside the entries is the path of all entries.

use super::*;
use crate::store::arbitrary::{any_steps, empty};
use crate::store::{Store, StoreErrorKind};
use openclaw_transcript::{leaf_row, message_row, parse_row};
use proptest::prelude::*;

const USER: &str = r#"{"role":"user","content":"hi"}"#;

/// All rows as stored.
fn rows(store: &Store, session: &Session) -> Vec<Row> {
    let mut lines = Vec::new();
    let each = |line: &str| {
        lines.push(line.to_owned());
        Ok::<(), StoreError>(())
    };
    store.export(session, each).unwrap();
    let rows = lines.iter().enumerate().skip(1);
    rows.map(|(line, text)| parse_row(line, text).unwrap())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_path_kept_is_the_path_of_all_rows(steps in any_steps(30)) {
        let (_home, mut store, mut session) = empty();
        for step in &steps {
            let before: Vec<i64> = store.path_of(&session).unwrap().iter().map(|it| it.seq).collect();
            let revision = session.path_revision;
            let row = step.row(&session);
            store.append_rows(&mut session, &[row]).unwrap();

            let rows = rows(&store, &session);
            let links: Vec<Link> = rows.iter().map(Row::link).collect();
            let all = active_path(&links);
            let kept = store.path_of(&session).unwrap();
            let seqs: Vec<i64> = kept.iter().map(|it| it.seq).collect();
            let expected: Vec<i64> = all.rows.iter().map(|&row| row as i64 + 1).collect();
            prop_assert_eq!(&seqs, &expected);
            prop_assert_eq!(&session.tip, &all.tip(&links));
            prop_assert_eq!(&session.append_parent, &all.append_parent);
            prop_assert_eq!(session.path_length, seqs.len() as i64);
            prop_assert_eq!(session.path_tokens, kept.iter().map(|it| it.tokens as i64).sum::<i64>());
            let positions: Vec<i64> = kept.iter().filter_map(|it| it.message_position).collect();
            prop_assert_eq!(positions, (0..session.message_count).collect::<Vec<_>>());
            prop_assert_eq!(revision == session.path_revision, seqs.starts_with(&before));
            prop_assert_eq!(&store.session(&session.key).unwrap().unwrap(), &session);
        }
    }
}

/// Appends `count` messages behind the end.
fn filled(count: i64) -> (tempfile::TempDir, Store, Session) {
    let (home, mut store, mut session) = empty();
    let rows: Vec<String> = (1..=count)
        .map(|n| {
            let parent = (n > 1).then(|| format!("m{}", n - 1));
            message_row(&format!("m{n}"), parent.as_deref(), "", USER)
        })
        .collect();
    store.append_rows(&mut session, &rows).unwrap();
    (home, store, session)
}

/// Rows of tables that were written by appending one row.
fn writes(store: &mut Store, session: &mut Session, row: String) -> u64 {
    let before = store.connection.total_changes();
    store.append_rows(session, &[row]).unwrap();
    store.connection.total_changes() - before
}

#[test]
fn an_append_writes_what_it_changes_and_not_the_whole_path() {
    let (_home, mut store, mut session) = filled(500);
    // The entry, its place on the path, the session.
    assert_eq!(
        writes(
            &mut store,
            &mut session,
            message_row("x", Some("m500"), "", USER)
        ),
        3
    );
    // Three places are left.
    assert_eq!(
        writes(
            &mut store,
            &mut session,
            message_row("y", Some("m498"), "", USER)
        ),
        6
    );
    assert_eq!(session.path_length, 499);
    assert_eq!(
        writes(
            &mut store,
            &mut session,
            leaf_row("l", None, "", Some("m490"))
        ),
        11
    );
    assert_eq!(session.append_parent.as_deref(), Some("m490"));
    let aside = message_row("z", Some("m9"), "", USER).replacen('{', r#"{"appendMode":"side","#, 1);
    assert_eq!(writes(&mut store, &mut session, aside), 2);
}

#[test]
fn a_session_another_process_changed_is_refused_and_stays_whole() {
    let (home, mut store, mut session) = filled(3);
    let mut other = Store::open(store.path(), store.ambient.clone()).unwrap();
    let mut theirs = other.session(&session.key).unwrap().unwrap();
    let row = message_row("theirs", Some("m3"), "", USER);
    other.append_rows(&mut theirs, &[row]).unwrap();
    let ours = message_row("ours", Some("m3"), "", USER);
    let error = store.append_rows(&mut session, &[ours]).unwrap_err();
    assert!(
        matches!(&error.kind, StoreErrorKind::Changed(id) if *id == session.id),
        "{error:?}"
    );
    assert_eq!(rows(&store, &theirs).len(), 4);
    assert_eq!(store.session(&session.key).unwrap().unwrap(), theirs);
    drop(home);
}
