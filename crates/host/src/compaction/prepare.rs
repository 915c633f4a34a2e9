//! What a compaction will do, decided before any model is asked.

use openclaw_transcript::Message;

use super::chunks::Weighed;
use super::cut::{Cut, find_cut, find_cut_within, folded, later};
use super::input::{CompactionInput, Entry};
use super::outcome::Skip;

/// What decides on the cut.
#[derive(Clone, Copy, Debug)]
pub struct PrepareSettings<'a> {
    /// Tokens of the end that stay as they are.
    pub keep_recent_tokens: u64,
    /// Tokens the kept end and the summary may take together, when the whole request is known.
    pub room_tokens: Option<u64>,
    /// Tokens of the context as a provider counted them, where known. When that is more than the rows' own sum, less of
    /// the end is kept.
    pub known_tokens: Option<u64>,
    /// A message that has to stay: the one that waits for its answer.
    pub keep_from_id: Option<&'a str>,
    /// Whether to keep as little as possible when nothing would be folded otherwise.
    pub force: bool,
}

/// What a compaction will do.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    /// Where the path is cut.
    pub cut: Cut,
    /// Id of the first row that stays; `None` when nothing does.
    pub first_kept_entry_id: Option<&'a str>,
    /// Whole turns that are folded.
    pub history: Vec<Weighed<'a>>,
    /// The start of a turn whose rest stays.
    pub turn_prefix: Vec<Weighed<'a>>,
    /// Tokens of the rows that stay.
    pub kept_tokens: u64,
    /// Tokens of the context.
    pub tokens_before: u64,
    /// The summary of what was folded earlier.
    pub previous_summary: Option<&'a str>,
}

/// Decides what is folded.
///
/// # Errors
///
/// There is nothing to fold, and why.
///
/// Source: compaction, "Cut point and preparation".
pub fn prepare<'a>(
    input: &'a CompactionInput,
    settings: &PrepareSettings<'_>,
) -> Result<Prepared<'a>, Skip> {
    let after = input.boundary.map_or(0, |at| at + 1);
    let has_new = input.entries[after..]
        .iter()
        .any(|entry| entry.message().is_some());
    if !has_new {
        return Err(if input.boundary.is_some() {
            Skip::AlreadyCompacted
        } else {
            Skip::TooSmall
        });
    }
    let keep_from = settings
        .keep_from_id
        .and_then(|id| input.place_of(id))
        .map(|place| place + input.offset);
    let keep_recent = scaled(settings, input.tokens());
    let cut_at = |keep_recent| {
        let cut = find_cut(input, keep_recent, keep_from);
        match settings.room_tokens {
            Some(room) => later(cut, find_cut_within(input, room, keep_from)),
            None => cut,
        }
    };
    let prepared = prepared(input, cut_at(keep_recent), settings);
    if !prepared.is_empty() {
        return Ok(prepared);
    }
    if settings.force {
        let least = self::prepared(input, cut_at(0), settings);
        if !least.is_empty() {
            return Ok(least);
        }
    }
    Err(Skip::TooSmall)
}

impl Prepared<'_> {
    fn is_empty(&self) -> bool {
        self.history.is_empty() && self.turn_prefix.is_empty()
    }

    /// All messages that are folded, oldest first.
    pub(super) fn folded(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.history
            .iter()
            .chain(&self.turn_prefix)
            .map(|it| it.message)
    }

    /// Tokens of what is folded, the earlier summary not included.
    pub(super) fn folded_tokens(&self) -> u64 {
        let tokens = self
            .history
            .iter()
            .chain(&self.turn_prefix)
            .map(|it| it.tokens);
        tokens.fold(0, u64::saturating_add)
    }
}

fn prepared<'a>(
    input: &'a CompactionInput,
    cut: Cut,
    settings: &PrepareSettings<'_>,
) -> Prepared<'a> {
    let (history, turn_prefix) = folded(input, cut);
    let kept = &input.entries[turn_prefix.end..];
    Prepared {
        cut,
        first_kept_entry_id: kept.first().and_then(|entry| entry.id.as_deref()),
        history: weighed(&input.entries[history]),
        turn_prefix: weighed(&input.entries[turn_prefix]),
        kept_tokens: kept
            .iter()
            .map(|entry| entry.tokens)
            .fold(0, u64::saturating_add),
        tokens_before: settings.known_tokens.unwrap_or(0).max(input.tokens()),
        previous_summary: input
            .previous
            .as_ref()
            .map(|previous| previous.summary.as_str()),
    }
}

fn weighed(entries: &[Entry]) -> Vec<Weighed<'_>> {
    let messages = entries.iter().filter_map(|entry| {
        Some(Weighed {
            message: entry.message()?,
            tokens: entry.tokens,
        })
    });
    messages.collect()
}

/// The wished tail in the rows' own tokens.
fn scaled(settings: &PrepareSettings<'_>, own_tokens: u64) -> u64 {
    let wished = settings.keep_recent_tokens;
    let known = settings
        .known_tokens
        .unwrap_or(own_tokens)
        .max(own_tokens)
        .max(1);
    let scaled = u128::from(wished) * u128::from(own_tokens) / u128::from(known);
    u64::try_from(scaled)
        .unwrap_or(wished)
        .clamp(1.min(wished), wished)
}
