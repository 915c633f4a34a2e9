//! `openclaw doctor`: what serves, why, and what needs attention. Reads and inspects; runs no plugin.

use crate::context::{AGENT_ID, Context};
use crate::engines::Engines;
use crate::error::{CliError, chain};
use crate::output::{Mark, Output};
use openclaw_host::{Health, HostSettings, LEGACY_ID, Slot, Store, read_health};
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
            findings.extend(records(context));
            return findings;
        }
    };
    findings.push(Finding::new(Mark::Ok, "config", format!("{path}")));
    match context.native_settings() {
        Ok((settings, faults)) => {
            findings.extend(
                faults
                    .into_iter()
                    .map(|fault| Finding::new(Mark::Warning, "settings", fault)),
            );
            if settings.strict {
                findings.push(Finding::new(
                    Mark::Note,
                    "settings",
                    "strict: a substituted engine fails the turn",
                ));
            }
        }
        Err(error) => findings.push(Finding::new(Mark::Error, "settings", error.to_string())),
    }
    findings.push(slot(&engines));
    findings.extend(plugins(&engines));
    findings.extend(records(context));
    findings
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
    findings.extend(engines.discovery.faults.iter().map(fault));
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
    let mut findings: Vec<Finding> = health.iter().map(quarantine).collect();
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

fn quarantine(health: &Health) -> Finding {
    let record = &health.record;
    let at = record
        .location
        .as_ref()
        .map(|location| format!(" at {location}"))
        .unwrap_or_default();
    let since = jiff::Timestamp::from_millisecond(record.failed_at_ms).unwrap_or_default();
    let scope = if health.is_in_force {
        format!("quarantined in process {}", health.process_id)
    } else {
        format!(
            "quarantined in process {}, which has ended",
            health.process_id
        )
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
    Finding::new(Mark::Warning, "quarantine", text).help(help)
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
        Ok(backlog) => findings.extend(backlog.into_iter().map(|(engine, turns)| {
            let text = format!("{turns} turns wait for engine {engine} to acknowledge them");
            Finding::new(Mark::Warning, "outbox", text)
                .help("they are delivered before its next turn in their session")
        })),
        Err(error) => {
            findings.push(Finding::new(Mark::Error, "outbox", chain(&error)).help(error.help()))
        }
    }
    findings
}
