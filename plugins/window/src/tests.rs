//! The engine through its hooks, as a host calls it.

mod assemble;

use super::*;
use openclaw_interface::hosting::{EngineFactory, EngineInstance, HostServices, NoServices};
use openclaw_interface::model::{Anchor, AssembleParams};
use openclaw_interface::{Message, Role};
use serde_json::{Value, json};
use std::path::Path;

/// An entry a host owns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) id: String,
    role: Role,
    tokens: u32,
    pub(crate) json: String,
}

pub(crate) fn entry(
    id: impl Into<String>,
    role: Role,
    tokens: u32,
    json: impl Into<String>,
) -> Entry {
    Entry {
        id: id.into(),
        role,
        tokens,
        json: json.into(),
    }
}

/// A turn of 400 tokens: question, call, result, answer.
fn turn(number: usize) -> Vec<Entry> {
    [
        Role::User,
        Role::Assistant,
        Role::ToolResult,
        Role::Assistant,
    ]
    .iter()
    .enumerate()
    .map(|(place, role)| {
        entry(
            format!("e{number}-{place}"),
            *role,
            100,
            format!("{{\"n\":{number}.{place}}}"),
        )
    })
    .collect()
}

fn turns(count: usize) -> Vec<Entry> {
    (0..count).flat_map(turn).collect()
}

pub(crate) fn views(entries: &[Entry]) -> Vec<Message<'_>> {
    entries
        .iter()
        .map(|entry| Message::new(&entry.id, entry.role, entry.tokens, &entry.json))
        .collect()
}

pub(crate) fn engine(agent_dir: Option<&Path>, settings: &Value) -> EngineInstance {
    served(agent_dir, settings, NoServices)
}

fn factory() -> (EngineFactory, Info) {
    EngineFactory::built_in::<Window>().unwrap()
}

fn served(
    agent_dir: Option<&Path>,
    settings: &Value,
    services: impl HostServices,
) -> EngineInstance {
    let context = CreateContext {
        settings: settings.as_object().unwrap().clone(),
        agent_dir: agent_dir.map(Path::to_owned),
        ..CreateContext::default()
    };
    factory().0.create(&context, services).unwrap()
}

fn session() -> AssembleParams {
    AssembleParams {
        session_id: "s".into(),
        ..AssembleParams::default()
    }
}

/// What a fresh instance shows, as positions in `entries`, and what it says of the rest.
fn assembled(
    agent_dir: Option<&Path>,
    entries: &[Entry],
    budget: Option<u64>,
) -> (Vec<u32>, Assembly) {
    let assembly = engine(agent_dir, &json!({}))
        .assemble(&views(entries), budget, &session())
        .unwrap();
    assert!(assembly.picks.iter().all(|pick| pick.is_input()) && assembly.new_messages.is_empty());
    (
        assembly.picks.iter().map(|pick| pick.index).collect(),
        assembly,
    )
}

fn compact(agent_dir: &Path, params: Value) -> CompactResult {
    let mut params: CompactParams = serde_json::from_value(params).unwrap();
    params.session_id = "s".into();
    engine(Some(agent_dir), &json!({}))
        .compact(&params)
        .unwrap()
}

#[test]
fn the_descriptor_agrees_with_the_manifest() {
    let info = factory().1;
    let manifest: Value = serde_json::from_str(include_str!("../openclaw.plugin.json")).unwrap();
    assert_eq!(manifest["id"], info.id);
    assert_eq!(manifest["name"], info.name);
    assert_eq!(manifest["version"], json!(info.version));
    assert_eq!(manifest["kind"], "context-engine");
    let promises = info.transcript_semantics.unwrap();
    assert!(promises.fences_current_turn() && promises.commits_idempotently());
    assert_eq!(info.owns_compaction, None);
}

#[test]
fn a_wrong_setting_is_refused_by_name() {
    let context = CreateContext {
        settings: json!({"highShare": 2}).as_object().unwrap().clone(),
        ..CreateContext::default()
    };
    let error = factory().0.create(&context, NoServices).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParams);
    assert_eq!(
        error.message,
        "plugin `window`: setting `highShare` is 2: expected a number above 0 and at most 1"
    );
}

