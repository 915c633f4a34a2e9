//! A history through a summariser: in chunks that fit, each request with what is known so far, every message once.

use openclaw_transcript::{Message, estimate_text};

use super::chunks::{Weighed, chunk_tokens, chunks, oversized_note, stages};
use super::conversation::conversation;
use super::plan::{LEAST_SLICE_TOKENS, Plan, slice};
use super::prompts;
use super::run::{Ask, Run};
use super::summariser::{Purpose, SummaryError};

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
