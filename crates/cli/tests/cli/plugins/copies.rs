//! Copies of directories and archives: what has to be accepted, what lands where, and what is refused.

use super::{MANIFEST, patch_note, plugin, window};
use crate::home::{Home, write};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;

pub(super) const ACCEPTED: &str = "plugins install --force --accept-capabilities";

/// Writes a `.tgz` of a directory, with everything below `prefix`.
pub(super) fn tgz(directory: &Path, prefix: &str, archive: &Path) {
    let file = File::create(archive).expect("a file can be made");
    let mut builder = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
    builder
        .append_dir_all(prefix, directory)
        .expect("a directory can be archived");
    let gz = builder.into_inner().expect("the archive ends");
    gz.finish().expect("the stream ends");
}

pub(super) fn installs(home: &Home) -> Value {
    let path = home.state_dir().join("native/installs.json");
    let text = fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

fn copy_of(home: &Home, id: &str) -> std::path::PathBuf {
    home.state_dir().join("extensions").join(id)
}

#[test]
fn copy_of_a_directory_is_selected_recorded_and_serves() {
    let home = Home::new().probed();
    let directory = window(&home);
    home.run(&format!("{ACCEPTED} window"))
        .succeeds()
        .shows(&["copied   window 0.1.0", "window is now selected"]);
    assert_eq!(
        home.config_json(),
        json!({ "plugins": {
            "entries": { "window": { "enabled": true } },
            "slots": { "contextEngine": "window" },
        }})
    );
    let record = &installs(&home)["window"];
    assert_eq!(record["linked"], false);
    assert_eq!(record["source"], "path");
    assert_eq!(record["path"], json!(copy_of(&home, "window")));
    // What becomes of the source does not matter any more.
    fs::remove_dir_all(directory).expect("it can be removed");
    home.run("agent -m hello --json")
        .succeeds()
        .shows(&["\"engineId\": \"window\""]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = copy_of(&home, "window").metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
    }
}

#[test]
fn copy_that_was_changed_is_refused() {
    let home = Home::new().probed();
    window(&home);
    home.run(&format!("{ACCEPTED} window")).succeeds();
    patch_note(&copy_of(&home, "window"), 16, b"other");
    let listed = home.run("plugins list --json").succeeds().json();
    assert_eq!(listed["plugins"][0]["status"], "error");
    home.run("agent -m hello")
        .shows(&["legacy served instead of window"]);
}

#[test]
fn nothing_is_copied_that_nobody_accepted() {
    let home = Home::new();
    window(&home);
    for (line, option) in [
        ("plugins install window", "--force"),
        ("plugins install --accept-capabilities window", "--force"),
        ("plugins install --force window", "--accept-capabilities"),
        (
            "plugins install window",
            "add --force --accept-capabilities",
        ),
    ] {
        home.run(line).fails().shows(&["was not installed", option]);
        assert!(!home.state_dir().exists());
    }
}

#[test]
fn copy_that_is_there_is_replaced_only_with_force() {
    let home = Home::new().probed();
    let directory = plugin(&home, "e", "version: '1'");
    home.run(&format!("{ACCEPTED} e")).succeeds();
    write(&copy_of(&home, "e").join("stale"), "");
    let manifest = "{id: 'e', configSchema: {type: 'object'}, version: '2'}";
    write(&directory.join(MANIFEST), manifest);
    home.run(&format!("{ACCEPTED} e")).succeeds();
    assert!(!copy_of(&home, "e").join("stale").exists());
    let listed = home.run("plugins list --json").succeeds().json();
    assert_eq!(listed["plugins"][0]["version"], "2");
    let left: Vec<_> = fs::read_dir(home.state_dir().join("extensions"))
        .expect("it is there")
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn refused_config_brings_the_former_copy_back() {
    let home = Home::new().probed();
    let directory = plugin(&home, "e", "version: '1'");
    home.run(&format!("{ACCEPTED} e")).succeeds();
    home.write_config(r#"{"plugins": {"entries": {"e": {"config": {"share": 7}}}}}"#);
    let before = home.config();
    let manifest = "{id: 'e', version: '2', configSchema: {type: 'object', properties: {share: {maximum: 1}}}}";
    write(&directory.join(MANIFEST), manifest);
    home.run(&format!("{ACCEPTED} e"))
        .fails()
        .shows(&["share: 7 is greater than the maximum of 1"]);
    assert_eq!(home.config(), before);
    let kept = fs::read_to_string(copy_of(&home, "e").join(MANIFEST)).expect("it is back");
    assert!(kept.contains("version: '1'"), "{kept}");
}

#[test]
fn archives_are_unpacked_from_their_top_or_their_only_directory() {
    for prefix in ["", "package"] {
        let home = Home::new().probed();
        tgz(&window(&home), prefix, &home.path("w.tgz"));
        home.run(&format!("{ACCEPTED} w.tgz")).succeeds();
        let record = &installs(&home)["window"];
        assert_eq!(record["source"], "archive");
        assert_eq!(record["sourcePath"], json!(home.path("w.tgz")));
        assert!(copy_of(&home, "window").join(MANIFEST).is_file());
    }
}

/// Case N-1.
#[test]
fn specs_that_lead_nowhere_say_so_and_leave_nothing() {
    let home = Home::new();
    write(&home.path("plain.txt"), "x");
    for (spec, said) in [
        ("./missing", "does not exist"),
        ("missing.tgz", "does not exist"),
        ("plain.txt", "a plain file cannot be installed"),
        ("git:x", "not supported"),
        ("npm-pack:", "names no archive"),
        ("npm:", "names no package"),
        ("window@^1", "neither an exact version nor a tag"),
        ("--pin -- plain.txt", "a plain file cannot be installed"),
    ] {
        home.run(&format!("{ACCEPTED} {spec}"))
            .fails()
            .shows(&[said]);
        assert!(!home.state_dir().exists(), "{spec}");
    }
    window(&home);
    home.run(&format!("{ACCEPTED} --pin window"))
        .fails()
        .shows(&["--pin is for packages of npm only"]);
}

#[cfg(unix)]
#[test]
fn links_in_a_directory_are_refused_and_leave_nothing() {
    let home = Home::new();
    let directory = window(&home);
    std::os::unix::fs::symlink("/etc/hostname", directory.join("leak")).expect("a link");
    home.run(&format!("{ACCEPTED} window"))
        .fails()
        .shows(&["\"leak\" is a link"]);
    assert!(!home.state_dir().exists());
}
