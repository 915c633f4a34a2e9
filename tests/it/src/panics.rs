//! No panic leaves a library, and what cannot be caught is known.

use openclaw_interface::hosting::{EngineInstance, HostServices, NoServices};
use openclaw_interface::model::{AssembleParams, CreateContext};
use openclaw_interface::{EngineError, ErrorCode, LogLevel, Message, Role};
use openclaw_loader::Plugin;
use serde_json::{Value, json};
use std::process::{Command, ExitStatus};
use support::{build_directory, load};

fn unruly(home: &tempfile::TempDir) -> Plugin {
    let directory = build_directory("unruly", home.path());
    load(&directory).unwrap()
}

fn context(settings: Value) -> CreateContext {
    CreateContext {
        settings: settings.as_object().unwrap().clone(),
        ..CreateContext::default()
    }
}

fn assemble(engine: &mut EngineInstance) -> Result<usize, EngineError> {
    let messages = [Message::new(
        "a",
        Role::User,
        1,
        r#"{"role":"user","content":"hi"}"#,
    )];
    engine
        .assemble(&messages, None, &AssembleParams::default())
        .map(|assembly| assembly.picks.len())
}

/// Case X-3: message and place of every kind of panic.
#[test]
fn panic_becomes_an_error_with_message_and_place() {
    let home = tempfile::tempdir().unwrap();
    let plugin = unruly(&home);
    for (behaviour, message) in [
        ("panic", "unruly panics in assemble"),
        ("panic-str", "unruly panics with a str"),
        ("panic-number", "panic with a payload that is no text"),
        ("bomb", "panic with a payload that is no text"),
        ("index", "index out of bounds"),
    ] {
        let mut engine = plugin
            .factory
            .create(&context(json!({ "assemble": behaviour })), NoServices)
            .unwrap();
        let error = assemble(&mut engine).unwrap_err();
        assert_eq!(error.code, ErrorCode::Panicked, "{behaviour}");
        assert!(error.message.contains(message), "{behaviour}: {error}");
        let place = error.location.unwrap();
        assert!(place.contains("unruly/src/lib.rs:"), "{behaviour}: {place}");
    }
}

/// Case X-6.
#[test]
fn instance_is_gone_after_a_panic_and_can_be_dropped() {
    let home = tempfile::tempdir().unwrap();
    let plugin = unruly(&home);
    let settings = context(json!({ "assemble": "panic", "drop": true }));
    let mut engine = plugin.factory.create(&settings, NoServices).unwrap();
    assert_eq!(assemble(&mut engine).unwrap_err().code, ErrorCode::Panicked);
    assert_eq!(assemble(&mut engine).unwrap_err().code, ErrorCode::Gone);
    assert_eq!(engine.dispose().unwrap_err().code, ErrorCode::Gone);
    drop(engine);
    let mut fresh = plugin
        .factory
        .create(&context(json!({})), NoServices)
        .unwrap();
    assert_eq!(assemble(&mut fresh), Ok(1));
}

#[test]
fn panic_in_create_and_in_drop_is_caught() {
    let home = tempfile::tempdir().unwrap();
    let plugin = unruly(&home);
    let error = plugin
        .factory
        .create(&context(json!({ "create": "panic" })), NoServices)
        .unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Panicked, "unruly panics in create")
    );
    drop(
        plugin
            .factory
            .create(&context(json!({ "drop": true })), NoServices)
            .unwrap(),
    );
}

#[test]
fn panic_on_a_thread_of_the_engine_ends_that_thread_only() {
    let home = tempfile::tempdir().unwrap();
    let plugin = unruly(&home);
    let settings = context(json!({ "assemble": "panic-on-a-thread" }));
    let mut engine = plugin.factory.create(&settings, NoServices).unwrap();
    let error = assemble(&mut engine).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Failed, "a thread of the engine panicked: true")
    );
}

/// A host whose services panic.
struct Explosive;

impl HostServices for Explosive {
    fn log(&self, _level: LogLevel, _message: &str) {
        panic!("log explodes");
    }

    fn is_cancelled(&self) -> bool {
        panic!("cancelled explodes");
    }

    fn count_tokens(&self, _text: &str) -> u64 {
        panic!("counting explodes");
    }

