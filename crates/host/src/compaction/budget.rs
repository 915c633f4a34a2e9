//! When a context is too large, and what is left for it.

/// Tokens kept free in any case, before the window's share caps them.
const RESERVE_FLOOR_TOKENS: u64 = 20_000;
/// The reserve never takes more than this part of the window.
const RESERVE_SHARE: u64 = 4;

/// Tokens kept free for an answer: at least `asked` and 20,000, at most a quarter of the window.
///
/// Never leaves a window without room. Case L-6.
///
/// Source: compaction, "Configuration and numbers".
#[must_use]
pub fn reserve_tokens(window_tokens: u64, asked: u64) -> u64 {
    asked
        .max(RESERVE_FLOOR_TOKENS)
        .min(window_tokens / RESERVE_SHARE)
}

/// The size from which on a context is compacted before or after a turn.
///
/// - `server_threshold`: from which size the provider compacts by itself, if it does.
#[must_use]
pub fn threshold_tokens(
    window_tokens: u64,
    asked_reserve: u64,
    server_threshold: Option<u64>,
) -> u64 {
    let own = window_tokens - reserve_tokens(window_tokens, asked_reserve);
    own.max(server_threshold.unwrap_or(0))
}

/// Whether a context of this size leaves less than the reserve. A window of 0 is unknown and never too small.
#[must_use]
pub fn should_compact(context_tokens: u64, window_tokens: u64, reserve_tokens: u64) -> bool {
    window_tokens > 0 && context_tokens > window_tokens.saturating_sub(reserve_tokens)
}

/// Whether a model that timed out probably did so because of its prompt: more than 65 % of the budget.
#[must_use]
pub fn timed_out_on_size(prompt_tokens: u64, budget_tokens: u64) -> bool {
    u128::from(prompt_tokens) * 100 > u128::from(budget_tokens) * 65
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases L-6 and L-11.
    #[test]
    fn a_reserve_never_takes_more_than_a_quarter_of_the_window() {
        for (window, asked, expected) in [
            (200_000, 0, 20_000),
            (200_000, 30_000, 30_000),
            (32_000, 0, 8_000),
            (16_000, 20_000, 4_000),
            (1_000, 900, 250),
            (3, 9, 0),
            (0, 9, 0),
            (u64::MAX, u64::MAX, u64::MAX / 4),
        ] {
            assert_eq!(reserve_tokens(window, asked), expected, "{window} {asked}");
            assert!(
                threshold_tokens(window, asked, None) >= window / 2,
                "{window} {asked}"
            );
        }
        assert_eq!(threshold_tokens(32_000, 0, Some(25_000)), 25_000);
        assert_eq!(threshold_tokens(32_000, 0, Some(9)), 24_000);
    }

    #[test]
    fn compaction_is_due_above_the_reserve_only() {
        assert!(!should_compact(750, 1_000, 250));
        assert!(should_compact(751, 1_000, 250));
        assert!(!should_compact(751, 0, 250));
        assert!(should_compact(1, 1_000, 2_000));
    }

    #[test]
    fn a_timeout_counts_as_size_above_65_percent() {
        assert!(!timed_out_on_size(650, 1_000));
        assert!(timed_out_on_size(651, 1_000));
    }
}
