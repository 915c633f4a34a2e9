//! What the configuration says of defaults, providers and our own settings.

use super::Finding;
use crate::context::Context;
use crate::error::{CliError, chain};
use crate::models;
use crate::output::Mark;
use openclaw_config::{ConfigError, ConfigErrorKind};
/// What our own settings say.
pub(super) fn native_settings(context: &Context) -> Vec<Finding> {
    let (settings, faults) = match context.native_settings() {
        Ok(read) => read,
        Err(error) => return vec![of_error(Mark::Error, "settings", &error)],
    };
    let mut findings: Vec<Finding> = faults
        .into_iter()
        .map(|fault| Finding::new(Mark::Warning, "settings", format!("native.json5: {fault}")))
        .collect();
    if settings.strict {
        let text = "strict: a substituted engine fails the turn";
        findings.push(Finding::new(Mark::Note, "settings", text));
    }
    findings
}

/// What a turn reads of the config besides plugins: the defaults of agents, the providers, and the model these make.
pub(super) fn turn_settings(context: &Context) -> Vec<Finding> {
    let config = match context.config() {
        Ok(config) => config,
        // Told already: nothing could be read.
        Err(_) => return Vec::new(),
    };
    let mut findings = Vec::new();
    let defaults = config.agent_defaults();
    match &defaults {
        Ok(defaults) => {
            let workspace = defaults.workspace.as_ref();
            let workspace = workspace.map(|path| context.absolute(path.as_ref()));
            if let Some(path) = workspace.filter(|path| path.exists() && !path.is_dir()) {
                let text = format!("{} is no directory", path.display());
                findings.push(
                    Finding::new(Mark::Warning, "workspace", text)
                        .help("set `agents.defaults.workspace` to a directory"),
                );
            }
        }
        Err(error) => findings.extend(config_faults(error)),
    }
    let providers = config.models();
    match &providers {
        Ok(models) => {
            for provider in &models.providers {
                let checked = if provider
                    .name
                    .eq_ignore_ascii_case(openclaw_agent::OFFLINE_PROVIDER)
                {
                    Err((Mark::Warning, models::hidden_provider(provider)))
                } else {
                    // It may never be asked; the model that is asked is judged below.
                    models::check_provider(provider).map_err(|error| (Mark::Note, error))
                };
                if let Err((mark, error)) = checked {
                    findings.push(of_error(mark, "provider", &error));
                }
            }
        }
        Err(error) => findings.extend(config_faults(error)),
    }
    if defaults.is_ok() && providers.is_ok() {
        let finding = match models::choose(context, None) {
            Ok(chosen) => {
                let note = |text| Finding::new(Mark::Note, "model", text);
                findings.extend(chosen.warnings.into_iter().map(note));
                let models = std::iter::once(&chosen.model).chain(&chosen.fallbacks);
                let names = models.map(|model| {
                    let info = model.info();
                    format!("{}/{}", info.provider, info.id)
                });
                let text = names.collect::<Vec<_>>().join(", then ");
                Finding::new(Mark::Ok, "model", text)
            }
            Err(error) => {
                let text = error.to_string();
                findings.retain(|finding| finding.text != text);
                of_error(Mark::Error, "model", &error)
            }
        };
        findings.push(finding);
    }
    findings
}

/// One finding for each key at fault.
fn config_faults(error: &ConfigError) -> Vec<Finding> {
    let ConfigErrorKind::Invalid(faults) = &error.kind else {
        return vec![Finding::new(Mark::Error, "config", chain(error)).help(error.help())];
    };
    let one = |fault: &openclaw_config::KeyFault| {
        Finding::new(Mark::Error, "config", fault.to_string()).help(format!(
            "correct `{}` in {}",
            fault.key,
            error.path.display()
        ))
    };
    faults.iter().map(one).collect()
}

pub(super) fn of_error(mark: Mark, subject: &'static str, error: &CliError) -> Finding {
    let finding = Finding::new(mark, subject, error.to_string());
    let help = error.help().map(str::to_owned);
    Finding { help, ..finding }
}
