//! What this host offers to the engines it runs.

use crate::desk::{Desk, Running};
use crate::store::{DeltaError, RewriteError, RewriteRequest, Store};
use crate::tokens::TokenCounter;
use openclaw_interface::hosting::HostServices;
use openclaw_interface::model::service::{
    COMPACTION_DELEGATE, DeltaRequest, TRANSCRIPT_DELTA, TRANSCRIPT_REWRITE,
};
use openclaw_interface::model::{CompactParams, SessionTarget};
use openclaw_interface::{EngineError, ErrorCode, LogLevel};
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest log line taken from an engine, in bytes.
const LOG_LIMIT_BYTES: usize = 4096;

/// The transcripts of an agent, as services reach them.
#[derive(Clone, Debug)]
pub(crate) struct Transcripts {
    pub(crate) agent_id: String,
    /// Never held while an engine runs, so that its services can have it.
    pub(crate) store: Arc<Mutex<Store>>,
}

/// Services of one engine instance.
pub(crate) struct Services {
    engine_id: String,
    cancelled: Arc<AtomicBool>,
    desk: Arc<Desk>,
    transcripts: Transcripts,
}

impl Services {
    pub(crate) fn new(
        engine_id: &str,
        cancelled: Arc<AtomicBool>,
        desk: Arc<Desk>,
        transcripts: Transcripts,
    ) -> Self {
        Self {
            engine_id: engine_id.to_owned(),
            cancelled,
            desk,
            transcripts,
        }
    }

    fn delta(&self, running: &Running, params_json: &str) -> Result<String, EngineError> {
        let request: DeltaRequest = read(TRANSCRIPT_DELTA, params_json)?;
        let answer = self.transcripts.store.lock().fenced_delta(
            &self.transcripts.agent_id,
            &request,
            running.visit.fence.as_ref(),
        );
        answer.map_err(|error| {
            if matches!(error, DeltaError::Fence(_)) {
                self.desk.note_violation(&error.to_string());
            }
            let code = match error {
                DeltaError::Fence(_) | DeltaError::Store(_) => ErrorCode::Failed,
                DeltaError::OutOfRange { .. } | DeltaError::OtherAgent { .. } => {
                    ErrorCode::InvalidParams
                }
            };
            EngineError::new(code, format!("{TRANSCRIPT_DELTA}: {error}"))
        })
    }

    fn rewrite(&self, running: &Running, params_json: &str) -> Result<String, EngineError> {
        let failed = |code, reason: String| {
            EngineError::new(code, format!("{TRANSCRIPT_REWRITE}: {reason}"))
        };
        of_running_session(TRANSCRIPT_REWRITE, running, params_json)?;
        let request: RewriteRequest = read(TRANSCRIPT_REWRITE, params_json)?;
        let mut store = self.transcripts.store.lock();
        let result = store
            .rewrite(&running.visit.session_id, &request)
            .map_err(|error| {
                let code = match error {
                    RewriteError::BadMessage { .. } | RewriteError::NotAllowed { .. } => {
                        ErrorCode::InvalidParams
                    }
                    RewriteError::NoId { .. }
                    | RewriteError::NoSession
                    | RewriteError::Store(_) => ErrorCode::Failed,
                };
                failed(code, error.to_string())
            })?;
        Ok(serde_json::to_string(&result)?)
    }
}

/// Refuses a request that names another session than the running hook's.
fn of_running_session(
    service: &str,
    running: &Running,
    params_json: &str,
) -> Result<(), EngineError> {
    let named: Named = read(service, params_json)?;
    let Some(other) = named.other_than(running) else {
        return Ok(());
    };
    let own = &running.visit.session_id;
    let reason = format!("{service}: session `{other}` is not the one this call is for, `{own}`");
    Err(EngineError::new(ErrorCode::InvalidParams, reason))
}

/// The host's own compaction.
fn delegated(running: &Running, params_json: &str) -> Result<String, EngineError> {
    of_running_session(COMPACTION_DELEGATE, running, params_json)?;
    let params: CompactParams = read(COMPACTION_DELEGATE, params_json)?;
    let Some(delegate) = &running.visit.delegate else {
        return Err(not_offered(COMPACTION_DELEGATE, Some(running)));
    };
    Ok(serde_json::to_string(&delegate.compact(params)?)?)
}

/// The session a request names, where it names one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Named {
    session_id: Option<String>,
    session_key: Option<String>,
    session_target: SessionTarget,
}

impl Named {
    /// The name that is not the running session's.
    fn other_than(self, running: &Running) -> Option<String> {
        let ids = [self.session_id, self.session_target.session_id];
        let keys = [self.session_key, self.session_target.session_key];
        let other = |names: [Option<String>; 2], own: &str| {
            names.into_iter().flatten().find(|name| name != own)
        };
        other(ids, &running.visit.session_id).or_else(|| other(keys, &running.visit.session_key))
    }
}

fn read<T: DeserializeOwned>(service: &str, params_json: &str) -> Result<T, EngineError> {
    serde_json::from_str(params_json)
        .map_err(|error| EngineError::new(ErrorCode::InvalidParams, format!("{service}: {error}")))
}

/// Why a service cannot be had now.
fn not_offered(service: &str, running: Option<&Running>) -> EngineError {
    let message = match (running, service) {
        (None, _) => {
            format!("{service} can be called only while a hook runs that it is offered to")
        }
        (Some(running), TRANSCRIPT_REWRITE) => format!(
            "{service} is not offered to this {}: it may be called in the maintain that follows an acknowledged commit or a compaction",
            running.hook
        ),
        (Some(running), _) => format!("{service} is not offered to {}", running.hook),
    };
    EngineError::new(ErrorCode::Unsupported, message)
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

    fn call(&self, service: &str, params_json: &str) -> Result<String, EngineError> {
        if ![TRANSCRIPT_DELTA, TRANSCRIPT_REWRITE, COMPACTION_DELEGATE].contains(&service) {
            return Err(EngineError::unsupported(service));
        }
        let running = self.desk.running();
        match running.as_ref() {
            Some(running) if running.visit.offers(service) => match service {
                TRANSCRIPT_DELTA => self.delta(running, params_json),
                COMPACTION_DELEGATE => delegated(running, params_json),
                _ => self.rewrite(running, params_json),
            },
            running => Err(not_offered(service, running)),
        }
    }
}
