//! Sessions out of OpenClaw's own store.

use crate::home::Home;
use rusqlite::{Connection, params};
use std::fs;
use std::path::Path;

fn header(id: &str) -> String {
    format!(r#"{{"type":"session","version":4,"id":"{id}","timestamp":"","cwd":"/ws"}}"#)
}

/// A store with three sessions, closed.
fn make(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let store = Connection::open(path).unwrap();
    store
        .execute_batch(
            "PRAGMA journal_mode = wal;
             CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT);
             CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT);
             CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB,
                 event_utf8_bytes INTEGER, PRIMARY KEY (session_id, seq));
             PRAGMA user_version = 23",
        )
        .unwrap();
    for id in ["one", "two", "three"] {
        let key = format!("agent:main:chat:{id}");
        let node = "INSERT INTO session_nodes VALUES (?1, ?2, '{}')";
        store.execute(node, [&key, id]).unwrap();
        store
            .execute("INSERT INTO session_windows VALUES (?1, ?2)", [id, &key])
            .unwrap();
        let row = r#"{"type":"message","id":"a","message":{"role":"user","content":"hi"}}"#;
        for (seq, event) in [header(id), row.to_owned()].iter().enumerate() {
            let sql = "INSERT INTO transcript_events VALUES (?1, ?2, ?3, NULL, NULL)";
            store
                .execute(sql, params![id, i64::try_from(seq).unwrap(), event])
                .unwrap();
        }
    }
    store.close().unwrap();
}

fn keys(home: &Home) -> Vec<String> {
    let list = home.run("sessions list --json").succeeds().json();
    let sessions = list["sessions"].as_array().unwrap().iter();
    let mut keys: Vec<String> = sessions
        .map(|session| session["sessionKey"].as_str().unwrap().to_owned())
        .collect();
    keys.sort();
    keys
}

#[test]
fn store_in_the_state_directory_is_found_and_left_alone() {
    let home = Home::new();
    let path = home
        .state_dir()
        .join("agents/main/agent/openclaw-agent.sqlite");
    home.run("sessions import --openclaw")
        .fails()
        .shows(&["openclaw-agent.sqlite", "--openclaw"]);
    make(&path);
    let before = fs::read(&path).unwrap();
    home.run("sessions import --openclaw")
        .succeeds()
        .shows(&["agent:main:chat:one"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    let expected = ["one", "three", "two"].map(|id| format!("agent:main:chat:{id}"));
    assert_eq!(keys(&home), expected);
    let again = home
        .run("sessions import --openclaw --json")
        .succeeds()
        .json();
    assert_eq!(again["imports"][0]["outcome"], "unchanged");
    home.run("agent -m hello --session-key agent:main:chat:one")
        .succeeds();
}

#[test]
fn sessions_are_chosen_by_key_or_id_and_the_file_by_its_content() {
    let home = Home::new();
    make(&home.path("copy.jsonl"));
    home.run("sessions import copy.jsonl --session three --session agent:main:chat:one")
        .succeeds();
    assert_eq!(
        keys(&home),
        ["agent:main:chat:one", "agent:main:chat:three"]
    );
    home.run("sessions import copy.jsonl --session nobody")
        .fails()
        .shows(&["`nobody`", "agent:main:chat:two"]);
    home.run("sessions import copy.jsonl --session-key k")
        .fails()
        .shows(&["keep their keys", "--session"]);
}

/// Case P-4.
#[test]
fn session_that_cannot_be_had_keeps_out_no_other() {
    let home = Home::new();
    make(&home.path("copy.sqlite"));
    home.run("agent -m hello --session-key agent:main:chat:one")
        .succeeds();
    let ran = home.run("sessions import copy.sqlite --json").fails();
    let document = ran.json();
    assert_eq!(document["ok"], false);
    assert_eq!(document["imports"].as_array().unwrap().len(), 3);
    ran.shows(&["`agent:main:chat:one` is taken"]);
    assert_eq!(keys(&home).len(), 3);
    let exported = home.run("sessions export agent:main:chat:two").succeeds();
    assert!(exported.stdout.starts_with(&header("two")), "{exported:?}");
}

#[test]
fn other_database_is_refused_with_what_is_expected() {
    let home = Home::new();
    let other = Connection::open(home.path("x.sqlite")).unwrap();
    other
        .execute_batch("CREATE TABLE notes (text TEXT)")
        .unwrap();
    other.close().unwrap();
    home.run("sessions import x.sqlite").fails().shows(&[
        "x.sqlite",
        "table `session_nodes`",
        "schema 23",
    ]);
}
