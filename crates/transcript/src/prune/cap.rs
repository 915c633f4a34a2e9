//! The size that results have when they are sent for the first time.

use openclaw_interface::Role;

use super::apply::{Mode, applied};
use super::state::Slot;
use super::text::truncate;
use crate::blocks;
use crate::json::Object;
use crate::message::Message;
use crate::tokens::text_units;

const ELIDED: &str = "[tool result elided: aggregate tool-result budget exceeded; rerun the command if the output is needed]";
/// Units of a notice that something was cut, and of the space a number in it may need.
const NOTICE: u64 = 80;
const UNITS_PER_TOKEN: u64 = 4;

/// What one result may weigh: more in a larger window, and never more than 30 % of it.
pub(super) fn max_units(window_tokens: u64) -> u64 {
    let by_window = match window_tokens {
        0..100_000 => 16_000,
        100_000..200_000 => 32_000,
        _ => 64_000,
    };
    let share = window_tokens
        .saturating_mul(UNITS_PER_TOKEN)
        .saturating_mul(3)
        / 10;
    by_window.min(share).max(1)
}

/// What all results together may weigh: half the window, and at least four results.
fn max_together(window_tokens: u64) -> u64 {
    let half = window_tokens.saturating_mul(UNITS_PER_TOKEN) / 2;
    half.max(max_units(window_tokens).saturating_mul(4))
}

/// Decides on every result that nothing is decided on yet: cut where it is too large, else whole.
///
/// When all together are too large, the undecided ones give way, oldest first, but never those the model has not answered
/// to. What was sent before stays as it was sent.
pub(super) fn run(messages: &[Message], slots: &mut [Option<Slot>], window_tokens: u64) {
    let most = max_units(window_tokens);
    let open: Vec<usize> = (0..slots.len())
        .filter(|index| {
            slots[*index]
                .as_ref()
                .is_some_and(|slot| slot.mode.is_none())
        })
        .collect();
    let mut weights: Vec<u64> = vec![0; messages.len()];
    for (index, message) in messages.iter().enumerate() {
        let Some(slot) = &mut slots[index] else {
            continue;
        };
        if slot.mode.is_none() {
            slot.mode = Some(cut(message, most).map_or(Mode::Whole, Mode::Cut));
        }
        weights[index] = sent_units(message, slot.mode.as_ref());
    }
    let together = weights.iter().copied().fold(0, u64::saturating_add);
    let mut over = together.saturating_sub(max_together(window_tokens));
    let unanswered = messages
        .iter()
        .rposition(|message| message.role() == Role::Assistant)
        .map_or(0, |last| last + 1);
    for shrink in [shorter, elided] {
        for &index in open.iter().filter(|index| **index < unanswered) {
            if over == 0 {
                return;
            }
            let wanted = weights[index].saturating_sub(over).max(NOTICE);
            let Some(texts) = shrink(&messages[index], wanted) else {
                continue;
            };
            let mode = Mode::Cut(texts);
            let left = sent_units(&messages[index], Some(&mode));
            if left >= weights[index] {
                continue;
            }
            over = over.saturating_sub(weights[index] - left);
            weights[index] = left;
            if let Some(slot) = &mut slots[index] {
                slot.mode = Some(mode);
            }
        }
    }
}

/// Units of the text of a result as it is sent; images count elsewhere.
fn sent_units(message: &Message, mode: Option<&Mode>) -> u64 {
    let json = mode.and_then(|mode| applied(message, mode));
    let object = match &json {
        Some(json) => Object::read(json).expect("an edited message is a JSON object"),
        None => message.object(),
    };
    let texts = blocks::texts(&object);
    texts.iter().map(|text| text_units(text)).sum()
}

fn shorter(message: &Message, wanted: u64) -> Option<Vec<String>> {
    cut(message, wanted)
}

/// A note in place of each text: the rest of a result that had to give way entirely.
fn elided(message: &Message, _wanted: u64) -> Option<Vec<String>> {
    let object = message.object();
    let texts = blocks::texts(&object);
    let notes = texts.iter().enumerate().map(|(index, _)| {
        let note = if index == 0 { ELIDED } else { "[elided]" };
        note.to_owned()
    });
    (!texts.is_empty()).then(|| notes.collect())
}

/// The texts of a result cut to so many units together, each by its share; `None` when they fit.
fn cut(message: &Message, most: u64) -> Option<Vec<String>> {
    let object = message.object();
    let texts = blocks::texts(&object);
    let weights: Vec<u64> = texts.iter().map(|text| text_units(text)).collect();
    let total: u64 = weights.iter().sum();
    if total <= most {
        return None;
    }
    let share = |weight: u64| {
        let share = u128::from(most) * u128::from(weight) / u128::from(total);
        // Never nothing: an empty text is refused by providers.
        u64::try_from(share).unwrap_or(most).max(1)
    };
    let cut = texts.iter().zip(weights);
    Some(
        cut.map(|(text, weight)| truncate(text, share(weight), 0))
            .collect(),
    )
}
