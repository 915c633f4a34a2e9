//! How much goes into one request for a summary.

use openclaw_transcript::estimate_text;

use super::pressure::with_margin;
use super::prompts;
use super::run::{Ask, Run};
use super::structure::{SUMMARY_UNITS, cap_summary};
use super::summariser::Purpose;
use super::text::{head, units};

/// Tokens of tags and labels around the parts of a prompt.
const FRAME_TOKENS: u64 = 40;
/// The shares of a window that an answer and the earlier summary may have, as one part in so many.
const OUTPUT_SHARE: u64 = 4;
const PREVIOUS_SHARE: u64 = 6;
/// A smaller slice of a conversation is not worth a request.
pub(super) const LEAST_SLICE_TOKENS: u64 = 32;
/// Windows below get short instructions.
const BRIEF_BELOW_TOKENS: u64 = 4_000;

/// How to ask for summaries.
pub(super) struct Plan {
    pub(super) window_tokens: u64,
    pub(super) max_output_tokens: u64,
    pub(super) task: String,
    pub(super) extractive: bool,
}

impl Plan {
    pub(super) fn new(
        run: &Run<'_>,
        output_tokens: u64,
        focus: Option<&str>,
        strict: bool,
    ) -> Self {
        let limits = run.summariser.limits();
        let window_tokens = limits.window_tokens;
        let brief = window_tokens < BRIEF_BELOW_TOKENS;
        Self {
            window_tokens,
            max_output_tokens: output_tokens
                .min(limits.max_output_tokens.unwrap_or(u64::MAX))
                .min(window_tokens / OUTPUT_SHARE)
                .max(1),
            task: prompts::history_task(focus, strict, brief),
            extractive: run.summariser.is_extractive(),
        }
    }

    /// A request of this plan, still without conversation.
    pub(super) fn ask(&self, purpose: Purpose, task: &str, previous: Option<&str>) -> Ask {
        let half = if purpose == Purpose::TurnPrefix { 2 } else { 1 };
        let max_output_tokens = (self.max_output_tokens / half).max(1);
        Ask {
            purpose,
            task: format!("{task}\n\n{}", prompts::length(max_output_tokens)),
            conversation: String::new(),
            previous: previous.map(|text| self.previous(text)),
            max_output_tokens,
        }
    }

    /// An earlier summary as it goes into a request.
    pub(super) fn previous(&self, text: &str) -> String {
        let most = self.window_tokens / PREVIOUS_SHARE;
        let capped = cap_summary(text, SUMMARY_UNITS, "");
        match estimate_text(&capped) {
            tokens if tokens > most => {
                let room = units(&capped) as u64 * most / tokens.max(1);
                cap_summary(&capped, usize::try_from(room).unwrap_or(0), "")
            }
            _ => capped,
        }
    }

    /// Tokens that are left for the conversation in a request.
    pub(super) fn room(&self, ask: &Ask) -> u64 {
        let fixed = [
            prompts::SYSTEM,
            &ask.task,
            ask.previous.as_deref().unwrap_or_default(),
        ]
        .into_iter()
        .map(estimate_text)
        .fold(FRAME_TOKENS, u64::saturating_add);
        let room = self
            .window_tokens
            .saturating_sub(self.max_output_tokens + with_margin(fixed));
        (room * 5 / 6).max(LEAST_SLICE_TOKENS)
    }
}

/// The start of a text that takes at most `room` tokens, cut at a line where one is near.
pub(super) fn slice(text: &str, room: u64) -> &str {
    let mut slice = head(text, tokens_as_units(room));
    loop {
        let tokens = estimate_text(slice);
        if tokens <= room {
            break;
        }
        let most = units(slice) as u64 * room / tokens;
        let shorter = head(slice, usize::try_from(most).unwrap_or(0));
        if shorter.is_empty() || shorter.len() == slice.len() {
            break;
        }
        slice = shorter;
    }
    if slice.len() == text.len() {
        return text;
    }
    match slice.rfind('\n') {
        Some(at) if at > slice.len() / 2 => &slice[..=at],
        _ if slice.is_empty() => head(text, 2),
        _ => slice,
    }
}

fn tokens_as_units(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_fit_lose_nothing_and_always_move_on() {
        for text in [
            "word and word\n".repeat(500),
            "漢".repeat(900),
            "😀".repeat(50),
        ] {
            for room in [1, 7, 100, 5_000] {
                let mut rest = text.as_str();
                while !rest.is_empty() {
                    let slice = slice(rest, room);
                    assert!(!slice.is_empty());
                    assert!(estimate_text(slice) <= room.max(2), "{room}");
                    rest = &rest[slice.len()..];
                }
            }
        }
    }
}
