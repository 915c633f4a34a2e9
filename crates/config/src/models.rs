//! Model providers and the agent defaults. Keys this host does not use are passed over.

use std::ffi::OsString;
use std::fmt;

use serde_json::Value;

use crate::error::KeyProblem;
use crate::key_path::KeyPath;
use crate::placeholder::{PlaceholderError, Secret, Template};
use crate::section::{Section, wrong_type};

/// `models.providers`, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Models {
    /// The providers.
    pub providers: Vec<Provider>,
}

/// One provider, before variables are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name, the part before `/` in `provider/model`.
    pub name: String,
    /// `baseUrl`.
    pub base_url: Option<Template>,
    /// `apiKey`; `{source: "env", id: "VAR"}` reads as `${VAR}`.
    pub api_key: Option<Template>,
    /// `api`, the dialect it speaks, such as `openai-completions`.
    pub api: Option<String>,
    /// `headers` to send with each request.
    pub headers: Vec<(String, Template)>,
    /// The models it is said to have.
    pub models: Vec<Model>,
}

/// A provider with its variables looked up. `Debug` hides what may be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Base URL; secret because it may carry a password.
    pub base_url: Option<Secret>,
    /// Key to authenticate with.
    pub api_key: Option<Secret>,
    /// Extra headers.
    pub headers: Vec<(String, Secret)>,
}

/// One model of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The id the provider knows.
    pub id: String,
    /// Name for people; the id when not given.
    pub name: String,
    /// Tokens of prompt and answer together; `None` when not said.
    pub context_window_tokens: Option<u64>,
    /// Tokens of one answer; `None` when not said.
    pub max_output_tokens: Option<u64>,
    /// Whether it reasons before it answers.
    pub reasoning: bool,
}

/// The settings under `agents.defaults` that a turn needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentDefaults {
    /// Which model to use; `None` when not said.
    pub model: Option<ModelChoice>,
    /// Cap on the context window, in tokens; `None` when not said.
    pub context_tokens: Option<u64>,
    /// Workspace directory as written; see [`crate::expand`].
    pub workspace: Option<String>,
}

/// A model and what to try when it fails, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// The first to try.
    pub primary: ModelRef,
    /// The others.
    pub fallbacks: Vec<ModelRef>,
}

/// `provider/model`; the model part may contain further slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRef {
    /// The provider; `None` when only a model is named.
    pub provider: Option<String>,
    /// The model id.
    pub model: String,
}

