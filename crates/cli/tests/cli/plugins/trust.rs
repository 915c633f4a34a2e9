//! What is recorded of a link, and which libraries the operator allows.

use super::{link, patch_note, window};
use crate::home::{Home, write};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Offset of the note's text for display: another file, the same engine.
const TOOLCHAIN: usize = 16;

fn installs_path(home: &Home) -> PathBuf {
    home.state_dir().join("native/installs.json")
}

fn installs(home: &Home) -> Value {
    let text = fs::read_to_string(installs_path(home)).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn link_is_recorded_and_a_changed_library_is_reported_and_used() {
    let home = Home::new().probed();
    let directory = window(&home);
    link(&home, &directory).succeeds();
    let first = installs(&home);
    assert_eq!(first["window"]["path"].as_str(), directory.to_str());
    assert_eq!(first["window"]["linked"], true);
    let list = || home.run("plugins list --json").succeeds().json();
    assert_eq!(
        list()["plugins"][0]["librarySha256"],
        first["window"]["sha256"]
    );
    patch_note(&directory, TOOLCHAIN, b"other");
    home.run("plugins list")
        .succeeds()
        .shows(&["enabled, selected, changed since it was linked"]);
    assert_eq!(list()["plugins"][0]["changedSinceLinked"], true);
    home.run("doctor")
        .shows(&["window in ~~/here/window, changed since it was linked"]);
    home.run("agent -m hello --json")
        .succeeds()
        .shows(&["\"engineId\": \"window\""]);
    link(&home, &directory).succeeds();
    assert_ne!(
        installs(&home)["window"]["sha256"],
        first["window"]["sha256"]
    );
    assert_eq!(list()["plugins"][0]["changedSinceLinked"], false);
}

#[test]
fn broken_record_is_shown_and_stops_nothing() {
    let home = Home::new().probed();
    let directory = window(&home);
    link(&home, &directory).succeeds();
    write(&installs_path(&home), "{");
    for command in ["plugins list", "doctor"] {
        home.run(command)
            .shows(&["installs.json cannot be read", "install the plugins again"]);
    }
    home.run("agent -m hello").succeeds();
    link(&home, &directory).succeeds();
    assert_eq!(installs(&home)["window"]["linked"], true);
}

#[test]
fn library_that_the_operator_does_not_allow_is_neither_linked_nor_loaded() {
    let home = Home::new().probed();
    let directory = window(&home);
    let native = home.state_dir().join("native/native.json5");
    let allow = |hash: &str| {
        write(
            &native,
            &format!("{{plugins: {{allowedLibraries: ['{hash}']}}}}"),
        )
    };
    allow(&"0".repeat(64));
    let refused = [
        "is not in `plugins.allowedLibraries` of native.json5",
        "add the hash",
    ];
    link(&home, &directory).fails().shows(&refused);
    assert_eq!(home.config(), None);
    fs::remove_file(&native).expect("it is there");
    link(&home, &directory).succeeds();
    let hash = installs(&home)["window"]["sha256"].clone();
    allow(&hash.as_str().expect("it is text").to_uppercase());
    home.run("agent -m hello --json")
        .succeeds()
        .shows(&["\"engineId\": \"window\""]);
    allow(&"0".repeat(64));
    home.run("doctor").fails().shows(&refused);
    home.run("agent -m hello")
        .shows(&["legacy served instead of window: load failed", refused[0]]);
}
