//! Which waiting turns are offered, and in which order.

use super::*;
use crate::ambient::Ambient;
use crate::desk::Desk;
use crate::host::HostSettings;
use crate::quarantine::Quarantine;
use crate::slot::Slot;
use crate::store::PendingTurn;
use openclaw_interface::hosting::{EngineFactory, NoServices};
use openclaw_interface::model::{Anchor, CreateContext, SessionParams};
use openclaw_interface::{
    AssembleRequest, Assembly, CommitResult, ContextEngine, EngineError, Info, MaintenanceResult,
    Messages,
};
use openclaw_transcript::message_row;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Writes down what it is given.
struct Recorder(PathBuf);

impl Recorder {
    fn note(&self, what: &str) -> Result<(), EngineError> {
        let file = OpenOptions::new().append(true).create(true).open(&self.0);
        file.and_then(|mut file| writeln!(file, "{what}"))
            .map_err(|error| EngineError::failed(error.to_string()))
    }
}

impl ContextEngine for Recorder {
    const ID: &'static str = "recorder";

    fn info() -> Info {
        Info::new(Self::ID, "Recorder").durable_turns()
    }

    fn create(
        context: CreateContext,
        _host: openclaw_interface::Host,
    ) -> Result<Self, EngineError> {
        let path = context.settings["notes"].as_str().unwrap_or_default();
        Ok(Self(path.into()))
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        Ok(Assembly::pass_through(request.messages))
    }

    fn commit_turn(
        &mut self,
        _messages: Messages<'_>,
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        self.note(&params.advancement_key)?;
        Ok(CommitResult {
            status: CommitStatus::Committed,
        })
    }

    fn maintain(&mut self, params: &SessionParams) -> Result<MaintenanceResult, EngineError> {
        let key = params.session_key.clone().unwrap_or_default();
        self.note(&format!("maintain {key}"))?;
        Ok(MaintenanceResult::default())
    }
}

struct Home {
    directory: tempfile::TempDir,
    host: Host,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ids = AtomicI64::new(0);
        let settings = HostSettings {
            native_dir: directory.path().to_owned(),
            agent_id: "main".into(),
            workspace_dir: None,
            slot: Slot::Default,
            plugins: Vec::new(),
            strict: false,
            lane_wait: Duration::ZERO,
            handover_wait: Duration::ZERO,
            leaked_generations: 1,
            compaction: crate::compaction::CompactionPolicy::default(),
            ambient: Ambient::new(
                || 0,
                move || format!("id-{}", ids.fetch_add(1, Ordering::Relaxed)),
            ),
        };
        let host = Host::open(settings).unwrap();
        Self { directory, host }
    }

    fn notes(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.directory.path().join("notes"));
        let lines = text.unwrap_or_default();
        lines.lines().map(str::to_owned).collect()
    }

    fn engine(&self) -> Guarded {
        let (factory, _) = EngineFactory::built_in::<Recorder>().unwrap();
        let mut context = CreateContext::default();
        let notes = self.directory.path().join("notes").display().to_string();
        context.settings.insert("notes".into(), notes.into());
        let instance = factory.create(&context, NoServices).unwrap();
        let quarantine = Quarantine::of_process(self.host.health_dir().to_owned());
        Guarded::new(
            "recorder",
            None,
            instance,
            Arc::default(),
            Arc::new(Desk::default()),
            quarantine,
            self.host.ambient().clone(),
        )
    }

    /// What follows a turn, maintenance included; answers why it ended early.
    fn after_turn(&self, own: &Session) -> Option<String> {
        let mut engine = self.engine();
        let drained = after_turn(&self.host, &mut engine, own);
        for ToMaintain { session, .. } in &drained.to_maintain {
            let params = self.host.after_commit_params(session, None, false);
            engine.maintain(&params, Visit::after_commit(session));
        }
        drained.stopped
    }

    /// Stores a finished turn that waits; a dead one names an entry that is not there.
    fn finish(&self, key: &str, turn_id: &str, is_dead: bool) -> Session {
        let mut store = self.host.store();
        let mut session = store.session_or_new(key, "/").unwrap();
        let row = |id: &str, role: &str, parent: Option<&str>| {
            let message = format!(r#"{{"role":"{role}","content":"{id}"}}"#);
            message_row(id, parent, "", &message)
        };
        let [user, answer] = ["user", "answer"].map(|what| format!("{turn_id}-{what}"));
        let parent = session.append_parent.clone();
        let seq = store
            .admit(
                &mut session,
                turn_id,
                &row(&user, "user", parent.as_deref()),
            )
            .unwrap();
        let anchor = |id: &str, seq: i64| Anchor {
            entry_id: id.to_owned(),
            raw_seq: seq.unsigned_abs(),
            ..Anchor::default()
        };
        let admission = anchor(if is_dead { "gone" } else { &user }, seq);
        let commit = CommitParams {
            advancement_key: turn_id.to_owned(),
            terminal: admission.clone(),
            admission,
            session_id: session.id.clone(),
            ..CommitParams::default()
        };
        let pending = PendingTurn {
            engine_id: "recorder",
            session_id: &session.id,
            commit: &commit,
        };
        store.announce(&pending).unwrap();
        let answered = row(&answer, "assistant", Some(&user));
        store
            .accept(
                &mut session,
                turn_id,
                &answered,
                Some("recorder"),
                |_, seq| CommitParams {
                    terminal: anchor(&answer, seq),
                    ..commit.clone()
                },
            )
            .unwrap();
        session
    }
}

