//! A model behind a server of a provider, whatever its dialect.

mod anthropic;
mod dialect;
mod draft;
mod exchange;
mod failure;
mod history;
mod ids;
mod lines;
mod ollama;
mod openai;
mod settings;
mod sse;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use openclaw_host::{Model, ModelError, ModelInfo, ModelReply, ModelRequest};
use serde_json::{Value, json};

use crate::line::one_line;
use exchange::{Exchange, Line};
use failure::Failure;

pub use dialect::Dialect;
pub use settings::{ProviderSettings, SettingsError, SettingsErrorKind};

const REASON_CHARS: usize = 300;

/// A model behind a server of a provider.
///
/// Streams; a server that answers in one piece is understood too. A request is made once: whether it is made again is
/// for the host to decide. Redirects are not followed. The proxy that the usual environment variables
/// name is used, except for a server on this machine.
pub struct ProviderModel {
    info: ModelInfo,
    dialect: Dialect,
    line: Line,
    accepts_images: bool,
}

impl ProviderModel {
    /// Makes a client. Opens no connection.
    ///
    /// # Errors
    ///
    /// When the base URL, the key or a header cannot be used.
    pub fn new(settings: ProviderSettings) -> Result<Self, SettingsError> {
        let line = Line::new(&settings)?;
        let info = ModelInfo {
            provider: settings.provider,
            id: settings.model,
            api: settings.dialect.api().to_owned(),
            context_window_tokens: settings.context_window_tokens,
            max_output_tokens: settings.max_output_tokens,
        };
        Ok(Self {
            info,
            dialect: settings.dialect,
            line,
            accepts_images: settings.accepts_images,
        })
    }

    fn answer(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, Failure> {
        let body = self
            .dialect
            .body(&self.info, request, self.accepts_images)?;
        let body: Arc<str> = body.into();
        let exchange = Exchange::start(&self.line, body);
        stream::read(self.dialect, exchange, request.is_cancelled, on_text)
    }

    fn error(&self, failure: &Failure) -> ModelError {
        // The key goes before the cut, or a part of it could stay.
        let reason = self
            .line
            .without_secrets(&one_line(&failure.reason, usize::MAX));
        ModelError {
            provider: self.info.provider.clone(),
            model: self.info.id.clone(),
            kind: failure.kind,
            reason: one_line(&reason, REASON_CHARS),
        }
    }
}

impl Model for ProviderModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        self.answer(request, on_text)
            .map_err(|failure| self.error(&failure))
    }
}

impl std::fmt::Debug for ProviderModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderModel")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

/// Arguments of a call as an object, for dialects that take no text. What is no object is wrapped, not lost.
fn object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => object,
        Ok(_) | Err(_) => json!({ "arguments": arguments }),
    }
}
