//! Visible messages by cursor: sessions made so that each recorded answer is the right one.

use crate::support::{field, list, oracle, parsed, text};
use openclaw_host::{Ambient, Store};
use openclaw_interface::model::service::DeltaRequest;
use serde_json::{Value, json};

/// Recorded answers that a store can give; the others need a turn, or a projection that is being rebuilt.
const CASES: [&str; 6] = [
    "page with hasMore (maxMessages 2), read in bootstrap under the fence",
    "first gateway turn: empty fenced page, bootstrap cursor",
    "after commit: the accepted turn is visible",
    "anchor left the active branch after a rewrite",
    "malformed cursor",
    "next message larger than maxBytes",
];

#[test]
fn delta_answers_as_the_original_does() {
    oracle("visible message delta", |captured, tally| {
        let file = captured.json("openclaw-calls/readSessionTranscriptVisibleMessageDelta.json");
        for name in CASES {
            let case = list(field(&file, "cases"))
                .iter()
                .find(|case| text(case, "case") == name)
                .unwrap_or_else(|| panic!("no case {name}"));
            let expected = field(case, "result");
            tally.same(name, "answer", expected.clone(), replayed(expected));
        }
    });
}

/// The answer of a session that is as the recorded one was.
fn replayed(expected: &Value) -> Value {
    let cursor = parsed("a cursor", &decoded(text(expected, "cursor")));
    let session_id = text(&cursor, "sessionId").to_owned();
    let generation = text(&cursor, "generation").to_owned();
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let ambient = Ambient::new(|| 0, move || generation.clone());
    let mut store = Store::open(&home.path().join("s.sqlite"), ambient).expect("a store opens");
    let mut request = DeltaRequest::default();
    request.session_target.session_id = Some(session_id.clone());
    let said = |id: &str, parent: Value, text: &str| {
        message(id, parent, "", &json!({ "role": "user", "content": text }))
    };
    let (first, second) = (said("a", Value::Null, "x"), said("b", "a".into(), "y"));
    match expected.get("reason").and_then(Value::as_str) {
        Some("anchor_missing") => {
            import(&mut store, &session_id, &[first.clone(), second.clone()]);
            request.cursor = Some(text(&answer(&store, &request), "cursor").to_owned());
            let leaf = json!({ "type": "leaf", "id": "l", "parentId": "a", "targetId": "a" });
            import(&mut store, &session_id, &[first, second, leaf]);
        }
        Some(_) => {
            import(&mut store, &session_id, &[first]);
            request.cursor = Some("garbage".into());
        }
        None => match expected.get("requiredBytes").and_then(Value::as_u64) {
            Some(required) => {
                let missing = required - 1 - first.to_string().len() as u64;
                let filling = "x".repeat(1 + usize::try_from(missing).expect("a small message"));
                import(&mut store, &session_id, &[said("a", Value::Null, &filling)]);
                request.max_bytes = Some(required - 1);
            }
            None => {
                import(&mut store, &session_id, &rows(expected, &cursor));
                let entries = list(field(expected, "entries")).len() as u64;
                request.max_messages = Some(entries.max(1));
            }
        },
    }
    answer(&store, &request)
}

fn answer(store: &Store, request: &DeltaRequest) -> Value {
    parsed(
        "an answer",
        &store.delta("main", request).expect("the store can be read"),
    )
}

fn import(store: &mut Store, session_id: &str, rows: &[Value]) {
    let header =
        json!({ "type": "session", "version": 4, "id": session_id, "timestamp": "", "cwd": "/" });
    let lines = [&[header], rows].concat();
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    support::import(store, session_id, lines.as_bytes(), None);
}

fn message(id: &str, parent: Value, timestamp: &str, message: &Value) -> Value {
    json!({ "type": "message", "id": id, "parentId": parent, "timestamp": timestamp, "message": message })
}

/// Rows whose page is the recorded one: its messages, and notes where something stood between.
fn rows(expected: &Value, cursor: &Value) -> Vec<Value> {
    let entries = list(field(expected, "entries"));
    let last = field(cursor, "lastEventSeq").as_i64().unwrap_or_default();
    let note = |id: &str, parent: &Value| json!({ "type": "custom", "id": id, "parentId": parent, "customType": "note" });
    let is_between = |entry: &Value, at: &Value| *field(entry, "parentId") != *at;
    let mut between = 0;
    let mut at = Value::Null;
    for entry in entries {
        between += i64::from(is_between(entry, &at));
        at = field(entry, "entryId").clone();
    }
    let mut padding = (last - entries.len() as i64 - between).max(0);
    let (mut rows, mut at) = (Vec::new(), Value::Null);
    for entry in entries {
        if is_between(entry, &at) {
            while padding > 0 {
                let id = format!("padding-{padding}");
                rows.push(note(&id, &at));
                (at, padding) = (id.into(), padding - 1);
            }
            rows.push(note(text(entry, "parentId"), &at));
        }
        rows.push(message(
            text(entry, "entryId"),
            field(entry, "parentId").clone(),
            text(entry, "createdAt"),
            field(entry, "message"),
        ));
        at = field(entry, "entryId").clone();
    }
    if *field(expected, "hasMore") == json!(true) {
        rows.push(message(
            "more",
            at,
            "",
            &json!({ "role": "user", "content": "more" }),
        ));
    }
    rows
}

/// The text behind base64url.
fn decoded(text: &str) -> String {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_usize, 0);
    for char in text.chars() {
        bits = (bits << 6 | ALPHABET.find(char).expect("base64url")) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    String::from_utf8(bytes).expect("text")
}
