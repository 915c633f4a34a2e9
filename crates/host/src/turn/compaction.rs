//! What an engine answers to `compact`, and compaction on its own, outside of a turn.

mod ask;
mod built_in;
mod history;

use super::open::{self, quarantined};
use super::{TurnError, drain};
use crate::Host;
use crate::cancel::Cancel;
use crate::compaction::{Trigger, threshold_tokens};
use crate::desk::Visit;
use crate::guard::Guarded;
use crate::model::Model;
use crate::quarantine::QuarantineRecord;
use crate::requirements::{self, ExecutionHost, Operation};
use crate::store::{Rotation, Session};
use openclaw_interface::model::{CompactParams, CompactResult, Compaction, SessionParams};

pub(super) use super::record::CompactionRecord;
pub(super) use built_in::{BuiltIn, Need};
pub(super) use history::folded_before;

/// A compaction asked for by a person.
#[derive(Clone, Debug, Default)]
pub struct CompactRequest {
    /// The session, by its key or its transcript's id.
    pub session: String,
    /// What the summary should keep in view.
    pub instructions: Option<String>,
    /// Tokens the whole prompt may take; `None` when no model is known.
    pub context_tokens: Option<u64>,
    /// Ends the compaction early.
    pub cancel: Cancel,
}

/// What came of a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactOutcome {
    /// The engine that was asked.
    pub engine_id: String,
    /// Whether the context got smaller.
    pub compacted: bool,
    /// Whether there was nothing to do, which is no failure.
    pub is_skipped: bool,
    /// What the engine says about it.
    pub reason: Option<String>,
    /// Tokens before, as the engine counts.
    pub tokens_before: Option<u64>,
    /// Tokens after, as the engine counts.
    pub tokens_after: Option<u64>,
    /// Who wrote the summary, where the host did: a model as `provider/id`, or `extractive` for none.
    pub summariser: Option<String>,
    /// The transcript the session goes on with.
    pub session_id: String,
}

/// What an answer means for the session.
pub(super) struct Answer {
    /// The transcript the session goes on with, where that is another one.
    pub(super) successor_id: Option<String>,
}

impl Answer {
    /// Reads an answer.
    ///
    /// # Errors
    ///
    /// Why the successor it names cannot be one.
    ///
    /// Source: turn pipeline, "Successor sessions".
    pub(super) fn read(
        host: &Host,
        session: &Session,
        result: &CompactResult,
    ) -> Result<Self, String> {
        let named = match &result.result {
            Some(compaction) if result.ok && result.compacted => {
                named_successor(host, session, compaction)?
            }
            _ => None,
        };
        Ok(Self {
            successor_id: named.filter(|id| *id != session.id),
        })
    }
}

/// The session id that a compaction names.
fn named_successor(
    host: &Host,
    session: &Session,
    compaction: &Compaction,
) -> Result<Option<String>, String> {
    if let Some(target) = &compaction.session_target {
        let store_path = host.store_path_text();
        let bound = [
            ("agent", target.agent_id.as_deref(), host.agent_id()),
            ("session key", target.session_key.as_deref(), &*session.key),
            ("store", target.store_path.as_deref(), &*store_path),
        ];
        for (what, named, own) in bound {
            if named.is_some_and(|named| named != own) {
                return Err(format!(
                    "it changed the session's binding: the {what} is not `{own}` any more"
                ));
            }
        }
    }
    let in_target = compaction.session_target.as_ref();
    let in_target = in_target.and_then(|target| target.session_id.as_deref());
    let named = match (in_target, compaction.session_id.as_deref()) {
        (Some(one), Some(other)) if one != other => {
            return Err(format!("it names two sessions, `{one}` and `{other}`"));
        }
        (one, other) => one.or(other),
    };
    let Some(id) = named else {
        return Ok(None);
    };
    if id.trim().is_empty() || id.chars().count() > 512 || id.chars().any(char::is_control) {
        return Err("its id is blank, too long, or not printable".into());
    }
    Ok(Some(id.to_owned()))
}

/// An answer of an engine that could not be asked.
pub(super) fn not_compacted(reason: String) -> CompactResult {
    CompactResult {
        reason: Some(reason),
        ..CompactResult::default()
    }
}

/// What asks for a compaction outside of a turn.
pub(super) struct Purpose<'a> {
    pub(super) force_reason: &'a str,
    pub(super) target: &'a str,
    /// Tokens the whole prompt may take.
    pub(super) token_budget: Option<u64>,
    /// Tokens it takes now.
    pub(super) current_tokens: Option<u64>,
    pub(super) instructions: Option<&'a str>,
}

/// What came of a compaction outside of a turn.
pub(super) struct Done {
    pub(super) engine_id: String,
    pub(super) compacted: bool,
    pub(super) reason: Option<String>,
    /// Whether there was nothing to do. Cases L-2 and L-14.
    pub(super) is_benign: bool,
    pub(super) records: Vec<CompactionRecord>,
    pub(super) session: Session,
}

