//! A model behind an OpenAI-compatible `POST {baseUrl}/chat/completions`.

mod answer;
mod exchange;
mod failure;
mod settings;
mod sse;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use openclaw_host::{Model, ModelError, ModelInfo, ModelReply, ModelRequest};

use crate::line::one_line;
use exchange::{Exchange, Line};
use failure::{Failure, Retry};

pub use settings::{OpenAiSettings, SettingsError, SettingsErrorKind};

/// The dialect's name in [`ModelInfo::api`].
pub const OPENAI_API: &str = "openai-completions";

/// Waits; called between two tries, in short steps. `Box::new(std::thread::sleep)` outside of tests.
pub type Wait = Box<dyn FnMut(Duration) + Send>;

const MAX_ATTEMPTS: u32 = 3;
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(30);
const WAIT_STEP: Duration = Duration::from_millis(50);
const REASON_CHARS: usize = 300;

/// A model behind an OpenAI-compatible server.
///
/// Streams; a server that answers in one piece is understood too. A server error (5xx), a connection that broke
/// before the server answered, and a rate limit that ends within 30 s are tried again, twice at most. Nothing is tried
/// again once a part of an answer has come. Redirects are not followed. The proxy that the usual environment variables
/// name is used, except for a server on this machine.
pub struct OpenAiModel {
    info: ModelInfo,
    line: Line,
    accepts_images: bool,
    wait: Wait,
}

impl OpenAiModel {
    /// Makes a client. Opens no connection.
    ///
    /// # Errors
    ///
    /// When the base URL, the key or a header cannot be used.
    pub fn new(settings: OpenAiSettings, wait: Wait) -> Result<Self, SettingsError> {
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
            wait,
        })
    }

    fn answer(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, Failure> {
        let body: Arc<str> = wire::body(&self.info, request, self.accepts_images)?.into();
        let mut attempt = 1;
        loop {
            let exchange = Exchange::start(&self.line, Arc::clone(&body));
            let failure = match stream::read(exchange, request.is_cancelled, on_text) {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let Some(wait) = failure.wait_before_retry(attempt) else {
                return Err(failure);
            };
            tracing::debug!(attempt, reason = ?failure.kind, "model request is tried again");
            self.pause(wait, request.is_cancelled)?;
            attempt += 1;
        }
    }

    fn pause(
        &mut self,
        mut left: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        while !left.is_zero() {
            if is_cancelled() {
                return Err(Failure::cancelled());
            }
            let step = left.min(WAIT_STEP);
            (self.wait)(step);
            left -= step;
        }
        Ok(())
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

impl Failure {
    /// How long to wait before the next attempt; `None` when there is none.
    fn wait_before_retry(&self, attempt: u32) -> Option<Duration> {
        if attempt >= MAX_ATTEMPTS {
            return None;
        }
        match self.retry {
            Retry::Never => None,
            Retry::Soon => Some(FIRST_BACKOFF * 2_u32.pow(attempt - 1)),
            Retry::After(wait) => Some(wait).filter(|wait| *wait <= LONGEST_RETRY_AFTER),
        }
    }
}
