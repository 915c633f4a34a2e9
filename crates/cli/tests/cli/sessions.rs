//! Sessions in and out.

use crate::home::{Home, write};
use serde_json::Value;

/// Writes a transcript with one message and returns its lines.
fn transcript(home: &Home, file: &str, id: &str) -> String {
    let text = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"\",\"cwd\":\"/\"}}\n{}\n",
        said("a", id)
    );
    write(&home.path(file), &text);
    text
}

fn said(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":null,"message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// Ids of the sessions listed, sorted.
fn listed(home: &Home) -> Vec<String> {
    let list = home.run("sessions list --json").succeeds().json();
    let sessions = list["sessions"].as_array().unwrap().iter();
    let mut ids: Vec<String> = sessions
        .map(|session| session["sessionId"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

#[test]
fn import_onto_a_used_key_is_refused_and_hides_nothing() {
    let home = Home::new().probed();
    transcript(&home, "a.jsonl", "one");
    transcript(&home, "b.jsonl", "two");
    home.run("sessions import a.jsonl --session-key k")
        .succeeds();
    home.run("agent -m hello --session-key k").succeeds();
    home.run("sessions import b.jsonl --session-key k")
        .fails()
        .shows(&["`k`", "`one`", "--session-key", "nothing was stored"]);
    assert_eq!(listed(&home), ["one"]);
    home.run("sessions import b.jsonl").succeeds();
    assert_eq!(listed(&home), ["one", "two"]);
}

#[test]
fn import_of_a_known_session_says_which_key_it_has() {
    let home = Home::new().probed();
    transcript(&home, "a.jsonl", "one");
    home.run("sessions import a.jsonl --session-key k")
        .succeeds();
    let again = home
        .run("sessions import a.jsonl --session-key other --json")
        .succeeds();
    assert_eq!(again.json()["imports"][0]["sessionKey"], "k");
    again.shows(&["keeps its key `k`", "`other` is not used"]);
}

#[test]
fn keys_that_cannot_be_keys_are_refused() {
    let home = Home::new().probed();
    transcript(&home, "a.jsonl", "one");
    for (key, reason) in [
        (" ", "blank"),
        ("a\u{1b}[31m", "U+001B"),
        (&"k".repeat(513), "513 bytes"),
    ] {
        home.finish(&mut home.command(["sessions", "import", "a.jsonl", "--session-key", key]))
            .fails()
            .shows(&[reason]);
    }
    assert_eq!(listed(&home), Vec::<String>::new());
}

/// Cases F-4, F-12.
#[test]
fn history_without_ids_survives_the_first_turn() {
    let home = Home::new().probed();
    let row = |text: &str| said("", text).replace("\"id\":\"\",\"parentId\":null,", "");
    let header = r#"{"type":"session","version":4,"id":"flat","timestamp":"","cwd":"/"}"#;
    let text = format!("{header}\n{}\n{}\n{}\n", row("1"), row("2"), row("3"));
    write(&home.path("flat.jsonl"), &text);
    home.run("sessions import flat.jsonl --session-key k")
        .succeeds()
        .shows(&["3 messages on the active path"]);
    home.run("agent -m hello --session-key k").succeeds();
    let list = home.run("sessions list --json").json();
    assert_eq!(list["sessions"][0]["messages"], 5, "{list}");
}

#[test]
fn second_header_comes_out_as_it_went_in() {
    let home = Home::new().probed();
    let first = transcript(&home, "a.jsonl", "one");
    let text = format!("{first}{}\n", first.lines().next().unwrap());
    write(&home.path("a.jsonl"), &text);
    home.run("sessions import a.jsonl")
        .succeeds()
        .shows(&["line 3: second session header"]);
    assert_eq!(home.run("sessions export one").succeeds().stdout, text);
}

#[test]
fn one_bad_file_keeps_all_of_them_out() {
    let home = Home::new().probed();
    transcript(&home, "a.jsonl", "one");
    write(&home.path("bad.html"), "<html>\n</html>\n");
    write(&home.path("empty.jsonl"), "\n");
    for bad in ["bad.html", "empty.jsonl", "missing.jsonl", "."] {
        home.run(&format!("sessions import a.jsonl {bad}"))
            .fails()
            .shows(&[bad.trim_matches('.')]);
        assert_eq!(listed(&home), Vec::<String>::new(), "{bad}");
    }
}

#[test]
fn refusal_of_the_store_says_what_was_stored_before() {
    let home = Home::new().probed();
    let first = transcript(&home, "b.jsonl", "two");
    home.run("sessions import b.jsonl").succeeds();
    home.run("agent -m hello --session-key agent:main:two")
        .succeeds();
    write(&home.path("b.jsonl"), &(first + &said("b", "more") + "\n"));
    transcript(&home, "a.jsonl", "one");
    let ran = home
        .run("sessions import a.jsonl b.jsonl --json")
        .fails()
        .shows(&[
            "b.jsonl: ",
            "parts from it at line 3",
            "stored before it: ~~/here/a.jsonl",
        ]);
    assert_eq!(ran.json()["ok"], Value::Bool(false));
    assert_eq!(listed(&home), ["one", "two"]);
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let home = Home::new().probed();
    transcript(&home, "a.jsonl", "one");
    let pipe = home.path("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    home.run("sessions import a.jsonl pipe.jsonl")
        .fails()
        .shows(&["pipe.jsonl is no regular file"]);
    home.run("sessions import a.jsonl ..")
        .fails()
        .shows(&["is a directory"]);
}

/// A panic, once. Linux only: other systems have no such names.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_refused_in_one_document() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new().probed();
    transcript(&home, "a.jsonl", "one");
    home.run("sessions import a.jsonl").succeeds();
    let name = OsStr::from_bytes(b"\xff.jsonl");
    std::fs::copy(home.path("a.jsonl"), home.path("").join(name)).unwrap();
    let import = vec!["sessions", "import", "--json"];
    let export = vec!["sessions", "export", "one", "--json", "--out"];
    for words in [import, export] {
        let ran = home.finish(home.command(words).arg(name));
        assert_eq!((ran.code, &ran.json()["ok"]), (2, &Value::Bool(false)));
    }
}

#[test]
fn session_is_compacted_by_hand_without_a_model_and_says_so() {
    let home = Home::new();
    let long = "The pump starts before the valve opens. ".repeat(40);
    for _ in 0..4 {
        home.finish(&mut home.command(["agent", "-m", &long]))
            .succeeds();
    }
    let compact = "sessions compact --instructions valve --json";
    let document = home.run(compact).succeeds().json();
    assert_eq!(document["compacted"], true, "{document}");
    assert_eq!(document["engineId"], "legacy");
    assert_eq!(document["summariser"], "extractive");
    assert!(document["tokensAfter"].as_u64() < document["tokensBefore"].as_u64());
    let exported = home.run("sessions export agent:main:main").succeeds();
    let compactions = exported.stdout.matches("\"type\":\"compaction\"");
    assert_eq!(compactions.count(), 1);
    home.run("agent -m again").succeeds();
    home.run("sessions compact nobody")
        .fails()
        .shows(&["nobody"]);
}

/// A wrong setting is named, and nothing is done with it. Case L-16.
#[test]
fn wrong_compaction_setting_is_refused_by_its_path() {
    let home = Home::new();
    home.write_config(
        "{ agents: { defaults: { compaction: { qualityGuard: { maxRetries: -1 } } } } }",
    );
    home.run("agent -m hello").fails().shows(&[
        "agents.defaults.compaction.qualityGuard.maxRetries",
        "0 to 3",
    ]);
}
