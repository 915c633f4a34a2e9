//! Building, with a cargo that answers from files: `CARGO` is `sh`, which runs the script `metadata` or `build` in the
//! crate's directory.
#![cfg(unix)]

use super::{LIBRARY, MANIFEST, link};
use crate::home::{Home, Ran, write};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate of the window engine that "cargo" can build.
pub(super) fn engine_crate(home: &Home, manifest: &str) -> PathBuf {
    let directory = home.path("engine");
    write(&directory.join("Cargo.toml"), "");
    write(&directory.join(MANIFEST), manifest);
    let cargo_toml = directory.join("Cargo.toml");
    let target = json!({ "kind": ["cdylib"], "name": "window" });
    let metadata = json!({
        "target_directory": home.path("target"),
        "packages": [{
            "id": "engine#1", "name": "engine", "version": "1.2.3", "description": "An engine",
            "manifest_path": cargo_toml, "targets": [target],
        }],
    });
    answers(&directory, "metadata", &metadata.to_string(), 0);
    let artifact = |package: &str, file: &Path| {
        json!({
            "reason": "compiler-artifact", "package_id": package, "target": target, "filenames": [file],
        })
    };
    let messages = [
        artifact("other#1", Path::new("/other.so")).to_string(),
        "no JSON".to_owned(),
        artifact("engine#1", &support::library("window")).to_string(),
        json!({ "reason": "build-finished", "success": true }).to_string(),
    ];
    answers(&directory, "build", &messages.join("\n"), 0);
    directory
}

/// Makes "cargo" answer a command.
fn answers(directory: &Path, command: &str, stdout: &str, code: i32) {
    let script = format!("cat <<'END'\n{stdout}\nEND\necho from cargo >&2\nexit {code}\n");
    write(&directory.join(command), &script);
}

fn build(home: &Home, args: &str) -> Ran {
    let line = format!("plugins build {args}");
    home.finish(home.command(line.split(' ')).env("CARGO", "sh"))
}

pub(super) fn manifest() -> String {
    r#"{"id": "window", /* the slot */ "kind": "context-engine", "configSchema": {"type": "object"}}"#
        .to_owned()
}

