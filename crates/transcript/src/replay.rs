//! From stored history to what one provider accepts: sanitize, validate, limit.
//!
//! Each step is a function of its own in a file of its own. A message that no step changes is kept byte for byte; one that
//! is changed keeps its other members and their order.

mod boundary;
mod call_ids;
mod draft;
mod empty;
mod heartbeat;
mod images;
mod inter_session;
#[cfg(test)]
mod laws;
mod lead;
mod limit;
mod limit_key;
mod linked;
mod normalize;
mod policy;
mod reasoning;
mod render;
mod signatures;
#[cfg(test)]
pub(crate) mod tests;
mod tools;
mod turns;
mod usage;

use crate::message::Message;
use crate::repair::{Mend, Piece, pair_with};

pub use boundary::{Target, for_request};
pub use lead::ReplayLead;
pub use limit::TurnLimit;
pub use limit_key::turn_limit;
pub use policy::{CallIds, NativeIds, Policy, Reasoning, Signatures};

use draft::Draft;
use std::sync::Arc;

/// What to replay for.
#[derive(Clone, Debug, Default)]
pub struct Replay<'a> {
    /// What the provider wants.
    pub policy: Policy,
    /// How many of the first messages were carried over a reset; such messages are no user turns.
    pub prelude: usize,
    /// The messages before this one were made by another model; 0 when none were.
    pub switched: usize,
    /// The tools there are; `None` when that is not known.
    pub tools: Option<&'a [&'a str]>,
    /// How the configured heartbeat prompt begins; `None` when none is configured.
    pub heartbeat_prompt: Option<&'a str>,
    /// Whether the turn that the messages end with is over, because another one begins behind them: then nothing of it is
    /// kept that would go with the next message.
    pub is_over: bool,
    /// How many user turns are sent; `None` for all.
    pub limit: Option<TurnLimit>,
}

/// A history as one provider accepts it, as picks from the history given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The messages, in order.
    pub pieces: Vec<Piece>,
    /// Where each of them stems from.
    pub sources: Vec<Source>,
    /// What the repair of pairs did, by the messages given.
    pub mends: Vec<Mend>,
}

/// Where a message of a replayed history stems from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Source {
    /// The message given; the last of them when it is several in one; `None` when it was added.
    pub message: Option<usize>,
    /// Whether it is several in one.
    pub is_joined: bool,
    /// Whether it was carried over a reset.
    pub is_prelude: bool,
}

/// Makes a history fit for a provider: sanitize, validate, drop idle heartbeats, limit. What is excluded from context is
/// left out.
///
/// - In the result every call has its one result right behind its message, no result stands alone, no message is empty
///   but failed answers, and roles follow each other as the policy says.
/// - Summaries, notes and shell executions keep their roles; [`for_request`] turns them into user messages.
/// - Replaying the result again changes nothing, except that a limit may cut again.
///
/// Linear in the input.
///
/// Source: legacy engine, "Order of the pipeline".
#[must_use]
pub fn replay(messages: &[Message], replay: &Replay<'_>) -> Replayed {
    replay_behind(&Arc::new(ReplayLead::new(&replay.policy)), messages, replay)
}

/// [`replay`] for the rest of a history. What stands before it has been replayed with the same policy and without a limit,
/// and its messages are in `lead`.
///
/// With the parts before and behind a user's message, replaying the whole gives what replaying the two gives, as long as
/// the following holds; who cuts a history has to make sure of it.
///
/// - What comes out of the rest begins with that user's message, neither joined nor left out; what comes out before it
///   does not end with a user's.
/// - There is no compaction summary in the rest, and an assistant's message comes out of it.
/// - No pair had to be repaired on either side.
#[must_use]
pub fn replay_behind(
    lead: &Arc<ReplayLead>,
    messages: &[Message],
    replay: &Replay<'_>,
) -> Replayed {
    let mut draft = Draft::behind(lead, messages, replay.prelude);
    let mends = sanitize(&mut draft, replay);
    validate(&mut draft, &replay.policy);
    heartbeat::drop_acknowledged(&mut draft, replay.heartbeat_prompt);
    limit::cut(&mut draft, replay.limit);
    // What was taken out may have stood between two turns of one role, or in front of an assistant's.
    validate(&mut draft, &replay.policy);
    Replayed {
        sources: draft.sources(),
        pieces: draft.pieces(),
        mends,
    }
}

/// The first stage of [`replay`] alone: content, images, reasoning, calls and their results, ids, usage.
#[must_use]
pub fn sanitize_history(messages: &[Message], replay: &Replay<'_>) -> Replayed {
    let mut draft = Draft::of(messages, replay.prelude);
    let mends = sanitize(&mut draft, replay);
    Replayed {
        sources: draft.sources(),
        pieces: draft.pieces(),
        mends,
    }
}

/// Brings content into one form and leaves out what no model said: a step of [`replay`], for lists that go elsewhere.
///
/// Source: legacy engine, "Replay content normalisation".
#[must_use]
pub fn normalize_history(messages: &[Message]) -> Vec<Piece> {
    let mut draft = Draft::of(messages, 0);
    normalize::normalize(&mut draft);
    draft.pieces()
}

/// Joins neighbours of a role where the policy wants it: a step of [`replay`], for lists made of replayed parts.
#[must_use]
pub fn join_turns(messages: &[Message], policy: &Policy) -> Replayed {
    let mut draft = Draft::of(messages, 0);
    validate(&mut draft, policy);
    Replayed {
        sources: draft.sources(),
        pieces: draft.pieces(),
        mends: Vec::new(),
    }
}

/// Cuts a history by user turns: a step of [`replay`], for lists that are fit already.
#[must_use]
pub fn limit_turns(messages: &[Message], prelude: usize, limit: Option<TurnLimit>) -> Vec<Piece> {
    let mut draft = Draft::of(messages, prelude);
    limit::cut(&mut draft, limit);
    draft.pieces()
}

fn sanitize(draft: &mut Draft, replay: &Replay<'_>) -> Vec<Mend> {
    let policy = &replay.policy;
    draft.retain(|_, message| !message.excluded());
    draft.each(|_, message| inter_session::mark(message));
    normalize::normalize(draft);
    draft.each(|_, message| images::check(message));
    draft.each(|_, message| empty::fill(message));
    draft.each(|_, message| signatures::drop_foreign(message, policy.signatures));
    if policy.signed_reasoning {
        signatures::drop_stale(draft);
        signatures::drop_unsigned(draft, replay.is_over);
    }
    reasoning::keep_only(draft, policy.reasoning, replay.is_over);
    if let Some(tools) = replay.tools {
        tools::drop_unknown(draft, tools);
    }
    let mends = draft.repair(|messages| pair_with(messages, policy.missing_result));
    if policy.linked_reasoning {
        linked::mend(draft, replay.switched);
        linked::follow(draft);
    }
    call_ids::rename(draft, policy.call_ids);
    draft.each(|_, message| tools::drop_details(message));
    usage::complete(draft);
    if policy.assistant_not_first {
        turns::user_first(draft);
    }
    mends
}

fn validate(draft: &mut Draft, policy: &Policy) {
    turns::merge(draft, policy);
    if policy.assistant_not_first {
        turns::user_first(draft);
    }
}
