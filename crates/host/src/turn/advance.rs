//! Brings accepted turns to the engine: at least once, in order, acknowledged or kept.

use super::answer::Answered;
use super::open::{self, Turn};
use super::record::{CommitOutcome, RecoveredCommit, TurnRecord};
use super::{TurnError, TurnOutcome};
use crate::Host;
use crate::guard::{Guarded, Hook};
use crate::history::Held;
use crate::legacy::LEGACY_ID;
use crate::quarantine::{QuarantineRecord, forget_ended};
use crate::requirements;
use crate::store::{OutboxRow, Session, Store, StoreError};
use openclaw_interface::Message;
use openclaw_interface::model::{CommitParams, CommitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

impl Answered<'_> {
    /// Delivers the commit, tidies up, says goodbye, keeps the record. The reply is safe: nothing here can lose it.
    pub(super) fn commit(self) -> TurnOutcome {
        let Self { mut turn, reply } = self;
        turn.record.commit = turn.deliver();
        if matches!(
            turn.record.commit,
            CommitOutcome::Committed | CommitOutcome::Duplicate
        ) {
            let params = turn.session_params();
            // A failure sets the engine aside for the next turn; this one is done.
            let _ = turn.engine.maintain(&params);
        }
        turn.engine.dispose();
        turn.keep_timings();
        let record = turn.record;
        if let Err(error) = keep_record(&mut turn.host.store(), &record) {
            tracing::warn!(turn = record.turn_id, reason = %error, "the turn's record was not kept");
        }
        let engine_id = &record.served.engine_id;
        if record.substitution.is_none()
            && turn
                .host
                .registry()
                .quarantine()
                .record(engine_id)
                .is_none()
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
    fn deliver(&mut self) -> CommitOutcome {
        let Some(owed) = self.owed.clone() else {
            return CommitOutcome::NotOwed;
        };
        if self.engine.engine_id != owed {
            let substitution = self.record.substitution.as_ref();
            let reason = substitution.map_or_else(String::new, |it| {
                format!("{} failed: {}", it.operation, it.reason)
            });
            return CommitOutcome::Queued { reason };
        }
        let row = self.host.store().outbox_row(&self.turn_id);
        match row {
            Ok(Some(row)) => match deliver_row(self.host, &mut self.engine, &self.session, &row) {
                Ok((outcome, _)) => outcome,
                Err(error) => CommitOutcome::Queued {
                    reason: error.to_string(),
                },
            },
            Ok(None) => CommitOutcome::NotOwed,
            Err(error) => CommitOutcome::Queued {
                reason: error.to_string(),
            },
        }
    }
}

/// Delivers what a session's outbox holds for an engine, oldest first, up to the first failure.
pub(super) fn drain(
    host: &Host,
    engine: &mut Guarded,
    session: &Session,
) -> Result<(Vec<RecoveredCommit>, Option<QuarantineRecord>), StoreError> {
    let rows = host
        .store()
        .recover_outbox(&engine.engine_id, &session.id)?;
    let mut commits = Vec::new();
    for row in rows {
        let turn_id = row.commit.advancement_key.clone();
        let (outcome, failure) = deliver_row(host, engine, session, &row)?;
        commits.push(RecoveredCommit { turn_id, outcome });
        if failure.is_some() {
            return Ok((commits, failure));
        }
    }
    Ok((commits, None))
}

/// Offers one turn to the engine. Only an acknowledgement takes the row out of the outbox.
fn deliver_row(
    host: &Host,
    engine: &mut Guarded,
    session: &Session,
    row: &OutboxRow,
) -> Result<(CommitOutcome, Option<QuarantineRecord>), StoreError> {
    let commit = &row.commit;
    let key = &commit.advancement_key;
    let messages = turn_messages(&host.store(), session, row)?;
    if !covers(&messages, commit) {
        let reason = "the transcript no longer holds this turn as it was";
        host.store()
            .note_failed_delivery(key, &engine.engine_id, reason, true)?;
        return Ok((
            CommitOutcome::Queued {
                reason: reason.into(),
            },
            None,
        ));
    }
    let views: Vec<Message<'_>> = messages.iter().map(Held::view).collect();
    let failure = match engine.commit_turn(&views, commit) {
        Hook::Done(status) => {
            host.store().acknowledge(key, &engine.engine_id)?;
            let outcome = match status {
                CommitStatus::Committed => CommitOutcome::Committed,
                CommitStatus::Duplicate => CommitOutcome::Duplicate,
            };
            return Ok((outcome, None));
        }
        Hook::Absent(error) => engine.reject("commitTurn", error.message),
        Hook::Failed(record) => record,
    };
    tracing::warn!(
        engine = engine.engine_id,
        turn = key,
        reason = failure.reason,
        attempts = row.attempts + 1,
        last_error = row.last_error,
        "commit not acknowledged; it stays in the outbox"
    );
    host.store()
        .note_failed_delivery(key, &engine.engine_id, &failure.reason, false)?;
    Ok((
        CommitOutcome::Queued {
            reason: failure.reason.clone(),
        },
        Some(failure),
    ))
}

/// Whether the messages are the whole turn: an engine must not store a part of it as all of it.
fn covers(messages: &[Held], commit: &CommitParams) -> bool {
    let ends = messages.first().zip(messages.last());
    ends.is_some_and(|(first, last)| {
        first.id == commit.admission.entry_id && last.id == commit.terminal.entry_id
    })
}

fn turn_messages(
    store: &Store,
    session: &Session,
    row: &OutboxRow,
) -> Result<Vec<Held>, StoreError> {
    let seq = |raw: u64| i64::try_from(raw).unwrap_or(i64::MAX);
    store.messages_between(
        session,
        seq(row.commit.admission.raw_seq),
        seq(row.commit.terminal.raw_seq),
    )
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
        requirements::check(info).map_err(TurnError::Requirement)?;
    }
    if let Some(failure) = open::not_durable(host, &registered) {
        return Err(TurnError::Engine {
            engine_id: asked.to_owned(),
            failure,
        });
    }
    let cancelled = Arc::new(AtomicBool::new(false));
    let context = open::create_context(host);
    let made = host.registry().make(&registered, &context, &cancelled);
    let mut engine = made.map_err(|record| failed(*record))?;
    let mut result = Recommit {
        engine_id: asked.to_owned(),
        ..Recommit::default()
    };
    let rows = host.store().commits_of(session)?;
    for row in rows {
        match deliver_row(host, &mut engine, session, &row)? {
            (_, Some(failure)) => return Err(failed(failure)),
            (CommitOutcome::Duplicate, None) => result.duplicates += 1,
            (CommitOutcome::Queued { .. }, None) => result.changed += 1,
            (_, None) => result.committed += 1,
        }
    }
    engine.dispose();
    Ok(result)
}
