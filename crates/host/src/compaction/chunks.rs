//! How much of a conversation one request may take, and where it is divided.

use std::ops::Range;

use openclaw_transcript::{Message, Role, groups};

const BASE_RATIO: f64 = 0.4;
const MIN_RATIO: f64 = 0.15;
const MARGIN: f64 = 1.2;
/// Messages larger than this part of a window lower the ratio.
const LARGE_SHARE: f64 = 0.1;
/// Tokens for the instructions of a request.
const OVERHEAD_TOKENS: u64 = 4_096;
/// Fewer messages are never summarised in parts.
const MIN_STAGED_MESSAGES: usize = 4;

/// A message and what it costs; what the planning looks at.
#[derive(Clone, Copy, Debug)]
pub struct Weighed<'a> {
    /// The message.
    pub message: &'a Message,
    /// Its tokens.
    pub tokens: u64,
}

/// The part of a window that one chunk may take: less for large messages.
///
/// Source: compaction, "Chunking, merging, retries".
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub fn chunk_ratio(tokens: &[u64], window_tokens: u64) -> f64 {
    if tokens.is_empty() || window_tokens == 0 {
        return BASE_RATIO;
    }
    let sum: f64 = tokens.iter().map(|tokens| *tokens as f64).sum();
    let share = sum / tokens.len() as f64 * MARGIN / window_tokens as f64;
    if share <= LARGE_SHARE {
        return BASE_RATIO;
    }
    (BASE_RATIO - (2.0 * share).min(BASE_RATIO - MIN_RATIO)).max(MIN_RATIO)
}

/// Tokens of one chunk.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate; a float cast saturates"
)]
pub fn chunk_tokens(tokens: &[u64], window_tokens: u64) -> u64 {
    let share = (window_tokens as f64 * chunk_ratio(tokens, window_tokens)).floor() as u64;
    share.saturating_sub(OVERHEAD_TOKENS).max(1)
}

/// Divides messages into chunks of at most `max_tokens`, in order and without gaps. A call stays with its results; what
/// is too large by itself is a chunk of its own.
#[must_use]
pub fn chunks(messages: &[Weighed<'_>], max_tokens: u64) -> Vec<Range<usize>> {
    let mut chunks: Vec<Range<usize>> = Vec::new();
    let mut filled = 0u64;
    for unit in units(messages) {
        let cost = cost(&messages[unit.clone()]);
        match chunks.last_mut() {
            Some(chunk) if filled.saturating_add(cost) <= max_tokens => {
                chunk.end = unit.end;
                filled += cost;
            }
            _ => {
                chunks.push(unit);
                filled = cost;
            }
        }
    }
    chunks
}

/// Two parts of about equal tokens, to be summarised apart and then merged; one part when that is not worth it.
#[must_use]
pub fn stages(messages: &[Weighed<'_>], max_tokens: u64) -> Vec<Range<usize>> {
    let whole = || std::iter::once(0..messages.len()).collect();
    let total = cost(messages);
    if messages.len() < MIN_STAGED_MESSAGES || total <= max_tokens {
        return whole();
    }
    let mut first = 0u64;
    let border = units(messages).into_iter().find_map(|unit| {
        let with_unit = first.saturating_add(cost(&messages[unit.clone()]));
        if unit.start > 0 && with_unit > total / 2 {
            return Some(unit.start);
        }
        first = with_unit;
        None
    });
    match border {
        Some(border) => vec![0..border, border..messages.len()],
        None => whole(),
    }
}

/// What is left out when a summariser fails: a note for each message that takes more than half of the window alone.
#[must_use]
pub fn oversized_note(message: Weighed<'_>, window_tokens: u64) -> Option<String> {
    let doubled = u128::from(message.tokens) * 12 / 5;
    (doubled > u128::from(window_tokens)).then(|| {
        format!(
            "[Large {} (~{}K tokens) omitted from summary]",
            message.message.role().name(),
            message.tokens.saturating_add(500) / 1_000
        )
    })
}

fn cost(messages: &[Weighed<'_>]) -> u64 {
    let tokens = messages.iter().map(|message| message.tokens);
    tokens.fold(0, u64::saturating_add)
}

/// What must not be divided: a call with its results, or one message.
fn units(messages: &[Weighed<'_>]) -> Vec<Range<usize>> {
    // Without calls and results each message stands alone.
    if !messages
        .iter()
        .any(|it| it.message.role() == Role::ToolResult)
    {
        return (0..messages.len()).map(|index| index..index + 1).collect();
    }
    let messages: Vec<Message> = messages.iter().map(|it| it.message.clone()).collect();
    groups(&messages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(kind: u8) -> Message {
        let json = match kind {
            0 => r#"{"role":"user","content":"u"}"#,
            1 => {
                r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{}}]}"#
            }
            2 => r#"{"role":"toolResult","toolCallId":"c","content":"r"}"#,
            _ => r#"{"role":"assistant","content":"a"}"#,
        };
        Message::from_json(json).unwrap()
    }

    fn weighed(messages: &[(Message, u64)]) -> Vec<Weighed<'_>> {
        messages
            .iter()
            .map(|(message, tokens)| Weighed {
                message,
                tokens: *tokens,
            })
            .collect()
    }

    #[test]
    fn large_messages_get_smaller_chunks() {
        assert!((chunk_ratio(&[100; 9], 100_000) - 0.4).abs() < 1e-9);
        assert!((chunk_ratio(&[90_000], 100_000) - 0.15).abs() < 1e-9);
        assert!((chunk_ratio(&[9], 0) - 0.4).abs() < 1e-9);
        assert_eq!(chunk_tokens(&[100], 100_000), 40_000 - 4_096);
        assert_eq!(chunk_tokens(&[100], 500), 1);
    }

    #[test]
    fn only_messages_of_half_a_window_are_noted() {
        let user = message(0);
        let note = |tokens| {
            oversized_note(
                Weighed {
                    message: &user,
                    tokens,
                },
                100_000,
            )
        };
        assert_eq!(note(41_000), None);
        assert_eq!(
            note(41_700).as_deref(),
            Some("[Large user (~42K tokens) omitted from summary]")
        );
    }

    proptest! {
        /// Cases P-1 and P-7.
        #[test]
        fn chunks_and_stages_cover_all_once_and_part_no_call_from_its_result(
            kinds in prop::collection::vec((0u8..4, 0u64..400), 0..40),
            max_tokens in 1u64..1000,
        ) {
            let messages: Vec<_> = kinds.iter().map(|(kind, tokens)| (message(*kind), *tokens)).collect();
            let messages = weighed(&messages);
            for parts in [chunks(&messages, max_tokens), stages(&messages, max_tokens)] {
                let covered: Vec<usize> = parts.iter().cloned().flatten().collect();
                prop_assert_eq!(covered, (0..messages.len()).collect::<Vec<_>>());
                for part in parts.iter().filter(|part| part.start > 0) {
                    prop_assert_ne!(messages[part.start].message.role(), Role::ToolResult);
                }
            }
            for chunk in chunks(&messages, max_tokens) {
                let alone = units(&messages[chunk.clone()]).len() == 1;
                prop_assert!(alone || cost(&messages[chunk]) <= max_tokens);
            }
        }
    }
}
