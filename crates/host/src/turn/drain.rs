//! Brings accepted turns to the engine: at least once, in order, acknowledged or kept.

#[cfg(test)]
mod tests;

use super::record::{CommitOutcome, RecoveredCommit};
use crate::Host;
use crate::desk::Visit;
use crate::guard::{Guarded, Hook};
use crate::history::Held;
use crate::lane::Lane;
use crate::quarantine::QuarantineRecord;
use crate::store::{OutboxRow, Session, Store, StoreError};
use openclaw_interface::Message;
use openclaw_interface::model::{CommitParams, CommitStatus};

/// Turns offered before and after a turn.
const LIMIT: usize = 16;

/// What came of a drain before a turn.
pub(super) struct CaughtUp {
    pub(super) commits: Vec<RecoveredCommit>,
    /// Why the engine is set aside, when it failed.
    pub(super) failure: Option<QuarantineRecord>,
    /// Whether turns are left that were not offered.
    pub(super) is_behind: bool,
}

/// Delivers what a session's outbox holds for an engine, oldest first, up to the first failure or the limit. Turns that
/// died before their end are dropped.
pub(super) fn before_turn(
    host: &Host,
    engine: &mut Guarded,
    session: &Session,
) -> Result<CaughtUp, StoreError> {
    host.store().drop_unfinished(engine.id(), &session.id)?;
    let mut queue = Queue::of(session.clone());
    let mut caught_up = CaughtUp {
        commits: Vec::new(),
        failure: None,
        is_behind: false,
    };
    let mut offered = 0;
    while let Some(row) = queue.next(host, engine.id())? {
        if offered == LIMIT {
            caught_up.is_behind = true;
            break;
        }
        let (outcome, failure) = deliver(host, engine, session, &row)?;
        // A turn that cannot be offered any more takes nobody's place.
        offered += usize::from(!is_set_aside(&outcome, failure.as_ref()));
        let turn_id = row.commit.advancement_key;
        caught_up.commits.push(RecoveredCommit { turn_id, outcome });
        caught_up.failure = failure;
        if caught_up.failure.is_some() {
            break;
        }
    }
    Ok(caught_up)
}

/// What came of the drain after a turn.
#[derive(Default)]
pub(super) struct Drained {
    pub(super) commits: Vec<RecoveredCommit>,
    /// Why it ended early.
    pub(super) stopped: Option<String>,
    /// Sessions in which a turn was acknowledged; none when the engine failed on the way.
    pub(super) to_maintain: Vec<ToMaintain>,
    offered: usize,
}

/// A session that is to be maintained.
pub(super) struct ToMaintain {
    pub(super) session: Session,
    /// Held for a session that is not that of the turn.
    pub(super) lane: Option<Lane>,
}

/// Delivers what waits for an engine in all sessions, one turn a session and round: the session of the turn first, then the
/// one that has waited longest. An engine that refuses the turn it has just run is offered no other, so that what waits is
/// not held against it. Sessions in which a turn runs elsewhere are left to it.
pub(super) fn after_turn(host: &Host, engine: &mut Guarded, own: &Session) -> Drained {
    let mut drained = Drained::default();
    if let Err(reason) = drained.deliver_all(host, engine, own) {
        drained.stopped = Some(reason);
    }
    drained
}

impl Drained {
    fn deliver_all(
        &mut self,
        host: &Host,
        engine: &mut Guarded,
        own: &Session,
    ) -> Result<(), String> {
        let mut waiting = host.store().sessions_waiting(engine.id()).map_err(text)?;
        // The sort is stable.
        waiting.sort_by_key(|session_id| *session_id != own.id);
        let mut queues = Vec::new();
        for session_id in waiting {
            if self.offered == LIMIT {
                break;
            }
            if let Some(mut queue) = Queue::open(host, &session_id, own).map_err(text)? {
                self.deliver_next(host, engine, &mut queue)?;
                queues.push(queue);
            }
        }
        let mut is_anything_left = true;
        while is_anything_left {
            is_anything_left = false;
            for queue in &mut queues {
                is_anything_left |= self.deliver_next(host, engine, queue)?;
            }
        }
        let acknowledged = queues.into_iter().filter(|queue| queue.is_acknowledged);
        self.to_maintain = acknowledged
            .map(|queue| ToMaintain {
                session: queue.session,
                lane: queue.alone,
            })
            .collect();
        Ok(())
    }

