//! What this host offers to the engines it runs.

use crate::tokens::TokenCounter;
use openclaw_interface::hosting::HostServices;
use openclaw_interface::{EngineError, LogLevel};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest log line taken from an engine, in bytes.
const LOG_LIMIT_BYTES: usize = 4096;

/// Services of one engine instance.
pub(crate) struct Services {
    engine_id: String,
    cancelled: Arc<AtomicBool>,
}

impl Services {
    pub(crate) fn new(engine_id: &str, cancelled: Arc<AtomicBool>) -> Self {
        Self {
            engine_id: engine_id.to_owned(),
            cancelled,
        }
    }
}

impl HostServices for Services {
    fn log(&self, level: LogLevel, message: &str) {
        let end = message.floor_char_boundary(LOG_LIMIT_BYTES);
        let line: String = message[..end]
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let plugin = self.engine_id.as_str();
        match level {
            LogLevel::Error => tracing::error!(target: "plugin", plugin, "{line}"),
            LogLevel::Warn => tracing::warn!(target: "plugin", plugin, "{line}"),
            LogLevel::Info => tracing::info!(target: "plugin", plugin, "{line}"),
            LogLevel::Debug => tracing::debug!(target: "plugin", plugin, "{line}"),
            LogLevel::Trace => tracing::trace!(target: "plugin", plugin, "{line}"),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn count_tokens(&self, text: &str) -> u64 {
        TokenCounter.text(text)
    }

    fn call(&self, service: &str, _params_json: &str) -> Result<String, EngineError> {
        Err(EngineError::unsupported(service))
    }
}
