//! The engine in `examples/c-engine`.

use super::{cc, place};
use openclaw_host::{CommitOutcome, Host, HostSettings, PluginSource, Slot, TurnRecord};
use openclaw_interface::hosting::{EngineInstance, NoServices};
use openclaw_interface::model::{AssembleParams, CommitParams, CreateContext};
use openclaw_interface::{CommitStatus, Message, Role};
use openclaw_loader::{BuildDirectory, Plugin, Trust, discover};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Home, ScriptedModel, load, turn};

/// The build directory that the example's own script makes.
fn build(home: &Path) -> PathBuf {
    let directory = home.join("c-engine");
    let run = Command::new("sh")
        .arg(place("examples/c-engine/build.sh"))
        .arg(&directory)
        .env("CC", cc())
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    directory
}

fn plugin(home: &Path) -> Plugin {
    load(&build(home)).unwrap()
}

fn engine(plugin: &Plugin, agent_dir: &Path) -> EngineInstance {
    let context = CreateContext {
        agent_dir: Some(agent_dir.to_owned()),
        ..CreateContext::default()
    };
    plugin.factory.create(&context, NoServices).unwrap()
}

const USER: &str = r#"{"role":"user","content":"hello"}"#;
const CALL: &str =
    r#"{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}]}"#;
const RESULT: &str =
    r#"{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[],"isError":false}"#;

fn history() -> Vec<Message<'static>> {
    vec![
        Message::new("1", Role::User, 100, USER),
        Message::new("2", Role::Assistant, 100, CALL),
        Message::new("3", Role::ToolResult, 100, RESULT),
        Message::new("4", Role::User, 100, USER),
    ]
}

#[test]
fn example_is_read_like_any_build_directory() {
    let home = tempfile::tempdir().unwrap();
    let directory = build(home.path());
    let read = BuildDirectory::read(&directory).unwrap();
    read.check_trust(&Trust::default()).unwrap();
    assert_eq!(read.facts.note.engine_id, "c-engine");
    assert_eq!(discover([directory]).plugins.len(), 1);
}

#[test]
fn newest_whole_groups_are_kept_and_the_rest_is_mentioned() {
    let home = tempfile::tempdir().unwrap();
    let plugin = plugin(home.path());
    assert_eq!(plugin.info.version.as_deref(), Some("0.1.0"));
    let mut engine = engine(&plugin, home.path());
    for (budget, kept, tokens) in [
        (None, 4, 400),
        (Some(400), 4, 400),
        // The call and its result do not both fit with the word about what is left out.
        (Some(399), 3, 340),
        (Some(340), 3, 340),
        (Some(339), 1, 140),
        (Some(200), 1, 140),
        (Some(139), 0, 40),
        (Some(1), 0, 40),
    ] {
        let assembly = engine
            .assemble(&history(), budget, &AssembleParams::default())
            .unwrap();
        let picks: Vec<u32> = assembly.picks.iter().map(|pick| pick.index).collect();
        assert_eq!(picks, (4 - kept..4).collect::<Vec<u32>>(), "{budget:?}");
        assert_eq!(assembly.estimated_tokens, tokens, "{budget:?}");
        let left_out = (kept < 4).then(|| {
            let count = 4 - kept;
            format!("The {count} oldest messages of this conversation were left out.")
        });
        assert_eq!(assembly.system_prompt_addition, left_out);
    }
}

fn commit(engine: &mut EngineInstance, key: &str) -> CommitStatus {
    let params = CommitParams {
        advancement_key: key.into(),
        session_id: "s".into(),
        ..CommitParams::default()
    };
    engine.commit_turn(&history(), &params).unwrap().status
}

