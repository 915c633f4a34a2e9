//! A new engine: from nothing to its first turn.

use crate::home::{Home, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Cargo's target directory of all new crates, so that what they need is built once. Nothing is fetched: cargo has what
/// this workspace was built with.
fn as_author(command: &mut Command) -> &mut Command {
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    command
        .envs(cargo_home.map(|path| ("CARGO_HOME", path)))
        .envs(std::env::var_os("RUSTUP_HOME").map(|path| ("RUSTUP_HOME", path)))
        .env("CARGO_NET_OFFLINE", "true")
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-engine"),
        )
}

#[test]
fn new_crate_passes_its_tests_and_serves_the_first_turn() {
    let home = Home::new();
    home.run("plugins init demo").succeeds().shows(&[
        "created    demo in ~~/here/demo",
        "`cd ~~/here/demo && openclaw plugins install -l . --build`",
    ]);
    let demo = home.path("demo");
    let mut install = home.command(["plugins", "install", "-l", ".", "--build", "--json"]);
    let ran = home
        .finish(as_author(install.current_dir(&demo)))
        .succeeds();
    let document = ran.json();
    assert_eq!(document["id"], "demo");
    assert_eq!(document["selected"], true);
    assert_eq!(document["semantics"]["state"], "kept", "{document:#}");
    let turn = home.run("agent -m hello --json").succeeds().json();
    assert_eq!(turn["turn"]["served"]["engineId"], "demo");
    assert_eq!(turn["turn"]["commit"]["status"], "committed", "{turn:#}");

    let mut test = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    test.args(["test", "--release", "--workspace"])
        .current_dir(&demo);
    let ran = home.finish(as_author(&mut test)).succeeds();
    ran.shows(&[
        "newest_messages_that_fit_are_shown_and_turns_are_stored_once ... ok",
        "1 passed",
    ]);
}

#[test]
fn new_crate_does_not_touch_what_is_there() {
    let home = Home::new();
    write(&home.path("demo/precious.txt"), "mine");
    write(&home.path("demo/src/lib.rs"), "mine");
    home.run("plugins init demo").fails().shows(&[
        "there is something at ~~/here/demo already",
        "--directory",
        "--force",
    ]);
    assert_eq!(
        fs::read_to_string(home.path("demo/src/lib.rs")).unwrap(),
        "mine"
    );
    assert!(!home.path("demo/Cargo.toml").exists());
    home.run("plugins init demo --force").succeeds();
    assert_eq!(
        fs::read_to_string(home.path("demo/precious.txt")).unwrap(),
        "mine"
    );
    assert!(
        fs::read_to_string(home.path("demo/src/lib.rs"))
            .unwrap()
            .contains("export_engine!")
    );

    fs::create_dir(home.path("empty")).unwrap();
    let args = [
        "plugins",
        "init",
        "demo",
        "--name",
        "Mine, \"all\"",
        "--directory",
        "empty",
        "--json",
    ];
    let document = home.finish(&mut home.command(args)).succeeds().json();
    assert_eq!(document["name"], "Mine, \"all\"");
    assert!(home.path("empty/openclaw.plugin.json").exists());
    assert!(
        !home.state_dir().exists(),
        "a new crate is no matter of the state directory"
    );
}

/// Case M-5.
#[test]
fn what_cannot_be_made_is_refused_with_the_next_step() {
    let home = Home::new();
    for (args, texts) in [
        (
            "../x",
            &["`../x` cannot be the id of an engine", "`my-engine`"][..],
        ),
        ("legacy", &["the built-in engine"]),
        ("serde", &["a crate of that name"]),
        (
            "demo --type tool",
            &["no scaffold of type `tool`", "context-engine"],
        ),
    ] {
        home.run(&format!("plugins init {args}"))
            .fails()
            .shows(texts);
    }
    assert_eq!(fs::read_dir(home.path("")).unwrap().count(), 0);
}
