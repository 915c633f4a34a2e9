//! `plugins uninstall`.

use super::copies::ACCEPTED;
use super::{link, plugin, window};
use crate::home::Home;
use serde_json::json;
use std::fs;

/// Cases N-3, N-4 and N-5.
#[test]
fn link_goes_out_of_config_and_record_and_its_directory_stays() {
    let home = Home::new().probed();
    let directory = window(&home);
    link(&home, &directory).succeeds();
    let before = home.config();
    home.run("plugins uninstall window --dry-run")
        .succeeds()
        .shows(&[
            "load path",
            "slot contextEngine, which falls back to legacy",
        ]);
    home.run("plugins uninstall window")
        .fails()
        .shows(&["add --force"]);
    assert_eq!(home.config(), before);
    home.run("plugins uninstall window --force").succeeds();
    assert_eq!(
        home.config_json(),
        json!({ "plugins": { "entries": { "window": { "enabled": false } } } })
    );
    assert!(directory.is_dir());
    home.run("plugins uninstall window --force")
        .fails()
        .shows(&["not recorded as installed"]);
}

#[test]
fn copy_is_deleted_unless_it_is_to_be_kept() {
    let home = Home::new().probed();
    window(&home);
    let copy = home.state_dir().join("extensions/window");
    home.run(&format!("{ACCEPTED} window")).succeeds();
    home.run("plugins uninstall window --force --keep-files")
        .succeeds();
    assert!(copy.is_dir());
    let listed = home.run("plugins list --json").succeeds().json();
    assert_eq!(listed["plugins"][0]["status"], "disabled");
    home.run(&format!("{ACCEPTED} window")).succeeds();
    home.run("plugins uninstall window --force").succeeds();
    assert!(!copy.exists());
}

#[test]
fn both_slots_and_list_entries_of_the_plugin_go_and_others_stay() {
    let home = Home::new().probed();
    let directory = plugin(&home, "one", "kind: 'context-engine'");
    link(&home, &directory).succeeds();
    let path = directory.display();
    home.write_config(&format!(
        r#"{{"plugins": {{"allow": ["one", "other"], "deny": ["ONE"], "load": {{"paths": ["/elsewhere", "{path}/"]}},
          "slots": {{"contextEngine": "one", "memory": "one"}}, "entries": {{"one": {{"config": {{}}}}}}}}}}"#
    ));
    home.run("plugins uninstall one --force").succeeds();
    assert_eq!(
        home.config_json(),
        json!({ "plugins": {
            "allow": ["other"], "load": { "paths": ["/elsewhere"] },
            "entries": { "one": { "enabled": false } },
        }})
    );
}

#[test]
fn all_ids_are_looked_up_before_the_first_is_removed() {
    let home = Home::new().probed();
    link(&home, &plugin(&home, "one", "")).succeeds();
    let before = home.config();
    home.run("plugins uninstall one nothing --force").fails();
    assert_eq!(home.config(), before);
}

/// Case N-2.
#[test]
fn link_whose_directory_is_gone_can_be_uninstalled() {
    let home = Home::new().probed();
    let directory = plugin(&home, "one", "");
    link(&home, &directory).succeeds();
    fs::remove_dir_all(directory).expect("it can be removed");
    home.run("plugins uninstall one --force").succeeds();
    assert_eq!(
        home.config_json(),
        json!({ "plugins": { "entries": { "one": { "enabled": false } } } })
    );
}

/// A record is only a file: what it says is no reason to delete something else.
#[test]
fn record_of_a_foreign_directory_deletes_nothing() {
    let home = Home::new().probed();
    let directory = plugin(&home, "one", "");
    link(&home, &directory).succeeds();
    let path = home.state_dir().join("native/installs.json");
    let text = fs::read_to_string(&path).expect("it was written");
    fs::write(&path, text.replace("\"linked\": true", "\"linked\": false")).expect("it is ours");
    home.run("plugins uninstall one --force").succeeds();
    assert!(directory.is_dir());
}
