//! Lets the engine build what the model gets, and checks it.

use super::TurnError;
use super::admission::Admitted;
use super::compaction::folded_before;
use super::open::{degraded, quarantined};
use super::record::{ContextSizes, Substitution};
use crate::check::{Answer, Checked, check};
use crate::compaction::threshold_tokens;
use crate::desk::Visit;
use crate::guard::Hook;
use crate::history::{Held, Manner, Past, sum};
use crate::model::ToolSpec;
use crate::store::StoreError;
use crate::tokens::Vocabulary;
use openclaw_interface::Message;
use openclaw_interface::hosting::AssemblyView;
use openclaw_interface::model::{AssembleParams, PromptAuthority};

/// A turn with what the model gets.
pub(super) struct Assembled<'h> {
    pub(super) admitted: Box<Admitted<'h>>,
    /// The history as the model gets it.
    pub(super) view: Vec<Held>,
    pub(super) past: Past,
    pub(super) system_prompt: String,
}

impl<'h> Admitted<'h> {
    /// Bootstrap, maintain, assemble, check. A failure on the way puts the built-in engine in the engine's place.
    pub(super) fn assemble(
        mut self: Box<Self>,
        tools: &[ToolSpec],
    ) -> Result<Assembled<'h>, TurnError> {
        self.turn.go_on()?;
        let past = self.past()?;
        let budget_tokens = self.history_budget(tools);
        self.turn.record.history_mends = past.history.mends();
        self.prepare_engine()?;
        let params = self.assemble_params(budget_tokens, tools);
        let (checked, may_overflow) = self.assembly(&past, budget_tokens, &params)?;
        self.turn.record.context = ContextSizes {
            history_messages: past.fitted.messages().len(),
            history_tokens: sum(past.fitted.messages()),
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
        let vocabulary = Vocabulary::of_model(&self.facts.model_id);
        let sizes = (&*system_prompt, schema_tokens(tools, vocabulary));
        self.precheck(
            past.fitted.messages(),
            &checked.messages,
            may_overflow,
            sizes,
        );
        Ok(Assembled {
            system_prompt,
            view: checked.messages,
            past,
            admitted: self,
        })
    }

