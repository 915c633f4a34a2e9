//! `openclaw plugins doctor`: loads every enabled plugin, makes no engine, and reports what is wrong.

use super::inspect::phase;
use super::text::shown;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::{CliError, chain};
use crate::output::Output;
use openclaw_config::SlotChoice;
use openclaw_host::{LEGACY_ID, Slot};
use openclaw_loader::{Libraries, LoadError, LoadErrorKind, Vetted};
use serde_json::{Value, json};
use std::process::ExitCode;

/// What is wrong, in OpenClaw's sections.
#[derive(Default)]
struct Report {
    plugin_errors: Vec<Value>,
    diagnostics: Vec<Value>,
    source_shadowing: Vec<Value>,
    configuration_warnings: Vec<Value>,
}

pub(crate) fn run(context: &Context, output: &mut Output) -> Result<ExitCode, CliError> {
    let engines = Engines::read(context)?;
    // A library runs code while it is loaded, and may print.
    output.keep_stdout();
    let mut report = Report::default();
    let libraries = Libraries::below(&context.paths.native_dir.join("run"));
    let mut loaded = 0_usize;
    for plugin in &engines.discovery.plugins {
        let id = &plugin.manifest.id;
        if !engines.enablement(id).is_enabled() {
            continue;
        }
        let vetted = Vetted::of_directory(
            plugin.clone(),
            &engines.settings(id),
            &engines.trust(plugin),
        );
        match vetted.and_then(|vetted| vetted.load(&libraries)) {
            Ok(_) => loaded += 1,
            Err(error) => report.fault(&error),
        }
    }
    for (_, fault) in &engines.discovery.faults {
        report.fault(fault);
    }
    let shadowed = engines.discovery.shadowed.iter();
    report
        .source_shadowing
        .extend(shadowed.map(|(id, used, hidden)| {
            json!({
                "pluginId": id, "used": shown(used), "shadowed": shown(hidden),
                "message": format!("{id} in {} is hidden by {}", hidden.display(), used.display()),
                "help": "remove one of the two from `plugins.load.paths`",
            })
        }));
    report.slot(&engines);
    if let Some(fault) = &engines.installs_fault {
        let help = fault.help().unwrap_or_default();
        report
            .diagnostics
            .push(json!({ "level": "warning", "message": fault.to_string(), "help": help }));
    }
    let sections = [
        ("Plugin errors", &report.plugin_errors),
        ("Diagnostics", &report.diagnostics),
        ("Source shadowing", &report.source_shadowing),
        ("Plugin configuration", &report.configuration_warnings),
    ];
    let is_well = sections.iter().all(|(_, findings)| findings.is_empty());
    for (title, findings) in sections.iter().filter(|(_, findings)| !findings.is_empty()) {
        output.line(title);
        for finding in *findings {
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            output.line(&format!("  - {}", text("message")));
            output.line(&format!("    → {}", text("help")));
        }
    }
    let checked = format!("checked: {loaded} loaded, no engine made");
    if is_well {
        output.line(&format!("No plugin issues detected; {checked}."));
    } else {
        output.line(&checked);
    }
    output.document(&json!({
        "ok": is_well, "pluginErrors": report.plugin_errors, "diagnostics": report.diagnostics,
        "sourceShadowing": report.source_shadowing, "compatibility": [],
        "configurationWarnings": report.configuration_warnings,
    }));
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Report {
    /// A plugin that is not used. Settings that do not fit are the configuration's fault.
    fn fault(&mut self, error: &LoadError) {
        let value = json!({
            "pluginId": error.plugin, "phase": phase(error), "code": error.code(), "path": shown(&error.path),
            "message": chain(error), "help": error.help(),
        });
        match error.kind {
            LoadErrorKind::Settings(_) => self.configuration_warnings.push(value),
            _ => self.plugin_errors.push(value),
        }
    }

    fn slot(&mut self, engines: &Engines) {
        let (Slot::Engine(id), SlotChoice::Engine(_)) =
            (&engines.slot, engines.plugins.context_engine())
        else {
            return;
        };
        let is_told = engines
            .discovery
            .faults
            .iter()
            .any(|(_, fault)| fault.plugin.as_ref() == Some(id));
        if id == LEGACY_ID || is_told || engines.plugin(id).is_some() {
            return;
        }
        self.configuration_warnings.push(json!({
            "key": "plugins.slots.contextEngine",
            "message": format!("plugins.slots.contextEngine: slot references missing plugin `{id}`; turns run on {LEGACY_ID}"),
            "help": "link it, or let `openclaw doctor --fix` empty the slot",
        }));
    }
}
