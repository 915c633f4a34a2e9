//! Lets the engine build what the model gets, and checks it.

use super::TurnError;
use super::admission::Admitted;
use super::open::{Turn, degraded, quarantined};
use super::record::{ContextSizes, Substitution};
use crate::Host;
use crate::check::{Answer, Checked, check};
use crate::desk::Visit;
use crate::guard::Hook;
use crate::history::{Held, sum};
use crate::model::{ModelInfo, ToolSpec};
use crate::store::Session;
use crate::tokens::TokenCounter;
use openclaw_interface::Message;
use openclaw_interface::hosting::AssemblyView;
use openclaw_interface::model::{
    AssembleParams, ExecutionHost, Limits, ModelFacts, RuntimeSettings, SelectionFacts,
    SelectionSource, SessionParams, SessionTarget,
};
use serde_json::Map;

/// Tokens kept free for the answer, where the window allows it.
const RESERVE_TOKENS: u64 = 20_000;

/// A turn with what the model gets.
pub(super) struct Assembled<'h> {
    pub(super) admitted: Box<Admitted<'h>>,
    pub(super) messages: Vec<Held>,
    pub(super) system_prompt: String,
}

impl<'h> Admitted<'h> {
    /// Bootstrap, maintain, assemble, check. A failure on the way puts the built-in engine in the engine's place.
    pub(super) fn assemble(
        mut self: Box<Self>,
        model: &ModelInfo,
        tools: &[ToolSpec],
    ) -> Result<Assembled<'h>, TurnError> {
        let turn = &self.turn;
        let history =
            turn.host
                .histories()
                .before(&turn.host.store(), &turn.session, self.position)?;
        let budget_tokens = self.history_budget(tools);
        self.turn.record.history_mends = history.mends();
        self.prepare_engine()?;
        let checked = self.assembly(history.messages(), budget_tokens, model, tools)?;
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
            messages: checked.messages,
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
        let fixed = fixed.saturating_add(u64::from(self.user.tokens));
        // The factor covers what providers add around each part.
        let fixed = fixed.saturating_mul(12).div_ceil(10);
        if fixed >= usable {
            self.turn.record.mends.push(format!(
                "system prompt, tools and message take about {fixed} of {usable} tokens: there is no room for history"
            ));
        }
        usable.saturating_sub(fixed).max(1)
    }

    fn prepare_engine(&mut self) -> Result<(), TurnError> {
        if self.admission.active_message_position == 0 || self.turn.engine.is_legacy() {
            return Ok(());
        }
        let visit = Visit::inside_turn(&self.turn.session, &self.admission);
        let params = session_params(self.turn.host, &self.turn.session, &visit);
        let engine = &mut self.turn.engine;
        let mut failure = failure_of(engine.bootstrap(&params, visit.clone()));
        if failure.is_none() {
            failure = failure_of(engine.maintain(&params, visit));
        }
        if let Some(substitution) = failure {
            self.turn
                .substitute(substitution)
                .map_err(|error| self.turn.give_up(error))?;
        }
        Ok(())
    }

    /// The engine's answer, checked; the built-in engine's when that fails.
    fn assembly(
        &mut self,
        history: &[Held],
        budget_tokens: u64,
        model: &ModelInfo,
        tools: &[ToolSpec],
    ) -> Result<Checked, TurnError> {
        let visit = Visit::inside_turn(&self.turn.session, &self.admission);
        let params = AssembleParams {
            session_id: self.turn.session.id.clone(),
            session_key: Some(self.turn.session.key.clone()),
            prompt: Some(self.turn.request.text.clone()),
            model: Some(model.id.clone()),
            available_tools: tools.iter().map(|tool| tool.name.clone()).collect(),
            runtime_settings: Some(self.turn.runtime_settings(model, budget_tokens)),
            host_services: visit.names(),
            ..AssembleParams::default()
        };
        let views: Vec<Message<'_>> = history.iter().map(Held::view).collect();
        loop {
            let engine = &mut self.turn.engine;
            let read = |view: AssemblyView<'_>| check(&Answer::of(view), history, budget_tokens);
            let answer = engine.assemble(&views, Some(budget_tokens), &params, visit.clone(), read);
            let failure = match answer {
                Hook::Done(checked) => return Ok(checked),
                Hook::Absent(error) => quarantined(engine.reject("assemble", error.message)),
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

/// Why the engine may not go on with the turn.
fn failure_of<T>(hook: Hook<T>) -> Option<Substitution> {
    match hook {
        Hook::Done(_) | Hook::Absent(_) => None,
        Hook::Failed(record) => Some(quarantined(record)),
        Hook::Fenced(reason) => Some(degraded("fence", reason)),
    }
}

/// Parameters of `bootstrap` and `maintain`.
pub(super) fn session_params(host: &Host, session: &Session, visit: &Visit) -> SessionParams {
    SessionParams {
        session_id: session.id.clone(),
        session_key: Some(session.key.clone()),
        session_file: session.key.clone(),
        session_target: Some(SessionTarget {
            agent_id: Some(host.agent_id().to_owned()),
            session_id: Some(session.id.clone()),
            session_key: Some(session.key.clone()),
            store_path: Some(host.store_path_text()),
            extra: Map::new(),
        }),
        host_services: visit.names(),
        ..SessionParams::default()
    }
}

impl Turn<'_> {
    /// Facts about this run.
    fn runtime_settings(&self, model: &ModelInfo, budget_tokens: u64) -> RuntimeSettings {
        let known = |text: &str| Some(text.to_owned());
        RuntimeSettings {
            model: ModelFacts {
                requested: known(&model.id),
                resolved: known(&model.id),
                provider: known(&model.provider),
                ..ModelFacts::default()
            },
            context_engine_selection: SelectionFacts {
                selected_id: known(&self.record.asked.engine_id),
                source: SelectionSource::Configured,
                ..SelectionFacts::default()
            },
            execution_host: ExecutionHost {
                id: known("openclaw-native"),
                label: known("openclaw-native host"),
                ..ExecutionHost::default()
            },
            limits: Limits {
                prompt_token_budget: Some(budget_tokens as f64),
                max_output_tokens: model.max_output_tokens.map(|tokens| tokens as f64),
                ..Limits::default()
            },
            ..RuntimeSettings::default()
        }
    }
}