#[test]
fn turn_is_committed_once_whatever_its_key() {
    let home = tempfile::tempdir().unwrap();
    let plugin = plugin(home.path());
    let agent_dir = home.path().join("not/there/yet");
    for key in ["t1", "../../t1", "ü \" \\ \n", "\0"] {
        assert_eq!(
            commit(&mut engine(&plugin, &agent_dir), key),
            CommitStatus::Committed
        );
        assert_eq!(
            commit(&mut engine(&plugin, &agent_dir), key),
            CommitStatus::Duplicate
        );
    }
    let stored = std::fs::read_dir(agent_dir.join("c-engine"))
        .unwrap()
        .count();
    assert_eq!(stored, 4);
    let nameless = CommitParams::default();
    let error = engine(&plugin, &agent_dir)
        .commit_turn(&history(), &nameless)
        .unwrap_err();
    assert!(error.message.contains("advancement key of 0"), "{error}");
}

fn host_with(home: &Home, plugin: PluginSource) -> Host {
    Host::open(HostSettings {
        native_dir: home.native_dir(),
        agent_id: "main".into(),
        workspace_dir: None,
        slot: Slot::Engine(plugin.id.clone()),
        plugins: vec![plugin],
        strict: false,
        lane_wait: std::time::Duration::ZERO,
        handover_wait: std::time::Duration::ZERO,
        leaked_generations: 32,
        compaction: openclaw_host::compaction::CompactionPolicy::default(),
        ambient: home.ambient(),
    })
    .unwrap()
}

/// A record without what names the engine or measures time.
fn anonymous(mut record: TurnRecord) -> TurnRecord {
    assert_eq!(record.asked.engine_id, record.served.engine_id);
    assert!(record.served.version.take().is_some());
    assert!(record.served.library_sha256.take().is_some());
    for hook in &mut record.hooks {
        assert_eq!(hook.engine_id, record.served.engine_id);
        hook.engine_id.clear();
        hook.elapsed_us = 0;
    }
    record.asked.engine_id.clear();
    record.served.engine_id.clear();
    record
}

/// The host cannot tell a C engine from a Rust one.
#[test]
fn turns_of_a_c_engine_and_a_rust_engine_leave_the_same_records() {
    let records = |id: &str| {
        let home = Home::new();
        let directory = match id {
            "c-engine" => build(home.path()),
            _ => support::build_directory(id, home.path()),
        };
        let source = PluginSource {
            id: id.into(),
            directory,
            settings: Value::Null,
            trust: Trust::default(),
        };
        let host = host_with(&home, source);
        let mut model = ScriptedModel::done();
        ["one", "two", "three"].map(|text| {
            let outcome = turn(&host, text, None, &mut model).unwrap();
            assert_eq!(outcome.record.served.engine_id, id);
            assert_eq!(outcome.record.commit, CommitOutcome::Committed);
            anonymous(outcome.record)
        })
    };
    assert_eq!(records("c-engine"), records("window"));
}

/// Conformance case 19: an answer that is no acknowledgement, or none at all, keeps the turn in the outbox.
#[test]
fn commit_that_is_answered_otherwise_is_not_acknowledged() {
    let info = r#"-DINFO="{\"id\":\"odd\",\"name\":\"Odd\",\"transcriptSemantics\":{\"currentTurnFence\":\"before-current-turn-entry-v1\",\"turnAdvancementIdempotency\":\"atomic-idempotent-v1\"}}""#;
    for what in ["maybe", "empty"] {
        let home = Home::new();
        let source = PluginSource {
            id: "odd".into(),
            directory: super::built(home.path(), "odd", &super::odd_source(), &[info]),
            settings: serde_json::json!({ "do": format!("{what} 0") }),
            trust: Trust::default(),
        };
        let host = host_with(&home, source);
        let outcome = turn(&host, "one", None, &mut ScriptedModel::done()).unwrap();
        let commit = &outcome.record.commit;
        assert!(
            matches!(commit, CommitOutcome::Queued { .. }),
            "{what}: {commit:?}"
        );
        let backlog = host.store().backlog().unwrap();
        assert_eq!((backlog[0].waiting, backlog[0].blocked), (1, 0), "{what}");
        let hooks: Vec<_> = outcome.record.hooks.iter().map(|it| &*it.hook).collect();
        assert_eq!(hooks.last(), Some(&"commitTurn"), "no maintenance follows");
    }
}
