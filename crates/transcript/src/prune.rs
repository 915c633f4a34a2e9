//! Shortens what a request carries along: old images, and old and large tool results.
//!
//! Nothing is removed, so that calls and results stay paired, and the transcript is not changed. What was decided on a
//! result is kept as [`Decisions`] and applied again to every later request, so that the same bytes are sent again.

mod apply;
mod cap;
mod images;
mod keys;
mod round;
mod service;
mod settings;
mod shares;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod units;

use crate::message::Message;
use crate::repair::Piece;

pub use images::prune_history_images;
pub use service::{CLEARING_BETA, caches_prompts};
pub use settings::Pruning;
pub use shares::{HistoryShare, history_share};
pub use state::{CACHE_TTL_ROW, Decisions, Touch, last_touch_ms};
pub use text::truncate_tool_text;

/// A shortened list, as picks from the list given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The messages, in order; as many as were given.
    pub pieces: Vec<Piece>,
    /// How many of them are changed.
    pub changed: usize,
}

impl Pruned {
    /// `change` gives the JSON of a message that changes.
    fn of(messages: &[Message], change: impl Fn(usize, &Message) -> Option<String>) -> Self {
        let mut changed = 0;
        let pieces = messages.iter().enumerate().map(|(index, message)| {
            let Some(json) = change(index, message) else {
                return Piece::Keep(index);
            };
            changed += 1;
            let role = message.role();
            Piece::New { json, role }
        });
        Self {
            pieces: pieces.collect(),
            changed,
        }
    }
}

/// What a request may spend on tool results.
#[derive(Clone, Copy, Debug)]
pub struct ResultBudget<'a> {
    /// The model's window.
    pub window_tokens: u64,
    /// How old results are pruned; `None` when pruning is off, the provider has no cache worth it, or prunes itself.
    pub pruning: Option<&'a Pruning>,
    /// Time since a request last touched the provider's cache; `None` when not known.
    pub idle_ms: Option<u64>,
    /// Whether old reasoning is not sent, and so does not count.
    pub reasoning_dropped: bool,
}

/// Tool results in a size that fits, and what was decided on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunedResults {
    /// The list.
    pub list: Pruned,
    /// The decisions to hand in with the next request, and to write down when they differ from those handed in.
    pub decisions: Decisions,
    /// How many results this round pruned anew; when it is not 0, the provider's cache counts as touched now.
    pub pruned: usize,
}

/// Brings tool results to a size that fits.
///
/// 1. What was decided before is done again, whatever the settings are now. A result whose text is not the one the
///    decision was made on is new.
/// 2. When the cache has gone cold, old results are pruned: long ones keep their head and tail, and if that is not enough
///    the oldest are cleared. The last three assistant messages and all before the first user message are left alone.
/// 3. Results not seen before are cut to a share of the window, each and together; then they are decided on too.
///
/// No message gets larger. Linear in the input.
///
/// Source: pruning, "Algorithm" and "Memory of decisions"; legacy engine, "Per-call transforms after assembly"; case P-3.
#[must_use]
pub fn prune_tool_results(
    messages: &[Message],
    decisions: &Decisions,
    budget: ResultBudget<'_>,
) -> PrunedResults {
    let mut decisions = decisions.clone();
    let mut slots = decisions.slots(messages);
    let pruned = round::run(messages, &mut slots, budget);
    cap::run(messages, &mut slots, budget.window_tokens);
    decisions.keep(slots.iter().flatten());
    let list = Pruned::of(messages, |index, message| {
        apply::applied(message, slots[index].as_ref()?.mode.as_ref()?)
    });
    PrunedResults {
        list,
        decisions,
        pruned,
    }
}
