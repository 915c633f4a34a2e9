//! The end of a turn, and turns offered once more.

use super::answer::Answered;
use super::drain::{self, ToMaintain};
use super::open::{self, Turn};
use super::params::ModelFacts;
use super::record::{CommitOutcome, RecoveredCommit, TurnRecord};
use super::{TurnError, TurnOutcome};
use crate::Host;
use crate::desk::Visit;
use crate::guard::Hook;
use crate::lane::Lane;
use crate::legacy::LEGACY_ID;
use crate::quarantine::{QuarantineRecord, forget_ended};
use crate::requirements::{self, ExecutionHost, Operation};
use crate::store::{Session, Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

impl Answered<'_> {
    /// Delivers the commit and what else waits, tidies up, says goodbye, keeps the record. The reply is safe: nothing
    /// here can lose it.
    ///
    /// - `lane`: kept until maintenance that runs behind the reply is done too.
    pub(super) fn commit(self, lane: Lane) -> TurnOutcome {
        let Self {
            mut turn,
            facts,
            reply,
        } = self;
        let to_maintain = turn.deliver();
        turn.maintain(to_maintain, &facts, lane);
        turn.engine.dispose();
        turn.keep_timings();
        let record = turn.record;
        if let Err(error) = keep_record(&mut turn.host.store(), &record) {
            tracing::warn!(turn = record.turn_id, reason = %error, "the turn's record was not kept");
        }
        let engine_id = &record.served.engine_id;
        if record.substitution.is_none()
            && turn.host.registry().set_aside_record(engine_id).is_none()
        {
            forget_ended(turn.host.health_dir(), engine_id);
        }
        TurnOutcome {
            reply,
            record,
            is_repeat: false,
        }
    }
}

impl Turn<'_> {
    /// Delivers the turn and what else waits. Answers which sessions have to be maintained.
    fn deliver(&mut self) -> Vec<ToMaintain> {
        let Some(owed) = &self.owed else {
            return Vec::new();
        };
        if self.engine.id() != owed {
            let substitution = self.record.substitution.as_ref();
            let reason = substitution.map_or_else(String::new, |it| {
                format!("{} failed: {}", it.operation, it.reason)
            });
            self.record.commit = CommitOutcome::Queued { reason };
            return Vec::new();
        }
        let drained = drain::after_turn(self.host, &mut self.engine, &self.session);
        let mut commits = drained.commits;
        let own = commits.iter().position(|it| it.turn_id == self.turn_id);
        let outcome = own.map(|own| commits.remove(own).outcome);
        self.record.recovered_commits.extend(commits);
        self.record.commit = outcome.unwrap_or_else(|| CommitOutcome::Queued {
            reason: drained
                .stopped
                .unwrap_or_else(|| "turns of other sessions come first".into()),
        });
        drained.to_maintain
    }

    /// Maintains each session once: now, or on a thread of its own that the engine and the lanes go to.
    fn maintain(&mut self, sessions: Vec<ToMaintain>, facts: &ModelFacts, lane: Lane) {
        let is_in_background = self.engine.identity.maintains_in_background;
        let jobs: Vec<_> = sessions
            .iter()
            .map(|ToMaintain { session, .. }| {
                let facts = (session.id == self.session.id).then_some(facts);
                let host = self.host;
                let params = host.after_commit_params(session, facts, is_in_background);
                (params, Visit::after_commit(session))
            })
            .collect();
        if jobs.is_empty() {
            return;
        }
        if !is_in_background {
            for (params, visit) in jobs {
                // A failure sets the engine aside for the next turn; this one is done.
                if let Hook::Failed(_) = self.engine.maintain(&params, visit) {
                    return;
                }
            }
            return;
        }
        self.keep_timings();
        let successor = open::legacy(self.host, self.request.cancel.flag());
        let mut engine = std::mem::replace(&mut self.engine, successor);
        let mut lanes: Vec<Lane> = sessions.into_iter().filter_map(|it| it.lane).collect();
        lanes.push(lane);
        let cancel = self.request.cancel.clone();
        self.host.background().run(lanes, cancel, move || {
            for (params, visit) in jobs {
                engine.maintain_in_background(&params, visit);
            }
            engine.dispose();
        });
    }
}

/// What became of the commit of a turn that was answered before: as delivered just now, else as the outbox says, else as
/// recorded.
pub(super) fn outcome_of_earlier(
    host: &Host,
    recovered: &[RecoveredCommit],
    recorded: CommitOutcome,
    turn_id: &str,
) -> Result<CommitOutcome, StoreError> {
    if let Some(commit) = recovered.iter().find(|commit| commit.turn_id == turn_id) {
        return Ok(commit.outcome.clone());
    }
    Ok(match host.store().outbox_row(turn_id)? {
        Some(row) => CommitOutcome::Queued {
            reason: row.last_error.unwrap_or_else(|| "not offered yet".into()),
        },
        None => recorded,
    })
}

/// Keeps a record in the store.
pub(super) fn keep_record(store: &mut Store, record: &TurnRecord) -> Result<(), StoreError> {
    let json = serde_json::to_string(record).unwrap_or_default();
    store.record_turn(&record.turn_id, &json)
}

/// What came of offering a session's turns to the engine again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recommit {
    /// The engine.
    pub engine_id: String,
    /// Turns the engine had not stored.
    pub committed: usize,
    /// Turns the engine had already.
    pub duplicates: usize,
    /// Turns that the transcript no longer holds as they were; not offered.
    pub changed: usize,
}

/// Offers every accepted turn of a session to the engine the configuration asks for.
///
/// An engine that has a turn answers `duplicate` and changes nothing; one that missed some, because it was not selected
/// or failed, gets them now.
pub(crate) fn recommit(host: &Host, session: &Session) -> Result<Recommit, TurnError> {
    let asked = host.slot().engine_id();
    if asked == LEGACY_ID {
        return Err(TurnError::NoEngine);
    }
    let failed = |record: QuarantineRecord| TurnError::Engine {
        engine_id: asked.to_owned(),
        failure: open::quarantined(record),
    };
    let registered = host
        .registry()
        .find(asked)
        .map_err(|record| failed(*record))?;
    if let Some(info) = registered.info() {
        requirements::check(info, Operation::AgentRun, &[ExecutionHost::embedded()])
            .map_err(TurnError::Requirement)?;
    }
    if let Some(failure) = open::not_durable(host, &registered) {
        return Err(TurnError::Engine {
            engine_id: asked.to_owned(),
            failure,
        });
    }
    let cancelled = Arc::new(AtomicBool::new(false));
    let context = open::create_context(host);
    let made = host
        .registry()
        .make(&registered, &context, &cancelled, host.transcripts());
    let mut engine = made.map_err(|record| failed(*record))?;
    let mut result = Recommit {
        engine_id: asked.to_owned(),
        ..Recommit::default()
    };
    let rows = host.store().commits_of(session)?;
    for row in rows {
        match drain::deliver(host, &mut engine, session, &row)? {
            (_, Some(failure)) => return Err(failed(failure)),
            (CommitOutcome::Duplicate, None) => result.duplicates += 1,
            (CommitOutcome::Queued { .. }, None) => result.changed += 1,
            (_, None) => result.committed += 1,
        }
    }
    engine.dispose();
    Ok(result)
}
