//! How much of a history the configuration wants a model to be shown.

use crate::output::Output;
use openclaw_config::HistorySettings;
use openclaw_host::{Pruning, ViewSettings, turn_limit};
use serde_json::Value;

/// How much of a history a model is shown, whatever the session.
pub(crate) struct Shown {
    pruning: Option<Pruning>,
    heartbeat_prompt: Option<String>,
    channels: Value,
}

impl Shown {
    pub(crate) fn read(settings: &HistorySettings, output: &mut Output) -> Self {
        let pruning = Value::Object(settings.pruning.clone());
        if !Pruning::reads_ttl(&pruning) {
            output.warning(
                "`agents.defaults.contextPruning.ttl` is no time such as \"5m\": 5 minutes count",
            );
        }
        Self {
            pruning: Pruning::from_config(&pruning),
            heartbeat_prompt: settings.heartbeat_prompt.clone(),
            channels: Value::Object(settings.channels.clone()),
        }
    }

    /// What holds for a session; limits of turns belong to the chat that it is.
    pub(crate) fn of_session(&self, session_key: &str) -> ViewSettings {
        ViewSettings {
            turn_limit: turn_limit(session_key, &self.channels),
            heartbeat_prompt: self.heartbeat_prompt.clone(),
            pruning: self.pruning.clone(),
        }
    }
}
