//! What engines are told about a turn besides messages.

use super::open::Turn;
use crate::Host;
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
            window_tokens: info.context_window_tokens,
            max_output_tokens: info.max_output_tokens,
            fallback_reason,
        }
    }

    /// What a commit keeps of them, and what maintenance after it is told.
    pub(super) fn committed(&self) -> Map<String, Value> {
        object(json!({
            "provider": self.provider,
            "modelId": self.model_id,
            "modelContextWindow": self.window_tokens,
            "tokenBudget": self.budget_tokens,
        }))
    }
}

/// When maintenance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maintenance {
    /// After `bootstrap`, or a compaction.
    InTurn,
    /// After a commit.
    AfterTurn,
    /// After a commit, behind the reply.
    Background,
}

impl Turn<'_> {
    /// Parameters of `bootstrap`.
    pub(super) fn bootstrap_params(&self, facts: &ModelFacts) -> SessionParams {
        SessionParams {
            runtime_settings: Some(self.runtime_settings(facts, Limits::default(), None)),
            runtime_context: Some(self.surroundings(facts)),
            ..self.session_params()
        }
    }

    /// Parameters of `maintain`.
    pub(super) fn maintain_params(&self, facts: &ModelFacts, when: Maintenance) -> SessionParams {
        if when == Maintenance::InTurn {
            return self.bootstrap_params(facts);
        }
        let mut context = facts.committed();
        context.insert("sessionTarget".into(), json!(self.session_target()));
        if when == Maintenance::Background {
            context.insert("allowDeferredCompactionExecution".into(), true.into());
        }
        SessionParams {
            runtime_context: Some(context),
            ..self.session_params()
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

    /// Parameters of `compact` after a model said that the context is too large.
    ///
    /// - `attempt`: from 1.
    pub(super) fn overflow_params(
        &self,
        facts: &ModelFacts,
        current_tokens: u64,
        (attempt, max_attempts): (u32, u32),
    ) -> CompactParams {
        let mut context = self.surroundings(facts);
        // In-turn recovery is told the target by its parameter alone.
        context.remove("sessionTarget");
        context.insert("trigger".into(), "overflow".into());
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
            session_target: Some(self.session_target()),
            token_budget: Some(facts.budget_tokens),
            current_token_count: Some(current_tokens),
            force: true,
            compaction_target: Some("budget".into()),
            runtime_settings: Some(self.runtime_settings(facts, limits, degraded)),
            runtime_context: Some(context),
            ..CompactParams::default()
        }
    }

    fn session_params(&self) -> SessionParams {
        SessionParams {
            session_id: self.session.id.clone(),
            session_key: Some(self.session.key.clone()),
            session_file: self.session.key.clone(),
            session_target: Some(self.session_target()),
            ..SessionParams::default()
        }
    }

    fn session_target(&self) -> SessionTarget {
        self.host.session_target(&self.session)
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
