//! What a model is shown of a session: by its provider's rules, and as the settings want it.

use super::TurnError;
use super::admission::Admitted;
use super::open::Turn;
use super::params::ModelFacts;
use crate::history::{Held, Manner, Past};
use crate::sent::Target;
use crate::store::Session;
use crate::tokens::Vocabulary;
use openclaw_transcript::{CACHE_TTL_ROW, Policy, Pruning, TurnLimit, custom_row};

/// How much of a session's history a model is shown.
#[derive(Clone, Debug, Default)]
pub struct ViewSettings {
    /// The user turns that are sent; `None` for all.
    pub turn_limit: Option<TurnLimit>,
    /// How the configured heartbeat prompt begins; `None` when none is configured.
    pub heartbeat_prompt: Option<String>,
    /// How old tool results are pruned; `None` when they are not.
    pub pruning: Option<Pruning>,
}

impl ModelFacts {
    /// What the model's provider takes.
    pub(super) fn manner(&self, view: &ViewSettings) -> Manner {
        Manner {
            // No configuration says yet which model reasons; only dialects that send no reasoning back look at it.
            policy: Policy::of_model(&self.api, &self.provider, &self.model_id, false),
            limit: view.turn_limit,
            heartbeat_prompt: view.heartbeat_prompt.clone(),
            vocabulary: Vocabulary::of_model(&self.model_id),
        }
    }

    /// Whom a session's messages are shortened for.
    pub(super) fn target<'a>(
        &'a self,
        session: &'a Session,
        past: &'a Past,
        view: &'a ViewSettings,
    ) -> Target<'a> {
        Target {
            session_id: &session.id,
            provider: &self.provider,
            model: &self.model_id,
            window_tokens: self.window_tokens,
            manner: past.fitted.manner(),
            pruning: view.pruning.as_ref(),
        }
    }
}

impl Admitted<'_> {
    /// The list of a request: the history as assembled, and the turn so far.
    pub(super) fn request_messages(
        &mut self,
        view: &[Held],
        past: &Past,
    ) -> Result<Vec<Held>, TurnError> {
        let turn = past.fitted.behind(&self.pending);
        let messages = view.iter().cloned().chain(turn).collect();
        let host = self.turn.host;
        let target = self.target(past);
        let now_ms = || host.ambient().now_ms();
        let request = host.sent().shorten(messages, &past.history, target, now_ms);
        if let Some(data) = &request.row_data {
            self.turn.store_decisions(data)?;
        }
        Ok(request.messages)
    }

    /// The history with the tokens that its messages take in a request, where they differ from those stored.
    pub(super) fn sized(&self, past: &Past) -> Option<Vec<Held>> {
        let sent = self.turn.host.sent();
        sent.sized(past.fitted.messages(), &past.history, self.target(past))
    }

    /// When a request begins, where that has to be known.
    pub(super) fn request_begins(&self, past: &Past) -> Option<i64> {
        let is_pruned = self.target(past).is_pruned();
        is_pruned.then(|| self.turn.host.ambient().now_ms())
    }

    /// Notes that the model has answered a request.
    pub(super) fn request_answered(&self, past: &Past, began_ms: Option<i64>) {
        if let Some(began_ms) = began_ms {
            self.turn.host.sent().touch(self.target(past), began_ms);
        }
    }

    fn target<'a>(&'a self, past: &'a Past) -> Target<'a> {
        let turn = &self.turn;
        self.facts.target(&turn.session, past, &turn.request.view)
    }
}

impl Turn<'_> {
    /// Stores what was decided on tool results.
    fn store_decisions(&mut self, data: &str) -> Result<(), TurnError> {
        let ambient = self.host.ambient();
        let parent = self.session.append_parent.as_deref();
        let (id, timestamp) = (ambient.new_id(), ambient.timestamp());
        let row = custom_row(&id, parent, &timestamp, CACHE_TTL_ROW, data);
        self.host.store().append_rows(&mut self.session, &[row])?;
        Ok(())
    }
}
