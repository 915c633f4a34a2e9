//! The course of a turn over its attempts: which model is asked, and what is done about one that gives no answer.

use super::TurnError;
use super::admission::Admitted;
use super::answer::Failed;
use super::event::{Retry, TurnEvent};
use super::overflow::{Overflows, Timeouts};
use super::params::ModelFacts;
use super::record::FailedAttempt;
use super::retry::{Retries, reason_code};
use crate::model::{Candidates, Model, ModelErrorKind};
use crate::requirements::ExecutionHost;
use openclaw_interface::model::ReasonCode;
use std::time::Duration;

/// The course of a turn over its attempts.
pub(super) struct Course<'m> {
    models: Candidates<'m>,
    retries: Retries,
    overflows: Overflows,
    timeouts: Timeouts,
    fallback_reason: Option<ReasonCode>,
}

impl<'m> Course<'m> {
    pub(super) fn new(models: Candidates<'m>) -> Self {
        Self {
            models,
            retries: Retries::default(),
            overflows: Overflows::default(),
            timeouts: Timeouts::default(),
            fallback_reason: None,
        }
    }

    /// What runs the models, those included that are never asked.
    pub(super) fn hosts(&self) -> &[ExecutionHost] {
        self.models.hosts()
    }

    /// The model that is asked now.
    pub(super) fn model(&mut self) -> &mut dyn Model {
        self.models.model()
    }

    /// Facts about the model that is asked now.
    pub(super) fn facts(&mut self, context_tokens: Option<u64>) -> ModelFacts {
        let reason = self.fallback_reason.clone();
        ModelFacts::of(&mut self.models, context_tokens, reason)
    }

    /// Prepares the next attempt: waits and asks the model again, makes the context smaller, or asks another model. The
    /// messages that the turn has stored so far stay, so that no tool runs twice.
    pub(super) fn recover<'h>(
        &mut self,
        failed: Failed<'h>,
        on_event: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Box<Admitted<'h>>, TurnError> {
        let Failed {
            mut turn,
            error,
            request_tokens,
            was_answered,
            was_streaming,
        } = failed;
        if was_answered {
            self.retries = Retries::default();
            self.overflows = Overflows::default();
        }
        turn.has_messages |= turn.admission.is_some() || turn.pending.len() > 1;
        let attempts = &mut turn.turn.record.failed_attempts;
        attempts.push(FailedAttempt::new(&error));
        if error.kind == ModelErrorKind::ContextOverflow {
            say_compacting(&turn, on_event);
            let model = self.models.model();
            let recovered = self.overflows.recover(turn, error, request_tokens, model);
            return recovered.inspect(|turn| say_compacted(turn, on_event));
        }
        if error.kind == ModelErrorKind::Timeout && self.timeouts.may_compact(&turn, request_tokens)
        {
            say_compacting(&turn, on_event);
            let model = self.models.model();
            if self.timeouts.compact(&mut turn, request_tokens, model)? {
                say_compacted(&turn, on_event);
                return Ok(turn);
            }
        }
        let ambient = turn.turn.host.ambient().clone();
        let again = self.retries.next(&error, ambient.now_ms());
        if again.is_none() {
            if !self.models.advance() {
                return Err(turn.turn.give_up(TurnError::Model(error)));
            }
            self.retries = Retries::default();
            self.fallback_reason = Some(reason_code(error.kind));
            turn.facts = self.facts(turn.turn.request.context_tokens);
        }
        let retry = Retry {
            reason: error.to_string(),
            next: self.models.model().info().clone(),
            is_fallback: again.is_none(),
            wait: again.unwrap_or(Duration::ZERO),
            was_streaming,
        };
        tracing::info!(
            turn = turn.turn.turn_id,
            reason = retry.reason,
            wait_ms = u64::try_from(retry.wait.as_millis()).unwrap_or(u64::MAX),
            is_fallback = retry.is_fallback,
            "the model is asked again"
        );
        on_event(TurnEvent::Retry(&retry));
        if !retry.wait.is_zero() {
            ambient.wait(retry.wait, &turn.turn.request.cancel);
        }
        turn.turn.go_on()?;
        Ok(turn)
    }
}

fn say_compacting(turn: &Admitted<'_>, on_event: &mut dyn FnMut(TurnEvent<'_>)) {
    on_event(TurnEvent::Compacting {
        engine_id: turn.turn.engine.id(),
    });
}

fn say_compacted(turn: &Admitted<'_>, on_event: &mut dyn FnMut(TurnEvent<'_>)) {
    let last = turn.turn.record.compactions.last();
    if let Some(record) = last.filter(|record| record.compacted) {
        on_event(TurnEvent::Compacted(record));
    }
}
