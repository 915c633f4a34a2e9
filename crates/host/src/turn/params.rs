//! What engines are told about a turn besides messages.

use super::open::Turn;
use crate::Host;
use crate::desk::Visit;
use crate::model::{Candidates, ModelInfo};
use crate::store::Session;
use openclaw_interface::model::{
    AssembleParams, CompactParams, Diagnostics, ExecutionHost, Limits, ModelFacts as RuntimeModel,
    ReasonCode, RuntimeFacts, RuntimeMode, RuntimeSettings, SelectionFacts, SelectionSource,
    SessionParams, SessionTarget,
};
use serde_json::{Map, Value, json};

/// The facts about the model that a turn runs on.
#[derive(Clone, Debug)]
pub(super) struct ModelFacts {
    pub(super) provider: String,
    pub(super) model_id: String,
    /// The dialect it is spoken to in.
    pub(super) api: String,
    pub(super) window_tokens: u64,
    /// What a request and its answer may take together.
    pub(super) budget_tokens: u64,
    max_output_tokens: Option<u64>,
    /// The model that was asked first.
    requested: String,
    execution_host: ExecutionHost,
    /// Why another model is asked than the one asked first.
    fallback_reason: Option<ReasonCode>,
}

impl ModelFacts {
    /// The facts about the candidate that is asked now.
    pub(super) fn of(
        models: &mut Candidates<'_>,
        context_tokens: Option<u64>,
        fallback_reason: Option<ReasonCode>,
    ) -> Self {
        let info: ModelInfo = models.model().info().clone();
        let host = models.host();
        Self {
            requested: models.first().id.clone(),
            execution_host: ExecutionHost {
                id: Some(host.id.clone()),
                label: Some(host.label.clone()),
                ..ExecutionHost::default()
            },
            budget_tokens: context_tokens
                .unwrap_or(u64::MAX)
                .min(info.context_window_tokens),
            provider: info.provider,
            model_id: info.id,
            api: info.api,
            window_tokens: info.context_window_tokens,
            max_output_tokens: info.max_output_tokens,
            fallback_reason,
        }
    }

    /// What a commit keeps of them, and what maintenance after it is told.
    pub(super) fn committed(&self) -> Map<String, Value> {
        committed_facts(
            (&self.provider, &self.model_id),
            self.window_tokens,
            self.budget_tokens,
        )
    }
}

/// What a commit keeps of the model, given as provider and id.
pub(crate) fn committed_facts(
    (provider, model_id): (&str, &str),
    window_tokens: u64,
    budget_tokens: u64,
) -> Map<String, Value> {
    object(json!({
        "provider": provider,
        "modelId": model_id,
        "modelContextWindow": window_tokens,
        "tokenBudget": budget_tokens,
    }))
}

