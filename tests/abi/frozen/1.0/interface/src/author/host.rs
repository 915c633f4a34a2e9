//! The host's services as an engine sees them.

use crate::abi::HostObject;
use crate::convert::reply_text;
use crate::model::EngineError;
use crate::model::service::Service;
use std::fmt;
use std::sync::Arc;

/// Weight of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// What was asked for failed.
    Error,
    /// Somebody has to act.
    Warn,
    /// A state changed.
    Info,
    /// Why a decision came out as it did.
    Debug,
    /// Every step.
    Trace,
}

impl LogLevel {
    pub(crate) fn number(self) -> u32 {
        self as u32 + 1
    }

    pub(crate) fn from_number(number: u32) -> Self {
        match number {
            0 | 1 => Self::Error,
            2 => Self::Warn,
            3 => Self::Info,
            4 => Self::Debug,
            _ => Self::Trace,
        }
    }
}

/// The host's services. Cheap to clone; may be used on any thread and outlive the instance it was made for, whose late
/// calls the host ignores.
#[derive(Clone)]
pub struct Host(Arc<Shared>);

struct Shared(HostObject);

// SAFETY: the contract lets any thread call a host object at any time; `hosting::host_object` accepts only services
// that are `Send + Sync`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Host {
    pub(crate) fn new(object: HostObject) -> Self {
        Self(Arc::new(Shared(object)))
    }

    /// Writes one line to the host's log, marked with the plugin's id. No secrets, no transcript text.
    pub fn log(&self, level: LogLevel, message: &str) {
        self.0.0.log(level.number(), message.into());
    }

    /// Whether the call in progress should end early. Cheap: ask in loops.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.0.cancelled()
    }

    /// Tokens of `text` for the model in use, counted by the host. Messages carry their count already.
    #[must_use]
    pub fn count_tokens(&self, text: &str) -> u64 {
        self.0.0.count_tokens(text.into())
    }

    /// Calls a service of the host. A call names those it may use in `host_services`.
    ///
    /// # Errors
    ///
    /// `Unsupported` when this host, or this call, does not have the service; else what the service answered. Do not
    /// hand `Unsupported` on as the answer of a hook: it would say that the hook is absent.
    pub fn ask<S: Service>(&self, request: &S) -> Result<S::Answer, EngineError> {
        let answer = self.call(S::NAME, &serde_json::to_string(request)?)?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// Calls a service by name with a JSON object, and gets one back.
    ///
    /// # Errors
    ///
    /// `Unsupported` when this host, or this call, does not have the service; else what the service answered.
    pub fn call(&self, service: &str, params_json: &str) -> Result<String, EngineError> {
        reply_text(self.0.0.call_json(service.into(), params_json.into()))
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Host")
    }
}
