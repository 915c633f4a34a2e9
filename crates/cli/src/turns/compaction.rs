//! Compaction on behalf of a command: the settings, a request by a person, and what is said about it.

use super::Turns;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use openclaw_host::compaction::{CompactionPolicy, CompactionSettings};
use openclaw_host::{CompactOutcome, CompactRequest};
use serde_json::{Value, json};
use std::time::Duration;

/// The settings under `agents.defaults.compaction`, with the host's own values where nothing is written.
pub(super) fn policy(context: &Context) -> Result<CompactionPolicy, CliError> {
    let written = context.config()?.compaction()?;
    let own = CompactionPolicy::default();
    let settings = own.settings;
    Ok(CompactionPolicy {
        automatic: written.enabled.unwrap_or(own.automatic),
        max_active_bytes: written.max_active_bytes.unwrap_or(own.max_active_bytes),
        settings: CompactionSettings {
            keep_recent_tokens: written
                .keep_recent_tokens
                .unwrap_or(settings.keep_recent_tokens),
            recent_turns: written.recent_turns.unwrap_or(settings.recent_turns),
            strict_identifiers: written
                .strict_identifiers
                .unwrap_or(settings.strict_identifiers),
            audit: written.quality_guard.unwrap_or(settings.audit),
            max_retries: written.max_retries.unwrap_or(settings.max_retries),
            timeout: written
                .timeout_seconds
                .map_or(settings.timeout, Duration::from_secs),
        },
    })
}

impl Turns {
    /// Compacts a session because a person asked for it, and says what came of it. A session that is left as it is is no
    /// failure.
    pub(crate) fn compact(
        &mut self,
        session: &str,
        focus: Option<&str>,
        output: &mut Output,
    ) -> Result<CompactOutcome, CliError> {
        let request = CompactRequest {
            session: session.to_owned(),
            instructions: focus.map(str::to_owned),
            context_tokens: self.chosen.context_tokens,
            ..CompactRequest::default()
        };
        let outcome = self.host.compact(&request, self.chosen.model.as_mut())?;
        if !outcome.compacted && !outcome.is_skipped {
            let reason = outcome.reason.as_deref().unwrap_or("it gave no reason");
            return Err(CliError::new(
                format!("engine {} did not compact: {reason}", outcome.engine_id),
                "the history is kept as it is; try again, or with another --model",
            ));
        }
        output.talk(&said(&outcome));
        Ok(outcome)
    }
}

fn said(outcome: &CompactOutcome) -> String {
    if outcome.is_skipped {
        let reason = outcome.reason.as_deref().unwrap_or("nothing to do");
        return format!("compaction skipped: {reason}");
    }
    let tokens = match (outcome.tokens_before, outcome.tokens_after) {
        (Some(before), Some(after)) => format!(" ({before} -> {after} tokens)"),
        _ => String::new(),
    };
    let by = match outcome.summariser.as_deref() {
        Some("extractive") => ", by an extract, without a model".to_owned(),
        Some(model) => format!(", summary by {model}"),
        None => String::new(),
    };
    format!("compacted{tokens} by engine {}{by}", outcome.engine_id)
}

/// What came of a compaction, as a document.
pub(crate) fn document(outcome: &CompactOutcome) -> Value {
    json!({
        "ok": true,
        "engineId": outcome.engine_id,
        "compacted": outcome.compacted,
        "reason": outcome.reason,
        "tokensBefore": outcome.tokens_before,
        "tokensAfter": outcome.tokens_after,
        "summariser": outcome.summariser,
        "sessionId": outcome.session_id,
    })
}
