//! Pairing repair: every call gets exactly one result, right behind it, and no result stands alone.

mod edit;
mod frame;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use openclaw_interface::Role;

use crate::message::{BrokenCall, Message};

/// The text of a result that is made up for a missing one, as the original writes it.
pub const MISSING_RESULT: &str = "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.";

/// A list with its pairs repaired, as picks from the list given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The messages, in order.
    pub pieces: Vec<Piece>,
    /// What was done, in order of the messages it was done to; empty when every piece is kept in place.
    pub mends: Vec<Mend>,
    /// How many messages of the list nothing later can change: each call among them has a real result in its place,
    /// and no result among them waits for a call.
    pub settled: usize,
    /// How many of the pieces those are.
    pub settled_pieces: usize,
}

/// The messages that stand before a list and are [settled](Repaired::settled), as far as the list has to know of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    call_ids: HashSet<String>,
}

impl Lead {
    /// Puts settled messages behind those that are there.
    pub fn add(&mut self, settled: &[Message]) {
        let calls = settled.iter().flat_map(Message::calls);
        self.call_ids.extend(calls.map(|call| call.id.clone()));
    }

    /// Bytes of its texts.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.call_ids.iter().map(String::len).sum()
    }
}

/// A message of a repaired list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A message given, by its index, byte for byte.
    Keep(usize),
    /// A message made by the repair.
    New {
        /// Its JSON text.
        json: String,
        /// Who speaks.
        role: Role,
    },
}

/// One thing a repair did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("message {message}{}: {kind}", call_id.as_ref().map(|id| format!(", call `{id}`")).unwrap_or_default())]
pub struct Mend {
    /// The message it was done to, as an index into the list given; for an inserted result, the message that calls.
    pub message: usize,
    /// The call concerned; `None` when it has no id or several are.
    pub call_id: Option<String>,
    /// What was done.
    pub kind: MendKind,
}

/// The kinds of [`Mend`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MendKind {
    /// The call had no result.
    #[error("missing result inserted")]
    ResultInserted,
    /// The result stood elsewhere.
    #[error("result moved behind its call")]
    ResultMoved,
    /// The result had no id and stood behind the only call.
    #[error("result without an id given to the only call before it")]
    ResultAdopted,
    /// The result answers no call.
    #[error("result without a call dropped")]
    OrphanDropped,
    /// More than one open call has the result's id, and none stands before it.
    #[error("result dropped: several open calls have its id")]
    AmbiguousDropped,
    /// The call has another result.
    #[error("second result dropped")]
    DuplicateDropped,
    /// A made-up result gave way to the real one.
    #[error("made-up result replaced by the real one")]
    SyntheticReplaced,
    /// The assistant message failed or was broken off with calls open.
    #[error("failed message dropped with its calls and their results")]
    FailedTurnDropped,
    /// The call cannot be answered; what else the message says is kept.
    #[error("call dropped: {0}")]
    CallDropped(BrokenCall),
}

/// Repairs the pairs of a list before it goes to a model.
///
/// - A result goes right behind its call, in the order of the calls. The second use of an id pairs with its second
///   result. A real result beats a made-up one.
/// - A result of another place is moved only when exactly one open call has its id; otherwise it is dropped, as are
///   second results and those before the first call.
/// - A call without a result gets one made-up error result with [`MISSING_RESULT`]. Its timestamp is that of the
///   calling message, so that the same list always gives the same bytes.
/// - A call that cannot be answered is dropped ([`BrokenCall`]); the text of its message stays. Reasoning a provider
///   signed goes with the call, because a provider refuses it in a message that was changed.
/// - An assistant message that failed or was broken off with calls open is dropped with its results.
///
/// All other messages keep their order. Repairing twice changes nothing more. Linear in the input.
///
/// Source: legacy engine, "Tool call/result pairing" and "Tool-call blocks"; cases P-1, P-2, P-5 to P-8.
#[must_use]
pub fn pair(messages: &[Message]) -> Repaired {
    pair_with(messages, MISSING_RESULT)
}

/// [`pair`] with another text for made-up results; APIs of the responses family get `aborted`.
#[must_use]
pub fn pair_with(messages: &[Message], missing_text: &str) -> Repaired {
    frame::Frames::of(messages, &Lead::default()).repaired(missing_text)
}

/// [`pair`] for the rest of a list whose beginning is settled: with `s` messages of `a` settled and in `lead`, pairing
/// `a` and `b` gives what pairing `a[..s]` gives, and then what this gives for `a[s..]` and `b`, counted from `s`.
#[must_use]
pub fn pair_behind(lead: &Lead, messages: &[Message]) -> Repaired {
    frame::Frames::of(messages, lead).repaired(MISSING_RESULT)
}
