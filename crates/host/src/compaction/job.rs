//! The part of a compaction in which a summariser is asked: drafts, checks, and the final text.

use super::audit::{AuditInput, Flaw, audit, feedback};
use super::compose::{Behind, Required, compose, failures, recent_turns};
use super::draft::{Draft, improved, summarise_history, summarise_turn_prefix};
use super::facts;
use super::focus::focus_block;
use super::input::CompactionInput;
use super::outcome::{Compacted, CompactionDetails, CompactionErrorKind, Outcome, Skip};
use super::plan::Plan;
use super::prepare::Prepared;
use super::real::is_worth_telling;
use super::run::Run;
use super::settings::{CompactionRequest, CompactionSettings, CompactionWorld};
use super::structure::{SUMMARY_UNITS, structured_fallback};
use super::summariser::SummaryError;
use super::text::units;

/// Tokens a summary may always have, as far as that is less than its source.
const LEAST_SUMMARY_TOKENS: u64 = 256;
/// How often a text is cut again to meet its limit in tokens.
const CUTS: usize = 8;

/// What was decided, and what it has to be done with.
pub(super) struct Job<'a> {
    pub(super) input: &'a CompactionInput,
    pub(super) prepared: Prepared<'a>,
    pub(super) settings: &'a CompactionSettings,
    pub(super) request: &'a CompactionRequest<'a>,
    pub(super) world: &'a CompactionWorld<'a>,
    pub(super) room: u64,
}

