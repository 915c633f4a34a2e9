//! What a host offers, behind the boundary.

use crate::abi::{Host, Host_TO, HostObject, Reply};
use crate::author::LogLevel;
use crate::guard;
use crate::model::EngineError;
use abi_stable::erased_types::TD_Opaque;
use abi_stable::std_types::{RResult, RStr, RString};

/// What a host offers to one engine instance.
///
/// Engines call it from any thread, at the same time, and possibly after their instance is gone. A panic in here yields
/// a neutral value and never reaches the engine.
pub trait HostServices: Send + Sync + 'static {
    /// One line for the log.
    fn log(&self, level: LogLevel, message: &str);

    /// Whether the call in progress should end early.
    fn is_cancelled(&self) -> bool;

    /// Tokens of `text` for the model in use.
    fn count_tokens(&self, text: &str) -> u64;

    /// A service by name; takes and answers a JSON object.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a name the host does not have.
    fn call(&self, service: &str, params_json: &str) -> Result<String, EngineError>;
}

/// A host without services: nothing is logged or cancelled, text counts as a token for each four bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoServices;

impl HostServices for NoServices {
    fn log(&self, _level: LogLevel, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn count_tokens(&self, text: &str) -> u64 {
        text.len().div_ceil(4) as u64
    }

    fn call(&self, service: &str, _params_json: &str) -> Result<String, EngineError> {
        Err(EngineError::unsupported(service))
    }
}

struct Guarded<S>(S);

/// `services` as an object any engine can call.
pub(super) fn host_object(services: impl HostServices) -> HostObject {
    Host_TO::from_value(Guarded(services), TD_Opaque)
}

impl<S: HostServices> Host for Guarded<S> {
    fn log(&self, level: u32, message: RStr<'_>) {
        let _ = guard::run(|| self.0.log(LogLevel::from_number(level), &message));
    }

    fn cancelled(&self) -> bool {
        guard::run(|| self.0.is_cancelled()).unwrap_or(false)
    }

    fn count_tokens(&self, text: RStr<'_>) -> u64 {
        guard::run(|| self.0.count_tokens(&text)).unwrap_or_else(|_| NoServices.count_tokens(&text))
    }

    fn call_json(&self, method: RStr<'_>, params_json: RStr<'_>) -> Reply {
        match guard::run(|| self.0.call(&method, &params_json))
            .unwrap_or_else(|panic| Err(panic.into()))
        {
            Ok(json) => RResult::ROk(RString::from(json)),
            Err(error) => RResult::RErr(error.into()),
        }
    }
}
