//! `plugins inspect`, `plugins reload` and `plugins doctor`.

use super::{LIBRARY, MANIFEST, link, patch_note, plugin, window};
use crate::home::{Home, select, write};
use serde_json::json;
use std::fs;

/// Case R-2: nothing of the plugin runs without `--runtime`, and then no engine is made.
#[test]
fn plugin_is_shown_without_running_it() {
    let home = Home::new().probed();
    let directory = window(&home);
    link(&home, &directory).succeeds();
    let cold = home.run("plugins inspect window --json").succeeds().json();
    assert_eq!(cold["plugin"]["status"], "enabled");
    assert_eq!(cold["plugin"]["imported"], false);
    assert_eq!(cold["shape"], "non-capability");
    assert_eq!(cold["engine"], json!(null));
    assert_eq!(cold["library"]["contract"], "1.0");
    assert_eq!(cold["library"]["engineId"], "window");
    assert_eq!(cold["install"]["sha256"], cold["library"]["sha256"]);
    assert_eq!(cold["install"]["linked"], true);
    assert_eq!(cold["changedSinceLinked"], false);

    let loaded = home
        .run("plugins info WINDOW --runtime --json")
        .succeeds()
        .json();
    assert_eq!(loaded["plugin"]["status"], "loaded");
    assert_eq!(loaded["shape"], "plain-capability");
    assert_eq!(loaded["plugin"]["contextEngineIds"], json!(["window"]));
    assert_eq!(loaded["engine"]["id"], "window");
    assert!(
        !home.state_dir().join("native/agents").exists(),
        "no engine was made"
    );
    assert!(
        !home.state_dir().join("native/health").exists(),
        "nothing is set aside"
    );
}

/// Cases N-13 and N-19.
#[test]
fn plugin_that_cannot_be_used_is_shown_with_its_reason() {
    let home = Home::new();
    let directory = plugin(&home, "broken", "name: 'Broken'");
    patch_note(&directory, 8, &9_u16.to_le_bytes());
    home.write_config(&json!({ "plugins": { "load": { "paths": [directory] } } }).to_string());
    let ran = home
        .run("plugins inspect broken --runtime --json")
        .succeeds();
    let shown = ran.json();
    assert_eq!(shown["plugin"]["status"], "error");
    assert_eq!(shown["plugin"]["failurePhase"], "validation");
    assert_eq!(shown["plugin"]["name"], "Broken");
    assert!(
        shown["plugin"]["error"]
            .as_str()
            .unwrap()
            .contains("contract 9.0"),
        "{shown:#}"
    );
    let all = home.run("plugins inspect --all --json").succeeds().json();
    assert_eq!(all.as_array().unwrap().len(), 1);
    home.run("plugins inspect brocken")
        .fails()
        .shows(&["plugin not found: brocken", "did you mean broken?"]);
    home.run("plugins inspect").refused();
    home.run("plugins doctor")
        .fails()
        .shows(&["Plugin errors", "contract 9.0"]);
}

/// Cases N-5 and R-9.
#[test]
fn plugins_doctor_loads_what_is_enabled_and_tells_the_rest() {
    let home = Home::new().probed();
    let directory = window(&home);
    link(&home, &directory).succeeds();
    home.run("plugins doctor")
        .succeeds()
        .shows(&["No plugin issues detected", "1 loaded, no engine made"]);
    let copy = support::build_directory("window", &home.path("copy"));
    home.write_config(
        &json!({ "plugins": {
            "load": { "paths": [directory, copy] },
            "slots": { "contextEngine": "ghost" },
            "entries": { "window": { "enabled": true, "config": { "nonsense": 1 } } },
        } })
        .to_string(),
    );
    let report = home.run("plugins doctor --json").fails().json();
    assert_eq!(report["ok"], false);
    assert_eq!(report["sourceShadowing"][0]["pluginId"], "window");
    let warnings = report["configurationWarnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{report:#}");
    assert!(
        warnings[0]["message"]
            .as_str()
            .unwrap()
            .contains("nonsense"),
        "{report:#}"
    );
    assert!(
        warnings[1]["message"].as_str().unwrap().contains("`ghost`"),
        "{report:#}"
    );
    assert_eq!(report["pluginErrors"], json!([]));
}

#[test]
fn reload_tries_out_the_newest_build() {
    let home = Home::new();
    let directory = select(&home, "window", "window", json!({}));
    let shown = home.run("plugins reload window --json").succeeds().json();
    assert_eq!(shown["restartRequired"], false);
    assert_eq!(shown["pluginIds"], json!(["window"]));
    assert_eq!(shown["semantics"]["window"]["state"], "kept");
    // Cargo made another one.
    let made = home.path("target/release").join(LIBRARY);
    write(&made, "");
    fs::write(&made, support::Build::of("window").variant(7).bytes()).unwrap();
    let record = json!({ "cargoLibraries": [made] });
    write(&directory.join(".openclaw-build.json"), &record.to_string());
    home.run("plugins reload window")
        .succeeds()
        .shows(&["the newest library that cargo made", "promises kept"]);
    assert_eq!(
        fs::read(directory.join(LIBRARY)).unwrap(),
        fs::read(&made).unwrap()
    );
    home.run("doctor --no-run")
        .succeeds()
        .shows(&["window: kept"]);

    home.run("plugins reload window ghost")
        .fails()
        .shows(&["plugin not found: ghost"]);
    write(
        &directory.join(MANIFEST),
        "{id: 'window', configSchema: {}, ",
    );
    home.run("plugins reload window").fails();
}