    /// Delivers a session's next turn, if one may be offered yet; whether there was one.
    fn deliver_next(
        &mut self,
        host: &Host,
        engine: &mut Guarded,
        queue: &mut Queue,
    ) -> Result<bool, String> {
        if self.offered == LIMIT {
            return Ok(false);
        }
        let Some(row) = queue.next(host, engine.id()).map_err(text)? else {
            return Ok(false);
        };
        let (outcome, failure) = deliver(host, engine, &queue.session, &row).map_err(text)?;
        self.offered += usize::from(!is_set_aside(&outcome, failure.as_ref()));
        queue.is_acknowledged |=
            matches!(outcome, CommitOutcome::Committed | CommitOutcome::Duplicate);
        let turn_id = row.commit.advancement_key;
        self.commits.push(RecoveredCommit { turn_id, outcome });
        failure.map_or(Ok(true), |failure| Err(failure.reason))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn text(error: StoreError) -> String {
    format!("{error}: {}", error.kind)
}

/// A session's turns that wait, one after the other.
struct Queue {
    session: Session,
    behind: i64,
    is_acknowledged: bool,
    /// Held for a session that is not that of the turn.
    alone: Option<Lane>,
}

impl Queue {
    fn of(session: Session) -> Self {
        Self {
            session,
            behind: 0,
            is_acknowledged: false,
            alone: None,
        }
    }

    /// A session's queue; `None` while somebody else runs a turn there.
    fn open(host: &Host, session_id: &str, own: &Session) -> Result<Option<Self>, StoreError> {
        if session_id == own.id {
            return Ok(Some(Self::of(own.clone())));
        }
        let Some(session) = host.store().session_with_id(session_id)? else {
            return Ok(None);
        };
        match host.try_enter(&session.key) {
            // Only now nobody can change it any more.
            Ok(Some(lane)) => Ok(host
                .store()
                .session_with_id(session_id)?
                .map(|session| Self {
                    alone: Some(lane),
                    ..Self::of(session)
                })),
            Ok(None) => Ok(None),
            Err(error) => {
                tracing::debug!(reason = %error, "a session's waiting turns are left for later");
                Ok(None)
            }
        }
    }

    fn next(&mut self, host: &Host, engine_id: &str) -> Result<Option<OutboxRow>, StoreError> {
        let row = host
            .store()
            .next_ready(engine_id, &self.session.id, self.behind)?;
        if let Some(row) = &row {
            self.behind = row.place;
        }
        Ok(row)
    }
}

/// Whether a turn was not offered and never will be.
fn is_set_aside(outcome: &CommitOutcome, failure: Option<&QuarantineRecord>) -> bool {
    matches!(outcome, CommitOutcome::Queued { .. }) && failure.is_none()
}

/// Offers one turn to the engine. Only an acknowledgement takes the row out of the outbox.
pub(super) fn deliver(
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
            .note_failed_delivery(key, engine.id(), reason, true)?;
        return Ok((
            CommitOutcome::Queued {
                reason: reason.into(),
            },
            None,
        ));
    }
    let views: Vec<Message<'_>> = messages.iter().map(Held::view).collect();
    let failure = match engine.commit_turn(&views, commit, Visit::commit(session)) {
        Hook::Done(status) => {
            host.store().acknowledge(key, engine.id())?;
            let outcome = match status {
                CommitStatus::Committed => CommitOutcome::Committed,
                CommitStatus::Duplicate => CommitOutcome::Duplicate,
            };
            return Ok((outcome, None));
        }
        Hook::Absent(error) => engine.reject("commitTurn", error.message),
        Hook::Cancelled => {
            let reason = "the engine's commit was cancelled";
            host.store()
                .note_failed_delivery(key, engine.id(), reason, false)?;
            let reason = reason.to_owned();
            return Ok((CommitOutcome::Queued { reason }, None));
        }
        Hook::Fenced(reason) => engine.reject("commitTurn", reason),
        Hook::Failed(record) => record,
    };
    tracing::warn!(
        engine = engine.id(),
        turn = key,
        reason = failure.reason,
        attempts = row.attempts + 1,
        last_error = row.last_error,
        "commit not acknowledged; it stays in the outbox"
    );
    host.store()
        .note_failed_delivery(key, engine.id(), &failure.reason, false)?;
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
        *first.id == *commit.admission.entry_id && *last.id == *commit.terminal.entry_id
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
