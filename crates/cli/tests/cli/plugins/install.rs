//! What linking selects, says and leaves alone.

use super::{link, plugin, plugin_with_manifest, window};
use crate::home::{Home, write};
use serde_json::json;
use std::fs;

/// Case R-5.
#[test]
fn linking_selects_the_engine_and_says_so() {
    let home = Home::new().probed();
    let ran = link(&home, &window(&home)).succeeds();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "linked   window 0.1.0 from ~~/here/window");
    assert!(lines[1].starts_with("library  libwindow."), "{}", lines[1]);
    assert_eq!(lines[2], "engine   window is now selected (before: legacy)");
    assert_eq!(lines[3], "config   ~~/home/.openclaw/openclaw.json");
    ran.shows(&[
        "checked by nobody",
        "help: run a turn: `openclaw agent -m \"hello\"`",
    ]);
    assert_eq!(
        home.config_json(),
        json!({ "plugins": {
            "entries": { "window": { "enabled": true } },
            "slots": { "contextEngine": "window" },
            "load": { "paths": [home.path("window")] },
        }})
    );
}

/// Case R-5.
#[test]
fn plugin_without_kind_is_not_selected_and_the_setting_is_named() {
    let home = Home::new().probed();
    link(&home, &plugin(&home, "plain", "")).succeeds().shows(&[
        "set `plugins.slots.contextEngine` to \"plain\" in ~~/home/.openclaw/openclaw.json",
    ]);
    let plugins = &home.config_json()["plugins"];
    assert_eq!(plugins["entries"]["plain"]["enabled"], true);
    assert_eq!(plugins.get("slots"), None);
}

#[test]
fn json_is_one_document() {
    let home = Home::new().probed();
    window(&home);
    let ran = home.run("plugins install -l window --json").succeeds();
    let document = ran.json();
    for (key, expected) in [
        ("ok", json!(true)),
        ("id", json!("window")),
        ("version", json!("0.1.0")),
        ("contract", json!("1.0")),
        ("directory", json!("~~/here/window")),
        ("changed", json!(true)),
        ("enabled", json!(true)),
        ("selected", json!(true)),
        ("missingSettings", json!([])),
    ] {
        assert_eq!(document[key], expected, "{key}");
    }
}

/// Case N-17.
#[test]
fn linking_again_changes_no_byte() {
    let home = Home::new().probed();
    let directory = window(&home);
    link(&home, &directory).succeeds();
    let first = home.config();
    for source in [
        "window",
        "window/",
        "../here/./window//.",
        "file:./window",
        &format!("file://{}", directory.display()),
        &directory.display().to_string(),
    ] {
        home.run(&format!("plugins install -l {source}"))
            .succeeds()
            .shows(&["window is selected", "nothing was written"]);
        assert_eq!(home.config(), first, "{source}");
    }
}

/// Cases N-12 and N-17.
#[cfg(unix)]
#[test]
fn link_to_a_directory_is_kept_as_given_and_known_by_its_real_path() {
    let home = Home::new().probed();
    let directory = window(&home);
    std::os::unix::fs::symlink(&directory, home.path("alias")).unwrap();
    home.run("plugins install -l alias").succeeds();
    let first = home.config();
    assert_eq!(
        home.config_json()["plugins"]["load"]["paths"],
        json!([home.path("alias")])
    );
    home.run("plugins install -l window").succeeds();
    assert_eq!(home.config(), first);
}

/// Case N-6.
#[test]
fn odd_characters_in_the_path_are_kept() {
    let home = Home::new().probed();
    let odd = home.path("my plügin 漢字 (1) #x%20");
    fs::rename(window(&home), &odd).unwrap();
    link(&home, &odd).succeeds();
    assert_eq!(home.config_json()["plugins"]["load"]["paths"], json!([odd]));
    let listed = home.run("plugins list --json").succeeds().json();
    assert_eq!(listed["plugins"][0]["status"], "enabled");
}