const A: &str = "agent:main:a";
const B: &str = "agent:main:b";

/// Conformance case 25.
#[test]
fn before_a_turn_sixteen_are_offered_and_more_are_noticed() {
    let home = Home::new();
    let turns: Vec<String> = (0..18).map(|n| format!("t{n:02}")).collect();
    let sessions = turns.iter().map(|turn_id| home.finish(A, turn_id, false));
    let session = sessions.last().unwrap();
    let first = before_turn(&home.host, &mut home.engine(), &session).unwrap();
    assert!(first.is_behind);
    assert_eq!(home.notes(), turns[..16]);
    let rest = before_turn(&home.host, &mut home.engine(), &session).unwrap();
    assert_eq!((rest.commits.len(), rest.is_behind), (2, false));
    assert_eq!(home.notes(), turns);
}

/// Case D-6.
#[test]
fn turns_that_cannot_be_offered_take_nobodys_place() {
    let home = Home::new();
    for n in 0..50 {
        home.finish(A, &format!("dead{n}"), true);
    }
    let session = home.finish(A, "live", false);
    let caught_up = before_turn(&home.host, &mut home.engine(), &session).unwrap();
    assert_eq!(
        (home.notes(), caught_up.is_behind),
        (vec!["live".to_owned()], false)
    );
    let backlog = home.host.store().backlog().unwrap();
    assert_eq!((backlog[0].waiting, backlog[0].blocked), (0, 50));
}

/// Conformance case 26.
#[test]
fn after_a_turn_sessions_take_turns_and_each_is_maintained_once() {
    let home = Home::new();
    home.finish(B, "b1", false);
    home.finish(B, "b2", false);
    let own = home.finish(A, "a1", false);
    home.finish(B, "b3", false);
    assert_eq!(home.after_turn(&own), None);
    let maintained = [A, B].map(|key| format!("maintain {key}"));
    let expected = ["a1", "b1", "b2", "b3"].map(str::to_owned);
    assert_eq!(home.notes(), [&expected[..], &maintained[..]].concat());
}

#[test]
fn a_session_in_which_a_turn_runs_is_left_to_it() {
    let home = Home::new();
    home.finish(B, "b1", false);
    let own = home.finish(A, "a1", false);
    let lane = home.host.enter(B).unwrap();
    assert_eq!(home.after_turn(&own), None);
    assert_eq!(home.notes(), ["a1", "maintain agent:main:a"]);
    drop(lane);
    assert_eq!(home.after_turn(&own), None);
    assert_eq!(home.notes()[2..], ["b1", "maintain agent:main:b"]);
}

/// Conformance case 41; decision: a waiting turn follows its entries.
#[test]
fn a_waiting_turn_is_found_in_the_entries_a_rewrite_wrote() {
    let home = Home::new();
    home.finish(A, "a1", false);
    let session = home.finish(A, "a2", false);
    let json = r#"{"replacements":[{"entryId":"a1-answer","message":{"role":"assistant","content":"new"}}]}"#;
    let request = serde_json::from_str(json).unwrap();
    let result = home.host.store().rewrite(&session.id, &request).unwrap();
    assert!(result.changed);
    let session = home.host.store().session_named(A).unwrap();
    let caught_up = before_turn(&home.host, &mut home.engine(), &session).unwrap();
    assert!(
        caught_up
            .commits
            .iter()
            .all(|it| it.outcome == CommitOutcome::Committed)
    );
    assert_eq!(home.notes(), ["a1", "a2"]);
}
