//! How much of a history is dropped before it is summarised, so that the new part has room.

use std::ops::Range;

use crate::group::groups;
use crate::message::Message;

/// The oldest messages that make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryShare {
    /// How many messages from the start are dropped.
    pub dropped_messages: usize,
    /// In how many steps.
    pub dropped_chunks: usize,
    /// What the rest may take at most.
    pub budget_tokens: u64,
}

/// How much of a history gives way when what is new takes more than its share of the window: half by half, oldest first,
/// until the rest fits into half the window. Calls and their results are never separated.
///
/// - `tokens`: the tokens of each message.
/// - `tokens_before`: the tokens of the whole context, what is new included.
/// - returns `None` when what is new has room enough.
///
/// Source: compaction, "History prune"; case P-1.
#[must_use]
pub fn history_share(
    messages: &[Message],
    tokens: &[u64],
    tokens_before: u64,
    window_tokens: u64,
) -> Option<HistoryShare> {
    let history = tokens.iter().copied().fold(0, u64::saturating_add);
    // 1.2 times half the window: estimates may be a fifth too low.
    let room = u64::try_from(u128::from(window_tokens) * 6 / 10).unwrap_or(u64::MAX);
    if tokens_before.saturating_sub(history) <= room {
        return None;
    }
    let budget_tokens = window_tokens / 2;
    let groups = groups(messages);
    let cost = |group: &Range<usize>| -> u64 {
        tokens
            .get(group.clone())
            .unwrap_or_default()
            .iter()
            .copied()
            .fold(0, u64::saturating_add)
    };
    let (mut left, mut first, mut chunks) = (history, 0, 0);
    while left > budget_tokens && first < groups.len() {
        let (mut chunk, mut end) = (0_u64, first);
        while end < groups.len() {
            let next = cost(&groups[end]);
            let too_much = chunk.saturating_add(next).saturating_mul(2) > left;
            if end > first && too_much {
                break;
            }
            chunk = chunk.saturating_add(next);
            end += 1;
        }
        if end == groups.len() {
            break;
        }
        left = left.saturating_sub(chunk);
        first = end;
        chunks += 1;
    }
    let dropped_messages = groups.get(first).map_or(0, |group| group.start);
    Some(HistoryShare {
        dropped_messages,
        dropped_chunks: chunks,
        budget_tokens,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::tests::{call, result, say};
    use proptest::prelude::*;

    #[test]
    fn the_oldest_half_gives_way_until_the_rest_fits() {
        let messages = [
            say("user", "a"),
            say("assistant", "b"),
            say("user", "c"),
            say("assistant", "d"),
        ];
        let share = |before, window| {
            history_share(&messages, &[2000; 4], before, window)
                .map(|share| (share.dropped_messages, share.dropped_chunks))
        };
        assert_eq!(share(14_000, 8000), Some((2, 1)));
        assert_eq!(share(12_800, 8000), None);
        assert_eq!(share(14_000, 4000), Some((3, 2)));
        assert_eq!(share(0, 8000), None);
        assert_eq!(
            history_share(&[], &[], 9000, 8000).map(|share| share.dropped_messages),
            Some(0)
        );
    }

    /// Case P-1.
    #[test]
    fn a_call_and_its_result_give_way_together() {
        let messages = [
            say("user", "a"),
            call(&["t"]),
            result("t"),
            say("user", "b"),
        ];
        let share = history_share(&messages, &[10, 10, 4000, 10], 9000, 6000).unwrap();
        assert_eq!((share.dropped_messages, share.dropped_chunks), (3, 2));
    }

    proptest! {
        #[test]
        fn the_rest_fits_or_is_a_single_group(tokens in proptest::collection::vec(0_u64..5000, 0..40), window in 0_u64..20_000) {
            let messages: Vec<_> = tokens.iter().map(|_| say("user", "x")).collect();
            let history: u64 = tokens.iter().sum();
            let share = history_share(&messages, &tokens, history + window, window).map(|share| share.dropped_messages);
            let left: u64 = tokens[share.unwrap_or(0)..].iter().sum();
            let alone = tokens.len() - share.unwrap_or(0) <= 1;
            prop_assert!(share.is_none() || alone || left <= window / 2);
        }
    }
}
