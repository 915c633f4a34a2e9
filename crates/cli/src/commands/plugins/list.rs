//! `openclaw plugins list`: what is configured and how it stands. Loads nothing.

use super::text::{modified, shown};
use crate::args::ListArgs;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::{CliError, chain};
use crate::output::Output;
use crate::probing::{self, Standing};
use openclaw_config::{Slot as ConfigSlot, SlotChoice, same_id};
use openclaw_host::LEGACY_ID;
use openclaw_loader::{BuildDirectory, LoadError, Manifest, check_settings};
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// A plugin, in the words of the JSON document.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    name: String,
    version: Option<String>,
    status: Status,
    /// Whether the slot names it.
    selected: bool,
    /// The directory as the config names it.
    source: String,
    /// Where that leads, when it is a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    real_path: Option<String>,
    library: Option<String>,
    library_modified: Option<String>,
    library_sha256: Option<String>,
    /// Whether the library is another one than was linked.
    changed_since_linked: bool,
    contract: Option<String>,
    /// What is known of the engine's promises about turns; only of a plugin that can be used.
    semantics: Option<Standing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Enabled,
    Disabled,
    Error,
}

/// Something that is wrong, and what to do.
#[derive(Debug, Serialize)]
struct Diagnostic {
    level: &'static str,
    message: String,
    help: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

pub(crate) fn run(
    context: &Context,
    args: &ListArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let engines = Engines::read(context)?;
    let mut diagnostics = Vec::new();
    let discovery = &engines.discovery;
    let mut rows: Vec<Row> = discovery
        .plugins
        .iter()
        .map(|plugin| usable(context, &engines, plugin, &mut diagnostics))
        .collect();
    rows.extend(
        discovery
            .faults
            .iter()
            .filter_map(|(directory, fault)| broken(&engines, directory, fault)),
    );
    diagnostics.extend(discovery.faults.iter().map(|(_, fault)| of_error(fault)));
    diagnostics.extend(discovery.shadowed.iter().map(|(id, used, shadowed)| {
        warning(
            format!(
                "{id} in {} is hidden by {}",
                shadowed.display(),
                used.display()
            ),
            "remove one of the two from `plugins.load.paths`".into(),
        )
    }));
    diagnostics.extend(missing_engine(&engines, &rows));
    let settings_fault = context.native_settings().err();
    let faults = [settings_fault.as_ref(), engines.installs_fault.as_ref()];
    diagnostics.extend(faults.into_iter().flatten().map(|fault| {
        let help = fault.help().unwrap_or_default();
        warning(fault.to_string(), help.to_owned())
    }));
    if !engines.plugins.enabled {
        diagnostics.push(warning(
            "all plugins are off: `plugins.enabled` is false".into(),
            format!("set it to true in {}", context.paths.config_path.display()),
        ));
    }
    // Of those that are at fault too: they are what a user who enabled them looks for.
    rows.retain(|row| !args.enabled || row.status != Status::Disabled);
    print(&rows, &diagnostics, output);
    output.document(&json!({ "plugins": rows, "diagnostics": diagnostics }));
    Ok(ExitCode::SUCCESS)
}

/// A plugin that was read and inspected; its settings and who may write it may still be at fault.
fn usable(
    context: &Context,
    engines: &Engines,
    plugin: &BuildDirectory,
    diagnostics: &mut Vec<Diagnostic>,
) -> Row {
    let manifest = &plugin.manifest;
    let note = &plugin.facts.note;
    let trust = engines.trust(plugin);
    let error = plugin.check_trust(&trust).and_then(|()| {
        check_settings(manifest, &engines.settings(&manifest.id)).map_err(|kind| LoadError {
            plugin: Some(manifest.id.clone()),
            path: plugin.path.clone(),
            kind,
        })
    });
    let is_enabled = engines.enablement(&manifest.id).is_enabled();
    // What is wrong with a plugin that is off hurts nobody.
    let error = error.err().filter(|_| is_enabled);
    diagnostics.extend(error.as_ref().map(of_error));
    let standing = probing::standing(context, plugin, &engines.settings(&manifest.id));
    let broken = standing
        .help(&plugin.path)
        .filter(|_| is_enabled && matches!(standing, Standing::Failed { .. }));
    diagnostics.extend(broken.map(|help| warning(format!("{}: {standing}", manifest.id), help)));
    Row {
        semantics: Some(standing),
        status: match (&error, is_enabled) {
            (Some(_), _) => Status::Error,
            (None, true) => Status::Enabled,
            (None, false) => Status::Disabled,
        },
        library: Some(shown(&plugin.library)),
        library_modified: modified(&plugin.library),
        library_sha256: Some(plugin.sha256.clone()),
        changed_since_linked: trust.is_changed_since_linked(&plugin.sha256),
        contract: Some(format!("{}.{}", note.contract_major, note.contract_minor)),
        error: error.map(|error| chain(&error)),
        ..row(engines, manifest, &plugin.path)
    }
}

/// A plugin whose manifest could be read and whose library is at fault.
fn broken(engines: &Engines, directory: &Path, fault: &LoadError) -> Option<Row> {
    fault.plugin.as_ref()?;
    let manifest = Manifest::read(directory).ok()?;
    Some(Row {
        status: Status::Error,
        error: Some(chain(fault)),
        ..row(engines, &manifest, directory)
    })
}

fn row(engines: &Engines, manifest: &Manifest, path: &Path) -> Row {
    Row {
        id: manifest.id.clone(),
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        status: Status::Disabled,
        selected: engines.plugins.filled_slot(&manifest.id) == Some(ConfigSlot::ContextEngine),
        source: shown(path),
        real_path: path
            .canonicalize()
            .ok()
            .filter(|real| real != path)
            .map(|real| shown(&real)),
        library: None,
        library_modified: None,
        library_sha256: None,
        changed_since_linked: false,
        contract: None,
        semantics: None,
        error: None,
    }
}

/// The slot names an engine that none of the plugins brings.
fn missing_engine(engines: &Engines, rows: &[Row]) -> Option<Diagnostic> {
    let SlotChoice::Engine(id) = engines.plugins.context_engine() else {
        return None;
    };
    if same_id(&id, LEGACY_ID) || rows.iter().any(|row| row.selected) {
        return None;
    }
    let known: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    Some(warning(
        format!("`plugins.slots.contextEngine` names `{id}`, and no plugin brings it"),
        match known.as_slice() {
            [] => "link it: `openclaw plugins install -l <build directory>`".into(),
            known => format!("did you mean {}?", known.join(" or ")),
        },
    ))
}

fn of_error(error: &LoadError) -> Diagnostic {
    Diagnostic {
        level: "error",
        message: chain(error),
        help: error.help(),
        code: Some(error.code()),
    }
}

fn warning(message: String, help: String) -> Diagnostic {
    Diagnostic {
        level: "warning",
        message,
        help,
        code: None,
    }
}

fn print(rows: &[Row], diagnostics: &[Diagnostic], output: &mut Output) {
    let enabled = rows
        .iter()
        .filter(|row| row.status == Status::Enabled)
        .count();
    output.line(&format!("Plugins ({enabled}/{} enabled)", rows.len()));
    if rows.is_empty() {
        output.help("link a plugin: `openclaw plugins install -l <build directory>`");
    } else {
        let head = ["Name", "ID", "Status", "Semantics", "Version", "Source"];
        output.table(&head, rows.iter().map(cells).collect());
    }
    for diagnostic in diagnostics {
        output.line(&format!("{}: {}", diagnostic.level, diagnostic.message));
        output.line(&format!("  → {}", diagnostic.help));
    }
}

fn cells(row: &Row) -> Vec<String> {
    let status = match row.status {
        Status::Enabled => "enabled",
        Status::Disabled => "disabled",
        Status::Error => "error",
    };
    let source = match &row.real_path {
        Some(real) => format!("{} -> {real}", row.source),
        None => row.source.clone(),
    };
    vec![
        row.name.clone(),
        row.id.clone(),
        format!(
            "{status}{}{}",
            if row.selected { ", selected" } else { "" },
            if row.changed_since_linked {
                ", changed since it was linked"
            } else {
                ""
            }
        ),
        row.semantics
            .as_ref()
            .map(Standing::short)
            .unwrap_or_default(),
        row.version.clone().unwrap_or_default(),
        source,
    ]
}
