//! From a build directory to an engine, and everything that is refused on the way.

mod damaged;
mod never_run;
#[cfg(unix)]
mod trust;

use openclaw_interface::hosting::NoServices;
use openclaw_interface::model::{AssembleParams, CreateContext};
use openclaw_interface::{Message, Role};
use openclaw_loader::{
    InspectFault, LoadErrorKind, Plugin, Trust, Vetted, discover, engine_in, engines_in, inspect,
};
use serde_json::json;
use std::fs;
use support::{build_directory, library, load};

fn inspect_code(bytes: &[u8]) -> &'static str {
    inspect(bytes).unwrap_err().code()
}

#[test]
fn built_engine_is_loaded_and_answers_by_reference() {
    let home = tempfile::tempdir().unwrap();
    let plugin = load(&build_directory("unruly", home.path())).unwrap();
    assert_eq!(plugin.info.id, "unruly");
    let mut engine = plugin
        .factory
        .create(&CreateContext::default(), NoServices)
        .unwrap();
    let messages = [Message::new(
        "a",
        Role::User,
        3,
        r#"{"role":"user","content":"hi"}"#,
    )];
    let assembly = engine
        .assemble(&messages, Some(100), &AssembleParams::default())
        .unwrap();
    assert_eq!(assembly.picks.len(), 1);
    assert_eq!(assembly.estimated_tokens, 3);
}

/// Case A-5: two libraries of one root-module type, and one library twice, live side by side.
#[test]
fn many_libraries_live_in_one_process() {
    let homes: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
    let plugins: Vec<Plugin> = homes
        .iter()
        .flat_map(|home| {
            ["unruly", "window"].map(|name| load(&build_directory(name, home.path())).unwrap())
        })
        .collect();
    for plugin in &plugins {
        let context = CreateContext {
            agent_dir: Some(homes[0].path().join(&plugin.id)),
            ..CreateContext::default()
        };
        let mut engine = plugin.factory.create(&context, NoServices).unwrap();
        assert_eq!(
            engine
                .assemble(&[], Some(9), &AssembleParams::default())
                .unwrap()
                .picks,
            []
        );
    }
}

/// Cases H-9 and A-14: the library runs from a private copy that leaves nothing behind.
#[test]
fn loaded_library_survives_its_file_being_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    let plugin = load(&directory).unwrap();
    fs::write(&plugin.library, "overwritten").unwrap();
    for _ in 0..100 {
        plugin
            .factory
            .create(&CreateContext::default(), NoServices)
            .unwrap();
    }
    let left = fs::read_dir(home.path().join("private")).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["in-use.lock"]);
}

/// Case N-6.
#[test]
fn build_directory_may_have_any_name() {
    let home = tempfile::tempdir().unwrap();
    let odd = home.path().join("my plügin 漢字 (1) #x%20");
    fs::create_dir(&odd).unwrap();
    load(&build_directory("unruly", &odd)).unwrap();
}

#[test]
fn files_that_are_no_engine_library_are_told_apart() {
    assert_eq!(inspect_code(b""), "load/not-a-library");
    assert_eq!(inspect_code(b"just text"), "load/not-a-library");
    assert_eq!(inspect_code(b"!<arch>\n"), "load/not-a-library");
    assert_eq!(
        inspect_code(&fs::read(std::env::current_exe().unwrap()).unwrap()),
        "load/not-a-library"
    );
    assert_eq!(
        inspect_code(&fs::read(library("noteless")).unwrap()),
        "load/no-note"
    );
}

/// Where the note's description starts in a library.
fn note_at(bytes: &[u8]) -> usize {
    bytes
        .windows(8)
        .position(|window| window == b"OCENGINE")
        .unwrap()
}

/// Cases A-1, A-7 and A-8: what the note says is believed before anything runs.
#[test]
fn note_decides_before_the_library_is_opened() {
    let bytes = fs::read(library("unruly")).unwrap();
    let note = note_at(&bytes);
    let patched = |offset: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[note + offset] = value;
        inspect(&bytes).unwrap_err()
    };
    let newer = patched(8, 2);
    assert_eq!(
        newer,
        InspectFault::ContractVersion {
            found_major: 2,
            found_minor: 0
        }
    );
    assert!(
        newer
            .to_string()
            .contains("contract 2.0, this host speaks 1."),
        "{newer}"
    );
    assert_eq!(patched(12, 2), InspectFault::PanicAborts);
    assert_eq!(patched(12, 9), InspectFault::PanicAborts);
    assert_eq!(patched(13, 4).code(), "load/architecture");
    assert_eq!(patched(0, b'X').code(), "load/damaged");
}

#[cfg(target_os = "linux")]
#[test]
fn library_of_another_machine_is_refused() {
    let mut bytes = fs::read(library("unruly")).unwrap();
    bytes[18] = if cfg!(target_arch = "x86_64") {
        183
    } else {
        62
    };
    let fault = inspect(&bytes).unwrap_err();
    assert_eq!(fault.code(), "load/architecture");
    assert!(
        fault.to_string().contains(std::env::consts::ARCH),
        "{fault}"
    );
}