#[test]
fn crate_becomes_a_build_directory_that_can_be_linked() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    engine_crate(&home, &manifest());
    let ran = build(&home, "engine").succeeds();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "built      window 1.2.3");
    assert!(
        lines[1].starts_with("contract   1.0 (rustc "),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].starts_with(&format!("library    {LIBRARY}, ")),
        "{}",
        lines[2]
    );
    assert_eq!(lines[3], "directory  ~~/here/target/openclaw/window");
    ran.shows(&[
        "from cargo",
        "`openclaw plugins install -l ~~/here/target/openclaw/window`",
    ]);

    let made = home.path("target/openclaw/window");
    let mut names: Vec<_> = fs::read_dir(&made)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().into_string().unwrap(), mode)
        })
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            (".openclaw-build.json".to_owned(), 0o644),
            (LIBRARY.to_owned(), 0o755),
            (MANIFEST.to_owned(), 0o644),
            ("package.json".to_owned(), 0o644)
        ]
    );
    let package: serde_json::Value =
        serde_json::from_slice(&fs::read(made.join("package.json")).unwrap()).unwrap();
    assert_eq!(
        package,
        json!({ "name": "window", "version": "1.2.3", "type": "module", "description": "An engine" })
    );
    // The version is put in, and no other byte changes.
    let written = fs::read_to_string(made.join(MANIFEST)).unwrap();
    assert_eq!(written.replace(r#", "version": "1.2.3""#, ""), manifest());
    link(&home, &made).succeeds().shows(&["window 1.2.3"]);
}

#[test]
fn manifest_with_a_version_is_copied_byte_for_byte() {
    let home = Home::new();
    let text = "\u{feff}{ // mine\r\n id: 'window', version: '9.9', description: 'Mine', configSchema: {} }\r\n";
    engine_crate(&home, text);
    let document = build(&home, "engine --out made --json").succeeds().json();
    assert_eq!(document["version"], "9.9");
    assert_eq!(document["directory"], "~~/here/made");
    assert_eq!(
        fs::read_to_string(home.path("made").join(MANIFEST)).unwrap(),
        text
    );
    let package = fs::read_to_string(home.path("made/package.json")).unwrap();
    assert!(package.contains("\"description\": \"Mine\""), "{package}");
}

#[test]
fn build_directory_that_is_there_is_replaced_as_a_whole() {
    let home = Home::new();
    engine_crate(&home, &manifest());
    let made = home.path("made");
    write(&made.join(MANIFEST), "{}");
    write(
        &made.join(format!("libformer{}", std::env::consts::DLL_SUFFIX)),
        "",
    );
    build(&home, "engine --out made").succeeds();
    assert_eq!(fs::read_dir(&made).unwrap().count(), 4);
    assert!(made.join(LIBRARY).exists());
    // Nothing is left beside it.
    let mut names: Vec<_> = fs::read_dir(home.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["engine", "made"]);
}

#[test]
fn what_is_no_build_directory_is_refused_before_anything_is_built() {
    let home = Home::new();
    let own = engine_crate(&home, &manifest());
    fs::remove_file(own.join("build")).unwrap();
    write(&home.path("file"), "mine");
    write(&home.path("full/precious.txt"), "mine");
    write(&home.path("mixed").join(MANIFEST), "{}");
    write(&home.path("mixed/precious.txt"), "mine");
    std::os::unix::fs::symlink("nowhere", home.path("dangling")).unwrap();
    for (out, reason) in [
        ("file", "this is a file"),
        ("full", "not empty and no build directory"),
        (
            "mixed",
            "holds more than a build directory does: precious.txt",
        ),
        (
            "engine",
            "holds more than a build directory does: Cargo.toml",
        ),
        ("dangling", "a link that leads nowhere"),
    ] {
        build(&home, &format!("engine --out {out}"))
            .fails()
            .shows(&[
                &format!("cannot write a build directory to ~~/here/{out}"),
                reason,
            ]);
    }
    for kept in ["file", "full/precious.txt", "mixed/precious.txt"] {
        assert_eq!(fs::read_to_string(home.path(kept)).unwrap(), "mine");
    }
}

#[test]
fn empty_directory_is_taken() {
    let home = Home::new();
    engine_crate(&home, &manifest());
    fs::create_dir(home.path("made")).unwrap();
    build(&home, "engine --out made").succeeds();
}

#[test]
fn failed_build_writes_nothing() {
    let home = Home::new();
    let own = engine_crate(&home, &manifest());
    answers(&own, "build", "", 101);
    build(&home, "engine --out made").fails().shows(&[
        "from cargo",
        "cargo could not build engine",
        "nothing was written",
    ]);
    assert!(!home.path("made").exists());
}

/// Case R-4.
#[test]
fn manifest_with_another_id_is_refused_with_both() {
    let home = Home::new();
    engine_crate(&home, "{id: 'acme', configSchema: {}}");
    build(&home, "engine --out made")
        .fails()
        .shows(&["has the id `acme`", "is `window`"]);
    assert!(!home.path("made").exists());
}

#[test]
fn schema_that_cannot_be_used_is_refused() {
    let home = Home::new();
    engine_crate(&home, "{id: 'window', configSchema: {type: 'objekt'}}");
    build(&home, "engine --out made")
        .fails()
        .shows(&["`configSchema` is no usable schema"]);
}

#[test]
fn what_is_no_engine_crate_is_refused_with_the_next_step() {
    let home = Home::new();
    write(&home.path("empty/readme"), "");
    let own = engine_crate(&home, &manifest());
    let workspace = home.path("space");
    write(&workspace.join("Cargo.toml"), "");
    fs::copy(own.join("metadata"), workspace.join("metadata")).unwrap();
    for (path, texts) in [
        ("none", &["no crate at ~~/here/none: there is nothing"][..]),
        ("empty/readme", &["this is a file", "~~/here/empty"]),
        ("empty", &["no Cargo.toml in it"]),
        (
            "space",
            &[
                "~~/here/space is a workspace",
                "engine in ~~/here/engine",
                "`openclaw plugins build ~~/here/engine`",
            ],
        ),
    ] {
        build(&home, path).fails().shows(texts);
    }
    fs::remove_file(own.join(MANIFEST)).unwrap();
    build(&home, "engine").fails().shows(&[
        "has no openclaw.plugin.json",
        "\"kind\": \"context-engine\"",
    ]);
    let metadata = fs::read_to_string(own.join("metadata")).unwrap();
    write(&own.join("metadata"), &metadata.replace("cdylib", "lib"));
    build(&home, "engine").fails().shows(&[
        "crate engine in ~~/here/engine makes no cdylib",
        "crate-type = [\"cdylib\"]",
    ]);
}

#[test]
fn missing_cargo_is_said() {
    let home = Home::new();
    engine_crate(&home, &manifest());
    let mut command = home.command(["plugins", "build", "engine"]);
    home.finish(command.env("CARGO", "/nowhere/cargo"))
        .fails()
        .shows(&["cannot run /nowhere/cargo", "https://rustup.rs"]);
}