#[test]
fn another_directory_with_the_same_id_takes_the_place_of_the_first() {
    let home = Home::new().probed();
    let first = window(&home);
    link(&home, &first).succeeds();
    link(&home, &plugin(&home, "other", "kind: 'context-engine'")).succeeds();
    let second = support::build_directory("window", &home.path("second"));
    link(&home, &second)
        .succeeds()
        .shows(&["~~/here/window, which has the same id", "(before: other)"]);
    assert_eq!(
        home.config_json()["plugins"]["load"]["paths"],
        json!([home.path("other"), second])
    );
    let listed = home.run("plugins list --json").succeeds().json();
    assert_eq!(listed["diagnostics"], json!([]));
}

/// Case N-11.
#[test]
fn plugin_with_missing_settings_is_linked_and_disabled_until_they_are_there() {
    let home = Home::new().probed();
    let manifest = "{id: 'keyed', kind: 'context-engine', configSchema: {type: 'object', required: ['token']}}";
    let directory = plugin_with_manifest(&home, "keyed", manifest);
    for _ in 0..2 {
        link(&home, &directory).succeeds().shows(&[
            "keyed is disabled until it has its settings: config: \"token\" is a required property",
            "set `plugins.entries.keyed.config` in ~~/home/.openclaw/openclaw.json, remove `plugins.entries.keyed.enabled`",
        ]);
        assert_eq!(
            home.config_json()["plugins"],
            json!({ "entries": { "keyed": { "enabled": false } }, "load": { "paths": [&directory] } })
        );
    }
    // As the help says.
    let text = home.config().unwrap();
    home.write_config(&text.replace("\"enabled\": false", "\"config\": { \"token\": \"t\" }"));
    link(&home, &directory).succeeds();
    let plugins = &home.config_json()["plugins"];
    assert_eq!(plugins["entries"]["keyed"]["enabled"], true);
    assert_eq!(plugins["slots"]["contextEngine"], "keyed");
}

/// A fresh install is a fresh start: what ended processes said of the engine no longer counts.
#[test]
fn old_health_records_are_forgotten() {
    let home = Home::new().probed();
    let health = home.state_dir().join("native/health/1.json");
    let record = |engine: &str| json!({ "engineId": engine, "operation": "assemble", "reason": "r", "failedAtMs": 1 });
    let file = json!({ "processId": u32::MAX, "processStart": "1", "quarantined": [record("window"), record("other")] });
    write(&health, &file.to_string());
    link(&home, &window(&home)).succeeds();
    let left = fs::read_to_string(&health).unwrap();
    assert!(!left.contains("window") && left.contains("other"), "{left}");
}

/// Case C-4.
#[test]
fn ten_installs_at_once_all_count() {
    let home = Home::new().probed();
    let directories: Vec<_> = (0..10)
        .map(|number| plugin(&home, &format!("p{number}"), ""))
        .collect();
    std::thread::scope(|scope| {
        for directory in &directories {
            scope.spawn(|| link(&home, directory).succeeds());
        }
    });
    let plugins = &home.config_json()["plugins"];
    assert_eq!(plugins["load"]["paths"].as_array().unwrap().len(), 10);
    assert_eq!(plugins["entries"].as_object().unwrap().len(), 10);
}

/// Case N-18.
#[test]
fn help_only_prints_and_the_chosen_state_directory_is_used() {
    let home = Home::new();
    window(&home);
    home.run("plugins install --help").succeeds();
    home.run("plugins install -l window --help").succeeds();
    assert!(!home.state_dir().exists());
    let chosen = home.path("state");
    let mut command = home.command(["plugins", "install", "-l", "window"]);
    home.finish(command.env("OPENCLAW_STATE_DIR", &chosen))
        .succeeds();
    assert!(chosen.join("openclaw.json").exists());
    assert!(!home.state_dir().exists());
}

/// Case N-10.
#[cfg(unix)]
#[test]
fn directory_that_everybody_may_write_is_refused_with_mode_and_command() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let directory = window(&home);
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    link(&home, &directory).fails().shows(&[
        "everybody may write it (mode 0777)",
        "`chmod o-w ~~/here/window`",
    ]);
    assert!(!home.state_dir().exists());
}
