//! Packages of npm, with a program in its place that serves a local archive.
#![cfg(unix)]

use super::copies::{ACCEPTED, installs, tgz};
use super::{patch_note, window};
use crate::home::{Home, Ran, write};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// An `npm` that writes down its arguments, knows the package `window` and no other.
fn fake_npm(home: &Home) {
    let archive = home.path("served.tgz");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> '{}'\nfor last; do :; done\ncase \"$last\" in window*) ;; *) echo 'E404 no such package' >&2; exit 1;; esac\nwhile [ \"$1\" != --pack-destination ]; do shift; done\ncp '{}' \"$2/window-1.2.3.tgz\"\n",
        home.path("npm.log").display(),
        archive.display()
    );
    let npm = home.path("bin/npm");
    write(&npm, &script);
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

fn serve(home: &Home, version: &str) {
    let directory = window(home);
    write(
        &directory.join("package.json"),
        &json!({ "name": "window", "version": version }).to_string(),
    );
    patch_note(&directory, 16, version.as_bytes());
    tgz(&directory, "package", &home.path("served.tgz"));
}

fn run(home: &Home, line: &str) -> Ran {
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    fs::create_dir_all(home.path("empty")).expect("a directory can be made");
    let mut command = home.command(line.split(' '));
    home.finish(command.current_dir(home.path("empty")).env("PATH", path))
}

#[test]
fn package_is_fetched_without_scripts_recorded_and_updated() {
    let home = Home::new().probed();
    fake_npm(&home);
    serve(&home, "1.2.3");
    run(&home, &format!("{ACCEPTED} npm:window@latest"))
        .succeeds()
        .shows(&["copied   window", "from npm, window@latest"]);
    let log = fs::read_to_string(home.path("npm.log")).expect("npm was asked");
    assert!(log.contains("pack --ignore-scripts"), "{log}");
    assert_eq!(installs(&home)["window"]["source"], "npm");
    assert_eq!(installs(&home)["window"]["spec"], "window@latest");

    run(&home, "plugins update window")
        .succeeds()
        .shows(&["current  window 1.2.3"]);
    serve(&home, "1.3.0");
    let before = installs(&home);
    run(&home, "plugins update --all --dry-run")
        .succeeds()
        .shows(&["would be window 1.3.0"]);
    assert_eq!(installs(&home), before);
    let updated = run(&home, "plugins update window --json").succeeds().json();
    assert_eq!(updated["plugins"][0]["outcome"], "updated");
    assert_ne!(
        installs(&home)["window"]["sha256"],
        before["window"]["sha256"]
    );
}

#[test]
fn pinned_package_is_recorded_with_its_exact_version() {
    let home = Home::new().probed();
    fake_npm(&home);
    serve(&home, "1.2.3");
    run(&home, &format!("{ACCEPTED} --pin window")).succeeds();
    assert_eq!(installs(&home)["window"]["spec"], "window@1.2.3");
}

#[test]
fn unknown_package_leaves_nothing_and_says_what_npm_said() {
    let home = Home::new();
    fake_npm(&home);
    run(&home, &format!("{ACCEPTED} nothing"))
        .fails()
        .shows(&["npm cannot fetch `nothing`: E404 no such package"]);
    assert!(!home.state_dir().exists());
}

#[test]
fn update_skips_what_npm_did_not_bring_and_knows_no_strangers() {
    let home = Home::new().probed();
    window(&home);
    home.run("plugins install -l window").succeeds();
    home.run("plugins update window")
        .succeeds()
        .shows(&["skipped  window (source: path)"]);
    home.run("plugins update other")
        .fails()
        .shows(&["no recorded plugin is called `other`"]);
}