/// Cases Q-3, H-5, X-10.
#[test]
fn instances_come_and_go_on_any_thread() {
    let home = tempfile::tempdir().unwrap();
    let mut old = engine(Some(home.path()), &json!({}));
    let entries = turns(30);
    old.assemble(&views(&entries), Some(10_000), &session())
        .unwrap();
    let mut new = engine(Some(home.path()), &json!({}));
    std::thread::spawn(move || old.dispose().unwrap())
        .join()
        .unwrap();
    let new = std::thread::spawn(move || {
        assert!(
            new.bootstrap(&SessionParams::default())
                .unwrap()
                .bootstrapped
        );
        assert!(
            new.bootstrap(&SessionParams::default())
                .unwrap()
                .bootstrapped
        );
        new
    });
    assert!(
        new.join()
            .unwrap()
            .assemble(&views(&entries), Some(10_000), &session())
            .is_ok()
    );
}

#[test]
fn a_prompt_that_was_too_large_moves_the_window_once() {
    let home = tempfile::tempdir().unwrap();
    let entries = turns(22);
    let overflow = json!({"force": true, "runtimeContext": {"trigger": "overflow"}});
    assert!(!compact(home.path(), overflow.clone()).compacted);

    let (before, assembly) = assembled(Some(home.path()), &entries, Some(10_000));
    let result = compact(home.path(), overflow.clone());
    assert!(result.ok && result.compacted);
    assert_eq!(
        result.result.unwrap().tokens_before,
        assembly.estimated_tokens
    );
    assert!(!compact(home.path(), overflow.clone()).compacted);

    let (after, assembly) = assembled(Some(home.path()), &entries, Some(10_000));
    assert!(after.len() <= before.len() / 2 && assembly.estimated_tokens <= 4_400);
    assert_eq!(
        assembled(Some(home.path()), &entries, Some(10_000)).0,
        after
    );
}

#[test]
fn a_window_moved_by_a_compaction_stays_when_everything_seems_to_fit() {
    let home = tempfile::tempdir().unwrap();
    let overflow = json!({"runtimeContext": {"trigger": "overflow"}});
    assembled(Some(home.path()), &turns(10), Some(10_000));
    assert!(compact(home.path(), overflow).compacted);
    let (after, _) = assembled(Some(home.path()), &turns(10), Some(10_000));
    assert!(after.len() <= 20);
    let (later, _) = assembled(Some(home.path()), &turns(11), Some(10_000));
    assert_eq!(later[..after.len()], after);
}

#[test]
fn only_a_prompt_that_is_really_too_large_is_worth_a_compaction() {
    for (params, expected) in [
        (
            json!({"force": true, "runtimeContext": {"trigger": "budget"}}),
            false,
        ),
        (
            json!({"force": true, "runtimeContext": {"trigger": "timeout_recovery"}}),
            true,
        ),
        (
            json!({"force": true, "runtimeContext": {"trigger": "manual"}}),
            true,
        ),
        (json!({"force": true}), false),
        (json!({"compactionTarget": "threshold"}), true),
        (
            json!({"compactionTarget": "budget", "currentTokenCount": 11, "tokenBudget": 10}),
            true,
        ),
        (
            json!({"compactionTarget": "budget", "currentTokenCount": 10, "tokenBudget": 10}),
            false,
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        assembled(Some(home.path()), &turns(5), Some(10_000));
        let result = compact(home.path(), params.clone());
        assert!(result.ok);
        assert_eq!(result.compacted, expected, "{params}");
        assert_eq!(
            result.reason.unwrap().starts_with("nothing to compact"),
            !expected
        );
    }
}

#[test]
fn without_an_agent_directory_only_commits_fail() {
    let mut engine = engine(None, &json!({}));
    let error = engine
        .commit_turn(&views(&turn(0)), &commit("k"))
        .unwrap_err();
    assert_eq!(
        error.message,
        "plugin `window` cannot store a turn: the host named no agent directory"
    );
}

pub(crate) fn commit(key: &str) -> CommitParams {
    CommitParams {
        advancement_key: key.into(),
        session_id: "s".into(),
        admission: Anchor {
            entry_id: "first".into(),
            ..Anchor::default()
        },
        terminal: Anchor {
            entry_id: "last".into(),
            ..Anchor::default()
        },
        ..CommitParams::default()
    }
}
