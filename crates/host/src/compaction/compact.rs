//! One compaction, from the path to the row: decide, summarise, check, and only then hand out something to write.

use openclaw_transcript::Message;

use super::input::CompactionInput;
use super::job::Job;
use super::outcome::{CompactionError, CompactionErrorKind, Outcome, Skip};
use super::prepare::{PrepareSettings, Prepared, prepare};
use super::real::is_worth_telling;
use super::run::Run;
use super::settings::{CompactionRequest, CompactionSettings, CompactionWorld, Trigger};
use super::structure::structured_fallback;
use super::summariser::{Summariser, SummaryError};

/// What a summary adds at least, as one part in so many of what it folds.
const SUMMARY_SHARE: u64 = 10;
const LEAST_ADDED_TOKENS: u64 = 20;

/// Folds the older part of a path into a summary.
///
/// Changes nothing: what to append comes back as [`Outcome::Compacted`], and only when the context gets smaller by it.
/// Every message between the last summary and the kept end is given to the summariser once. Blocks until the summariser
/// has answered, at most its time limit for each request; a summariser that does not poll its request cannot be
/// interrupted.
///
/// # Errors
///
/// No summary came, it failed its checks, or none could be small enough. The transcript is as before.
///
/// Source: compaction; cases I-7, I-10, L-4, L-7, L-8, L-10, S-1, S-2, S-4.
pub fn compact(
    input: &CompactionInput,
    summariser: &mut dyn Summariser,
    settings: &CompactionSettings,
    request: &CompactionRequest<'_>,
    world: &CompactionWorld<'_>,
) -> Result<Outcome, CompactionError> {
    if (world.is_cancelled)() {
        return Ok(Outcome::Cancelled);
    }
    if request.last_without_gain == Some(&input.key()) {
        return Ok(Outcome::Skipped(Skip::Unchanged));
    }
    let Some(room) = request
        .budget_tokens
        .checked_sub(request.fixed_tokens)
        .filter(|room| *room > 0)
    else {
        return Err(CompactionError {
            kind: CompactionErrorKind::NoRoom {
                fixed_tokens: request.fixed_tokens,
                budget_tokens: request.budget_tokens,
            },
        });
    };
    let prepared = match checked(input, settings, request, world, room) {
        Ok(prepared) => prepared,
        Err(skip) => return Ok(Outcome::Skipped(skip)),
    };
    let mut run = Run {
        summariser,
        world,
        timeout: settings.timeout,
        requests: 0,
    };
    let job = Job {
        input,
        prepared,
        settings,
        request,
        world,
        room,
    };
    match job.run(&mut run) {
        Ok(outcome) => Ok(outcome),
        Err(CompactionErrorKind::NoSummary {
            error: SummaryError::Cancelled,
            ..
        }) => Ok(Outcome::Cancelled),
        Err(kind) => Err(CompactionError { kind }),
    }
}

/// What will be folded, when that is worth a request.
fn checked<'a>(
    input: &'a CompactionInput,
    settings: &CompactionSettings,
    request: &CompactionRequest<'_>,
    world: &CompactionWorld<'_>,
    room: u64,
) -> Result<Prepared<'a>, Skip> {
    let prepared = prepare(
        input,
        &PrepareSettings {
            keep_recent_tokens: settings.keep_recent_tokens,
            room_tokens: Some(room),
            // The fixed part is not on the path.
            known_tokens: request
                .known_tokens
                .map(|known| known.saturating_sub(request.fixed_tokens)),
            keep_from_id: request.pending_entry_id,
            force: request.trigger != Trigger::Budget,
        },
    )?;
    let folded: Vec<&Message> = prepared.folded().collect();
    if request.trigger == Trigger::Manual && !is_worth_telling(&folded) {
        return Err(Skip::NoConversation {
            messages: folded.len(),
        });
    }
    let skeleton = (world.count_tokens)(&structured_fallback(None));
    let added = (prepared.folded_tokens() / SUMMARY_SHARE).max(LEAST_ADDED_TOKENS);
    let previous = input
        .previous
        .as_ref()
        .map_or(0, |previous| previous.tokens);
    let least = skeleton.max(if previous > 0 {
        previous.saturating_add(added)
    } else {
        0
    });
    let after = prepared.kept_tokens.saturating_add(least);
    let before = input.tokens();
    if after >= before {
        return Err(Skip::NothingToGain {
            before_tokens: before.saturating_add(request.fixed_tokens),
            after_tokens: after.saturating_add(request.fixed_tokens),
        });
    }
    Ok(prepared)
}
