//! What an engine answers to `compact`, and compaction on its own, outside of a turn.

use super::TurnError;
use super::advance;
use super::open::{self, quarantined};
use crate::Host;
use crate::cancel::Cancel;
use crate::guard::{Guarded, Hook};
use crate::quarantine::QuarantineRecord;
use crate::requirements::{self, ExecutionHost, Operation};
use crate::store::{Rotation, Session};
use openclaw_interface::model::{CompactParams, CompactResult, Compaction, SessionParams};

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
    /// What the engine says about it.
    pub reason: Option<String>,
    /// Tokens before, as the engine counts.
    pub tokens_before: Option<u64>,
    /// Tokens after, as the engine counts.
    pub tokens_after: Option<u64>,
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

/// Compacts a session on its own.
///
/// Source: turn pipeline, "Manual /compact".
pub(crate) fn compact(host: &Host, request: &CompactRequest) -> Result<CompactOutcome, TurnError> {
    let named = host.store().session_named(&request.session)?;
    let _alone = host.enter(&named.key)?;
    // It may have been moved while another turn was waited for.
    let mut session = host.store().session_named(&request.session)?;
    let mut engine = selected(host, request)?;
    if !engine.is_legacy() {
        // What the engine is owed lies in the transcript that it may put behind.
        let (_, failure) = advance::drain(host, &mut engine, &session)?;
        if let Some(record) = failure {
            return Err(failed(&engine, record));
        }
    }
    let params = manual_params(host, &session, request);
    if request.cancel.is_cancelled() {
        return Err(TurnError::Cancelled);
    }
    let result = match engine.compact(&params) {
        Hook::Done(result) => result,
        Hook::Absent(error) => not_compacted(error.message),
        Hook::Cancelled => return Err(TurnError::Cancelled),
        Hook::Failed(record) => return Err(failed(&engine, record)),
    };
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
        let _ = engine.maintain(&SessionParams {
            session_id: session.id.clone(),
            session_key: Some(session.key.clone()),
            session_file: session.key.clone(),
            session_target: Some(host.session_target(&session)),
            runtime_context: Some(host.surroundings(&session)),
            ..SessionParams::default()
        });
    }
    let compaction = result.result.as_ref();
    Ok(CompactOutcome {
        engine_id: engine.id().to_owned(),
        compacted: result.compacted,
        tokens_before: compaction.map(|it| it.tokens_before),
        tokens_after: compaction.and_then(|it| it.tokens_after),
        reason: result.reason,
        session_id: session.id,
    })
}

/// The engine asked for; the built-in one when that is set aside.
fn selected(host: &Host, request: &CompactRequest) -> Result<Guarded, TurnError> {
    let cancelled = request.cancel.flag();
    let Ok(registered) = host.registry().find(host.slot().engine_id()) else {
        return Ok(open::legacy(host, cancelled));
    };
    if let Some(info) = registered.info() {
        requirements::check(info, Operation::ManualCompact, &[ExecutionHost::embedded()])
            .map_err(TurnError::Requirement)?;
    }
    let made = host
        .registry()
        .make(&registered, &open::create_context(host), cancelled);
    Ok(made.unwrap_or_else(|_| open::legacy(host, cancelled)))
}

fn manual_params(host: &Host, session: &Session, request: &CompactRequest) -> CompactParams {
    let mut context = host.surroundings(session);
    context.insert("trigger".into(), "manual".into());
    context.insert("forceReason".into(), "manual".into());
    CompactParams {
        session_id: session.id.clone(),
        session_key: Some(session.key.clone()),
        session_target: Some(host.session_target(session)),
        token_budget: request.context_tokens,
        force: true,
        compaction_target: Some("threshold".into()),
        custom_instructions: request.instructions.clone(),
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