impl Turn<'_> {
    /// Parameters of `bootstrap`, and of `maintain` before the model has answered.
    pub(super) fn in_turn_params(&self, facts: &ModelFacts, visit: &Visit) -> SessionParams {
        SessionParams {
            runtime_settings: Some(self.runtime_settings(facts, Limits::default(), None)),
            runtime_context: Some(self.surroundings(facts)),
            ..self.host.session_params(&self.session, visit)
        }
    }

    /// Parameters of `assemble`.
    ///
    /// - `prompt_budget_tokens`: what the call's limits say.
    pub(super) fn assemble_params(
        &self,
        facts: &ModelFacts,
        prompt_budget_tokens: u64,
        available_tools: Vec<String>,
    ) -> AssembleParams {
        let limits = Limits {
            prompt_token_budget: Some(prompt_budget_tokens as f64),
            max_output_tokens: facts.max_output_tokens.map(|tokens| tokens as f64),
            ..Limits::default()
        };
        AssembleParams {
            session_id: self.session.id.clone(),
            session_key: Some(self.session.key.clone()),
            prompt: Some(self.request.text.clone()),
            model: Some(facts.model_id.clone()),
            available_tools,
            runtime_settings: Some(self.runtime_settings(facts, limits, None)),
            ..AssembleParams::default()
        }
    }

    /// Parameters of `compact` after a model said that the context is too large, or gave no answer in time.
    ///
    /// - `trigger`: the word for it.
    /// - `attempt`: from 1.
    pub(super) fn overflow_params(
        &self,
        facts: &ModelFacts,
        trigger: &str,
        current_tokens: u64,
        (attempt, max_attempts): (u32, u32),
    ) -> CompactParams {
        let mut context = self.surroundings(facts);
        // In-turn recovery is told the target by its parameter alone.
        context.remove("sessionTarget");
        context.insert("trigger".into(), trigger.into());
        context.insert("attempt".into(), attempt.into());
        context.insert("maxAttempts".into(), max_attempts.into());
        context.insert("currentTokenCount".into(), current_tokens.into());
        let limits = Limits {
            prompt_token_budget: Some(facts.budget_tokens as f64),
            ..Limits::default()
        };
        let degraded = Some(ReasonCode::ContextOverflow);
        CompactParams {
            session_id: self.session.id.clone(),
            session_key: Some(self.session.key.clone()),
            session_target: Some(self.host.session_target(&self.session)),
            host_services: Visit::compaction(&self.session).names(),
            token_budget: Some(facts.budget_tokens),
            current_token_count: Some(current_tokens),
            force: true,
            compaction_target: Some("budget".into()),
            runtime_settings: Some(self.runtime_settings(facts, limits, degraded)),
            runtime_context: Some(context),
            ..CompactParams::default()
        }
    }

    /// What the host knows of the run.
    fn surroundings(&self, facts: &ModelFacts) -> Map<String, Value> {
        let mut context = self.host.surroundings(&self.session);
        context.insert("provider".into(), facts.provider.clone().into());
        context.insert("model".into(), facts.model_id.clone().into());
        context.insert("tokenBudget".into(), facts.budget_tokens.into());
        context
    }

    /// Facts about this run.
    fn runtime_settings(
        &self,
        facts: &ModelFacts,
        limits: Limits,
        degraded_reason: Option<ReasonCode>,
    ) -> RuntimeSettings {
        let is_fallback = facts.fallback_reason.is_some() || facts.requested != facts.model_id;
        let mode = match degraded_reason {
            Some(_) => RuntimeMode::Degraded,
            None if is_fallback => RuntimeMode::Fallback,
            None => RuntimeMode::Normal,
        };
        RuntimeSettings {
            runtime: RuntimeFacts {
                mode,
                ..RuntimeFacts::default()
            },
            model: RuntimeModel {
                requested: Some(facts.requested.clone()),
                resolved: Some(facts.model_id.clone()),
                provider: Some(facts.provider.clone()),
                ..RuntimeModel::default()
            },
            context_engine_selection: SelectionFacts {
                selected_id: Some(self.record.asked.engine_id.clone()),
                source: SelectionSource::Configured,
                ..SelectionFacts::default()
            },
            execution_host: facts.execution_host.clone(),
            limits,
            diagnostics: Diagnostics {
                fallback_reason: facts.fallback_reason.clone(),
                degraded_reason,
                ..Diagnostics::default()
            },
            ..RuntimeSettings::default()
        }
    }
}

impl Host {
    /// What `bootstrap` and `maintain` are told in any case.
    pub(super) fn session_params(&self, session: &Session, visit: &Visit) -> SessionParams {
        SessionParams {
            session_id: session.id.clone(),
            session_key: Some(session.key.clone()),
            session_file: session.key.clone(),
            session_target: Some(self.session_target(session)),
            host_services: visit.names(),
            ..SessionParams::default()
        }
    }

    /// Parameters of `maintain` after a commit.
    ///
    /// - `facts`: about the model, where it is that of the session's own turn.
    pub(super) fn after_commit_params(
        &self,
        session: &Session,
        facts: Option<&ModelFacts>,
        is_in_background: bool,
    ) -> SessionParams {
        let mut context = facts.map(ModelFacts::committed).unwrap_or_default();
        context.insert("sessionTarget".into(), json!(self.session_target(session)));
        if is_in_background {
            context.insert("allowDeferredCompactionExecution".into(), true.into());
        }
        SessionParams {
            runtime_context: Some(context),
            ..self.session_params(session, &Visit::after_commit(session))
        }
    }

    /// Address of a session's transcript.
    pub(super) fn session_target(&self, session: &Session) -> SessionTarget {
        SessionTarget {
            agent_id: Some(self.agent_id().to_owned()),
            session_id: Some(session.id.clone()),
            session_key: Some(session.key.clone()),
            store_path: Some(self.store_path_text()),
            extra: Map::new(),
        }
    }

    /// What the host knows of a run in a session.
    pub(super) fn surroundings(&self, session: &Session) -> Map<String, Value> {
        object(json!({
            "sessionTarget": self.session_target(session),
            "sessionKey": session.key,
            "agentDir": self.agent_dir(),
            "workspaceDir": self.workspace_dir(),
            "transcriptStorage": { "kind": "sqlite" },
        }))
    }
}

/// The members of an object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
