//! One compaction, from the path to the row: decide, summarise, check, and only then hand out something to write.

use openclaw_transcript::{Message, Role, said};

use super::ask;
use super::audit::{AuditInput, Flaw, audit, feedback};
use super::compose::{Behind, Required, compose, failures, recent_turns};
use super::conversation::joined;
use super::files::FileLists;
use super::focus::focus_block;
use super::history::{Draft, Plan, improved, summarise_history, summarise_turn_prefix};
use super::identifiers::{KEPT_IDENTIFIERS, identifiers};
use super::input::CompactionInput;
use super::outcome::{
    Compacted, CompactionDetails, CompactionError, CompactionErrorKind, Outcome, Skip,
};
use super::prepare::{PrepareSettings, Prepared, prepare};
use super::real::holds_conversation;
use super::run::Run;
use super::settings::{CompactionRequest, CompactionSettings, CompactionWorld, Trigger};
use super::structure::{SUMMARY_UNITS, structured_fallback};
use super::summariser::{Summariser, SummaryError};
use super::text::units;

/// Messages at the end of what is folded whose identifiers a summary is held to.
const IDENTIFIER_MESSAGES: usize = 10;
/// Tokens a summary may always have, as far as that is less than its source.
const LEAST_SUMMARY_TOKENS: u64 = 256;
/// How often a text is cut again to meet its limit in tokens.
const CUTS: usize = 8;
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

/// Whether messages hold conversation, or work of tools that was started by some.
fn is_worth_telling(messages: &[&Message]) -> bool {
    holds_conversation(messages) || messages.iter().any(|it| it.role() == Role::ToolResult)
}

struct Job<'a> {
    input: &'a CompactionInput,
    prepared: Prepared<'a>,
    settings: &'a CompactionSettings,
    request: &'a CompactionRequest<'a>,
    world: &'a CompactionWorld<'a>,
    room: u64,
}

impl Job<'_> {
    fn run(&self, run: &mut Run<'_>) -> Result<Outcome, CompactionErrorKind> {
        let prepared = &self.prepared;
        let (draft, turn_prefix) =
            self.summaries(run)
                .map_err(|error| CompactionErrorKind::NoSummary {
                    error,
                    requests: run.requests,
                })?;
        let files = self.files();
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
        let (identifiers, ask) = (self.identifiers(), self.latest_ask());
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
        if after >= self.input.tokens() {
            return Ok(Outcome::Skipped(self.no_gain(summary_tokens)));
        }
        Ok(Outcome::Compacted(Box::new(Compacted {
            summary,
            first_kept_entry_id: prepared.first_kept_entry_id.map(str::to_owned),
            tokens_before: prepared
                .tokens_before
                .saturating_add(self.request.fixed_tokens),
            tokens_after: after.saturating_add(self.request.fixed_tokens),
            details: CompactionDetails {
                files,
                latest_unresolved_user_request: self.pending_request(),
            },
            folded_messages: prepared.folded().count(),
            extractive: run.summariser.is_extractive(),
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

    /// The final text within its limits, or how many tokens it would have: what a limit cuts off a good summary is no
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

    fn files(&self) -> FileLists {
        let previous = self.input.previous.as_ref();
        let mut files = previous
            .map(|previous| previous.files.clone())
            .unwrap_or_default();
        self.prepared
            .folded()
            .for_each(|message| files.add(message));
        files.settled()
    }

    /// The newest identifiers of what is folded.
    fn identifiers(&self) -> Vec<String> {
        if !self.settings.strict_identifiers {
            return Vec::new();
        }
        let folded: Vec<&Message> = self.prepared.folded().collect();
        let mut found: Vec<String> = Vec::new();
        for message in folded.iter().rev().take(IDENTIFIER_MESSAGES) {
            for identifier in identifiers(&joined(&said(message))) {
                if found.len() < KEPT_IDENTIFIERS && !found.contains(&identifier) {
                    found.push(identifier);
                }
            }
        }
        found
    }

    /// The latest request, when it is not in the kept end word for word. Case S-4.
    fn latest_ask(&self) -> Option<String> {
        let first_kept = self.prepared.cut.first_kept - self.input.offset;
        let is_user = |message: &Message| message.role() == Role::User;
        let kept = &self.input.entries[first_kept..];
        if kept.iter().filter_map(|entry| entry.message()).any(is_user) {
            return None;
        }
        let folded: Vec<&Message> = self.prepared.folded().collect();
        let asks = folded.iter().rev().filter(|message| is_user(message));
        asks.map(|message| joined(&said(message)))
            .find(|text| !text.trim().is_empty())
    }

    fn pending_request(&self) -> Option<String> {
        let at = self.input.place_of(self.request.pending_entry_id?)?;
        let text = joined(&said(self.input.entries[at].message()?));
        (!text.trim().is_empty()).then(|| ask::repeated(&text))
    }
}
