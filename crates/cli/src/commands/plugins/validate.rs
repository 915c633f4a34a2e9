//! `openclaw plugins validate`: everything that can be told of a build directory, its engine tried out in other
//! processes. Changes nothing but the record of what was found, and that only where a state directory is.

use super::source;
use super::text::{file_name, shown, tidy};
use crate::args::ValidateArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Mark, Output};
use crate::probing::{self, Standing};
use openclaw_host::{Finding, LEGACY_ID, ProbeError, ProbeOutcome, Probed};
use openclaw_interface::{CONTRACT_MAJOR, CONTRACT_MINOR};
use openclaw_loader::{BuildDirectory, LoadError, check_settings};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn run(
    context: &Context,
    args: &ValidateArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let path = tidy(&context.absolute(&args.source));
    let plugin = source::read(&path)?;
    let (settings, origin) = settings(context, &plugin);
    files(&plugin, output);
    check_settings(&plugin.manifest, &settings).map_err(|kind| LoadError {
        plugin: Some(plugin.manifest.id.clone()),
        path: plugin.path.clone(),
        kind,
    })?;
    output.marked(Mark::Ok, "settings", origin);
    let deadline = Duration::from_secs(args.call_timeout);
    let probed = match probing::probe(&plugin, &settings, deadline) {
        Ok(probed) => probed,
        Err(ProbeError::Refused(refusal)) => {
            output.document(&json!({
                "ok": false, "id": plugin.manifest.id,
                "error": { "message": refusal.text, "help": refusal.help, "code": refusal.code },
            }));
            output.error_text(&CliError::new(&refusal.text, &refusal.help));
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(CliError::caused(&error, error.help())),
    };
    if context.paths.state_dir.is_dir()
        && let Err(error) = probing::keep(context, &probed.verdict, &settings)
    {
        output.warning(&error.to_string());
    }
    Ok(report(&plugin, &settings, &probed, output))
}

/// The settings to try the engine with, and where they come from.
fn settings(context: &Context, plugin: &BuildDirectory) -> (Value, &'static str) {
    let plugins = context.config().and_then(|config| Ok(config.plugins()?));
    match plugins {
        Ok(plugins) => match probing::settings_of(&plugins, &plugin.manifest.id) {
            Value::Null => (
                Value::Null,
                "the defaults, which satisfy the manifest's schema",
            ),
            settings => (
                settings,
                "those of openclaw.json, which satisfy the manifest's schema",
            ),
        },
        Err(_) => (
            Value::Null,
            "the defaults, which satisfy the manifest's schema; openclaw.json cannot be read",
        ),
    }
}

/// What is known before any of the plugin's code runs.
fn files(plugin: &BuildDirectory, output: &mut Output) {
    let manifest = &plugin.manifest;
    let version = manifest.version.as_deref().unwrap_or("(no version)");
    output.marked(
        Mark::Ok,
        "manifest",
        &format!("{} {version} in {}", manifest.id, plugin.path.display()),
    );
    let note = &plugin.facts.note;
    output.marked(
        Mark::Ok,
        "library",
        &format!(
            "{}, for this machine, written by nobody else, sha256 {}",
            file_name(&plugin.library),
            plugin.sha256()
        ),
    );
    output.marked(
        Mark::Ok,
        "contract",
        &format!(
            "the library speaks {}.{}, this host {CONTRACT_MAJOR}.{CONTRACT_MINOR}",
            note.contract_major, note.contract_minor
        ),
    );
}

fn report(
    plugin: &BuildDirectory,
    settings: &Value,
    probed: &Probed,
    output: &mut Output,
) -> ExitCode {
    if let Some(info) = &probed.info {
        let version = info.version.as_deref().unwrap_or("(no version)");
        let text = format!(
            "{} {version}, loaded in a process of its own: its types are those of this host, and what it says of itself \
             is what the contract wants",
            info.name
        );
        output.marked(Mark::Ok, "engine", &text);
    }
    let verdict = &probed.verdict;
    for probe in &verdict.probes {
        let (mark, text) = told(probe);
        output.marked(mark, "probe", &format!("{:<22} {text}", probe.name));
    }
    let standing = Standing::of(Some(verdict));
    let is_good = !matches!(standing, Standing::Failed { .. });
    output.line(&format!(
        "{} · {:.1} seconds",
        match &standing {
            Standing::Failed { probe, .. } =>
                format!("not valid: {probe} failed, so turns would run on {LEGACY_ID}"),
            Standing::NotDeclared =>
                format!("valid, but no durable turns are declared: turns would run on {LEGACY_ID}"),
            Standing::Kept { .. } | Standing::NotProbed => "valid".to_owned(),
        },
        Duration::from_millis(verdict.elapsed_ms).as_secs_f32(),
    ));
    if !is_good {
        output.help(
            "each probe compares the engine with itself where nothing was disturbed; mend what the failed one tells, \
             build, and validate again",
        );
    }
    let note = &plugin.facts.note;
    output.document(&json!({
        "ok": is_good, "id": plugin.manifest.id, "directory": shown(&plugin.path), "library": shown(&plugin.library),
        "sha256": verdict.library_sha256,
        "contract": {
            "library": format!("{}.{}", note.contract_major, note.contract_minor),
            "host": format!("{CONTRACT_MAJOR}.{CONTRACT_MINOR}"),
        },
        "settings": settings, "engine": probed.info, "semantics": standing, "probes": verdict.probes,
        "elapsedMs": verdict.elapsed_ms,
    }));
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn told(probe: &ProbeOutcome) -> (Mark, String) {
    match &probe.finding {
        Finding::Passed => (Mark::Ok, probe.promise().to_owned()),
        Finding::Failed(reason) => (Mark::Error, reason.clone()),
        Finding::NotApplicable(why) => (Mark::Note, format!("not tried: {why}")),
    }
}
