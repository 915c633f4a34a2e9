//! Linking something else than a build directory.

use super::{LIBRARY, MANIFEST, link, patch_note, window};
use crate::home::{Home, write};
use std::fs;
use std::path::{Path, PathBuf};

/// Links `path`, which must fail with all of `texts` and make no config.
#[track_caller]
fn refused(home: &Home, path: &Path, texts: &[&str]) {
    link(home, path).fails().shows(texts);
    assert!(!home.state_dir().exists(), "nothing was written");
}

/// A crate of the window engine, with a manifest beside its Cargo.toml.
fn engine_crate(home: &Home, name: &str) -> PathBuf {
    let directory = home.path(name);
    write(
        &directory.join("Cargo.toml"),
        "[package]\nname = 'window'\n",
    );
    let built = window(home);
    fs::copy(built.join(MANIFEST), directory.join(MANIFEST)).expect("a manifest can be copied");
    fs::remove_dir_all(built).expect("a directory can be removed");
    directory
}

/// Case N-1.
#[test]
fn paths_without_a_plugin_are_named_with_what_is_missing() {
    let home = Home::new();
    write(&home.path("file"), "");
    fs::create_dir(home.path("empty")).unwrap();
    let built = window(&home);
    fs::create_dir(home.path("manifest-only")).unwrap();
    fs::copy(
        built.join(MANIFEST),
        home.path("manifest-only").join(MANIFEST),
    )
    .unwrap();
    for (name, texts) in [
        (
            "none",
            &["~~/here/none", "there is nothing at this path"][..],
        ),
        ("file", &["~~/here/file", "this is a file"]),
        (
            "empty",
            &[
                "~~/here/empty",
                "no openclaw.plugin.json in it (it is empty)",
                "openclaw plugins build",
            ],
        ),
        (
            "manifest-only",
            &[
                "~~/here/manifest-only",
                "no engine library for `window`",
                "there is no *.",
                "openclaw plugins build",
            ],
        ),
    ] {
        refused(&home, &home.path(name), texts);
    }
}

/// Cases N-1 and M-2.
#[test]
fn library_without_manifest_gets_an_example_of_one() {
    let home = Home::new();
    let directory = window(&home);
    fs::remove_file(directory.join(MANIFEST)).unwrap();
    refused(
        &home,
        &directory,
        &[
            "~~/here/window: no openclaw.plugin.json in it",
            "brings engine `window`",
            r#"write openclaw.plugin.json beside the library, such as {"id": "window", "kind": "context-engine""#,
        ],
    );
}

/// Case N-16.
#[test]
fn library_file_leads_to_its_directory() {
    let home = Home::new();
    let directory = window(&home);
    refused(
        &home,
        &directory.join(LIBRARY),
        &[
            "this is a file",
            "name its directory: `openclaw plugins install -l ~~/here/window`",
        ],
    );
}

/// Case N-16.
#[test]
fn crate_and_workspace_lead_to_the_build_command() {
    let home = Home::new();
    let own = engine_crate(&home, "space/plugins/window");
    write(&home.path("space/Cargo.toml"), "[workspace]\n");
    write(&home.path("bare/Cargo.toml"), "[package]\n");
    refused(
        &home,
        &own,
        &[
            "there is no *.",
            "this is a crate: run `openclaw plugins build ~~/here/space/plugins/window`",
        ],
    );
    refused(
        &home,
        &home.path("space"),
        &["this is a workspace: run `openclaw plugins build ~~/here/space/plugins/window`"],
    );
    refused(
        &home,
        &home.path("bare"),
        &["this is a crate: write openclaw.plugin.json beside its Cargo.toml"],
    );
}

/// Cases N-14 and N-16.
#[test]
fn target_directory_leads_to_the_crate_or_to_what_was_built() {
    let home = Home::new();
    engine_crate(&home, "space/window");
    write(&home.path("space/Cargo.toml"), "[workspace]\n");
    let library = support::library("window");
    let debug = home.path("space/target/debug");
    write(&debug.join("libwindow.d"), "");
    fs::copy(&library, debug.join(LIBRARY)).unwrap();
    for (path, name) in [
        ("space/target/debug", LIBRARY.to_owned()),
        ("space/target", format!("debug/{LIBRARY}")),
    ] {
        refused(
            &home,
            &home.path(path),
            &[
                &format!("{name} brings engine `window`"),
                "make a build directory of `window` with `openclaw plugins build ~~/here/space/window`",
            ],
        );
    }
    let _ = support::build_directory("window", &home.path("space/target/openclaw"));
    refused(
        &home,
        &debug,
        &["is there: `openclaw plugins install -l ~~/here/space/target/openclaw/window`"],
    );
}

/// Damages a build directory, links it, and expects all of `texts`.
#[track_caller]
fn damaged(damage: impl FnOnce(&Path), texts: &[&str]) {
    let home = Home::new();
    let directory = window(&home);
    damage(&directory);
    refused(&home, &directory, texts);
}

#[test]
fn damaged_libraries_are_refused_with_the_reason() {
    damaged(
        |directory| {
            let library = directory.join(LIBRARY);
            let bytes = fs::read(&library).unwrap();
            fs::write(&library, &bytes[..bytes.len() / 2]).unwrap();
        },
        &["the file is cut off", "copy or build it again"],
    );
    damaged(
        |directory| fs::write(directory.join(LIBRARY), "text").unwrap(),
        &["not a shared library", "export_engine!"],
    );
    damaged(
        |directory| patch_note(directory, 12, &[2]),
        &[
            "built with panic = \"abort\"",
            "remove `panic = \"abort\"` from the profile",
        ],
    );
    damaged(
        |directory| patch_note(directory, 80, b"other\0\0"),
        &["no engine library for `window`", "brings engine `other`"],
    );
    if cfg!(target_os = "linux") {
        // Another owner: the note is there and is not ours.
        damaged(
            patch_owner,
            &["no engine library for `window`", "it has no OpenClaw note"],
        );
    }
}

fn patch_owner(directory: &Path) {
    let library = directory.join(LIBRARY);
    let mut bytes = fs::read(&library).expect("a library can be read");
    let owner = b"OpenClaw\0\0\0\0OCENGINE";
    let at = bytes
        .windows(owner.len())
        .position(|it| it == owner)
        .expect("the library has a note");
    bytes[at] = b'X';
    fs::write(&library, bytes).expect("a library can be written");
}

/// Case N-19.
#[test]
fn library_for_another_contract_names_both_versions() {
    damaged(
        |directory| patch_note(directory, 8, &[2, 0]),
        &[
            "built for contract 2.0, this host speaks 1.0",
            "rebuild the engine",
        ],
    );
}

/// Cases F-14, M-3 and M-5.
#[test]
fn manifests_that_cannot_be_used_are_refused_with_the_reason() {
    let deep = format!("{{id: 'window', configSchema: {}", "[".repeat(100_000));
    for (manifest, texts) in [
        (deep.as_str(), &["nested deeper than 256 levels"][..]),
        (
            "{id: 'window',\n configSchema: {",
            &["does not parse", "line 2"],
        ),
        (
            "{id: 'window'}",
            &["`configSchema` is missing", "additionalProperties"],
        ),
        (
            "{id: '../x', configSchema: {}}",
            &["`../x` is no engine id"],
        ),
        (
            "{id: 'legacy', configSchema: {}}",
            &["`legacy` is reserved"],
        ),
        (
            "{id: 'window', configSchema: {type: 'objekt'}}",
            &["`configSchema` is no usable schema"],
        ),
    ] {
        damaged(
            |directory| write(&directory.join(MANIFEST), manifest),
            texts,
        );
    }
}
