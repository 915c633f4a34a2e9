//! A model behind an OpenAI-compatible `POST {baseUrl}/chat/completions`.

mod answer;
mod exchange;
mod failure;
mod overflow;
mod settings;
mod sse;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;

use openclaw_host::{Model, ModelError, ModelInfo, ModelReply, ModelRequest};

use crate::line::one_line;
use exchange::{Exchange, Line};
use failure::Failure;

pub use settings::{OpenAiSettings, SettingsError, SettingsErrorKind};

/// The dialect's name in [`ModelInfo::api`].
pub const OPENAI_API: &str = "openai-completions";

const REASON_CHARS: usize = 300;

/// A model behind an OpenAI-compatible server.
///
/// Streams; a server that answers in one piece is understood too. A request is made once: whether it is made again is
/// for the host to decide. Redirects are not followed. The proxy that the usual environment variables
/// name is used, except for a server on this machine.
pub struct OpenAiModel {
    info: ModelInfo,
    line: Line,
    accepts_images: bool,
}

impl OpenAiModel {
    /// Makes a client. Opens no connection.
    ///
    /// # Errors
    ///
    /// When the base URL, the key or a header cannot be used.
    pub fn new(settings: OpenAiSettings) -> Result<Self, SettingsError> {
        let line = Line::new(&settings)?;
        let info = ModelInfo {
            provider: settings.provider,
            id: settings.model,
            api: OPENAI_API.to_owned(),
            context_window_tokens: settings.context_window_tokens,
            max_output_tokens: settings.max_output_tokens,
        };
        Ok(Self {
            info,
            line,
            accepts_images: settings.accepts_images,
        })
    }

    fn answer(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, Failure> {
        let body: Arc<str> = wire::body(&self.info, request, self.accepts_images)?.into();
        let exchange = Exchange::start(&self.line, body);
        stream::read(exchange, request.is_cancelled, on_text)
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

impl Model for OpenAiModel {
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

impl std::fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAiModel")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
