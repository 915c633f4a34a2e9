//! One round of pruning after the provider's cache has gone cold.

use openclaw_interface::Role;

use super::apply::{Mode, units_after};
use super::settings::Pruning;
use super::state::Slot;
use super::{ResultBudget, units};
use crate::message::Message;

/// Assistant messages at the end whose results are left alone.
const ASSISTANTS_KEPT: usize = 3;
const UNITS_PER_TOKEN: u64 = 4;
/// Less than this together is not worth clearing.
const MIN_CLEARED: u64 = 50_000;

/// A result that may be pruned, and what it weighs now.
struct Candidate {
    index: usize,
    units: u64,
}

/// Decides anew on old results. Returns how many it decided on.
pub(super) fn run(
    messages: &[Message],
    slots: &mut [Option<Slot>],
    budget: ResultBudget<'_>,
) -> usize {
    let Some(pruning) = budget.pruning else {
        return 0;
    };
    let cold = pruning.ttl_ms > 0 && budget.idle_ms.is_some_and(|idle| idle >= pruning.ttl_ms);
    let Some(range) = candidates(messages).filter(|_| cold) else {
        return 0;
    };
    let weights = weights(messages, slots, budget.reasoning_dropped);
    let mut total = weights.iter().copied().fold(0, u64::saturating_add);
    let window = budget.window_tokens.saturating_mul(UNITS_PER_TOKEN);
    // 0.3 of the window.
    if total.saturating_mul(10) < window.saturating_mul(3) {
        return 0;
    }
    let mut decided = 0;
    let mut eligible = Vec::new();
    for index in range {
        let Some(slot) = &mut slots[index] else {
            continue;
        };
        if !covers(pruning, &messages[index]) || matches!(slot.mode, Some(Mode::Hard(_))) {
            continue;
        }
        let mut candidate = Candidate {
            index,
            units: weights[index],
        };
        if !matches!(slot.mode, Some(Mode::Soft)) {
            let trimmed = units_after(&messages[index], Some(&Mode::Soft));
            if trimmed < candidate.units {
                total -= candidate.units - trimmed;
                candidate.units = trimmed;
                slot.mode = Some(Mode::Soft);
                decided += 1;
            }
        }
        eligible.push(candidate);
    }
    decided + clear(messages, slots, &eligible, total, window, pruning)
}

/// Clears the oldest until less than half the window is used.
fn clear(
    messages: &[Message],
    slots: &mut [Option<Slot>],
    eligible: &[Candidate],
    mut total: u64,
    window: u64,
    pruning: &Pruning,
) -> usize {
    let together = eligible
        .iter()
        .map(|one| one.units)
        .fold(0, u64::saturating_add);
    if !pruning.hard_clear || together < MIN_CLEARED {
        return 0;
    }
    let mut cleared = 0;
    for Candidate { index, units } in eligible {
        if total.saturating_mul(2) < window {
            break;
        }
        let mode = Mode::Hard(pruning.placeholder.clone());
        let left = units_after(&messages[*index], Some(&mode));
        let Some(slot) = slots[*index].as_mut().filter(|_| left < *units) else {
            continue;
        };
        total -= units - left;
        slot.mode = Some(mode);
        cleared += 1;
    }
    cleared
}

/// The messages among which results may be pruned: from the first user message to the third-last assistant's.
fn candidates(messages: &[Message]) -> Option<std::ops::Range<usize>> {
    let end = messages
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, message)| message.role() == Role::Assistant)
        .nth(ASSISTANTS_KEPT - 1)?
        .0;
    let start = messages
        .iter()
        .position(|message| message.role() == Role::User)?;
    Some(start..end)
}

fn weights(messages: &[Message], slots: &[Option<Slot>], reasoning_dropped: bool) -> Vec<u64> {
    let latest = messages
        .iter()
        .rposition(|message| message.role() == Role::Assistant);
    let weight = |(index, message): (usize, &Message)| match &slots[index] {
        Some(slot) => units_after(message, slot.mode.as_ref()),
        None => {
            let reasoning = !reasoning_dropped || latest == Some(index);
            units::of_message(message.role(), &message.object(), reasoning)
        }
    };
    messages.iter().enumerate().map(weight).collect()
}

fn covers(pruning: &Pruning, message: &Message) -> bool {
    pruning.covers(&message.object().string("toolName").unwrap_or_default())
}
