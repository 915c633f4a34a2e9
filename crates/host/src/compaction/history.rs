//! A history through a summariser: in chunks that fit, each request with what is known so far, every message once.

use openclaw_transcript::{Message, estimate_text};

use super::chunks::{Weighed, chunk_tokens, chunks, oversized_note, stages};
use super::conversation::conversation;
use super::pressure::with_margin;
use super::prompts;
use super::run::{Ask, Run};
use super::structure::{SUMMARY_UNITS, cap_summary};
use super::summariser::{Purpose, SummaryError};
use super::text::{head, units};

/// Tokens of tags and labels around the parts of a prompt.
const FRAME_TOKENS: u64 = 40;
/// The shares of a window that an answer and the earlier summary may have, as one part in so many.
const OUTPUT_SHARE: u64 = 4;
const PREVIOUS_SHARE: u64 = 6;
/// A smaller slice of a conversation is not worth a request.
const LEAST_SLICE_TOKENS: u64 = 32;
/// Windows below get short instructions.
const BRIEF_BELOW_TOKENS: u64 = 4_000;

/// How to ask for summaries.
pub(super) struct Plan {
    pub(super) window_tokens: u64,
    pub(super) max_output_tokens: u64,
    pub(super) task: String,
    pub(super) extractive: bool,
}

/// A summary, and how to ask for a better one.
pub(super) struct Draft {
    pub(super) text: String,
    /// Summaries of parts it was merged from.
    pub(super) sources: Vec<String>,
    /// What was left out, for the reader.
    pub(super) notes: Vec<String>,
    last: Ask,
    last_messages: Vec<Message>,
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