impl Models {
    /// The provider called `name`; case does not count.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers
            .iter()
            .find(|provider| provider.name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn of(root: &Section<'_, '_>) -> Self {
        let providers = root.section("models").section("providers");
        Self {
            providers: providers
                .members()
                .map(|(name, _)| Provider::of(name, &providers.section(name)))
                .collect(),
        }
    }
}

impl Provider {
    /// Looks up the variables. Do it for the provider in use only, right before use; keep the result out of files.
    ///
    /// # Errors
    ///
    /// Names the first variable that is not set.
    pub fn resolve(
        &self,
        env: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Endpoint, PlaceholderError> {
        let resolve = |template: &Option<Template>| -> Result<Option<Secret>, PlaceholderError> {
            template.as_ref().map(|text| text.resolve(env)).transpose()
        };
        Ok(Endpoint {
            base_url: resolve(&self.base_url)?,
            api_key: resolve(&self.api_key)?,
            headers: self
                .headers
                .iter()
                .map(|(name, value)| Ok((name.clone(), value.resolve(env)?)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The model with this id.
    pub fn model(&self, id: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.id == id)
    }

    fn of(name: &str, provider: &Section<'_, '_>) -> Self {
        let headers = provider.section("headers");
        Self {
            name: name.to_owned(),
            base_url: provider.string("baseUrl").map(Template::new),
            api_key: api_key(provider),
            api: provider.string("api"),
            headers: headers
                .members()
                .filter_map(|(name, _)| {
                    let value = headers.string(name).map(Template::new)?;
                    Some((name.clone(), value))
                })
                .collect(),
            models: provider
                .list("models")
                .filter_map(|(path, model)| {
                    Model::of(&Section::of(Some(model), path, provider.faults()))
                })
                .collect(),
        }
    }
}

fn api_key(provider: &Section<'_, '_>) -> Option<Template> {
    let value = provider.get("apiKey")?;
    match value {
        Value::String(text) => Some(Template::new(text)),
        Value::Object(from) if from.get("source").and_then(Value::as_str) == Some("env") => {
            let id = provider.section("apiKey").string("id");
            if id.is_none() {
                provider.section("apiKey").fault("id", KeyProblem::Missing);
            }
            id.map(|id| Template::new(format!("${{{id}}}")))
        }
        other => {
            let wanted = "a string or {source: \"env\", id}";
            provider.fault("apiKey", wrong_type(wanted, other));
            None
        }
    }
}

impl Model {
    fn of(model: &Section<'_, '_>) -> Option<Self> {
        let id = model.string("id").filter(|id| !id.trim().is_empty());
        if id.is_none() {
            model.fault("id", KeyProblem::Missing);
        }
        let id = id?;
        Some(Self {
            name: model.string("name").unwrap_or_else(|| id.clone()),
            id,
            context_window_tokens: model.count("contextWindow"),
            max_output_tokens: model.count("maxTokens"),
            reasoning: model.bool("reasoning").unwrap_or(false),
        })
    }
}

impl AgentDefaults {
    pub(crate) fn of(root: &Section<'_, '_>) -> Self {
        let defaults = root.section("agents").section("defaults");
        Self {
            model: ModelChoice::of(&defaults),
            context_tokens: defaults.count("contextTokens"),
            workspace: defaults
                .string("workspace")
                .filter(|w| !w.trim().is_empty()),
        }
    }
}

impl ModelChoice {
    fn of(defaults: &Section<'_, '_>) -> Option<Self> {
        let key = defaults.path.child("model");
        match defaults.get("model")? {
            primary @ Value::String(_) => Some(Self {
                primary: model_ref(defaults, key, Some(primary))?,
                fallbacks: Vec::new(),
            }),
            Value::Object(_) => {
                let model = defaults.section("model");
                let primary = model_ref(&model, key.child("primary"), model.get("primary"));
                let fallbacks = model.list("fallbacks");
                let fallbacks =
                    fallbacks.filter_map(|(key, value)| model_ref(&model, key, Some(value)));
                let fallbacks = fallbacks.collect();
                Some(Self {
                    primary: primary?,
                    fallbacks,
                })
            }
            other => {
                let wanted = "a string or {primary, fallbacks}";
                defaults.fault("model", wrong_type(wanted, other));
                None
            }
        }
    }
}

/// The model that the value at `key` names; a fault where it names none, so that no other one takes its place.
fn model_ref(section: &Section<'_, '_>, key: KeyPath, value: Option<&Value>) -> Option<ModelRef> {
    let problem = match value {
        None => KeyProblem::Missing,
        Some(Value::String(text)) if text.trim().is_empty() => KeyProblem::Missing,
        Some(Value::String(text)) => match ModelRef::parse(text) {
            Some(model) => return Some(model),
            None => KeyProblem::WrongForm {
                wanted: "`<provider>/<model>`",
            },
        },
        Some(other) => wrong_type("a string", other),
    };
    section.faults().add(key, problem);
    None
}

impl ModelRef {
    /// Splits at the first slash. `None` for blank text, a blank model, or a slash behind a blank provider.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model) = match text.trim().split_once('/') {
            Some((provider, model)) => (Some(provider.trim()), model.trim()),
            None => (None, text.trim()),
        };
        (!model.is_empty() && provider != Some("")).then(|| Self {
            provider: provider.map(str::to_owned),
            model: model.to_owned(),
        })
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.provider {
            Some(provider) => write!(out, "{provider}/{}", self.model),
            None => out.write_str(&self.model),
        }
    }
}

#[cfg(test)]
mod tests;
