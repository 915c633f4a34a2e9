//! Compaction ahead of a turn whose request would reach the threshold.

use super::assemble::schema_tokens;
use super::compaction::{self, BuiltIn, CompactionRecord, Need, Purpose};
use super::event::TurnEvent;
use super::params::ModelFacts;
use super::{TurnError, TurnKind, TurnRequest};
use crate::Host;
use crate::compaction::{Trigger, byte_latch, bytes_due, threshold_tokens};
use crate::history::sum;
use crate::model::{Model, ToolSpec};
use crate::store::{PathEntry, Session, Store, StoreError};
use crate::tokens::Vocabulary;
use openclaw_transcript::{Message, RowKind, context_tokens};

/// Rows at the end of a path that are searched for what the provider counted last.
const USAGE_ROWS: i64 = 64;

/// Compacts where the next request would be too large. A reason to leave it is no failure.
///
/// # Errors
///
/// The compaction failed: the turn has not begun.
///
/// Source: turn pipeline, "Preflight budget compaction"; cases L-2, L-8.
pub(super) fn compact_ahead(
    host: &Host,
    request: &TurnRequest,
    facts: &ModelFacts,
    tools: &[ToolSpec],
    model: &mut dyn Model,
    on_event: &mut dyn FnMut(TurnEvent<'_>),
) -> Result<Vec<CompactionRecord>, TurnError> {
    if !host.compaction().automatic {
        return Ok(Vec::new());
    }
    let is_begun = match &request.turn_id {
        Some(id) => host.store().turn(id)?.is_some(),
        None => false,
    };
    if is_begun {
        return Ok(Vec::new());
    }
    let Some(session) = host.store().session(&request.session_key)? else {
        return Ok(Vec::new());
    };
    let budget_tokens = threshold_tokens(facts.budget_tokens, 0, None);
    let fixed_tokens = fixed(request, facts, tools);
    let projected = projected(host, &session, request, facts, fixed_tokens)?;
    // What is fixed alone reaches the budget: no summary helps, and the provider has the last word.
    let can_help = fixed_tokens < budget_tokens;
    let by_size = can_help && request.kind != TurnKind::Heartbeat && projected >= budget_tokens;
    let trigger = match by_size {
        true => Trigger::Budget,
        false if is_large(host, &session)? => Trigger::Bytes,
        false => return Ok(Vec::new()),
    };
    let engine_id = host.slot().engine_id();
    on_event(TurnEvent::Compacting { engine_id });
    let need = Need {
        trigger,
        budget_tokens,
        fixed_tokens,
        turn_position: None,
    };
    let purpose = Purpose {
        force_reason: "preflight_required",
        target: "budget",
        token_budget: Some(facts.budget_tokens),
        current_tokens: Some(projected),
        instructions: None,
    };
    let mut built_in = BuiltIn::new(host, &session, model, &request.cancel, need);
    let done = compaction::on_its_own(host, &session, &purpose, &mut built_in)?;
    if !done.compacted && !done.is_benign {
        return Err(TurnError::Preflight {
            reason: done.reason.unwrap_or_else(|| "it gave no reason".into()),
        });
    }
    latch(host, &done.session.id)?;
    Ok(done.records)
}

/// Tokens of the next request that are not on the path yet.
fn fixed(request: &TurnRequest, facts: &ModelFacts, tools: &[ToolSpec]) -> u64 {
    let prompt = &request.system_prompt;
    let parts = [&*prompt.stable, &*prompt.dynamic, &*request.text];
    let vocabulary = Vocabulary::of_model(&facts.model_id);
    let tokens = parts.into_iter().map(|text| vocabulary.text(text));
    tokens.fold(schema_tokens(tools, vocabulary), u64::saturating_add)
}

/// Tokens of the next request: what a provider counted last and what came since. Where the engine does not decide what is
/// sent, at least what the host counts.
fn projected(
    host: &Host,
    session: &Session,
    request: &TurnRequest,
    facts: &ModelFacts,
    fixed_tokens: u64,
) -> Result<u64, StoreError> {
    let store = host.store();
    let counted = counted(&store, session)?.map_or(0, |tokens| {
        tokens.saturating_add(Vocabulary::of_model(&facts.model_id).text(&request.text))
    });
    if owns_compaction(host) {
        return Ok(counted);
    }
    let manner = facts.manner(&request.view);
    let past = host
        .histories()
        .before(&store, session, session.path_length, &manner)?;
    let target = facts.target(session, &past, &request.view);
    let messages = past.fitted.messages();
    let sized = host.sent().sized(messages, &past.history, target);
    Ok(sum(sized.as_deref().unwrap_or(messages))
        .saturating_add(fixed_tokens)
        .max(counted))
}

/// What a provider counted last, and an estimate of what came since. What it counted before a summary is of another
/// context.
fn counted(store: &Store, session: &Session) -> Result<Option<u64>, StoreError> {
    let start = (session.path_length - USAGE_ROWS).max(0);
    let tail = store.path_between(session, start..session.path_length)?;
    let is_boundary = |entry: &PathEntry| {
        matches!(
            entry.row.kind(),
            RowKind::Compaction { .. } | RowKind::Reset { .. }
        )
    };
    let after = tail.iter().rposition(is_boundary).map_or(0, |at| at + 1);
    let messages = tail[after..].iter();
    let messages: Vec<Message> = messages
        .filter_map(|entry| entry.row.message().cloned())
        .collect();
    let found = context_tokens(&messages);
    Ok(found.counted_up_to.map(|_| found.tokens))
}

/// Whether the visible part of the transcript has reached its size, and no earlier compaction left it so.
fn is_large(host: &Host, session: &Session) -> Result<bool, StoreError> {
    let limit = host.compaction().max_active_bytes;
    if limit == 0 {
        return Ok(false);
    }
    let bytes = host.store().visible_bytes(session)?;
    let latches = host.byte_latches().lock();
    let latch = latches.get(&session.id);
    Ok(bytes_due(&session.id, bytes, limit, latch))
}

/// Remembers a transcript that stayed large.
fn latch(host: &Host, session_id: &str) -> Result<(), StoreError> {
    let session = host.store().session_with_id(session_id)?;
    let bytes = match &session {
        Some(session) => host.store().visible_bytes(session)?,
        None => 0,
    };
    let found = byte_latch(session_id, bytes, host.compaction().max_active_bytes);
    let mut latches = host.byte_latches().lock();
    match found {
        Some(latch) => latches.insert(session_id.to_owned(), latch),
        None => latches.remove(session_id),
    };
    Ok(())
}

fn owns_compaction(host: &Host) -> bool {
    let found = host.registry().find(host.slot().engine_id());
    found.is_ok_and(|registered| {
        registered.info().and_then(|info| info.owns_compaction) == Some(true)
    })
}
