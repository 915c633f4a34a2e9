//! When a compaction is worth a move of the window, and what is answered. Knows neither store nor window.

use openclaw_interface::CompactResult;
use openclaw_interface::model::{CompactParams, Compaction};

/// Whether somebody needs a smaller prompt now: the model refused it or timed out on it, or a person asked.
///
/// Hosts say so in `runtimeContext.trigger`. Where they do not, a count above the budget and the target that only
/// people ask for (`threshold`) tell.
pub(crate) fn is_pressing(params: &CompactParams) -> bool {
    let context = params.runtime_context.as_ref();
    let trigger = context.and_then(|context| context.get("trigger")?.as_str());
    match trigger {
        Some(trigger) => ["overflow", "timeout_recovery", "manual"].contains(&trigger),
        None => {
            let is_over = params
                .current_token_count
                .zip(params.token_budget)
                .is_some_and(|(now, budget)| now > budget);
            is_over || params.compaction_target.as_deref() == Some("threshold")
        }
    }
}

/// There is nothing to do. Hosts take "nothing to compact" for a benign answer.
pub(crate) fn skipped(why: &str) -> CompactResult {
    CompactResult {
        ok: true,
        reason: Some(format!("nothing to compact: {why}")),
        ..CompactResult::default()
    }
}

/// The next list is smaller than the last one, which took `tokens_before`.
pub(crate) fn promised(tokens_before: u64) -> CompactResult {
    CompactResult {
        ok: true,
        compacted: true,
        reason: Some("the window moves forward to half of its size".into()),
        result: Some(Compaction {
            tokens_before,
            ..Compaction::default()
        }),
    }
}

/// The move could not be stored.
pub(crate) fn failed(why: &str) -> CompactResult {
    CompactResult {
        reason: Some(format!("the window cannot be moved: {why}")),
        ..CompactResult::default()
    }
}