/// Compacts a session because a person asked for it.
///
/// Source: turn pipeline, "Manual /compact".
pub(crate) fn compact(
    host: &Host,
    request: &CompactRequest,
    model: &mut dyn Model,
) -> Result<CompactOutcome, TurnError> {
    let named = host.store().session_named(&request.session)?;
    let _alone = host.enter(&named.key)?;
    // It may have been moved while another turn was waited for.
    let session = host.store().session_named(&request.session)?;
    let window = model.info().context_window_tokens;
    let tokens = request.context_tokens.unwrap_or(window).min(window);
    let need = Need {
        trigger: Trigger::Manual,
        budget_tokens: threshold_tokens(tokens, 0, None),
        fixed_tokens: 0,
        turn_position: None,
    };
    let purpose = Purpose {
        force_reason: "manual",
        target: "threshold",
        token_budget: request.context_tokens,
        current_tokens: None,
        instructions: request.instructions.as_deref(),
    };
    let mut built_in = BuiltIn::new(host, &session, model, &request.cancel, need);
    let done = on_its_own(host, &session, &purpose, &mut built_in)?;
    let last = done.records.last();
    Ok(CompactOutcome {
        engine_id: done.engine_id,
        compacted: done.compacted,
        is_skipped: !done.compacted && done.is_benign,
        tokens_before: last.and_then(|it| it.tokens_before),
        tokens_after: last.and_then(|it| it.tokens_after),
        summariser: last.and_then(|it| it.summariser.clone()),
        reason: done.reason,
        session_id: done.session.id,
    })
}

/// Compacts a session outside of a turn, with an engine of its own. The caller holds the lane.
pub(super) fn on_its_own(
    host: &Host,
    session: &Session,
    purpose: &Purpose<'_>,
    built_in: &mut BuiltIn<'_>,
) -> Result<Done, TurnError> {
    let mut session = session.clone();
    let mut engine = selected(host, built_in.cancel)?;
    if !engine.is_legacy() {
        // What the engine is owed lies in the transcript that it may put behind.
        let caught_up = drain::before_turn(host, &mut engine, &session)?;
        if let Some(record) = caught_up.failure {
            return Err(failed(&engine, record));
        }
    }
    let params = params(host, &session, purpose, built_in.need.word());
    if built_in.cancel.is_cancelled() {
        return Err(TurnError::Cancelled);
    }
    let Some(asked) = built_in.ask(&mut engine, &session, &params) else {
        return Err(TurnError::Cancelled);
    };
    let result = asked.result;
    match asked.failure {
        Some(record) if !result.compacted => return Err(failed(&engine, record)),
        _ => {}
    }
    let answer = Answer::read(host, &session, &result).map_err(|reason| TurnError::Successor {
        engine_id: engine.id().to_owned(),
        reason,
    })?;
    if let Some(successor_id) = answer.successor_id {
        let rotation = Rotation::new(host, &successor_id);
        session = host.store().rotate(&session, &rotation, None)?.session;
    }
    if result.ok && result.compacted {
        // A failure sets the engine aside; the compaction is done.
        let visit = Visit::after_commit(&session);
        let params = SessionParams {
            runtime_context: Some(host.surroundings(&session)),
            ..host.session_params(&session, &visit)
        };
        let _ = engine.maintain(&params, visit);
    }
    Ok(Done {
        engine_id: engine.id().to_owned(),
        compacted: result.compacted,
        is_benign: is_benign(&result),
        reason: result.reason,
        records: asked.records,
        session,
    })
}

/// Whether an answer says that there was nothing to do.
///
/// Source: turn pipeline, "Preflight budget compaction".
fn is_benign(result: &CompactResult) -> bool {
    let says = |words: &str| {
        let reason = result.reason.as_deref().unwrap_or_default().to_lowercase();
        reason.contains(words) || reason.contains(&words.replace(' ', "_"))
    };
    result.ok
        || ["below threshold", "already compacted", "nothing to compact"]
            .into_iter()
            .any(says)
}

/// The engine asked for; the built-in one when that is set aside.
fn selected(host: &Host, cancel: &Cancel) -> Result<Guarded, TurnError> {
    let cancelled = cancel.flag();
    let Ok(registered) = host.registry().find(host.slot().engine_id()) else {
        return Ok(open::legacy(host, cancelled));
    };
    if let Some(info) = registered.info() {
        requirements::check(info, Operation::ManualCompact, &[ExecutionHost::embedded()])
            .map_err(TurnError::Requirement)?;
    }
    let context = open::create_context(host);
    let made = host
        .registry()
        .make(&registered, &context, cancelled, host.transcripts());
    Ok(made.unwrap_or_else(|_| open::legacy(host, cancelled)))
}

fn params(host: &Host, session: &Session, purpose: &Purpose<'_>, trigger: &str) -> CompactParams {
    let mut context = host.surroundings(session);
    context.insert("trigger".into(), trigger.into());
    context.insert("forceReason".into(), purpose.force_reason.into());
    CompactParams {
        session_id: session.id.clone(),
        session_key: Some(session.key.clone()),
        session_target: Some(host.session_target(session)),
        token_budget: purpose.token_budget,
        current_token_count: purpose.current_tokens,
        force: true,
        compaction_target: Some(purpose.target.into()),
        custom_instructions: purpose.instructions.map(str::to_owned),
        host_services: Visit::compaction(session).names(),
        runtime_context: Some(context),
        ..CompactParams::default()
    }
}

fn failed(engine: &Guarded, record: QuarantineRecord) -> TurnError {
    TurnError::Engine {
        engine_id: engine.id().to_owned(),
        failure: quarantined(record),
    }
}
