//! Files that an older version made.

use crate::Ambient;
use crate::store::{Session, Store, StoreErrorKind};
use rusqlite::{Connection, params};
use std::path::Path;

const VERSION_1: &str = include_str!("version_1.sql");

/// Rows of a session with a branch that was left, a compaction, a note and an odd row.
const ROWS: [&str; 7] = [
    r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"one","idempotencyKey":"t:user"}}"#,
    r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":"left"}}"#,
    r#"{"type":"message","id":"c","parentId":"a","message":{"role":"assistant","content":"taken"}}"#,
    r#"{"type":"leaf","id":"l","parentId":"c","targetId":"c"}"#,
    r#"{"type":"compaction","id":"k","parentId":"c","summary":"S","firstKeptEntryId":"c","tokensBefore":9}"#,
    r#"{"type":"seen never before","id":"o","parentId":"k"}"#,
    r#"{"type":"message","id":"d","parentId":"k","appendMode":"main","message":{"role":"user","content":"two"}}"#,
];

fn ambient() -> Ambient {
    Ambient::new(|| 0, || "new".to_owned())
}

/// A file as version 1 wrote it.
fn version_1(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(VERSION_1).unwrap();
    connection.execute_batch("PRAGMA user_version = 1").unwrap();
    connection
        .execute(
            "INSERT INTO sessions VALUES ('s', 'agent:main:s', '{\"type\":\"session\"}', 'g', '{\"At\":\"d\"}', 'd', 8, 4, 3, 1, 2)",
            [],
        )
        .unwrap();
    connection
        .execute("INSERT INTO session_keys VALUES ('agent:main:s', 's')", [])
        .unwrap();
    for (index, row) in ROWS.iter().enumerate() {
        let value: serde_json::Value = serde_json::from_str(row).unwrap();
        let is_message = value["type"] == "message";
        connection
            .execute(
                "INSERT INTO entries VALUES ('s', ?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    index as i64 + 1,
                    value["id"].as_str(),
                    row,
                    if is_message { 5 } else { 0 },
                    is_message,
                    value["message"]["idempotencyKey"].as_str()
                ],
            )
            .unwrap();
    }
    for (position, (seq, message)) in [(1, Some(0)), (3, Some(1)), (5, None), (7, Some(2))]
        .into_iter()
        .enumerate()
    {
        connection
            .execute(
                "INSERT INTO active_path VALUES ('s', ?1, ?2, ?3)",
                params![position as i64, seq, message],
            )
            .unwrap();
    }
    connection
        .execute(
            "INSERT INTO turns VALUES ('t', 's', 1, 3, '{}', 0, '{}')",
            [],
        )
        .unwrap();
}

fn exported(store: &Store, session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    store
        .export(session, |line| {
            lines.push(line.to_owned());
            Ok::<(), crate::StoreError>(())
        })
        .unwrap();
    lines
}

#[test]
fn a_file_of_version_1_opens_with_all_it_has_and_works() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s.sqlite");
    version_1(&path);
    let mut store = Store::open(&path, ambient()).unwrap();
    let mut session = store.session("agent:main:s").unwrap().unwrap();
    assert_eq!(exported(&store, &session)[1..], ROWS);
    assert_eq!(store.sessions().unwrap()[0].tokens, 15);
    assert_eq!(store.context_start(&session, 4).unwrap(), 1);
    assert!(store.turn("t").unwrap().is_some());
    // A branch behind `c` leaves the compaction and what stands behind it.
    let row =
        r#"{"type":"message","id":"e","parentId":"c","message":{"role":"user","content":"three"}}"#;
    store.append_rows(&mut session, &[row.to_owned()]).unwrap();
    let ids = |store: &Store, session: &Session| -> Vec<String> {
        let path = store.path_of(session).unwrap();
        path.iter()
            .filter_map(|it| it.row.id().map(str::to_owned))
            .collect()
    };
    assert_eq!(ids(&store, &session), ["a", "c", "e"]);
    // A row without a parent that is known asks for all links, those the migration wrote among them.
    let row =
        r#"{"type":"message","id":"f","parentId":"?","message":{"role":"user","content":"four"}}"#;
    store.append_rows(&mut session, &[row.to_owned()]).unwrap();
    assert_eq!(ids(&store, &session), ["a", "c", "e", "f"]);
    drop(store);
    assert!(Store::open(&path, ambient()).is_ok(), "opens again");
}

#[test]
fn a_file_that_cannot_be_migrated_stays_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s.sqlite");
    version_1(&path);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute("UPDATE entries SET row = '{ broken' WHERE seq = 6", [])
        .unwrap();
    let error = Store::open(&path, ambient()).unwrap_err();
    assert!(
        matches!(error.kind, StoreErrorKind::Damaged(_)),
        "{error:?}"
    );
    let version: i64 = connection
        .query_row("SELECT user_version FROM pragma_user_version", [], |row| {
            row.get(0)
        })
        .unwrap();
    let columns: i64 = connection
        .query_row(
            "SELECT count(*) FROM pragma_table_info('entries')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!((version, columns), (1, 7));
}
