//! What is done when a model says that the context is too large, or takes too long over a large one.

use super::TurnError;
use super::admission::Admitted;
use super::compaction::{Answer, BuiltIn, Need};
use super::open::quarantined;
use crate::compaction::{Trigger, is_request_ceiling, observed_tokens, threshold_tokens};
use crate::desk::Visit;
use crate::history::sum;
use crate::model::{Model, ModelError};
use openclaw_interface::model::CompactParams;

/// Compactions in a row, without an answer of the model between them.
const LIMIT: u32 = 3;
/// Compactions after a timeout in a turn.
const TIMEOUT_LIMIT: u32 = 2;

/// Compactions since the model answered last.
///
/// Source: turn pipeline, "Provider overflow inside a turn".
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overflows {
    made: u32,
    /// Tokens of the request that did not fit before the last of them.
    last_tokens: Option<u64>,
}

impl Overflows {
    /// Lets the engine compact. The turn goes on with what it made of the session, or fails.
    pub(super) fn recover<'h>(
        &mut self,
        mut turn: Box<Admitted<'h>>,
        error: ModelError,
        request_tokens: u64,
        model: &mut dyn Model,
    ) -> Result<Box<Admitted<'h>>, TurnError> {
        if let Some(reason) = self.hopeless(&turn, &error, request_tokens) {
            return Err(turn.turn.give_up(TurnError::Overflow { error, reason }));
        }
        self.made += 1;
        self.last_tokens = Some(request_tokens);
        // The provider has said that it is more than the budget, whatever the host counts.
        let tokens = request_tokens
            .max(observed_tokens(&error.reason).unwrap_or(0))
            .max(turn.facts.budget_tokens.saturating_add(1));
        let need = turn.need(Trigger::Overflow);
        let params =
            turn.turn
                .overflow_params(&turn.facts, need.word(), tokens, (self.made, LIMIT));
        match turn.compact(&params, need, model)? {
            None => Ok(turn),
            // Nothing more to cut the second time.
            Some(_) if turn.truncate_results()? > 0 => Ok(turn),
            Some(reason) => Err(turn.turn.give_up(TurnError::Overflow { error, reason })),
        }
    }

    /// Why another compaction would not help.
    fn hopeless(&self, turn: &Admitted<'_>, error: &ModelError, tokens: u64) -> Option<String> {
        if is_request_ceiling(&error.reason) {
            return Some("the server limits the size of a request, whatever its window".into());
        }
        if !turn.turn.host.compaction().automatic {
            return Some(
                "automatic compaction is off (`agents.defaults.compaction.enabled`); compact by hand with `openclaw sessions compact`"
                    .into(),
            );
        }
        match self.last_tokens {
            Some(last) if tokens >= last => Some(format!(
                "the last compaction brought nothing: the request has about {tokens} tokens, before it had {last}"
            )),
            _ if self.made == LIMIT => Some(format!("it was compacted {LIMIT} times in a row")),
            _ => None,
        }
    }
}

/// Compactions after timeouts.
///
/// Source: turn pipeline, "Timeout recovery".
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timeouts {
    made: u32,
}

impl Timeouts {
    /// Whether one more may help. Its model is asked again at once when it does.
    pub(super) fn may_compact(self, turn: &Admitted<'_>, request_tokens: u64) -> bool {
        self.made < TIMEOUT_LIMIT
            && turn.turn.host.compaction().automatic
            && crate::compaction::timed_out_on_size(request_tokens, turn.facts.budget_tokens)
    }

    /// Lets the engine compact; whether the context got smaller.
    pub(super) fn compact(
        &mut self,
        turn: &mut Admitted<'_>,
        request_tokens: u64,
        model: &mut dyn Model,
    ) -> Result<bool, TurnError> {
        self.made += 1;
        let need = turn.need(Trigger::Timeout);
        let attempt = (self.made, TIMEOUT_LIMIT);
        let params = turn
            .turn
            .overflow_params(&turn.facts, need.word(), request_tokens, attempt);
        Ok(turn.compact(&params, need, model)?.is_none())
    }
}

impl Admitted<'_> {
    /// What a compaction of the running turn is for, in the numbers of the last assembly.
    fn need(&self, trigger: Trigger) -> Need {
        let budget_tokens = threshold_tokens(self.facts.budget_tokens, 0, None);
        let room = match self.turn.record.context.budget_tokens {
            // The fixed part alone took everything.
            0 | 1 => 0,
            for_history => for_history.saturating_add(sum(&self.pending)),
        };
        Need {
            trigger,
            budget_tokens,
            fixed_tokens: budget_tokens.saturating_sub(room),
            turn_position: Some(self.position),
        }
    }

    /// One compaction in mid-turn, with what follows from it. Answers why there was none.
    fn compact(
        &mut self,
        params: &CompactParams,
        need: Need,
        model: &mut dyn Model,
    ) -> Result<Option<String>, TurnError> {
        self.turn.go_on()?;
        let turn = &mut self.turn;
        let engine_id = turn.engine.id().to_owned();
        let cancel = turn.request.cancel.clone();
        let mut built_in = BuiltIn::new(turn.host, &turn.session, model, &cancel, need);
        let Some(asked) = built_in.ask(&mut turn.engine, &turn.session, params) else {
            return Err(turn.give_up(TurnError::Cancelled));
        };
        self.was_folded |= built_in.has_compacted();
        turn.record.compactions.extend(asked.records);
        if let Some(record) = asked.failure {
            turn.substitute(quarantined(record))
                .map_err(|error| turn.give_up(error))?;
        }
        let result = asked.result;
        if !result.compacted {
            let reason = result.reason.unwrap_or_else(|| "it gave no reason".into());
            return Ok(Some(format!(
                "engine `{engine_id}` could not make it smaller: {reason}"
            )));
        }
        let answer = Answer::read(turn.host, &turn.session, &result)
            .map_err(|reason| turn.give_up(TurnError::Successor { engine_id, reason }))?;
        if let Some(successor_id) = answer.successor_id {
            self.move_to(&successor_id)
                .map_err(|error| self.turn.give_up(error.into()))?;
        }
        if result.ok && need.trigger != Trigger::Timeout {
            let visit = Visit::after_commit(&self.turn.session);
            let params = self.turn.in_turn_params(&self.facts, &visit);
            let maintained = self.turn.engine.maintain(&params, visit);
            self.is_served(maintained)?;
        }
        self.read_again()
            .map_err(|error| self.turn.give_up(error))?;
        Ok(None)
    }
}
