//! What is done when a model says that the context is too large.

use super::TurnError;
use super::admission::Admitted;
use super::compaction::{Answer, not_compacted};
use super::open::quarantined;
use super::params::Maintenance;
use super::record::CompactionRecord;
use crate::guard::Hook;
use crate::model::ModelError;

/// Compactions in a row, without an answer of the model between them.
const LIMIT: u32 = 3;

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
    ) -> Result<Box<Admitted<'h>>, TurnError> {
        let hopeless = match self.last_tokens {
            Some(last) if request_tokens >= last => Some(format!(
                "the last compaction brought nothing: the request has about {request_tokens} tokens, before it had {last}"
            )),
            _ if self.made == LIMIT => Some(format!("it was compacted {LIMIT} times in a row")),
            _ => None,
        };
        if let Some(reason) = hopeless {
            return Err(turn.turn.give_up(TurnError::Overflow { error, reason }));
        }
        self.made += 1;
        self.last_tokens = Some(request_tokens);
        match turn.compact(request_tokens, self.made)? {
            None => Ok(turn),
            Some(reason) => Err(turn.turn.give_up(TurnError::Overflow { error, reason })),
        }
    }
}

impl Admitted<'_> {
    /// One compaction in mid-turn, with what follows from it. Answers why there was none.
    fn compact(&mut self, request_tokens: u64, attempt: u32) -> Result<Option<String>, TurnError> {
        let turn = &mut self.turn;
        turn.go_on()?;
        // The provider has said that it is more than the budget, whatever the host counts.
        let tokens = request_tokens.max(self.facts.budget_tokens.saturating_add(1));
        let params = turn.overflow_params(&self.facts, tokens, (attempt, LIMIT));
        let engine_id = turn.engine.id().to_owned();
        let result = match turn.engine.compact(&params) {
            Hook::Done(result) => result,
            Hook::Absent(error) => not_compacted(error.message),
            Hook::Cancelled => return Err(turn.give_up(TurnError::Cancelled)),
            Hook::Failed(record) => {
                let reason = format!("it failed in compact: {}", record.reason);
                turn.substitute(quarantined(record))
                    .map_err(|error| turn.give_up(error))?;
                not_compacted(reason)
            }
        };
        turn.record
            .compactions
            .push(CompactionRecord::new(&engine_id, &result));
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
        if result.ok {
            let params = self.turn.maintain_params(&self.facts, Maintenance::InTurn);
            let maintained = self.turn.engine.maintain(&params);
            self.is_served(maintained)?;
        }
        self.read_again()
            .map_err(|error| self.turn.give_up(error))?;
        Ok(None)
    }
}
