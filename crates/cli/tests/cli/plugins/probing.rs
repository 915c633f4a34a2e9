//! What was found decides which engine serves, and is shown wherever engines are shown.

use crate::home::{Home, select, write};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;

fn turn(home: &Home) -> Value {
    home.run("agent -m hello --json").succeeds().json()["turn"].clone()
}

fn verdicts(home: &Home) -> usize {
    let directory = home.state_dir().join("native/probes");
    fs::read_dir(directory).map_or(0, Iterator::count)
}

#[test]
fn engine_that_lies_loads_without_the_right_to_durable_turns() {
    let home = Home::new();
    select(&home, "liar", "liar", json!({ "lie": "always-committed" }));
    home.run("doctor --no-run")
        .succeeds()
        .shows(&["note    semantics  liar: declared, not probed"]);
    home.run("plugins list")
        .succeeds()
        .shows(&["declared, not probed"]);
    let record = turn(&home);
    assert_eq!(record["asked"]["engineId"], "liar");
    assert_eq!(record["served"]["engineId"], "legacy");
    assert_eq!(record["substitution"]["scope"], "degraded");
    assert_eq!(record["substitution"]["operation"], "selection");
    let reason = record["substitution"]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("semantics probe failed: commit-duplicate: "),
        "{reason}"
    );
    let shown = [
        "semantics probe failed: commit-duplicate: ",
        "turns run on legacy until",
    ];
    home.run("doctor --no-run").fails().shows(&shown);
    home.run("plugins list")
        .succeeds()
        .shows(&["failed: commit-duplicate"])
        .shows(&shown);
    let list = home.run("plugins list --json").succeeds().json();
    assert_eq!(list["plugins"][0]["status"], "enabled");
    assert_eq!(list["plugins"][0]["semantics"]["state"], "failed");
    home.run("sessions recommit").fails().shows(&shown[..1]);
    assert_eq!(verdicts(&home), 1);
    let native = home.state_dir().join("native/native.json5");
    write(&native, "{strict: true}");
    home.run("agent -m hello").fails().shows(&shown[..1]);
}

#[test]
fn engine_that_was_built_again_or_set_otherwise_is_probed_once_before_its_turn() {
    let home = Home::new();
    let directory = select(&home, "liar", "liar", json!({}));
    for _ in 0..2 {
        assert_eq!(turn(&home)["served"]["engineId"], "liar");
        assert_eq!(verdicts(&home), 1);
    }
    home.run("doctor --no-run")
        .succeeds()
        .shows(&["ok      semantics  liar: kept, 10 probes passed"]);
    // Bytes behind the last section change the file and not the code.
    let library = directory.join(support::library("liar").file_name().unwrap());
    let mut file = OpenOptions::new().append(true).open(&library).unwrap();
    file.write_all(b"built again").unwrap();
    drop(file);
    home.run("doctor --no-run")
        .succeeds()
        .shows(&["liar: declared, not probed"]);
    assert_eq!(turn(&home)["served"]["engineId"], "liar");
    assert_eq!(verdicts(&home), 2);
    select(
        &home,
        "liar",
        "liar",
        json!({ "lie": "duplicate-at-first" }),
    );
    assert_eq!(turn(&home)["served"]["engineId"], "legacy");
    select(&home, "liar", "liar", json!({}));
    assert_eq!(turn(&home)["served"]["engineId"], "liar");
    assert_eq!(verdicts(&home), 3);
}

#[test]
fn damaged_record_is_found_out_again() {
    let home = Home::new();
    select(&home, "liar", "liar", json!({ "lie": "always-committed" }));
    turn(&home);
    let directory = home.state_dir().join("native/probes");
    let record = fs::read_dir(&directory).unwrap().next().unwrap().unwrap();
    let whole = fs::read_to_string(record.path()).unwrap();
    write(&record.path(), &whole[..whole.len() / 2]);
    assert_eq!(turn(&home)["served"]["engineId"], "legacy");
    home.run("doctor --no-run")
        .fails()
        .shows(&["commit-duplicate"]);
}

/// What an engine prints while it is probed is neither result nor talk.
#[test]
fn probing_is_silent() {
    let home = Home::new();
    select(&home, "unruly", "unruly", json!({ "assemble": "print" }));
    let ran = home
        .run("plugins validate plugins/unruly --json")
        .succeeds();
    assert_eq!(ran.json()["ok"], true);
    assert!(!ran.stderr.contains("unruly prints"), "{ran:#?}");
}

#[test]
fn child_command_is_hidden_and_refuses_what_is_no_script() {
    let home = Home::new();
    let help = home.run("--help").succeeds();
    assert!(!help.stdout.contains("probe-engine"), "{help:#?}");
    home.run("probe-engine")
        .fails()
        .shows(&["stdin holds no script", "`openclaw plugins validate`"]);
}
