//! Imports that die.

use super::{finish, is_healthy, silent, timed};
use crate::home::Home;
use serde_json::{Value, json};
use std::fmt::Write;
use support::Kills;

const ROWS: usize = 1_500;

/// Bytes of each large row: together more than the store takes in one transaction.
const LARGE: usize = 170_000;

/// A transcript with a branch that was left, rows of several kinds, and enough text to take a while.
fn transcript(id: &str) -> String {
    let mut text = format!(
        r#"{{"type":"session","version":4,"id":"{id}","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/ws"}}"#
    );
    let large = "x".repeat(LARGE);
    let body = "what was said, at some length and with numbers such as 48151623 ".repeat(6);
    for row in 0..ROWS {
        // Every hundredth row goes on from two rows before and leaves the last one on a branch.
        let parent = match row {
            0 => Value::Null,
            _ if row % 100 == 99 => format!("{id}-{}", row - 2).into(),
            _ => format!("{id}-{}", row - 1).into(),
        };
        let role = ["user", "assistant"][row % 2];
        let content = json!([{ "type": "text", "text": format!("{row}: {body}") }]);
        let row = match row % 50 {
            7 => {
                json!({ "type": "custom", "id": format!("{id}-{row}"), "parentId": parent, "customType": "note", "data": large })
            }
            _ => {
                json!({ "type": "message", "id": format!("{id}-{row}"), "parentId": parent, "message": { "role": role, "content": content } })
            }
        };
        let _ = write!(text, "\n{row}");
    }
    text.push('\n');
    text
}

/// What `sessions list` says of a transcript; `None` when it is not there.
fn listed(home: &Home, id: &str) -> Option<Value> {
    let list = finish(home, &["sessions", "list", "--json"]);
    let sessions = list["sessions"].as_array().cloned().unwrap_or_default();
    sessions
        .into_iter()
        .find(|session| session["sessionId"] == id)
}

fn export(home: &Home, id: &str) -> String {
    let ran = home.finish(&mut home.command(["sessions", "export", id]));
    ran.succeeds().stdout.clone()
}

/// Case F-9, for imports: afterwards a transcript is there as a whole or not at all, and the next import makes it whole.
#[test]
fn killed_import_leaves_all_or_nothing() {
    let home = &Home::new();
    let write = |id: &str, text: &str| {
        let path = home.path(&format!("{id}.jsonl"));
        std::fs::write(&path, text).expect("a file can be written");
        path.to_str().expect("a path is text").to_owned()
    };
    let first = write("first", &transcript("first"));
    let (_, whole_import) = timed(home, &["sessions", "import", "--json", &first]);
    let mut kills = Kills::new(whole_import);
    let mut transcripts = 1;
    while let Some(index) = kills.next_try() {
        transcripts += 1;
        let id = format!("session-{index}");
        let whole = transcript(&id);
        // Every second one goes on with what an earlier import left.
        let is_extension = index % 2 == 0;
        if is_extension {
            let half: String = whole.split_inclusive('\n').take(1 + ROWS / 2).collect();
            finish(home, &["sessions", "import", "--json", &write(&id, &half)]);
        }
        let before = listed(home, &id);
        let file = write(&id, &whole);
        kills.kill(&mut silent(
            home.command(["sessions", "import", "--json", &file]),
        ));
        let after = listed(home, &id);
        let entries = after.as_ref().map(|session| session["entries"].clone());
        assert!(
            after == before || entries == Some(ROWS.into()),
            "import {index}: {before:?} became {after:?}"
        );
        assert!(is_healthy(home), "import {index}");
        finish(home, &["sessions", "import", "--json", &file]);
        assert_eq!(export(home, &id), whole, "import {index}");
    }
    let list = finish(home, &["sessions", "list", "--json"]);
    let ids = list["sessions"].as_array().map(Vec::len);
    assert_eq!(ids, Some(transcripts), "nothing else is left: {list}");
}