    fn ask(&self, purpose: Purpose, task: &str, previous: Option<&str>) -> Ask {
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
    fn previous(&self, text: &str) -> String {
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
    fn room(&self, ask: &Ask) -> u64 {
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

/// Summarises a history on top of what is known of before.
pub(super) fn summarise_history(
    run: &mut Run<'_>,
    plan: &Plan,
    messages: &[Weighed<'_>],
    previous: Option<&str>,
) -> Result<Option<Draft>, SummaryError> {
    let first = in_stages(run, plan, messages, previous);
    let Err(SummaryError::TooLarge { .. } | SummaryError::Empty) = first else {
        return first;
    };
    // What no request could hold is left out, and said to be.
    let note = |message: &Weighed<'_>| oversized_note(*message, plan.window_tokens);
    let notes: Vec<String> = messages.iter().filter_map(note).collect();
    let small: Vec<Weighed<'_>> = messages
        .iter()
        .copied()
        .filter(|message| note(message).is_none())
        .collect();
    if notes.is_empty() || small.is_empty() {
        return first;
    }
    let draft = in_stages(run, plan, &small, previous)?;
    Ok(draft.map(|draft| Draft { notes, ..draft }))
}

/// Summarises the start of a turn.
pub(super) fn summarise_turn_prefix(
    run: &mut Run<'_>,
    plan: &Plan,
    messages: &[Weighed<'_>],
) -> Result<Option<String>, SummaryError> {
    let task = prompts::turn_prefix_task();
    let draft = in_chunks(
        run,
        plan,
        messages,
        plan.ask(Purpose::TurnPrefix, &task, None),
    )?;
    Ok(draft.map(|draft| draft.text))
}

/// Asks the last request of a draft again.
pub(super) fn improved(
    run: &mut Run<'_>,
    draft: Draft,
    feedback: &str,
) -> Result<Draft, SummaryError> {
    let messages: Vec<&Message> = draft.last_messages.iter().collect();
    let text = run.ask(&draft.last, &messages, Some(feedback))?;
    Ok(Draft { text, ..draft })
}

fn in_stages(
    run: &mut Run<'_>,
    plan: &Plan,
    messages: &[Weighed<'_>],
    previous: Option<&str>,
) -> Result<Option<Draft>, SummaryError> {
    let history = |previous| plan.ask(Purpose::History, &plan.task, previous);
    let stages = match plan.extractive {
        // A rule goes through a history once; a merge would quote quotes.
        true => std::iter::once(0..messages.len()).collect(),
        false => stages(messages, chunk_size(plan, messages)),
    };
    let [older, newer] = stages.as_slice() else {
        return in_chunks(run, plan, messages, history(previous));
    };
    let (older, newer) = (&messages[older.clone()], &messages[newer.clone()]);
    let first = in_chunks(run, plan, older, history(previous))?;
    let second = in_chunks(run, plan, newer, history(None))?;
    let (first, second) = match (first, second) {
        (Some(first), Some(second)) => (first, second),
        (one, other) => return Ok(one.or(other)),
    };
    let label = |label: &str, of: &[Weighed<'_>], draft: &Draft| {
        format!("[{label}{}]\n{}", period(of), plan.previous(&draft.text))
    };
    let merge = Ask {
        conversation: format!(
            "{}\n\n{}",
            label("Chunk 1 — oldest messages", older, &first),
            label("Chunk 2 — most recent messages", newer, &second)
        ),
        ..plan.ask(Purpose::Merge, &prompts::merge_task(&plan.task), None)
    };
    Ok(Some(Draft {
        text: run.ask(&merge, &[], None)?,
        sources: vec![first.text, second.text],
        notes: Vec::new(),
        last: merge,
        last_messages: Vec::new(),
    }))
}

fn tokens_as_units(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}

/// The time between the first and the last message, where they have one.
fn period(messages: &[Weighed<'_>]) -> String {
    let mut times = messages.iter().filter_map(|it| it.message.timestamp_ms());
    match (times.next(), times.next_back()) {
        (Some(from), Some(to)) => {
            format!(
                " [{} — {} UTC]",
                crate::ambient::iso(from),
                crate::ambient::iso(to)
            )
        }
        _ => String::new(),
    }
}

fn chunk_size(plan: &Plan, messages: &[Weighed<'_>]) -> u64 {
    let tokens: Vec<u64> = messages.iter().map(|it| it.tokens).collect();
    chunk_tokens(&tokens, plan.window_tokens)
}

/// Goes through messages in chunks; each request gets the summary so far. `None` when nothing was said in them.
fn in_chunks(
    run: &mut Run<'_>,
    plan: &Plan,
    messages: &[Weighed<'_>],
    first: Ask,
) -> Result<Option<Draft>, SummaryError> {
    let mut draft: Option<Draft> = None;
    for chunk in chunks(messages, chunk_size(plan, messages)) {
        let chunk: Vec<&Message> = messages[chunk].iter().map(|it| it.message).collect();
        let text = conversation(&chunk);
        let mut rest = text.as_str();
        let mut most = u64::MAX;
        while !rest.is_empty() {
            let mut ask = first.clone();
            if let Some(draft) = &draft {
                ask.previous = Some(plan.previous(&draft.text));
            }
            let room = plan.room(&ask).min(most);
            let slice = slice(rest, room);
            ask.conversation = if slice.len() < text.len() {
                format!("[part of a longer text]\n{slice}")
            } else {
                slice.to_owned()
            };
            let is_first = rest.len() == text.len();
            let given: &[&Message] = if is_first { &chunk } else { &[] };
            match run.ask(&ask, given, None) {
                Ok(text) => {
                    rest = &rest[slice.len()..];
                    draft = Some(Draft {
                        text,
                        sources: Vec::new(),
                        notes: Vec::new(),
                        last: ask,
                        last_messages: given.iter().map(|&it| it.clone()).collect(),
                    });
                }
                // The window is smaller than it claims. Case L-7.
                Err(SummaryError::TooLarge { .. }) if room > LEAST_SLICE_TOKENS => {
                    most = (estimate_text(slice).min(room) / 2).max(LEAST_SLICE_TOKENS);
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(draft)
}

/// The start of a text that takes at most `room` tokens, cut at a line where one is near.
fn slice(text: &str, room: u64) -> &str {
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
