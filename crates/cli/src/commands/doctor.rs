//! `openclaw doctor`: what serves, why, and what needs attention. Reads and inspects; runs no plugin.

use crate::context::{AGENT_ID, Context};
use crate::engines::Engines;
use crate::error::{CliError, chain};
use crate::models;
use crate::output::{Mark, Output};
use openclaw_config::{ConfigError, ConfigErrorKind};
use openclaw_host::{Backlog, Health, HostSettings, LEGACY_ID, Slot, Store, read_health};
use openclaw_loader::{LoadError, Vetted};
use serde::Serialize;
use serde_json::json;
use std::process::ExitCode;

/// One thing that was checked.
#[derive(Debug, Serialize)]
struct Finding {
    mark: Mark,
    subject: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Finding {
    fn new(mark: Mark, subject: &'static str, text: impl Into<String>) -> Self {
        Self {
            mark,
            subject,
            text: text.into(),
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

pub(crate) fn run(context: &Context, output: &mut Output) -> Result<ExitCode, CliError> {
    let findings = findings(context);
    let is_well = findings
        .iter()
        .all(|finding| matches!(finding.mark, Mark::Ok | Mark::Note));
    for finding in &findings {
        output.marked(finding.mark, finding.subject, &finding.text);
        if let Some(help) = &finding.help {
            output.line(&format!("{:18} → {help}", ""));
        }
    }
    output.line("checked: files and records; no plugin was loaded");
    output
        .document(&json!({ "ok": is_well, "findings": findings, "checked": "files and records" }));
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn findings(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    let path = context.paths.config_path.display();
    let engines = match Engines::read(context) {
        Ok(engines) => engines,
        Err(error) => {
            let finding = Finding::new(Mark::Error, "config", error.to_string());
            let help = error.help().map(str::to_owned);
            findings.push(Finding { help, ..finding });
            findings.extend(native_settings(context));
            findings.extend(turn_settings(context));
            findings.extend(records(context));
            return findings;
        }
    };
    findings.push(Finding::new(Mark::Ok, "config", format!("{path}")));
    findings.extend(native_settings(context));
    findings.extend(turn_settings(context));
    findings.push(slot(&engines));
    findings.extend(plugins(&engines));
    findings.extend(relative_paths(context, &engines));
    findings.extend(records(context));
    findings
}

/// What our own settings say.
fn native_settings(context: &Context) -> Vec<Finding> {
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
fn turn_settings(context: &Context) -> Vec<Finding> {
    let config = match context.config() {
        Ok(config) => config,
        // Told already: nothing could be read.
        Err(_) => return Vec::new(),
    };
    let mut findings = Vec::new();
    let defaults = config.agent_defaults();
    match &defaults {
        Ok(defaults) => {
            if defaults
                .model
                .as_ref()
                .is_some_and(|model| !model.fallbacks.is_empty())
            {
                findings.push(Finding::new(Mark::Note, "model", models::UNUSED_FALLBACKS));
            }
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
                let info = chosen.model.info();
                let text = format!("{}/{}", info.provider, info.id);
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

fn of_error(mark: Mark, subject: &'static str, error: &CliError) -> Finding {
    let finding = Finding::new(mark, subject, error.to_string());
    let help = error.help().map(str::to_owned);
    Finding { help, ..finding }
}

/// Load paths that lead somewhere else from another directory.
fn relative_paths(context: &Context, engines: &Engines) -> Vec<Finding> {
    let written = engines.plugins.load_paths.iter().map(|path| path.trim());
    let is_relative = |path: &&str| {
        let is_home = *path == "~" || path.starts_with("~/");
        !path.is_empty() && !is_home && std::path::Path::new(path).is_relative()
    };
    let relative = written.filter(is_relative);
    relative
        .map(|path| {
            let now = context.absolute(path.as_ref());
            let text = format!(
                "`{path}` in `plugins.load.paths` starts at the current directory: {} now",
                now.display()
            );
            Finding::new(Mark::Note, "plugin", text).help("write it as an absolute path")
        })
        .collect()
}

fn slot(engines: &Engines) -> Finding {
    let reason = engines.slot.reason();
    match &engines.slot {
        Slot::Default | Slot::Off => {
            Finding::new(Mark::Ok, "engine", format!("{LEGACY_ID} ({reason})"))
        }
        Slot::Disabled { engine_id, .. } => {
            Finding::new(Mark::Note, "engine", format!("{LEGACY_ID}: {reason}")).help(format!(
                "enable it: set `plugins.entries.{engine_id}.enabled` to true in openclaw.json"
            ))
        }
        Slot::Engine(id) if id == LEGACY_ID => {
            Finding::new(Mark::Ok, "engine", format!("{LEGACY_ID} ({reason})"))
        }
        Slot::Engine(id) => match engines.plugin(id) {
            Some(plugin) => {
                let version = plugin.manifest.version.as_deref().unwrap_or("no version");
                let note = &plugin.facts.note;
                let text = format!(
                    "{id} {version} ({reason}) · contract {}.{} · {}",
                    note.contract_major,
                    note.contract_minor,
                    plugin.library.display()
                );
                Finding::new(Mark::Ok, "engine", text)
            }
            None => missing_engine(engines, id),
        },
    }
}

fn missing_engine(engines: &Engines, id: &str) -> Finding {
    let text =
        format!("the slot names `{id}`, and no usable plugin brings it; turns run on {LEGACY_ID}");
    let known: Vec<&str> = engines
        .discovery
        .plugins
        .iter()
        .map(|plugin| plugin.manifest.id.as_str())
        .collect();
    let help = match (engines.discovery.faults.is_empty(), known.as_slice()) {
        (false, _) => "see the plugin's error below".to_owned(),
        (true, []) => "link it: `openclaw plugins install -l <build directory>`".to_owned(),
        (true, known) => format!("did you mean {}?", known.join(" or ")),
    };
    Finding::new(Mark::Error, "engine", text).help(help)
}

fn plugins(engines: &Engines) -> Vec<Finding> {
    let mut findings = Vec::new();
    for plugin in &engines.discovery.plugins {
        let id = &plugin.manifest.id;
        if !engines.enablement(id).is_enabled() {
            findings.push(Finding::new(
                Mark::Note,
                "plugin",
                format!("{id} is disabled"),
            ));
            continue;
        }
        match Vetted::of_directory(plugin.clone(), &engines.settings(id)) {
            Ok(_) => findings.push(Finding::new(
                Mark::Ok,
                "plugin",
                format!("{id} in {}", plugin.path.display()),
            )),
            Err(error) => findings.push(fault(&error)),
        }
    }
    findings.extend(
        engines
            .discovery
            .faults
            .iter()
            .map(|(_, error)| fault(error)),
    );
    findings.extend(
        engines
            .discovery
            .shadowed
            .iter()
            .map(|(id, used, shadowed)| {
                let text = format!(
                    "{id} in {} is hidden by {}",
                    shadowed.display(),
                    used.display()
                );
                Finding::new(Mark::Warning, "plugin", text)
                    .help("remove one of the two from `plugins.load.paths`")
            }),
    );
    findings
}

fn fault(error: &LoadError) -> Finding {
    Finding::new(Mark::Error, "plugin", chain(error)).help(error.help())
}

/// What the stores and the health files say.
fn records(context: &Context) -> Vec<Finding> {
    let health = read_health(&HostSettings::health_dir(&context.paths.native_dir));
    let mut findings: Vec<Finding> = groups(&health)
        .iter()
        .filter_map(|group| quarantine(group))
        .collect();
    let store_path = HostSettings::store_path(&context.paths.native_dir, AGENT_ID);
    match Store::open_to_read(&store_path, Context::ambient()) {
        Ok(None) => findings.push(Finding::new(Mark::Ok, "sessions", "none yet")),
        Ok(Some(store)) => findings.extend(store_findings(&store)),
        Err(error) => {
            findings.push(Finding::new(Mark::Error, "sessions", chain(&error)).help(error.help()))
        }
    }
    findings
}

/// Records of one cause together, the last one last. A process that still runs stands for itself.
fn groups(health: &[Health]) -> Vec<Vec<&Health>> {
    fn cause(health: &Health) -> (&str, &str, &str, Option<&str>) {
        let record = &health.record;
        let location = record.location.as_deref();
        (
            &record.engine_id,
            &record.operation,
            &record.reason,
            location,
        )
    }
    let mut groups: Vec<Vec<&Health>> = Vec::new();
    for one in health {
        let is_same = |group: &Vec<&Health>| {
            let first = group.first();
            first.is_some_and(|first| !first.is_in_force && cause(first) == cause(one))
        };
        match groups.iter().position(is_same) {
            Some(known) if !one.is_in_force => groups[known].push(one),
            Some(_) | None => groups.push(vec![one]),
        }
    }
    groups
}

fn quarantine(group: &[&Health]) -> Option<Finding> {
    let health = group.last()?;
    let record = &health.record;
    let at = record
        .location
        .as_ref()
        .map(|location| format!(" at {location}"))
        .unwrap_or_default();
    let since = jiff::Timestamp::from_millisecond(record.failed_at_ms).unwrap_or_default();
    let id = health.process_id;
    let scope = match group.len() {
        1 if health.is_in_force => format!("quarantined in process {id}"),
        1 => format!("quarantined in process {id}, which has ended"),
        count => format!("quarantined in {count} processes, which have ended; the last is {id}"),
    };
    let text = format!(
        "{}: {} failed: {}{at} · {scope} · {since:.0}",
        record.engine_id, record.operation, record.reason
    );
    let help = if health.is_in_force {
        "mend the engine and restart that process; until then it uses the built-in engine"
    } else {
        "the next turn tries it again, and a good turn clears this; or install a mended build"
    };
    Some(Finding::new(Mark::Warning, "quarantine", text).help(help))
}

/// Turns that an engine has not acknowledged.
fn outbox(backlog: &Backlog) -> Vec<Finding> {
    let Backlog {
        engine_id,
        waiting,
        blocked,
        last_error,
    } = backlog;
    let reason = last_error.as_deref().unwrap_or("not offered yet");
    let waiting = (*waiting > 0).then(|| {
        let text =
            format!("{waiting} turns wait for engine {engine_id} to acknowledge them: {reason}");
        Finding::new(Mark::Warning, "outbox", text)
            .help("they are delivered before its next turn in their session")
    });
    let blocked = (*blocked > 0).then(|| {
        let text =
            format!("{blocked} turns were refused by engine {engine_id} too often: {reason}");
        Finding::new(Mark::Warning, "outbox", text).help(
            "when the engine is mended, `openclaw sessions recommit <session>` offers them again",
        )
    });
    waiting.into_iter().chain(blocked).collect()
}

fn store_findings(store: &Store) -> Vec<Finding> {
    let mut findings = Vec::new();
    match store.sessions() {
        Ok(sessions) => {
            let text = format!("{} in {}", sessions.len(), store.path().display());
            findings.push(Finding::new(Mark::Ok, "sessions", text));
        }
        Err(error) => {
            findings.push(Finding::new(Mark::Error, "sessions", chain(&error)).help(error.help()))
        }
    }
    match store.backlog() {
        Ok(backlog) => findings.extend(backlog.iter().flat_map(outbox)),
        Err(error) => {
            findings.push(Finding::new(Mark::Error, "outbox", chain(&error)).help(error.help()))
        }
    }
    findings
}
