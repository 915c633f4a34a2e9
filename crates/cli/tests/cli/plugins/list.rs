//! What the list shows, and that one fault hides nothing.

use super::{LIBRARY, MANIFEST, link, patch_note, plugin, window};
use crate::home::{Home, write};
use serde_json::{Value, json};
use std::fs;

fn statuses(document: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("it is text").to_owned();
    let plugins = document["plugins"].as_array().expect("it is a list");
    plugins
        .iter()
        .map(|plugin| (text(&plugin["id"]), text(&plugin["status"])))
        .collect()
}

#[test]
fn without_plugins_the_next_command_is_named() {
    let home = Home::new();
    let ran = home.run("plugins list").succeeds();
    assert_eq!(ran.stdout, "Plugins (0/0 enabled)\n");
    ran.shows(&["openclaw plugins install -l <build directory>"]);
    let document = home.run("plugins list --json").succeeds().json();
    assert_eq!(document, json!({ "plugins": [], "diagnostics": [] }));
    assert!(!home.state_dir().exists());
}

#[test]
fn list_shows_name_id_status_version_and_source() {
    let home = Home::new().probed();
    link(
        &home,
        &plugin(&home, "second", "version: '2.0', name: 'Second'"),
    )
    .succeeds();
    link(&home, &window(&home)).succeeds();
    let text = home.config().unwrap();
    home.write_config(&text.replacen("true", "false", 1));
    let ran = home.run("plugins list").succeeds();
    let words: Vec<Vec<&str>> = ran
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        words,
        [
            vec!["Plugins", "(1/2", "enabled)"],
            vec!["Name", "ID", "Status", "Semantics", "Version", "Source"],
            vec![
                "Second",
                "second",
                "disabled",
                "declared,",
                "not",
                "probed",
                "2.0",
                "~~/here/second"
            ],
            vec![
                "Sliding",
                "window",
                "window",
                "enabled,",
                "selected",
                "kept",
                "0.1.0",
                "~~/here/window"
            ],
        ]
    );
    let document = home.run("plugins list --json").succeeds().json();
    let mut shown = document["plugins"][1].clone();
    assert!(shown["libraryModified"].as_str().unwrap().ends_with('Z'));
    shown["libraryModified"] = Value::Null;
    assert_eq!(shown["librarySha256"].as_str().map(str::len), Some(64));
    shown["librarySha256"] = Value::Null;
    assert_eq!(
        shown,
        json!({
            "id": "window", "name": "Sliding window", "version": "0.1.0", "status": "enabled", "selected": true,
            "source": "~~/here/window", "library": format!("~~/here/window/{LIBRARY}"), "libraryModified": null,
            "librarySha256": null, "changedSinceLinked": false, "contract": "1.0",
            "semantics": { "state": "kept", "passed": 10 },
        })
    );
}

/// Cases M-1, N-2, N-13 and N-19.
#[test]
fn faults_stand_beneath_and_hide_nothing() {
    let home = Home::new().probed();
    for id in ["cut", "gone", "future", "broken"] {
        link(&home, &plugin(&home, id, "")).succeeds();
    }
    link(&home, &window(&home)).succeeds();
    write(
        &home.path("cut").join(MANIFEST),
        "{id: 'cut',\n configSchema: {",
    );
    fs::remove_dir_all(home.path("gone")).unwrap();
    patch_note(&home.path("future"), 8, &[2, 0]);
    fs::write(home.path("broken").join(LIBRARY), "text").unwrap();

    home.run("plugins list").succeeds().shows(&[
        "Plugins (1/3 enabled)",
        "error: cannot load a plugin from ~~/here/cut/openclaw.plugin.json: openclaw.plugin.json does not parse",
        "(line 2, ",
        "error: cannot load a plugin from ~~/here/gone: there is nothing at this path",
        "built for contract 2.0, this host speaks 1.0",
        "not a shared library",
        "→ rebuild the engine",
    ]);
    let document = home.run("plugins list --json").succeeds().json();
    assert_eq!(
        statuses(&document),
        [
            ("window", "enabled"),
            ("future", "error"),
            ("broken", "error")
        ]
        .map(|(id, status)| (id.to_owned(), status.to_owned()))
    );
    let codes: Vec<_> = document["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["code"].as_str().unwrap())
        .collect();
    assert_eq!(
        codes,
        [
            "load/manifest-syntax",
            "load/missing",
            "load/contract-version",
            "load/not-a-library"
        ]
    );
}

/// Case M-4.
#[test]
fn bad_settings_are_an_error_of_their_plugin_unless_it_is_disabled() {
    let home = Home::new().probed();
    link(&home, &window(&home)).succeeds();
    let with = |enabled: bool| {
        let path = home.path("window");
        let config = json!({ "plugins": {
            "load": { "paths": [path] },
            "entries": { "window": { "enabled": enabled, "config": { "highShare": 7 } } },
        }});
        home.write_config(&config.to_string());
        home.run("plugins list --json").succeeds().json()
    };
    let document = with(true);
    assert_eq!(document["plugins"][0]["status"], "error");
    assert_eq!(document["diagnostics"][0]["code"], "load/settings");
    let document = with(false);
    assert_eq!(document["plugins"][0]["status"], "disabled");
    assert_eq!(document["diagnostics"], json!([]));
}

/// Case R-4.
#[test]
fn slot_that_names_no_plugin_gets_a_suggestion() {
    let home = Home::new().probed();
    link(&home, &window(&home)).succeeds();
    let text = home.config().unwrap();
    home.write_config(&text.replace(
        r#""contextEngine": "window""#,
        r#""contextEngine": "openclaw-window""#,
    ));
    home.run("plugins list").succeeds().shows(&[
        "`plugins.slots.contextEngine` names `openclaw-window`, and no plugin brings it",
        "did you mean window?",
    ]);
}

/// Case N-12.
#[cfg(unix)]
#[test]
fn linked_directory_is_shown_with_where_it_leads() {
    let home = Home::new().probed();
    std::os::unix::fs::symlink(window(&home), home.path("alias")).unwrap();
    home.run("plugins install -l alias").succeeds();
    home.run("plugins list")
        .succeeds()
        .shows(&["~~/here/alias -> "]);
    let document = home.run("plugins list --json").succeeds().json();
    assert_eq!(document["plugins"][0]["source"], "~~/here/alias");
    assert!(
        document["plugins"][0]["realPath"]
            .as_str()
            .unwrap()
            .ends_with("here/window")
    );
}

#[test]
fn unparsable_config_is_an_error() {
    let home = Home::new().probed();
    home.write_config("{");
    home.run("plugins list").fails().shows(&["openclaw.json"]);
    let document = home.run("plugins list --json").fails().json();
    assert_eq!(document["ok"], false);
}