impl Job<'_> {
    /// Asks for summaries, checks them, and gives what to write.
    pub(super) fn run(&self, run: &mut Run<'_>) -> Result<Outcome, CompactionErrorKind> {
        let prepared = &self.prepared;
        let (draft, turn_prefix) =
            self.summaries(run)
                .map_err(|error| CompactionErrorKind::NoSummary {
                    error,
                    requests: run.requests,
                })?;
        let files = facts::files(self.input, prepared);
        let behind = if draft.is_none() && turn_prefix.is_none() {
            // The earlier summary stands as it is, with what is behind it.
            Behind::default()
        } else {
            Behind {
                turn_prefix,
                recent_turns: recent_turns(&prepared.history, self.settings.recent_turns),
                failures: failures(prepared.folded()),
                notes: draft
                    .as_ref()
                    .map(|draft| draft.notes.clone())
                    .unwrap_or_default(),
                files: files.tags(),
            }
        };
        let identifiers = match self.settings.strict_identifiers {
            true => facts::newest_identifiers(prepared),
            false => Vec::new(),
        };
        let ask = facts::latest_ask(self.input, prepared);
        let required = Required {
            ask: ask.as_deref(),
            identifiers: &identifiers,
        };
        let body = self.accepted(run, draft, &behind, &required)?;
        let summary = match self.fitted(&body, behind, &required) {
            Ok(summary) => summary,
            Err(tokens) => return Ok(Outcome::Skipped(self.no_gain(tokens))),
        };
        let summary_tokens = (self.world.count_tokens)(&summary);
        let after = summary_tokens.saturating_add(prepared.kept_tokens);
        Ok(Outcome::Compacted(Box::new(Compacted {
            summary,
            first_kept_entry_id: prepared.first_kept_entry_id.map(str::to_owned),
            tokens_before: prepared
                .tokens_before
                .saturating_add(self.request.fixed_tokens),
            tokens_after: after.saturating_add(self.request.fixed_tokens),
            details: CompactionDetails {
                files,
                latest_unresolved_user_request: self
                    .request
                    .pending_entry_id
                    .and_then(|id| facts::pending_request(self.input, id)),
            },
            folded_messages: prepared.folded().count(),
            extractive: run.summariser.is_extractive() && run.requests > 0,
        })))
    }

    fn no_gain(&self, summary_tokens: u64) -> Skip {
        let fixed = self.request.fixed_tokens;
        let after = summary_tokens.saturating_add(self.prepared.kept_tokens);
        Skip::NothingToGain {
            before_tokens: self.input.tokens().saturating_add(fixed),
            after_tokens: after.saturating_add(fixed),
        }
    }

    /// The summaries of whole turns and of a turn's start, as far as there is something to tell.
    fn summaries(
        &self,
        run: &mut Run<'_>,
    ) -> Result<(Option<Draft>, Option<String>), SummaryError> {
        let prepared = &self.prepared;
        if !is_worth_telling(&prepared.folded().collect::<Vec<_>>()) {
            return Ok((None, None));
        }
        let focus = self.request.focus.and_then(focus_block);
        let plan = Plan::new(
            run,
            self.allowed_tokens(),
            focus.as_deref(),
            self.settings.strict_identifiers,
        );
        let previous = prepared.previous_summary;
        if prepared.history.is_empty() && previous.is_some() {
            // Beside the earlier summary a second one would grow with every compaction of a long turn.
            let draft = summarise_history(run, &plan, &prepared.turn_prefix, previous)?;
            return Ok((draft, None));
        }
        let draft = summarise_history(run, &plan, &prepared.history, previous)?;
        let prefix = summarise_turn_prefix(run, &plan, &prepared.turn_prefix)?;
        Ok((draft, prefix))
    }

    /// The final text, whatever its length; asks again while it fails its checks.
    fn accepted(
        &self,
        run: &mut Run<'_>,
        mut draft: Option<Draft>,
        behind: &Behind,
        required: &Required<'_>,
    ) -> Result<String, CompactionErrorKind> {
        for attempt in 1.. {
            // Nothing new was told: what was known stays. Case S-1.
            let body = draft.as_ref().map_or_else(
                || structured_fallback(self.prepared.previous_summary),
                |draft| draft.text.clone(),
            );
            let text = compose(&body, behind, required, SUMMARY_UNITS);
            let sources = draft.iter().flat_map(|draft| &draft.sources);
            let sources: Vec<&str> = sources.map(String::as_str).collect();
            let flaws = self.flaws(&text, &body, &sources, required);
            if flaws.is_empty() {
                return Ok(body);
            }
            draft = match draft.take() {
                Some(draft) if attempt < self.settings.attempts() => {
                    Some(improved(run, draft, &feedback(&flaws)).map_err(|error| {
                        CompactionErrorKind::NoSummary {
                            error,
                            requests: run.requests,
                        }
                    })?)
                }
                _ => {
                    return Err(CompactionErrorKind::Refused {
                        flaws,
                        attempts: attempt,
                    });
                }
            };
        }
        unreachable!("the last attempt returns")
    }

    /// The final text, smaller than what it stands for, or how many tokens it would have: what a limit cuts off a good summary is no
    /// fault of the summariser.
    fn fitted(&self, body: &str, behind: Behind, required: &Required<'_>) -> Result<String, u64> {
        let whole = compose(body, &behind, required, SUMMARY_UNITS);
        let allowed = self.allowed_tokens();
        let tokens = |text: &str| (self.world.count_tokens)(text);
        if tokens(&whole) <= allowed {
            return Ok(whole);
        }
        // Quotes go first: what they say was summarised too.
        let behind = behind.without_quotes();
        let mut max = SUMMARY_UNITS;
        let mut text = compose(body, &behind, required, max);
        for _ in 0..CUTS {
            let size = tokens(&text);
            if size <= allowed {
                break;
            }
            let units = units(&text).min(max) as u64;
            let next = units.saturating_mul(allowed) / size.max(1);
            max = usize::try_from(next)
                .unwrap_or(max)
                .min(max.saturating_sub(1));
            text = compose(body, &behind, required, max);
        }
        if tokens(&text) <= allowed && self.flaws(&text, body, &[], required).is_empty() {
            Ok(text)
        } else {
            Err(tokens(&whole))
        }
    }

    fn flaws(
        &self,
        text: &str,
        body: &str,
        sources: &[&str],
        required: &Required<'_>,
    ) -> Vec<Flaw> {
        if !self.settings.audit {
            return Vec::new();
        }
        audit(&AuditInput {
            structural: text,
            summary: body,
            sources,
            identifiers: required.identifiers,
            latest_ask: required.ask,
            unresolved_ask: None,
        })
    }

    /// Tokens the summary may have: what the budget leaves, and always less than its source. Case S-2.
    fn allowed_tokens(&self) -> u64 {
        let previous = self
            .input
            .previous
            .as_ref()
            .map_or(0, |previous| previous.tokens);
        let source = self.prepared.folded_tokens().saturating_add(previous);
        let left = self.room.saturating_sub(self.prepared.kept_tokens);
        left.max(LEAST_SUMMARY_TOKENS).min(source.saturating_sub(1))
    }
}
