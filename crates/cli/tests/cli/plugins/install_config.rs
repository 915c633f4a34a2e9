//! What linking does to a config that is there.

use super::{link, plugin, window};
use crate::home::Home;
use serde_json::json;
use std::fs;

/// Links `window` and returns the config's new text, with the path shown as `~~`.
fn linked(home: &Home, before: &str) -> String {
    home.write_config(before);
    let directory = window(home);
    link(home, &directory).succeeds();
    let text = home.config().unwrap_or_default();
    text.replace(&directory.display().to_string(), "~~")
}

/// Links `window` and checks that it is refused and no byte has changed.
fn refused(before: &str, texts: &[&str]) {
    let home = Home::new();
    home.write_config(before);
    link(&home, &window(&home)).fails().shows(texts);
    assert_eq!(home.config().as_deref(), Some(before));
    assert!(!home.state_dir().join("openclaw.json.bak").exists());
}

/// Cases C-1, C-2, C-7 and C-10.
#[test]
fn everything_else_in_the_config_stays() {
    let before = "\
{
    // mine
    gateway: { port: 0x10, big: 12345678901234567890, e: 1e3 }, /* odd */
    plugins: {
        allow: ['a', 'b'], // both

        load: { paths: ['/x', '/y'] },
        entries: { a: { config: { key: \"Bearer ${ACME_TOKEN}\" } }, },
    },
}
";
    let after = linked(&Home::new().probed(), before);
    let expected = before
        .replace("['a', 'b']", "['a', 'b', 'window']")
        .replace("['/x', '/y']", "['/x', '/y', '~~']");
    for line in expected.lines().filter(|line| !line.contains("entries")) {
        assert!(after.lines().any(|other| other == line), "{line}\n{after}");
    }
    assert!(after.contains("\"Bearer ${ACME_TOKEN}\""), "{after}");
}

/// Case C-7.
#[test]
fn no_allow_list_is_made_and_an_empty_one_stays_empty() {
    let home = Home::new().probed();
    linked(&home, "{}");
    assert_eq!(home.config_json()["plugins"].get("allow"), None);
    let home = Home::new().probed();
    linked(&home, r#"{"plugins": {"allow": []}}"#);
    assert_eq!(home.config_json()["plugins"]["allow"], json!([]));
}

/// Case C-7.
#[test]
fn id_leaves_the_deny_list_however_it_is_spelled() {
    let home = Home::new().probed();
    home.write_config(r#"{"plugins": {"allow": ["Window"], "deny": ["x", " WINDOW ", "window"]}}"#);
    let ran = link(&home, &window(&home)).succeeds();
    let told = ran.stdout.matches("was in `plugins.deny` and is no longer");
    assert_eq!(told.count(), 2, "{ran:#?}");
    let plugins = &home.config_json()["plugins"];
    assert_eq!(plugins["deny"], json!(["x"]));
    assert_eq!(plugins["allow"], json!(["Window"]));
}

#[test]
fn deny_list_with_nothing_left_in_it_goes() {
    let home = Home::new();
    home.write_config(r#"{"plugins": {"deny": ["one"]}}"#);
    link(&home, &plugin(&home, "one", "")).succeeds();
    assert_eq!(home.config_json()["plugins"].get("deny"), None);

    let empty = Home::new();
    empty.write_config(r#"{"plugins": {"deny": []}}"#);
    link(&empty, &plugin(&empty, "one", "")).succeeds();
    assert_eq!(empty.config_json()["plugins"]["deny"], json!([]));
}

/// Case C-9.
#[test]
fn settings_of_the_plugin_stay_and_defaults_are_not_written() {
    let home = Home::new().probed();
    let before = r#"{"plugins": {"entries": {"WINDOW": {"config": {"highShare": 0.8}}}}}"#;
    linked(&home, before);
    assert_eq!(
        home.config_json()["plugins"]["entries"],
        json!({ "WINDOW": { "config": { "highShare": 0.8 }, "enabled": true } })
    );
    let first = home.config();
    home.run("plugins install -l window --force").succeeds();
    assert_eq!(home.config(), first);
}

#[test]
fn plugin_that_the_user_switched_off_stays_off() {
    let home = Home::new().probed();
    home.write_config(r#"{"plugins": {"entries": {"window": {"enabled": false}}}}"#);
    let directory = window(&home);
    link(&home, &directory).succeeds().shows(&[
        "stays disabled: `plugins.entries.window.enabled` is false",
        "to use it: `openclaw plugins enable window`",
    ]);
    assert_eq!(
        home.config_json()["plugins"],
        json!({ "entries": { "window": { "enabled": false } }, "load": { "paths": [directory] } })
    );
}

#[test]
fn all_plugins_switched_off_is_said() {
    let home = Home::new().probed();
    home.write_config(r#"{"plugins": {"enabled": false}}"#);
    link(&home, &window(&home))
        .succeeds()
        .shows(&["all plugins are off: `plugins.enabled` is false"]);
}

/// Cases N-15 and R-4.
#[test]
fn slot_set_before_linking_is_fine_and_its_spelling_is_put_right() {
    for slot in ["window", " Window "] {
        let home = Home::new().probed();
        linked(
            &home,
            &format!(r#"{{"plugins": {{"slots": {{"contextEngine": "{slot}"}}}}}}"#),
        );
        let plugins = &home.config_json()["plugins"];
        assert_eq!(plugins["slots"]["contextEngine"], "window");
    }
}

/// Case N-8.
#[test]
fn second_plugin_leaves_the_first_linked() {
    let home = Home::new().probed();
    link(&home, &window(&home)).succeeds();
    link(
        &home,
        &plugin(&home, "second", "kind: ['memory', 'context-engine']"),
    )
    .succeeds()
    .shows(&["second is now selected (before: window)"]);
    let listed = home.run("plugins list --json").succeeds().json();
    let status: Vec<_> = listed["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["id"].as_str().unwrap(), it["status"].as_str().unwrap()))
        .collect();
    assert_eq!(status, [("window", "enabled"), ("second", "enabled")]);
}

/// Cases C-6, C-11, C-12 and C-15.
#[test]
fn config_that_cannot_be_used_is_refused_with_the_place_and_stays() {
    for (before, texts) in [
        (
            "{\n  \"a\": 1\n  \"b\": 2\n}\n",
            &["openclaw.json", "line 3"][..],
        ),
        ("", &["openclaw.json", "empty"]),
        ("[]", &["an object"]),
        (
            "{\n plugins: { slots: { contextEngine: { a: 1 } } } }",
            &["plugins.slots.contextEngine", "line 2", "a string"],
        ),
        ("{plugins: {colour: 1}}", &["plugins.colour"]),
        (
            r#"{"plugins": {"$include": "./plugins.json5"}}"#,
            &["plugins.json5"],
        ),
    ] {
        refused(before, texts);
    }
    let home = Home::new().probed();
    fs::create_dir_all(home.config_path()).unwrap();
    link(&home, &window(&home)).fails().shows(&["directory"]);
}

#[test]
fn settings_that_break_the_schema_are_refused() {
    refused(
        r#"{"plugins": {"entries": {"window": {"config": {"highShare": 7, "tail": 1}}}}}"#,
        &[
            "cannot load plugin `window`",
            "highShare: 7 is greater than the maximum of 1",
            "'tail' was unexpected",
            "mend `plugins.entries.window.config` in openclaw.json",
        ],
    );
}

/// Case C-13.
#[test]
fn read_only_config_is_refused() {
    let home = Home::new();
    window(&home);
    let mut command = home.command(["plugins", "install", "-l", "window"]);
    home.finish(command.env("OPENCLAW_CONFIG_READONLY", "1"))
        .fails()
        .shows(&["read-only"]);
    assert!(!home.state_dir().exists());
}

/// Case N-2.
#[test]
fn path_that_is_gone_does_not_stop_the_next_install() {
    let home = Home::new().probed();
    home.write_config(r#"{"plugins": {"load": {"paths": ["/nowhere/at/all"]}}}"#);
    let directory = window(&home);
    link(&home, &directory).succeeds();
    assert_eq!(
        home.config_json()["plugins"]["load"]["paths"],
        json!(["/nowhere/at/all", directory])
    );
}
