//! Which parameters an engine gets.
//!
//! Six parameters are added by hosts. An engine that lists the ones it accepts gets no others of the six; all other
//! parameters always pass. An older, strict engine that answers *unknown parameter X* is called again without X, and X
//! is remembered for every later call of any instance.

use crate::model::{EngineError, ErrorCode};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Parameters that hosts add.
const HOST_PARAMS: [&str; 6] = [
    "sessionKey",
    "prompt",
    "runtimeSettings",
    "sessionTarget",
    "runtimeContext",
    "abortSignal",
];

/// What an engine accepts, shared by its instances.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    listed: Option<Arc<BTreeSet<String>>>,
    refused: Arc<Mutex<BTreeSet<&'static str>>>,
}

impl Accepted {
    /// `listed`: the descriptor's `acceptedHostParams`.
    pub(super) fn new(listed: Option<Vec<String>>) -> Self {
        Self {
            listed: listed.map(|names| Arc::new(names.into_iter().collect())),
            refused: Arc::default(),
        }
    }

    /// Calls `call` with the parameters the engine accepts, once more for each that it says it does not know.
    pub(super) fn call<T>(
        &self,
        params: &impl Serialize,
        mut call: impl FnMut(&str) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        loop {
            let text = self.text(params).map_err(|error| {
                EngineError::new(
                    ErrorCode::InvalidParams,
                    format!("cannot write the parameters: {error}"),
                )
            })?;
            let result = call(&text);
            match result
                .as_ref()
                .err()
                .and_then(|error| unknown_parameter(error, &text))
            {
                // A name that stays after it was left out stands deeper, where it is not the host's to remove.
                Some(name) if self.refused().insert(name) => {}
                _ => return result,
            }
        }
    }

    /// The parameters as JSON text, without those the engine does not accept.
    fn text(&self, params: &impl Serialize) -> serde_json::Result<String> {
        let refused = self.refused();
        if self.listed.is_none() && refused.is_empty() {
            // The usual case, without the detour over a tree of values.
            return serde_json::to_string(params);
        }
        let mut value = serde_json::to_value(params)?;
        if let Some(params) = value.as_object_mut() {
            let unlisted = |name: &str| {
                self.listed
                    .as_ref()
                    .is_some_and(|listed| !listed.contains(name))
            };
            params.retain(|name, _| {
                !(is_host_param(name) && (unlisted(name) || refused.contains(name.as_str())))
            });
        }
        Ok(value.to_string())
    }

    fn refused(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_host_param(name: &str) -> bool {
    HOST_PARAMS.contains(&name)
}

/// The host parameter of a call that an error says is unknown.
fn unknown_parameter(error: &EngineError, params_json: &str) -> Option<&'static str> {
    if !matches!(error.code, ErrorCode::Failed | ErrorCode::InvalidParams) {
        return None;
    }
    let text = error.message.to_ascii_lowercase();
    let at = ["unknown parameter", "unknown field", "unrecognized key"]
        .iter()
        .find_map(|words| text.find(words))?;
    let mut words = error.message[at..]
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .skip(2);
    let named = words.next().map(|word| {
        if word == "s" {
            words.next().unwrap_or_default()
        } else {
            word
        }
    })?;
    HOST_PARAMS
        .into_iter()
        .find(|name| *name == named && params_json.contains(&format!("\"{name}\":")))
}
