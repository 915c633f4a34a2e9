//! Where a list of messages may be cut, and how much of its end fits.

use std::ops::Range;

/// Whether a list may be cut before the message at `index`: only between groups, and at both ends.
#[must_use]
pub fn is_legal_cut(groups: &[Range<usize>], index: usize) -> bool {
    groups.last().map_or(0, |group| group.end) == index
        || groups
            .binary_search_by_key(&index, |group| group.start)
            .is_ok()
}

/// The newest whole groups that fit: the index of the first group kept, `groups.len()` when not even the last fits.
///
/// - `tokens`: tokens per *message*. A message without a number does not fit.
/// - `budget`: tokens the kept messages may take together.
///
/// Sums saturate. Groups are taken from the end without gaps: a large group ends the search even if smaller ones
/// before it would fit.
#[must_use]
pub fn newest_within(groups: &[Range<usize>], tokens: &[u32], budget: u64) -> usize {
    let mut total = 0u64;
    let fitting = groups.iter().rev().take_while(|group| {
        let cost = tokens.get((*group).clone()).map_or(u64::MAX, |tokens| {
            tokens.iter().copied().map(u64::from).sum()
        });
        total = total.saturating_add(cost);
        total <= budget && cost < u64::MAX
    });
    groups.len() - fitting.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_newest_groups_that_fit_are_kept_whole() {
        let groups = [0..1, 1..4, 4..5];
        for (tokens, budget, expected) in [
            ([10, 10, 10, 10, 10], 50, 0),
            ([10, 10, 10, 10, 10], 49, 1),
            ([10, 10, 10, 10, 10], 39, 2),
            ([10, 10, 10, 10, 10], 9, 3),
            ([1, 99, 99, 99, 1], 100, 2),
            ([0, 0, 0, 0, 0], 0, 0),
            ([u32::MAX; 5], u64::MAX, 0),
        ] {
            assert_eq!(
                newest_within(&groups, &tokens, budget),
                expected,
                "{tokens:?} in {budget}"
            );
        }
    }

    /// Case T-3.
    #[test]
    fn thirty_two_large_messages_do_not_exceed_the_budget() {
        let groups: Vec<_> = (0..32).map(|index| index..index + 1).collect();
        let first = newest_within(&groups, &[12_000; 32], 98_000);
        assert_eq!(groups.len() - first, 8);
    }

    #[test]
    fn a_message_without_a_number_does_not_fit() {
        assert_eq!(newest_within(&[0..1, 1..3], &[1, 1], u64::MAX), 2);
        assert_eq!(newest_within(&[], &[], 0), 0);
    }

    #[test]
    fn cuts_are_legal_between_groups_and_at_the_ends() {
        let legal: Vec<_> = (0..6)
            .filter(|index| is_legal_cut(&[0..1, 1..4, 4..5], *index))
            .collect();
        assert_eq!(legal, [0, 1, 4, 5]);
        assert!(is_legal_cut(&[], 0));
    }

    proptest! {
        #[test]
        fn what_is_kept_fits_and_one_group_more_would_not(
            sizes in prop::collection::vec(1usize..4, 0..12),
            tokens in prop::collection::vec(0u32..1000, 48),
            budget in 0u64..5000,
        ) {
            let mut groups = Vec::new();
            for size in sizes {
                let start = groups.last().map_or(0, |group: &Range<usize>| group.end);
                groups.push(start..start + size);
            }
            let cost = |groups: &[Range<usize>]| -> u64 {
                groups.iter().flat_map(|group| &tokens[group.clone()]).map(|tokens| u64::from(*tokens)).sum()
            };
            let first = newest_within(&groups, &tokens, budget);
            prop_assert!(cost(&groups[first..]) <= budget);
            if first > 0 {
                prop_assert!(cost(&groups[first - 1..]) > budget);
            }
        }
    }
}
