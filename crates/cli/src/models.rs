//! From the configuration to a model.

use crate::context::{Context, variable};
use crate::error::CliError;
use openclaw_agent::{
    ApiKey, Dialect, Header, OFFLINE_PROVIDER, OfflineModel, ProviderModel, ProviderSettings,
};
use openclaw_config::{Model as ModelConfig, ModelRef, Models, Provider};
use openclaw_host::{Candidate, Candidates, ExecutionHost, Model};
use std::ffi::OsString;

/// Window assumed where neither the model nor `agents.defaults.contextTokens` says one.
const DEFAULT_WINDOW_TOKENS: u64 = 200_000;

/// Models that can be asked, and the limit the user put on their context.
pub(crate) struct Chosen {
    pub(crate) model: Box<dyn Model>,
    /// Asked in this order when the model gives no answer.
    pub(crate) fallbacks: Vec<Box<dyn Model>>,
    pub(crate) context_tokens: Option<u64>,
    /// Fallbacks that are configured and cannot be asked.
    pub(crate) warnings: Vec<String>,
}

impl Chosen {
    /// The models in the order they are asked, all of them run by this program.
    pub(crate) fn candidates(&mut self) -> Candidates<'_> {
        let candidate = |model| Candidate {
            model,
            host: ExecutionHost::embedded(),
        };
        let fallbacks = self.fallbacks.iter_mut();
        let fallbacks = fallbacks.map(|model| candidate(model.as_mut())).collect();
        Candidates::new(candidate(self.model.as_mut()), fallbacks)
    }
}

/// The model the command line or the configuration names; the offline one when neither does. Fallbacks belong to the
/// configured model: one that is named on the command line has none.
pub(crate) fn choose(context: &Context, named: Option<&str>) -> Result<Chosen, CliError> {
    let config = context.config()?;
    let defaults = config.agent_defaults()?;
    let models = config.models()?;
    let (wanted, fallbacks) = match named {
        Some(name) => {
            let named = ModelRef::parse(name).ok_or_else(|| {
                CliError::new(
                    format!("`{name}` names no model"),
                    "name it as `<provider>/<model>`, or `offline`",
                )
            })?;
            (Some(named), Vec::new())
        }
        None => match defaults.model {
            Some(choice) => (Some(choice.primary), choice.fallbacks),
            None => (only_model(&models), Vec::new()),
        },
    };
    let context_tokens = defaults.context_tokens;
    let model = make(&models, wanted.as_ref(), context_tokens)?;
    let (mut usable, mut warnings) = (Vec::new(), Vec::new());
    for wanted in &fallbacks {
        match make(&models, Some(wanted), context_tokens) {
            Ok(model) => usable.push(model),
            Err(error) => warnings.push(format!(
                "one of `agents.defaults.model.fallbacks` cannot be asked: {error}"
            )),
        }
    }
    Ok(Chosen {
        model,
        fallbacks: usable,
        context_tokens,
        warnings,
    })
}

fn make(
    models: &Models,
    wanted: Option<&ModelRef>,
    context_tokens: Option<u64>,
) -> Result<Box<dyn Model>, CliError> {
    let offline = || {
        Box::new(OfflineModel::new(
            context_tokens.unwrap_or(DEFAULT_WINDOW_TOKENS),
        ))
    };
    match wanted {
        None => Ok(offline()),
        Some(wanted) if is_offline(wanted) => match models.provider(OFFLINE_PROVIDER) {
            Some(provider) => Err(hidden_provider(provider)),
            None => Ok(offline()),
        },
        Some(wanted) => Ok(Box::new(provider_model(models, wanted, context_tokens)?)),
    }
}

fn is_offline(wanted: &ModelRef) -> bool {
    let name = wanted.provider.as_deref().unwrap_or(&wanted.model);
    name.eq_ignore_ascii_case(OFFLINE_PROVIDER)
}

/// A provider that the built-in model's name hides.
pub(crate) fn hidden_provider(provider: &Provider) -> CliError {
    let name = &provider.name;
    CliError::new(
        format!("`models.providers.{name}` cannot be used: `{name}` is the built-in model"),
        format!("give the provider another name than `{name}` in openclaw.json"),
    )
}

/// Whether a request to the provider could be made; asks for none of its models in particular.
pub(crate) fn check_provider(provider: &Provider) -> Result<(), CliError> {
    connect(provider, None, "any", None).map(drop)
}

