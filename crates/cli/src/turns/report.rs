//! What is said about a turn on stderr.

use crate::output::Output;
use openclaw_host::{CommitOutcome, CompactionRecord, Retry, Scope, TurnOutcome, TurnRecord};

/// Says on stderr which engine served and what it did.
pub(super) fn report(outcome: &TurnOutcome, output: &mut Output) {
    let record = &outcome.record;
    if outcome.is_repeat {
        output.talk(
            "this turn was answered before; the stored reply is shown and nothing was done twice",
        );
    }
    for commit in &record.recovered_commits {
        output.talk(&format!(
            "earlier turn {}: {}",
            commit.turn_id,
            commit_words(&commit.outcome)
        ));
    }
    if let Some(substitution) = &record.substitution {
        let (asked, served) = (&record.asked.engine_id, &record.served.engine_id);
        let at = substitution
            .location
            .as_ref()
            .map(|location| format!(" at {location}"))
            .unwrap_or_default();
        let scope = match substitution.scope {
            Scope::Degraded => "this turn only; the next one tries it again",
            Scope::Quarantined => "quarantined for this process",
        };
        output.warning(&format!(
            "{served} served instead of {asked}: {} failed: {}{at} ({scope})",
            substitution.operation, substitution.reason
        ));
        output.help("`openclaw doctor` shows what is known of it");
    }
    for mend in &record.mends {
        output.talk(&format!("mended: {mend}"));
    }
    if !outcome.is_repeat {
        output.talk(&summary(record));
    }
}

/// Says on stderr that a request is made again, as it happens.
pub(super) fn retry(retry: &Retry, output: &mut Output) {
    let (provider, model) = (&retry.next.provider, &retry.next.id);
    let next = if retry.is_fallback {
        format!("{provider}/{model} is asked instead")
    } else {
        format!("it is asked again in {} s", retry.wait.as_secs_f32())
    };
    let again = if retry.was_streaming {
        "; the answer starts over"
    } else {
        ""
    };
    output.warning(&format!("{}; {next}{again}", retry.reason));
}

/// The exit line: who served, how much of the history, what became of the commit.
fn summary(record: &TurnRecord) -> String {
    let served = match &record.served.version {
        Some(version) => format!("{} {version}", record.served.engine_id),
        None => record.served.engine_id.clone(),
    };
    let sizes = &record.context;
    format!(
        "engine {served} · {} of {} messages · {} of {} tokens (budget {}) · commit {} · model {}/{}",
        sizes.assembled_messages,
        sizes.history_messages,
        sizes.assembled_tokens,
        sizes.history_tokens,
        sizes.budget_tokens,
        commit_words(&record.commit),
        record.model.provider,
        record.model.id,
    )
}

fn commit_words(outcome: &CommitOutcome) -> String {
    match outcome {
        CommitOutcome::NotOwed => "not needed".into(),
        CommitOutcome::Committed => "acknowledged".into(),
        CommitOutcome::Duplicate => "acknowledged as a duplicate".into(),
        CommitOutcome::Queued { reason } => format!("waits in the outbox ({reason})"),
    }
}

/// Says how much smaller the context is.
pub(super) fn compacted(record: &CompactionRecord, output: &mut Output) {
    if let (Some(before), Some(after)) = (record.tokens_before, record.tokens_after) {
        output.talk(&format!("compacted: {before} -> {after} tokens"));
    }
}
