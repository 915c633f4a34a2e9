//! `openclaw plugins inspect`: everything that is known of a plugin. Loads nothing without `--runtime`.

use super::text::{file_name, modified, shown};
use crate::args::InspectArgs;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::{CliError, chain};
use crate::output::Output;
use crate::probing;
use openclaw_config::{Enablement, Slot as ConfigSlot, same_id};
use openclaw_interface::{CONTRACT_MAJOR, CONTRACT_MINOR};
use openclaw_loader::{BuildDirectory, Libraries, LoadError, LoadErrorKind, Manifest, Vetted};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &InspectArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let engines = Engines::read(context)?;
    // Code of a plugin may print.
    if args.runtime {
        output.keep_stdout();
    }
    let Some(id) = &args.id else {
        let usable = engines.discovery.plugins.iter();
        let usable = usable.map(|plugin| of_usable(context, &engines, plugin, args.runtime));
        let broken = engines.discovery.faults.iter();
        let broken = broken.map(|(directory, fault)| of_broken(&engines, directory, fault));
        let all: Vec<Value> = usable.chain(broken).collect();
        for (place, document) in all.iter().enumerate() {
            if place > 0 {
                output.line("");
            }
            print(document, output);
        }
        if all.is_empty() {
            output.help("link a plugin: `openclaw plugins install -l <build directory>`");
        }
        output.document(&all);
        return Ok(ExitCode::SUCCESS);
    };
    let faulty = || {
        let mut faults = engines.discovery.faults.iter();
        faults.find(|(_, fault)| {
            fault
                .plugin
                .as_ref()
                .is_some_and(|plugin| same_id(plugin, id))
        })
    };
    let document = match (engines.plugin(id), faulty()) {
        (Some(plugin), _) => of_usable(context, &engines, plugin, args.runtime),
        (None, Some((directory, fault))) => of_broken(&engines, directory, fault),
        (None, None) => return Err(unknown(&engines, id)),
    };
    print(&document, output);
    output.document(&document);
    Ok(ExitCode::SUCCESS)
}

/// An id that no plugin has.
pub(super) fn unknown(engines: &Engines, id: &str) -> CliError {
    let known: Vec<String> = engines
        .discovery
        .plugins
        .iter()
        .map(|plugin| plugin.manifest.id.clone())
        .chain(
            engines
                .discovery
                .faults
                .iter()
                .filter_map(|(_, fault)| fault.plugin.clone()),
        )
        .collect();
    let help = match known.as_slice() {
        [] => "no plugin is linked; `openclaw plugins install -l <build directory>` links one"
            .to_owned(),
        known => format!(
            "did you mean {}? `openclaw plugins list` shows all",
            known.join(" or ")
        ),
    };
    CliError::new(format!("plugin not found: {id}"), help)
}

/// A plugin whose files were read and inspected.
fn of_usable(
    context: &Context,
    engines: &Engines,
    plugin: &BuildDirectory,
    runtime: bool,
) -> Value {
    let id = &plugin.manifest.id;
    let settings = engines.settings(id);
    let trust = engines.trust(plugin);
    let vetted = Vetted::of_directory(plugin.clone(), &settings, &trust);
    let enablement = engines.enablement(id);
    let standing = probing::standing(context, plugin, &settings);
    let note = &plugin.facts.note;
    let mut diagnostics: Vec<Value> = vetted.as_ref().err().map(diagnostic).into_iter().collect();
    let mut fields = manifest_fields(engines, &plugin.manifest, &plugin.path);
    let mut status = match (&vetted, enablement.is_enabled()) {
        (_, false) => "disabled",
        (Err(_), true) => "error",
        (Ok(_), true) => "enabled",
    };
    let mut shape = "non-capability";
    let mut engine = None;
    if runtime && let Ok(vetted) = vetted {
        let libraries = Libraries::below(&context.paths.native_dir.join("run"));
        match vetted.load(&libraries) {
            Ok(loaded) => {
                status = "loaded";
                shape = "plain-capability";
                engine = Some(loaded.info);
            }
            Err(error) => {
                status = "error";
                fields.insert("failurePhase".into(), phase(&error).into());
                fields.insert("error".into(), chain(&error).into());
                diagnostics.push(diagnostic(&error));
            }
        }
    }
    fields.insert("status".into(), status.into());
    fields.insert("enabled".into(), enablement.is_enabled().into());
    fields.insert("activationReason".into(), reason(enablement).into());
    fields.insert("imported".into(), engine.is_some().into());
    let ids: Vec<&str> = engine.iter().map(|info| info.id.as_str()).collect();
    fields.insert("contextEngineIds".into(), json!(ids));
    let capabilities = engine
        .iter()
        .map(|info| json!({ "kind": "context-engine", "ids": [info.id] }));
    json!({
        "plugin": fields, "shape": shape, "capabilities": capabilities.collect::<Vec<_>>(),
        "library": {
            "path": shown(&plugin.library), "sha256": plugin.sha256, "modified": modified(&plugin.library),
            "contract": format!("{}.{}", note.contract_major, note.contract_minor),
            "hostContract": format!("{CONTRACT_MAJOR}.{CONTRACT_MINOR}"),
            "engineId": note.engine_id, "toolchain": note.toolchain, "unloadable": note.is_unloadable,
            "needed": plugin.facts.needed,
        },
        "engine": engine, "semantics": standing, "semanticsText": standing.to_string(),
        "settings": settings, "install": engines.install(id), "changedSinceLinked": trust.is_changed_since_linked(&plugin.sha256),
        "diagnostics": diagnostics,
    })
}