/// The first model of a configuration that has a provider and names no default.
fn only_model(models: &Models) -> Option<ModelRef> {
    let provider = models.providers.first()?;
    let model = provider.models.first()?;
    Some(ModelRef {
        provider: Some(provider.name.clone()),
        model: model.id.clone(),
    })
}

fn provider_model(
    models: &Models,
    wanted: &ModelRef,
    context_tokens: Option<u64>,
) -> Result<ProviderModel, CliError> {
    let (provider, model) = find(models, wanted)?;
    connect(provider, model, &wanted.model, context_tokens)
}

fn connect(
    provider: &Provider,
    model: Option<&ModelConfig>,
    model_id: &str,
    context_tokens: Option<u64>,
) -> Result<ProviderModel, CliError> {
    let dialect = dialect(provider)?;
    let lookup = |name: &str| -> Option<OsString> { variable(name) };
    let key = format!("models.providers.{}", provider.name);
    let endpoint = provider.resolve(&lookup).map_err(|error| {
        CliError::new(format!("`{key}`: {error}"), error.help()).code(error.code())
    })?;
    let base_url = endpoint
        .base_url
        .filter(|url| !url.expose().trim().is_empty());
    let base_url = base_url.ok_or_else(|| {
        CliError::new(
            format!("provider `{}` has no `baseUrl`", provider.name),
            format!(
                "set `models.providers.{}.baseUrl` in openclaw.json",
                provider.name
            ),
        )
    })?;
    let window = model
        .and_then(|model| model.context_window_tokens)
        .or(context_tokens)
        .unwrap_or(DEFAULT_WINDOW_TOKENS);
    let mut settings =
        ProviderSettings::new(dialect, &provider.name, base_url.expose(), model_id, window);
    settings.api_key = endpoint.api_key.and_then(|key| ApiKey::new(key.expose()));
    settings.headers = endpoint
        .headers
        .iter()
        .map(|(name, value)| Header::new(name, value.expose()))
        .collect();
    settings.max_output_tokens = model.and_then(|model| model.max_output_tokens);
    ProviderModel::new(settings)
        .map_err(|error| CliError::new(error.to_string(), format!("{} in `{key}`", error.help())))
}

/// How the provider is spoken to.
fn dialect(provider: &Provider) -> Result<Dialect, CliError> {
    let Some(api) = provider.api.as_deref() else {
        return Ok(Dialect::default());
    };
    Dialect::of_api(api).ok_or_else(|| {
        let known = Dialect::ALL.map(|dialect| format!("\"{}\"", dialect.api()));
        CliError::new(
            format!(
                "provider `{}` speaks `{api}`, which is not supported yet",
                provider.name
            ),
            format!(
                "set `models.providers.{}.api` to one of {}, or use another provider",
                provider.name,
                known.join(", ")
            ),
        )
    })
}

/// The provider and, where it lists its models, the model.
fn find<'a>(
    models: &'a Models,
    wanted: &ModelRef,
) -> Result<(&'a Provider, Option<&'a ModelConfig>), CliError> {
    let names = || {
        models
            .providers
            .iter()
            .map(|provider| provider.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let provider = match &wanted.provider {
        Some(name) => models.provider(name).ok_or_else(|| {
            CliError::new(
                format!(
                    "model `{name}/{}`: there is no provider `{name}`",
                    wanted.model
                ),
                format!(
                    "set `models.providers.{name}` in openclaw.json (configured: {})",
                    listed(&names())
                ),
            )
        })?,
        None => models
            .providers
            .iter()
            .find(|it| it.model(&wanted.model).is_some())
            .ok_or_else(|| {
                CliError::new(
                    format!("no provider has a model `{}`", wanted.model),
                    format!(
                        "name it as `<provider>/{}` (configured: {})",
                        wanted.model,
                        listed(&names())
                    ),
                )
            })?,
    };
    let model = provider.model(&wanted.model);
    if model.is_none() && !provider.models.is_empty() {
        let known = provider
            .models
            .iter()
            .map(|model| model.id.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        return Err(CliError::new(
            format!(
                "provider `{}` has no model `{}`",
                provider.name, wanted.model
            ),
            format!("it has: {known}"),
        ));
    }
    Ok((provider, model))
}

fn listed(names: &str) -> &str {
    if names.is_empty() { "none" } else { names }
}
