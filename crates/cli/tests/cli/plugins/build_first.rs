//! `install --build`, with a cargo that answers from files.
#![cfg(unix)]

use super::build::{engine_crate, manifest};
use super::{LIBRARY, window};
use crate::home::{Home, Ran, write};
use std::fs;

fn install(home: &Home, source: &str) -> Ran {
    let line = format!("plugins install -l {source} --build");
    home.finish(home.command(line.split(' ')).env("CARGO", "sh"))
}

/// Case N-16.
#[test]
fn crate_workspace_and_target_directory_are_built_and_linked() {
    let home = Home::new().probed();
    engine_crate(&home, &manifest());
    let linked = ["linked   window 1.2.3 from ~~/here/target/openclaw/window"];
    install(&home, "engine").succeeds().shows(&linked);
    // The workspace around it.
    write(&home.path("Cargo.toml"), "[workspace]\n");
    install(&home, ".")
        .succeeds()
        .shows(&["the engine's crate is ~~/here/engine"])
        .shows(&linked);
    // The directory cargo builds in, and the build directory itself.
    fs::create_dir(home.path("target/debug")).unwrap();
    fs::copy(
        support::library("window"),
        home.path("target/debug").join(LIBRARY),
    )
    .unwrap();
    for place in ["target", "target/debug", "target/openclaw/window"] {
        install(&home, place).succeeds().shows(&linked);
    }
    let config = home.config_json();
    assert_eq!(
        config["plugins"]["load"]["paths"].as_array().unwrap().len(),
        1
    );
}

/// Case N-16.
#[test]
fn what_cannot_be_built_is_told_apart() {
    let home = Home::new().probed();
    engine_crate(&home, &manifest());
    write(&home.path("other/Cargo.toml"), "");
    write(
        &home.path("other/openclaw.plugin.json"),
        "{id: 'other', configSchema: {}}",
    );
    write(&home.path("Cargo.toml"), "[workspace]\n");
    install(&home, ".").fails().shows(&[
        "holds several engines: `window` in ~~/here/engine, `other` in ~~/here/other",
        "`openclaw plugins install -l ~~/here/engine --build`",
    ]);
    let alone = Home::new();
    let plugin = window(&alone);
    assert!(plugin.ends_with("window"));
    install(&alone, "window").fails().shows(&[
        "nothing to build at ~~/here/window",
        "`openclaw plugins init <id>`",
    ]);
    install(&alone, "nowhere")
        .fails()
        .shows(&["nothing at this path"]);
    assert_eq!(home.config(), None);
    assert_eq!(alone.config(), None);
}

/// A failed build leaves configuration and links as they were.
#[test]
fn failed_build_links_nothing() {
    let home = Home::new();
    let own = engine_crate(&home, &manifest());
    write(&own.join("build"), "exit 101\n");
    install(&home, "engine")
        .fails()
        .shows(&["cargo could not build", "nothing was written"]);
    assert_eq!(home.config(), None);
}