/// Case A-2: a library whose root symbol is gone.
#[test]
fn library_without_the_root_symbol_is_refused() {
    let mut bytes = fs::read(library("unruly")).unwrap();
    let name = openclaw_interface::abi::ROOT_SYMBOL.as_bytes();
    for at in 0..bytes.len() - name.len() {
        if &bytes[at..at + name.len()] == name {
            bytes[at] = b'x';
        }
    }
    assert_eq!(inspect_code(&bytes), "load/no-root-symbol");
}

/// Cases N-1 and N-16: a wrong directory says what is there, what is missing and what to do.
#[test]
fn wrong_directories_say_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "x").unwrap();
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let a_crate = home.path().join("crate");
    fs::create_dir(&a_crate).unwrap();
    fs::write(a_crate.join("Cargo.toml"), "").unwrap();
    let without_library = build_directory("unruly", &home.path().join("a"));
    fs::remove_file(without_library.join(library("unruly").file_name().unwrap())).unwrap();
    let twice = build_directory("unruly", &home.path().join("b"));
    fs::copy(
        library("unruly"),
        twice.join(format!("second{}", std::env::consts::DLL_SUFFIX)),
    )
    .unwrap();
    let foreign = build_directory("window", &home.path().join("c"));
    fs::remove_file(foreign.join(library("window").file_name().unwrap())).unwrap();
    fs::copy(
        library("unruly"),
        foreign.join(library("unruly").file_name().unwrap()),
    )
    .unwrap();
    for (directory, code, help) in [
        (
            home.path().join("nowhere"),
            "load/missing",
            "check the path",
        ),
        (file, "load/not-a-directory", "plugins build"),
        (empty, "load/no-manifest", "plugins build"),
        (a_crate, "load/no-manifest", "this is a crate"),
        (without_library, "load/no-library", "plugins build"),
        (twice, "load/several-libraries", "only one"),
        (foreign, "load/no-library", "plugins build"),
    ] {
        let error = load(&directory).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.help().contains(help), "{}", error.help());
        assert!(
            error.to_string().contains(directory.to_str().unwrap()),
            "{error}"
        );
    }
}

/// Case N-1: libraries of several engines in cargo's target directory are told apart by their notes, and a build directory
/// takes the one its manifest names.
#[test]
fn engines_in_a_directory_are_listed_by_their_notes() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("target");
    let debug = target.join("debug");
    fs::create_dir_all(&debug).unwrap();
    for name in ["window", "unruly", "noteless"] {
        fs::copy(
            library(name),
            debug.join(library(name).file_name().unwrap()),
        )
        .unwrap();
    }
    fs::write(
        debug.join(format!("text{}", std::env::consts::DLL_SUFFIX)),
        "text",
    )
    .unwrap();
    let file = |name: &str| debug.join(library(name).file_name().unwrap());
    let expected = ["unruly", "window"].map(|name| (file(name), name.to_owned()));
    assert_eq!(engines_in(&target), expected);
    assert_eq!(engines_in(&debug), expected);
    assert_eq!(engine_in(&file("noteless")), None);
    let several = build_directory("unruly", home.path());
    fs::copy(
        file("window"),
        several.join(file("window").file_name().unwrap()),
    )
    .unwrap();
    assert_eq!(load(&several).unwrap().info.id, "unruly");
}

/// A link to a build directory and the directory are one plugin.
#[cfg(unix)]
#[test]
fn real_path_identifies_a_plugin() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&directory, &link).unwrap();
    let discovery = discover([link.clone(), directory]);
    assert_eq!(discovery.plugins.len(), 1);
    assert_eq!(discovery.plugins[0].path, link);
    assert_eq!(discovery.shadowed, []);
}

/// Case M-1.
#[test]
fn one_broken_plugin_hides_no_other() {
    let home = tempfile::tempdir().unwrap();
    let good = build_directory("unruly", &home.path().join("good"));
    let broken = build_directory("window", &home.path().join("broken"));
    fs::write(
        broken.join("openclaw.plugin.json"),
        "{\"id\": \"window\",\n",
    )
    .unwrap();
    let again = build_directory("unruly", &home.path().join("again"));
    let discovery = discover([broken, good.clone(), again.clone()]);
    assert_eq!(discovery.plugins.len(), 1);
    assert_eq!(discovery.faults.len(), 1);
    assert_eq!(discovery.shadowed, [("unruly".to_owned(), good, again)]);
}

#[test]
fn settings_against_the_schema_are_refused_before_loading() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("window", home.path());
    let error = Vetted::read(
        &directory,
        &json!({"highShare": 7, "colour": "red"}),
        &Trust::default(),
    )
    .unwrap_err();
    let LoadErrorKind::Settings(problems) = &error.kind else {
        panic!("{error}")
    };
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(error.help().contains("plugins.entries.window.config"));
}