fn reason(enablement: Enablement) -> String {
    match enablement {
        Enablement::Enabled { reason } => reason.to_string(),
        Enablement::Disabled { reason } => reason.to_string(),
    }
}

/// A plugin that cannot be used.
fn of_broken(engines: &Engines, directory: &Path, fault: &LoadError) -> Value {
    let manifest = Manifest::read(directory).ok();
    let mut fields = match &manifest {
        Some(manifest) => manifest_fields(engines, manifest, directory),
        None => {
            let id = fault.plugin.clone().unwrap_or_else(|| file_name(directory));
            Map::from_iter([
                ("id".to_owned(), id.into()),
                ("source".to_owned(), shown(directory).into()),
            ])
        }
    };
    let id = fields
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    fields.insert("status".into(), "error".into());
    fields.insert("failurePhase".into(), phase(fault).into());
    fields.insert("error".into(), chain(fault).into());
    json!({
        "plugin": fields, "shape": "non-capability", "capabilities": [], "install": engines.install(&id),
        "diagnostics": [diagnostic(fault)],
    })
}

fn manifest_fields(engines: &Engines, manifest: &Manifest, path: &Path) -> Map<String, Value> {
    let kind = manifest.is_context_engine.then_some("context-engine");
    let real = path.canonicalize().ok().filter(|real| real != path);
    let value = json!({
        "id": manifest.id, "name": manifest.name, "description": manifest.description, "version": manifest.version,
        "format": "native", "kind": kind, "source": shown(path), "realPath": real.map(|real| shown(&real)),
        "origin": "config",
        "selected": engines.plugins.filled_slot(&manifest.id) == Some(ConfigSlot::ContextEngine),
        "configJsonSchema": manifest.config_schema,
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Where a plugin failed, in OpenClaw's words.
pub(super) fn phase(error: &LoadError) -> &'static str {
    match &error.kind {
        LoadErrorKind::Describe(_) => "register",
        LoadErrorKind::Copy(_) | LoadErrorKind::Open(_) | LoadErrorKind::Layout(_) => "load",
        _ => "validation",
    }
}

fn diagnostic(error: &LoadError) -> Value {
    json!({ "level": "error", "code": error.code(), "message": chain(error), "help": error.help() })
}

/// The document as lines: what is absent is not shown.
fn print(document: &Value, output: &mut Output) {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(yes) => Some(if *yes { "yes" } else { "no" }.to_owned()),
        Value::Array(items) if !items.is_empty() => Some(
            items
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(", "),
        ),
        Value::Object(_) => Some(value.to_string()),
        _ => None,
    };
    for (label, pointer) in [
        ("Name", "/plugin/name"),
        ("ID", "/plugin/id"),
        ("Status", "/plugin/status"),
        ("Reason", "/plugin/activationReason"),
        ("Selected", "/plugin/selected"),
        ("Failure phase", "/plugin/failurePhase"),
        ("Error", "/plugin/error"),
        ("Version", "/plugin/version"),
        ("Description", "/plugin/description"),
        ("Kind", "/plugin/kind"),
        ("Shape", "/shape"),
        ("Source", "/plugin/source"),
        ("Real path", "/plugin/realPath"),
        ("Origin", "/plugin/origin"),
        ("Library", "/library/path"),
        ("SHA-256", "/library/sha256"),
        ("Written", "/library/modified"),
        ("Contract", "/library/contract"),
        ("Host contract", "/library/hostContract"),
        ("Built with", "/library/toolchain"),
        ("Needs", "/library/needed"),
        ("May be unloaded", "/library/unloadable"),
        ("Context engines", "/plugin/contextEngineIds"),
        ("Engine", "/engine"),
        ("Promises", "/semanticsText"),
        ("Settings", "/settings"),
        ("Install", "/install"),
        ("Changed since linked", "/changedSinceLinked"),
    ] {
        if let Some(text) = document.pointer(pointer).and_then(text) {
            output.line(&format!("{label:<21} {text}"));
        }
    }
    let diagnostics = document["diagnostics"].as_array();
    for diagnostic in diagnostics.into_iter().flatten() {
        let part = |key: &str| diagnostic[key].as_str().unwrap_or_default().to_owned();
        output.line(&format!("{}: {}", part("level"), part("message")));
        output.line(&format!("  → {}", part("help")));
    }
}
