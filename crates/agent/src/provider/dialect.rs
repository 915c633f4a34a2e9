//! The dialects that can be spoken, and what each of them has to say.

use openclaw_host::{ModelInfo, ModelReply, ModelRequest};
use serde_json::Value;

use super::failure::Failure;
use super::{anthropic, ollama, openai};
use crate::secret::ApiKey;

/// How a provider is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `POST {baseUrl}/chat/completions`, as OpenAI and most local servers.
    #[default]
    OpenAi,
    /// `POST {baseUrl}/v1/messages`.
    Anthropic,
    /// `POST {baseUrl}/api/chat`.
    Ollama,
}

/// Collects an answer from its pieces.
pub(super) trait Reader {
    /// Takes the data of one event, or one line, of a stream.
    ///
    /// # Errors
    ///
    /// When it is not what the dialect says, or an error of the server.
    fn event(&mut self, data: &str, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure>;

    /// Takes a whole answer that came in one piece.
    fn document(&mut self, document: &Value, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure>;

    /// Whether the server said that nothing more comes.
    fn saw_done(&self) -> bool;

    /// Whether the model said that it is done.
    fn is_complete(&self) -> bool;

    /// The reply.
    ///
    /// # Errors
    ///
    /// When nothing was said, a tool call has no name, or arguments that are not a JSON object.
    fn finish(self: Box<Self>) -> Result<ModelReply, Failure>;
}

/// How the pieces of a stream are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON document a line.
    Lines,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Ollama];

    /// The dialect of an `api` in the configuration.
    #[must_use]
    pub fn of_api(api: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.api() == api)
    }

    /// Its name as an `api` in the configuration.
    #[must_use]
    pub fn api(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-completions",
            Self::Anthropic => "anthropic-messages",
            Self::Ollama => "ollama",
        }
    }

    /// Where requests go, from a base URL without a slash at its end.
    pub(super) fn url(self, base_url: &str) -> String {
        let path = match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic if base_url.ends_with("/v1") => "/messages",
            Self::Anthropic => "/v1/messages",
            Self::Ollama if base_url.ends_with("/api") => "/chat",
            Self::Ollama => "/api/chat",
        };
        format!("{base_url}{path}")
    }

    /// The header that carries the key.
    pub(super) fn key_header(self, key: &ApiKey) -> (&'static str, String) {
        match self {
            Self::OpenAi | Self::Ollama => ("authorization", format!("Bearer {}", key.reveal())),
            Self::Anthropic => ("x-api-key", key.reveal().to_owned()),
        }
    }

    /// Headers of every request beside the key.
    pub(super) fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::OpenAi | Self::Ollama => &[],
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
        }
    }

    pub(super) fn framing(self) -> Framing {
        match self {
            Self::OpenAi | Self::Anthropic => Framing::Events,
            Self::Ollama => Framing::Lines,
        }
    }

    /// The body of a request. Equal requests give equal bytes.
    ///
    /// # Errors
    ///
    /// When a message cannot be read; nothing is left out in silence.
    pub(super) fn body(
        self,
        info: &ModelInfo,
        request: ModelRequest<'_>,
        accepts_images: bool,
    ) -> Result<String, Failure> {
        match self {
            Self::OpenAi => openai::body(info, request, accepts_images),
            Self::Anthropic => anthropic::body(info, request, accepts_images),
            Self::Ollama => ollama::body(info, request, accepts_images),
        }
    }

    pub(super) fn reader(self) -> Box<dyn Reader> {
        match self {
            Self::OpenAi => openai::reader(),
            Self::Anthropic => anthropic::reader(),
            Self::Ollama => ollama::reader(),
        }
    }
}

/// A text that is there and not empty.
pub(super) fn filled<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_has_a_name_and_a_place_for_requests() {
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::of_api(dialect.api()), Some(dialect));
        }
        assert_eq!(Dialect::of_api("telepathy"), None);
        let check = |dialect: Dialect, base: &str, url: &str| assert_eq!(dialect.url(base), url);
        check(
            Dialect::OpenAi,
            "http://h/v1",
            "http://h/v1/chat/completions",
        );
        check(Dialect::Anthropic, "http://h", "http://h/v1/messages");
        check(Dialect::Anthropic, "http://h/v1", "http://h/v1/messages");
        check(Dialect::Ollama, "http://h:1", "http://h:1/api/chat");
        check(Dialect::Ollama, "http://h:1/api", "http://h:1/api/chat");
    }
}