    /// What history and prompt addition may take: the window without the reserve and without what is fixed.
    ///
    /// Source: context engine contract, "assemble"; compaction, "Prompt check".
    fn history_budget(&mut self, tools: &[ToolSpec]) -> u64 {
        let usable = threshold_tokens(self.facts.budget_tokens, 0, None).max(1);
        let prompt = &self.turn.request.system_prompt;
        let vocabulary = Vocabulary::of_model(&self.facts.model_id);
        let fixed = vocabulary.text(&prompt.stable)
            + vocabulary.text(&prompt.dynamic)
            + schema_tokens(tools, vocabulary);
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

    /// The history before the turn, as the model that is asked takes it. Reads and replays what is new.
    fn past(&self) -> Result<Past, StoreError> {
        let (host, session) = (self.turn.host, &self.turn.session);
        let manner = self.facts.manner(&self.turn.request.view);
        if self.was_folded
            && let Some(history) = folded_before(&host.store(), session, self.position)?
        {
            return Ok(Past::of(history, &manner));
        }
        host.histories()
            .before(&host.store(), session, self.position, &manner)
    }

    fn prepare_engine(&mut self) -> Result<(), TurnError> {
        if !self.has_messages || self.turn.engine.is_legacy() {
            return Ok(());
        }
        let visit = self.visit();
        let params = self.turn.in_turn_params(&self.facts, &visit);
        let bootstrapped = self.turn.engine.bootstrap(&params, visit.clone());
        if !self.is_served(bootstrapped)? {
            return Ok(());
        }
        let maintained = self.turn.engine.maintain(&params, visit);
        self.is_served(maintained).map(drop)
    }

    /// What the engine may ask for before the model has answered.
    fn visit(&self) -> Visit {
        Visit::inside_turn(&self.turn.session, self.admission.as_ref())
    }

    /// What a hook's end means for the turn: whether the engine still serves it.
    pub(super) fn is_served<T>(&mut self, hook: Hook<T>) -> Result<bool, TurnError> {
        let failure: Substitution = match hook {
            Hook::Done(_) | Hook::Absent(_) => return Ok(true),
            Hook::Cancelled => return Err(self.turn.give_up(TurnError::Cancelled)),
            Hook::Failed(record) => quarantined(record),
            Hook::Fenced(reason) => degraded("fence", reason),
        };
        let substituted = self.turn.substitute(failure);
        substituted.map_err(|error| self.turn.give_up(error))?;
        Ok(false)
    }

    /// For an engine that owns compaction: assembles again ahead of a model request, with the history before the turn
    /// and what the messages behind it leave of the budget. An addition to the system prompt is not looked at.
    ///
    /// Source: turn pipeline, "Step 13/14: model requests".
    pub(super) fn view_for_request(
        &mut self,
        view: &mut Vec<Held>,
        past: &Past,
        tools: &[ToolSpec],
    ) -> Result<(), TurnError> {
        if !self.turn.engine.identity.owns_compaction {
            return Ok(());
        }
        let budget_tokens = self
            .facts
            .budget_tokens
            .saturating_sub(sum(&self.pending))
            .max(1);
        let params = self.assemble_params(self.facts.budget_tokens, tools);
        let (checked, _) = self.assembly(past, budget_tokens, &params)?;
        self.turn.record.mends.extend(checked.mends);
        *view = checked.messages;
        Ok(())
    }

    /// - `limit_tokens`: the prompt budget that the call's facts say.
    fn assemble_params(&self, limit_tokens: u64, tools: &[ToolSpec]) -> AssembleParams {
        let names = tools.iter().map(|tool| tool.name.clone()).collect();
        AssembleParams {
            host_services: self.visit().names(),
            ..self.turn.assemble_params(&self.facts, limit_tokens, names)
        }
    }

    /// The engine's answer, checked, and whether the history may be too large although it fits; the built-in engine's when
    /// that fails.
    fn assembly(
        &mut self,
        past: &Past,
        budget_tokens: u64,
        params: &AssembleParams,
    ) -> Result<(Checked, bool), TurnError> {
        let visit = self.visit();
        let sized = self.sized(past);
        let history = sized.as_deref().unwrap_or(past.fitted.messages());
        let manner: &Manner = past.fitted.manner();
        let views: Vec<Message<'_>> = history.iter().map(Held::view).collect();
        loop {
            let engine = &mut self.turn.engine;
            let read = |view: AssemblyView<'_>| {
                let authority = view.extra().ok().and_then(|extra| extra.prompt_authority);
                let may_overflow = authority == Some(PromptAuthority::PreassemblyMayOverflow);
                let checked = check(&Answer::of(view), history, budget_tokens, manner)?;
                Ok((checked, may_overflow))
            };
            let answer = engine.assemble(&views, Some(budget_tokens), params, visit.clone(), read);
            let failure = match answer {
                Hook::Done(answered) => return Ok(answered),
                Hook::Absent(error) => quarantined(engine.reject("assemble", error.message)),
                Hook::Cancelled => return Err(self.turn.give_up(TurnError::Cancelled)),
                Hook::Failed(record) => quarantined(record),
                Hook::Fenced(reason) => degraded("fence", reason),
            };
            if engine.is_legacy() {
                unreachable!(
                    "the built-in engine passes its input through: {}",
                    failure.reason
                );
            }
            self.turn
                .substitute(failure)
                .map_err(|error| self.turn.give_up(error))?;
        }
    }
}

/// Tokens of what a model is told of its tools.
pub(super) fn schema_tokens(tools: &[ToolSpec], vocabulary: Vocabulary) -> u64 {
    let texts = tools
        .iter()
        .map(|tool| format!("{} {} {}", tool.name, tool.description, tool.parameters));
    texts.map(|text| vocabulary.text(&text)).sum()
}
