//! Where a path is cut: what stays as it is, and what is summarised.

use std::ops::Range;

use super::input::{CompactionInput, Content, Entry};
use super::structure::SUMMARY_UNITS;

/// Tokens of a summary that is as long as it may be.
const FULL_SUMMARY_TOKENS: u64 = SUMMARY_UNITS as u64 / 4;

/// In a small room a summary is expected to take one part in so many.
const SUMMARY_SHARE: u64 = 4;

/// A cut through a path. Places count the rows of the path the input was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first row that stays; the end of the path when none does.
    pub first_kept: usize,
    /// Where the turn begins that the cut goes through; `None` for a cut between turns.
    pub turn_start: Option<usize>,
}

/// Finds the cut that keeps about `keep_recent_tokens` of the end.
///
/// Tail messages are added up from the end until they reach the number; the cut is the oldest message among them that
/// may come first: something a person said, or an answer, never a tool result, and never between a call and its
/// results. Without such a message the tail grows to the next one. A path that does not reach the number is kept whole.
/// Rows that no model sees stay with the message behind them.
///
/// - `keep_from`: the cut is not behind this row.
///
/// Source: compaction, "Cut point and preparation"; cases P-1, P-7.
#[must_use]
pub fn find_cut(input: &CompactionInput, keep_recent_tokens: u64, keep_from: Option<usize>) -> Cut {
    let entries = &input.entries;
    let mut first_kept = 0;
    let (mut tail, mut candidate) = (0u64, None);
    for at in messages_backwards(entries) {
        tail = tail.saturating_add(entries[at].tokens);
        if at >= input.floor && entries[at].may_be_first() {
            candidate = Some(at);
        }
        if let (true, Some(candidate)) = (tail >= keep_recent_tokens, candidate) {
            first_kept = candidate;
            break;
        }
    }
    settled(input, first_kept, keep_from)
}

/// Finds the cut that keeps as much of the end as fits into `room_tokens` beside a summary.
///
/// The newest message that may come first is held against the room alone, so that a full summary never costs the last
/// message; all further ones against what a full summary leaves. Nothing fits: nothing is kept.
pub(super) fn find_cut_within(
    input: &CompactionInput,
    room_tokens: u64,
    keep_from: Option<usize>,
) -> Cut {
    let entries = &input.entries;
    let mut first_kept = entries.len();
    let (mut tail, mut limit) = (0u64, room_tokens);
    for at in messages_backwards(entries) {
        tail = tail.saturating_add(entries[at].tokens);
        if at < input.floor || !entries[at].may_be_first() {
            continue;
        }
        if tail > limit {
            break;
        }
        if first_kept == entries.len() {
            limit = room_tokens - FULL_SUMMARY_TOKENS.min(room_tokens / SUMMARY_SHARE);
        }
        first_kept = at;
    }
    settled(input, first_kept, keep_from)
}

/// The cut that keeps less of two.
pub(super) fn later(one: Cut, other: Cut) -> Cut {
    if other.first_kept > one.first_kept {
        other
    } else {
        one
    }
}

fn messages_backwards(entries: &[Entry]) -> impl Iterator<Item = usize> {
    (0..entries.len())
        .rev()
        .filter(|at| entries[*at].message().is_some())
}

fn settled(input: &CompactionInput, first_kept: usize, keep_from: Option<usize>) -> Cut {
    let entries = &input.entries;
    let keep_from = keep_from.map_or(entries.len(), |row| row.saturating_sub(input.offset));
    let message = first_kept.min(group_start(entries, keep_from));
    let is_between_turns = entries.get(message).is_none_or(Entry::starts_turn);
    let turn_start = (!is_between_turns)
        .then(|| (0..message).rev().find(|at| entries[*at].starts_turn()))
        .flatten();
    let silent = entries[..message]
        .iter()
        .rev()
        .take_while(|entry| matches!(entry.content, Content::Silent) && entry.id.is_some());
    Cut {
        first_kept: message - silent.count() + input.offset,
        turn_start: turn_start.map(|at| at + input.offset),
    }
}

/// The row itself, or the first row before it that may be named as the first that stays without parting a group.
fn group_start(entries: &[Entry], at: usize) -> usize {
    let is_start =
        |entry: &Entry| entry.id.is_some() && (entry.message().is_none() || entry.starts_group);
    match entries.get(at) {
        Some(_) => (0..=at)
            .rev()
            .find(|before| is_start(&entries[*before]))
            .unwrap_or(0),
        None => entries.len(),
    }
}

/// What a cut folds, as places in `entries`: whole turns, and the start of the turn it goes through.
pub(super) fn folded(input: &CompactionInput, cut: Cut) -> (Range<usize>, Range<usize>) {
    let first_kept = cut.first_kept - input.offset;
    let turn_start = cut.turn_start.map_or(first_kept, |at| at - input.offset);
    (0..turn_start, turn_start..first_kept)
}
