//! `runtimeSettings`: facts about the run that a call belongs to.

use super::open::open_words;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Facts about the run, schema version 1. Every leaf is there; `None` means that the host does not know.
///
/// Source: context engine contract, "runtimeSettings".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuntimeSettings {
    /// 1.
    pub schema_version: u32,
    /// Where the engine runs.
    pub runtime: RuntimeFacts,
    /// The model the call is for.
    pub model: ModelFacts,
    /// How the engine came to be selected.
    pub context_engine_selection: SelectionFacts,
    /// The program that executes the run.
    pub execution_host: ExecutionHost,
    /// Limits in tokens.
    pub limits: Limits,
    /// Why the run is not a normal one.
    pub diagnostics: Diagnostics,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for RuntimeSettings {
    fn default() -> Self {
        Self {
            schema_version: 1,
            runtime: RuntimeFacts::default(),
            model: ModelFacts::default(),
            context_engine_selection: SelectionFacts::default(),
            execution_host: ExecutionHost::default(),
            limits: Limits::default(),
            diagnostics: Diagnostics::default(),
            extra: Map::new(),
        }
    }
}

/// Where the engine runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuntimeFacts {
    /// `openclaw`.
    pub host: String,
    /// Whether the run is a normal one.
    pub mode: RuntimeMode,
    /// Harness, where there is one.
    pub harness_id: Option<String>,
    /// Runtime, where there is one.
    pub runtime_id: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for RuntimeFacts {
    fn default() -> Self {
        Self {
            host: "openclaw".into(),
            mode: RuntimeMode::Normal,
            harness_id: None,
            runtime_id: None,
            extra: Map::new(),
        }
    }
}

open_words! {
    /// Whether a run is a normal one.
    RuntimeMode {
        /// As asked for.
        Normal = "normal",
        /// Another model answers than the one asked for.
        Fallback = "fallback",
        /// Something went wrong on the way.
        Degraded = "degraded",
    }
}

/// The model a call is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelFacts {
    /// Model asked for.
    pub requested: Option<String>,
    /// Model that answers.
    pub resolved: Option<String>,
    /// Provider of the model that answers.
    pub provider: Option<String>,
    /// Family of the model that answers.
    pub family: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// How the engine came to be selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelectionFacts {
    /// Engine that was selected.
    pub selected_id: Option<String>,
    /// Who selected it.
    pub source: SelectionSource,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for SelectionFacts {
    fn default() -> Self {
        Self {
            selected_id: None,
            source: SelectionSource::Unknown,
            extra: Map::new(),
        }
    }
}

open_words! {
    /// Who selected an engine.
    SelectionSource {
        /// The configuration.
        Configured = "configured",
        /// Nobody: it is the default.
        Default = "default",
        /// The host does not say.
        Unknown = "unknown",
    }
}

/// The program that executes a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecutionHost {
    /// Its id.
    pub id: Option<String>,
    /// Its name for people.
    pub label: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Limits of a run, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// What the prompt may take.
    pub prompt_token_budget: Option<f64>,
    /// What the answer may take.
    pub max_output_tokens: Option<f64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Why a run is not a normal one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Diagnostics {
    /// Why another model answers.
    pub fallback_reason: Option<ReasonCode>,
    /// What went wrong.
    pub degraded_reason: Option<ReasonCode>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

open_words! {
    /// Why a run is not a normal one, as a code.
    ReasonCode {
        /// The provider was too slow.
        ProviderTimeout = "provider_timeout",
        /// The provider could not be reached.
        ProviderUnavailable = "provider_unavailable",
        /// The provider refused for now.
        RateLimited = "rate_limited",
        /// The context was too large.
        ContextOverflow = "context_overflow",
        /// The runtime could not be used.
        RuntimeUnavailable = "runtime_unavailable",
        /// None of these.
        Unknown = "unknown",
    }
}

impl ReasonCode {
    /// The code for a reason in words: an exact code, else the first pattern that fits.
    #[must_use]
    pub fn classify(reason: &str) -> Self {
        match Self::from(reason.trim().to_owned()) {
            Self::Other(words) => Self::of_words(&words.to_ascii_lowercase()),
            code => code,
        }
    }

    fn of_words(words: &str) -> Self {
        let has = |patterns: &[&str]| patterns.iter().any(|pattern| words.contains(pattern));
        if has(&["timeout"]) {
            Self::ProviderTimeout
        } else if has(&["rate", "limit", "429"]) {
            Self::RateLimited
        } else if has(&["overflow", "context", "pressure"]) {
            Self::ContextOverflow
        } else if has(&["runtime"]) {
            Self::RuntimeUnavailable
        } else if has(&["provider", "primary", "unavailable"]) {
            Self::ProviderUnavailable
        } else {
            Self::Unknown
        }
    }
}
