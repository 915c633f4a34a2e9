//! What a user is told about a compaction, in one line.

use super::outcome::{CompactionError, Outcome};

/// The line for a user.
///
/// - `tokens`: writes a number of tokens in the form the user sees elsewhere.
#[must_use]
pub fn notice(
    outcome: &Result<Outcome, CompactionError>,
    tokens: &dyn Fn(u64) -> String,
) -> String {
    match outcome {
        Ok(Outcome::Compacted(done)) => {
            let how = if done.extractive {
                ", extractive: no model was asked"
            } else {
                ""
            };
            format!(
                "Compacted ({} → {}{how})",
                tokens(done.tokens_before),
                tokens(done.tokens_after)
            )
        }
        Ok(Outcome::Skipped(skip)) => format!("Compaction skipped: {skip}"),
        Ok(Outcome::Cancelled) => "Compaction cancelled; the history is kept as it is".to_owned(),
        Err(error) => format!(
            "Compaction failed: {}. To go on: {}",
            error.kind,
            error.help()
        ),
    }
}

/// The line while a compaction runs, for users who want notices.
#[must_use]
pub fn started_notice() -> &'static str {
    "Compacting the conversation..."
}
