//! What is not taken, and what serves then.

use super::{ENGINE, home, plain, put, replaced, serving};
use openclaw_host::ReloadError;
use std::fs;
use support::{Build, library};

/// Cases H-4 and H-6: the old build serves through all of them, and a good one is taken.
#[test]
fn failed_reload_keeps_the_old_build_and_says_why() {
    let home = home(plain());
    let host = home.host();
    serving(&host);
    let text = |bytes: &[u8]| {
        let file = home
            .plugin_dir(ENGINE)
            .join(library(ENGINE).file_name().unwrap());
        fs::write(file, bytes).unwrap();
    };
    let note_with = |offset: usize, value: u8| {
        let mut bytes = Build::named("other").bytes().to_vec();
        let note = bytes.windows(8).position(|it| it == b"OCENGINE").unwrap();
        bytes[note + offset] = value;
        bytes
    };
    for (bytes, code, reason) in [
        (
            b"text".to_vec(),
            "load/not-a-library",
            "not a shared library",
        ),
        (note_with(8, 2), "load/contract-version", "contract 2.0"),
        (
            note_with(80, b'x'),
            "load/no-library",
            "brings engine `xnloadable`",
        ),
        (
            Build::named("fails-info").bytes().to_vec(),
            "load/describe",
            "this build fails in info",
        ),
        (
            Build::named("fails-contract").bytes().to_vec(),
            "load/contract",
            "info.id is `another`",
        ),
        (
            Build::named("fails-create").bytes().to_vec(),
            "reload/trial",
            "this build fails in create",
        ),
        (
            Build::named("fails-dispose").bytes().to_vec(),
            "reload/trial",
            "this build fails in dispose",
        ),
    ] {
        text(&bytes);
        let error = host.reload(ENGINE).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(chain(&error).contains(reason), "{}", chain(&error));
        assert!(!error.help().is_empty());
        assert_eq!(serving(&host), ("first".into(), 1), "after {code}");
    }
    put(&home, &Build::named("good"));
    assert_eq!(replaced(&host), 2);
    assert_eq!(serving(&host).0, "good");
    assert_eq!(scratch_directories(&home), [""; 0]);
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn scratch_directories(home: &support::Home) -> Vec<String> {
    let entries = fs::read_dir(home.native_dir().join("run"))
        .unwrap()
        .flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name != "in-use.lock").collect()
}

/// Case H-6: the whole build directory became that of another plugin.
#[test]
fn other_plugin_in_the_directory_is_refused() {
    let home = home(plain());
    let host = home.host();
    serving(&host);
    let directory = home.plugin_dir(ENGINE);
    fs::remove_dir_all(&directory).unwrap();
    let other = support::build_directory("unruly", home.path());
    fs::rename(other, &directory).unwrap();
    let error = host.reload(ENGINE).unwrap_err();
    let ReloadError::OtherEngine { found, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(found, "unruly");
    assert!(
        error.to_string().contains("no longer `unloadable`"),
        "{error}"
    );
    assert_eq!(serving(&host).1, 1);
}

#[test]
fn built_in_and_unknown_engines_cannot_be_reloaded() {
    let home = home(plain());
    let host = home.host();
    for (engine, code) in [
        ("legacy", "reload/built-in"),
        ("nobody", "reload/not-registered"),
    ] {
        assert_eq!(host.reload(engine).unwrap_err().code(), code);
    }
}

/// Replaced builds that stay mapped are counted, failed ones too, and the limit is the operator's.
#[test]
fn reload_past_the_limit_is_refused_and_the_last_build_serves() {
    let home = home(plain()).reloading(std::time::Duration::ZERO, 2);
    let host = home.host();
    put(&home, &Build::named("one").not_unloadable());
    serving(&host);
    put(&home, &Build::named("two").not_unloadable());
    replaced(&host);
    put(&home, &Build::named("fails-create"));
    assert_eq!(host.reload(ENGINE).unwrap_err().code(), "reload/trial");
    put(&home, &Build::named("three"));
    let error = host.reload(ENGINE).unwrap_err();
    assert!(
        matches!(
            error,
            ReloadError::Budget {
                mapped: 2,
                limit: 2
            }
        ),
        "{error}"
    );
    for part in [
        "start this process again",
        "reload.leakedGenerations",
        "unloadable",
    ] {
        assert!(error.help().contains(part), "{}", error.help());
    }
    assert_eq!(serving(&host).0, "two");
    let census = host.generations();
    assert_eq!((census.live, census.leaked, census.unloaded), (1, 2, 0));
    let size = fs::metadata(library(ENGINE)).unwrap().len();
    assert_eq!(census.mapped_bytes, 3 * size);
}
