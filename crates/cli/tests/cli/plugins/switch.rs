//! `plugins enable` and `disable`.

use super::{link, plugin, plugin_with_manifest};
use crate::home::Home;
use serde_json::json;

const ENGINE: &str = "kind: 'context-engine'";

#[test]
fn enabling_moves_the_slot_and_disabling_keeps_it() {
    let home = Home::new().probed();
    link(&home, &plugin(&home, "one", ENGINE)).succeeds();
    link(&home, &plugin(&home, "two", ENGINE)).succeeds();
    home.run("plugins enable ONE")
        .succeeds()
        .shows(&["enabled  one", "one is now selected (before: two)"]);
    home.run("plugins disable one")
        .succeeds()
        .shows(&["the slot still names one"]);
    let plugins = home.config_json()["plugins"].clone();
    assert_eq!(plugins["slots"], json!({ "contextEngine": "one" }));
    assert_eq!(
        plugins["entries"],
        json!({ "one": { "enabled": false }, "two": { "enabled": true } })
    );
    let again = home.run("plugins disable one --json").succeeds().json();
    assert_eq!(again["plugins"][0]["changed"], false);
    home.run("plugins enable one").succeeds();
    assert_eq!(
        home.config_json()["plugins"]["entries"]["one"]["enabled"],
        true
    );
}

#[test]
fn first_failure_stops_and_what_was_done_stays() {
    let home = Home::new().probed();
    link(&home, &plugin(&home, "one", "")).succeeds();
    link(&home, &plugin(&home, "two", "")).succeeds();
    let ran = home.run("plugins disable one nothing two --json").fails();
    let document = ran.json();
    assert_eq!(document["ok"], false);
    assert_eq!(document["plugins"][0]["id"], "one");
    let entries = &home.config_json()["plugins"]["entries"];
    assert_eq!(entries["one"]["enabled"], false);
    assert_eq!(entries["two"]["enabled"], true);
}

#[test]
fn what_would_stay_off_is_refused_with_the_reason() {
    for (field, said) in [
        (r#""enabled": false"#, "plugins disabled"),
        (r#""deny": ["one"]"#, "on the deny list"),
        (r#""allow": ["other"]"#, "not on the allow list"),
        (
            r#""allow": ["other"], "slots": {"contextEngine": "one"}"#,
            "not on the allow list",
        ),
    ] {
        let home = Home::new();
        let path = plugin(&home, "one", ENGINE).display().to_string();
        home.write_config(&format!(
            r#"{{"plugins": {{{field}, "load": {{"paths": ["{path}"]}}}}}}"#
        ));
        let before = home.config();
        home.run("plugins enable one").fails().shows(&[said]);
        assert_eq!(home.config(), before);
    }
}

/// Case N-11.
#[test]
fn plugin_without_its_required_settings_is_not_enabled() {
    let home = Home::new().probed();
    let manifest = "{id: 'keyed', kind: 'context-engine', configSchema: {type: 'object', required: ['token']}}";
    link(&home, &plugin_with_manifest(&home, "keyed", manifest)).succeeds();
    let before = home.config();
    home.run("plugins enable keyed").fails().shows(&[
        "\"token\" is a required property",
        "plugins.entries.keyed.config",
    ]);
    assert_eq!(home.config(), before);
}

/// Cases C-1 and C-2.
#[test]
fn comments_and_placeholders_survive_switching() {
    let home = Home::new();
    let path = plugin(&home, "one", "").display().to_string();
    let text = format!(
        "{{\n  // mine\n  env: '${{SECRET}}',\n  plugins: {{ load: {{ paths: ['{path}'] }}, entries: {{ one: {{ enabled: true /* on */, config: {{}} }} }} }},\n}}\n"
    );
    home.write_config(&text);
    home.run("plugins disable one").succeeds();
    let expected = text.replace("enabled: true", "enabled: false");
    assert_eq!(home.config(), Some(expected));
}

/// Cases C-11 and C-13.
#[test]
fn config_that_cannot_be_parsed_or_written_is_left_alone() {
    let home = Home::new();
    home.write_config("{ plugins: ");
    for line in ["enable one", "disable one"] {
        home.run(&format!("plugins {line}")).fails();
        assert_eq!(home.config().as_deref(), Some("{ plugins: "));
    }
    home.write_config("{\"plugins\": {\"entries\": {\"one\": {}}}}");
    let before = home.config();
    let mut command = home.command(["plugins", "disable", "one"]);
    home.finish(command.env("OPENCLAW_CONFIG_READONLY", "1"))
        .fails()
        .shows(&["read-only"]);
    assert_eq!(home.config(), before);
}

/// Case C-4.
#[test]
fn hundred_processes_that_switch_at_once_lose_nothing() {
    let home = Home::new();
    let ids: Vec<String> = (0..100).map(|number| format!("p{number}")).collect();
    let entries = ids
        .iter()
        .map(|id| format!("{id}: {{enabled: true}}, // kept\n"));
    let before = format!(
        "{{plugins: {{entries: {{\n{}}}}}}}\n",
        entries.collect::<String>()
    );
    home.write_config(&before);
    std::thread::scope(|scope| {
        for ids in ids.chunks(10) {
            let home = &home;
            scope.spawn(move || {
                for id in ids {
                    home.run(&format!("plugins disable {id}")).succeeds();
                }
            });
        }
    });
    assert_eq!(home.config(), Some(before.replace("true", "false")));
}
