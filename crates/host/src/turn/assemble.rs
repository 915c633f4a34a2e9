//! Lets the engine build what the model gets, and checks it.

use super::TurnError;
use super::admission::Admitted;
use super::open::quarantined;
use super::params::Maintenance;
use super::record::ContextSizes;
use crate::check::{Answer, Checked, check};
use crate::guard::Hook;
use crate::history::{Held, History, sum};
use crate::model::ToolSpec;
use crate::store::StoreError;
use crate::tokens::TokenCounter;
use openclaw_interface::Message;
use openclaw_interface::model::AssembleParams;
use std::sync::Arc;

/// Tokens kept free for the answer, where the window allows it.
const RESERVE_TOKENS: u64 = 20_000;

/// A turn with what the model gets.
pub(super) struct Assembled<'h> {
    pub(super) admitted: Box<Admitted<'h>>,
    /// The history as the model gets it.
    pub(super) view: Vec<Held>,
    pub(super) system_prompt: String,
}

impl<'h> Admitted<'h> {
    /// Bootstrap, maintain, assemble, check. A failure on the way puts the built-in engine in the engine's place.
    pub(super) fn assemble(
        mut self: Box<Self>,
        tools: &[ToolSpec],
    ) -> Result<Assembled<'h>, TurnError> {
        self.turn.go_on()?;
        let history = self.history()?;
        let budget_tokens = self.history_budget(tools);
        self.turn.record.history_mends = history.mends();
        self.prepare_engine()?;
        let names = tools.iter().map(|tool| tool.name.clone()).collect();
        let params = self.turn.assemble_params(&self.facts, budget_tokens, names);
        let checked = self.assembly(history.messages(), budget_tokens, &params)?;
        self.turn.record.context = ContextSizes {
            history_messages: history.messages().len(),
            history_tokens: sum(history.messages()),
            budget_tokens,
            assembled_messages: checked.messages.len(),
            assembled_tokens: checked.tokens,
            has_prompt_addition: checked.addition.is_some(),
        };
        self.turn.record.mends.extend(checked.mends);
        let system_prompt = self
            .turn
            .request
            .system_prompt
            .with_addition(checked.addition.as_deref());
        Ok(Assembled {
            system_prompt,
            view: checked.messages,
            admitted: self,
        })
    }

    /// What history and prompt addition may take: the window without the reserve and without what is fixed.
    ///
    /// Source: context engine contract, "assemble"; compaction, "Prompt check".
    fn history_budget(&mut self, tools: &[ToolSpec]) -> u64 {
        let window = self.facts.budget_tokens;
        let usable = window.saturating_sub(RESERVE_TOKENS.min(window / 4)).max(1);
        let prompt = &self.turn.request.system_prompt;
        let schemas: u64 = tools
            .iter()
            .map(|tool| {
                TokenCounter.text(&format!(
                    "{} {} {}",
                    tool.name, tool.description, tool.parameters
                ))
            })
            .sum();
        let fixed =
            TokenCounter.text(&prompt.stable) + TokenCounter.text(&prompt.dynamic) + schemas;
        let fixed = fixed.saturating_add(sum(&self.pending));
        // The factor covers what providers add around each part.
        let fixed = fixed.saturating_mul(12).div_ceil(10);
        if fixed >= usable {
            self.turn.record.mends.push(format!(
                "system prompt, tools and message take about {fixed} of {usable} tokens: there is no room for history"
            ));
        }
        usable.saturating_sub(fixed).max(1)
    }

    /// The history before the turn. Reads what is new.
    fn history(&self) -> Result<Arc<History>, StoreError> {
        let (host, session) = (self.turn.host, &self.turn.session);
        host.histories()
            .before(&host.store(), session, self.place.position)
    }

    fn prepare_engine(&mut self) -> Result<(), TurnError> {
        if self.place.messages_before == 0 || self.turn.engine.is_legacy() {
            return Ok(());
        }
        let params = self.turn.bootstrap_params(&self.facts);
        let bootstrapped = self.turn.engine.bootstrap(&params);
        if !self.is_served(bootstrapped)? {
            return Ok(());
        }
        let params = self.turn.maintain_params(&self.facts, Maintenance::InTurn);
        let maintained = self.turn.engine.maintain(&params);
        self.is_served(maintained).map(drop)
    }

    /// What a hook's end means for the turn: whether the engine still serves it.
    pub(super) fn is_served<T>(&mut self, hook: Hook<T>) -> Result<bool, TurnError> {
        match hook {
            Hook::Done(_) | Hook::Absent(_) => Ok(true),
            Hook::Cancelled => Err(self.turn.give_up(TurnError::Cancelled)),
            Hook::Failed(record) => {
                let substituted = self.turn.substitute(quarantined(record));
                substituted.map_err(|error| self.turn.give_up(error))?;
                Ok(false)
            }
        }
    }

    /// For an engine that owns compaction: assembles again ahead of a model request, with the history before the turn
    /// and what the messages behind it leave of the budget. An addition to the system prompt is not looked at.
    ///
    /// Source: turn pipeline, "Step 13/14: model requests".
    pub(super) fn view_for_request(
        &mut self,
        view: &mut Vec<Held>,
        tools: &[ToolSpec],
    ) -> Result<(), TurnError> {
        if !self.turn.engine.identity.owns_compaction {
            return Ok(());
        }
        let history = self.history()?;
        let budget_tokens = self
            .facts
            .budget_tokens
            .saturating_sub(sum(&self.pending))
            .max(1);
        let names = tools.iter().map(|tool| tool.name.clone()).collect();
        let limit = self.facts.budget_tokens;
        let params = self.turn.assemble_params(&self.facts, limit, names);
        let checked = self.assembly(history.messages(), budget_tokens, &params)?;
        self.turn.record.mends.extend(checked.mends);
        *view = checked.messages;
        Ok(())
    }

    /// The engine's answer, checked; the built-in engine's when that fails.
    fn assembly(
        &mut self,
        history: &[Held],
        budget_tokens: u64,
        params: &AssembleParams,
    ) -> Result<Checked, TurnError> {
        let views: Vec<Message<'_>> = history.iter().map(Held::view).collect();
        loop {
            let answer = self
                .turn
                .engine
                .assemble(&views, Some(budget_tokens), params, |view| {
                    check(&Answer::of(view), history, budget_tokens)
                });
            let failed = match answer {
                Hook::Done(checked) => return Ok(checked),
                Hook::Absent(error) => self.turn.engine.reject("assemble", error.message),
                Hook::Cancelled => return Err(self.turn.give_up(TurnError::Cancelled)),
                Hook::Failed(record) => record,
            };
            if self.turn.engine.is_legacy() {
                unreachable!(
                    "the built-in engine passes its input through: {}",
                    failed.reason
                );
            }
            self.turn
                .substitute(quarantined(failed))
                .map_err(|error| self.turn.give_up(error))?;
        }
    }
}
