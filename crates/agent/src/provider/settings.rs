//! What it takes to reach a model, as the caller read it from the config.

use std::time::Duration;

use super::dialect::Dialect;
use crate::secret::{ApiKey, Header};

/// How to reach a model, and what it can take.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// How the server is spoken to.
    pub dialect: Dialect,
    /// Provider name as configured; only for messages.
    pub provider: String,
    /// Base URL, `http` or `https`, up to but without what the dialect adds. No user name or password in it.
    pub base_url: String,
    /// Sent as the dialect sends keys; `None` sends no credentials.
    pub api_key: Option<ApiKey>,
    /// Sent with each request. One that the client would send too goes before it: an `Authorization` given here
    /// replaces the one made of `api_key`.
    pub headers: Vec<Header>,
    /// Model id at the provider.
    pub model: String,
    /// Tokens a request and its answer may take together.
    pub context_window_tokens: u64,
    /// Tokens an answer may take; `None` leaves it to the server, where the dialect can.
    pub max_output_tokens: Option<u64>,
    /// Whether the model reads images; where not, a line of text stands in for each.
    pub accepts_images: bool,
    /// How long the server may stay silent, before its answer and within it.
    pub idle_timeout: Duration,
    /// How long the name lookup may take, and again the connection with its handshake.
    pub connect_timeout: Duration,
}

impl ProviderSettings {
    /// Settings without key, headers, output limit and images; 120 s of silence, 10 s to connect.
    pub fn new(
        dialect: Dialect,
        provider: impl Into<String>,
        base_url: impl Into<String>,
        model: impl Into<String>,
        context_window_tokens: u64,
    ) -> Self {
        Self {
            dialect,
            provider: provider.into(),
            base_url: base_url.into(),
            api_key: None,
            headers: Vec::new(),
            model: model.into(),
            context_window_tokens,
            max_output_tokens: None,
            accepts_images: false,
            idle_timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(10),
        }
    }
}

/// Settings that no request can be made with.
#[derive(Debug, thiserror::Error)]
#[error("cannot use model provider `{provider}`: {kind}")]
pub struct SettingsError {
    /// Provider name as configured.
    pub provider: String,
    /// What is wrong.
    pub kind: SettingsErrorKind,
}

/// What is wrong with settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsErrorKind {
    /// The base URL is no URL, or of another scheme.
    #[error("its base URL is not an http or https URL")]
    BaseUrl,
    /// The base URL has a user name or password in it, which would show in messages.
    #[error("its base URL contains credentials")]
    CredentialsInUrl,
    /// The base URL has a query or a fragment, behind which no path can be put.
    #[error("its base URL has a query")]
    QueryInUrl,
    /// The key holds a character no header can carry.
    #[error(
        "its API key contains white space, a line break or another character that cannot be sent"
    )]
    ApiKey,
    /// A header whose name or value cannot be sent, or that describes the request's body.
    #[error("its header `{}` cannot be sent", name.escape_debug())]
    Header {
        /// Name of the header.
        name: String,
    },
}

impl SettingsError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match &self.kind {
            SettingsErrorKind::BaseUrl => "set baseUrl to something like http://127.0.0.1:8080/v1",
            SettingsErrorKind::CredentialsInUrl => "move the credentials from baseUrl to apiKey",
            SettingsErrorKind::QueryInUrl => "end baseUrl before the `?` or `#`",
            SettingsErrorKind::ApiKey => {
                "set apiKey again; a copied key often ends with a line break"
            }
            SettingsErrorKind::Header { .. } => {
                "set it again under headers, or remove it; content-length, transfer-encoding and connection belong to \
                 the client"
            }
        }
    }
}