    fn call(&self, service: &str, _params_json: &str) -> Result<String, EngineError> {
        panic!("{service} explodes");
    }
}

#[test]
fn panic_of_a_host_service_reaches_the_engine_as_an_error() {
    let home = tempfile::tempdir().unwrap();
    let plugin = unruly(&home);
    let mut engine = plugin
        .factory
        .create(&context(json!({ "assemble": "ask-host" })), Explosive)
        .unwrap();
    let error = assemble(&mut engine).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Panicked, "explode explodes")
    );
    assert!(error.location.unwrap().contains("panics.rs:"));
}

/// Memory of this process in KiB, where the system tells.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?
            .trim()
            .strip_suffix(" kB")?
            .parse()
            .ok()
    })
}

#[test]
fn a_hundred_thousand_panics_leave_nothing_behind() {
    let output = child("grow", "");
    assert!(output.0.success(), "{}", output.1);
}

/// In a process of its own, so that no other test moves the figure.
fn panic_often(plugin: &Plugin) {
    let settings = context(json!({ "assemble": "panic" }));
    let panics = |count: usize| {
        for _ in 0..count {
            let mut engine = plugin.factory.create(&settings, NoServices).unwrap();
            assert_eq!(assemble(&mut engine).unwrap_err().code, ErrorCode::Panicked);
        }
    };
    panics(2_000);
    let before = resident_kib();
    panics(100_000);
    if let (Some(before), Some(after)) = (before, resident_kib()) {
        // A leak of one error each would be 20 MB and more.
        assert!(
            after < before + 8_000,
            "{before} KiB before, {after} KiB after"
        );
    }
}

/// The panic hook of the host goes on working for its own panics.
#[test]
fn host_hook_still_hears_the_hosts_panics() {
    let output = child("own-panic", "");
    assert!(!output.0.success());
    assert!(output.1.contains("the host panics"), "{}", output.1);
    assert!(!output.1.contains("unruly panics"), "{}", output.1);
}

#[test]
fn panic_in_the_descriptor_is_a_load_error() {
    let output = child("info", "");
    assert!(output.0.success(), "{}", output.1);
}

/// What no guard can catch: how the process ends.
#[test]
fn process_ends_in_a_known_way_when_nothing_can_be_caught() {
    for (behaviour, signal) in [
        ("abort", Some(6)),
        ("panic-while-unwinding", Some(6)),
        ("stack-overflow", Some(6)),
        ("segfault", Some(11)),
        ("exit", None),
    ] {
        let (status, talk) = child("assemble", behaviour);
        assert_eq!(signal_of(status), signal, "{behaviour}: {status} {talk}");
        if behaviour == "exit" {
            assert_eq!(status.code(), Some(7));
        }
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

const ROLE: &str = "OPENCLAW_PANICS_CHILD";

/// Runs [`child_process`] in a process of its own; how it ended and what it wrote to stderr.
fn child(role: &str, behaviour: &str) -> (ExitStatus, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["panics::child_process", "--exact", "--nocapture"])
        .env(ROLE, format!("{role}:{behaviour}"));
    if role == "info" {
        command.env("UNRULY_INFO_PANICS", "1");
    }
    let output = command.output().unwrap();
    (
        output.status,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Does nothing in a normal run; in a child, what the parent asks for.
#[test]
fn child_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let (role, behaviour) = role.split_once(':').unwrap();
    let home = tempfile::tempdir().unwrap();
    match role {
        "info" => {
            let directory = build_directory("unruly", home.path());
            let error = load(&directory).unwrap_err();
            assert_eq!(error.code(), "load/describe");
            assert!(
                error.kind.to_string().contains("unruly panics in info"),
                "{error}"
            );
        }
        "grow" => panic_often(&unruly(&home)),
        "own-panic" => {
            let plugin = unruly(&home);
            let mut engine = plugin
                .factory
                .create(&context(json!({ "assemble": "panic" })), Explosive)
                .unwrap();
            assemble(&mut engine).unwrap_err();
            panic!("the host panics");
        }
        _ => {
            let settings = context(json!({ "assemble": behaviour }));
            let mut engine = unruly(&home).factory.create(&settings, NoServices).unwrap();
            let result = assemble(&mut engine);
            panic!("survived {behaviour}: {result:?}");
        }
    }
}
