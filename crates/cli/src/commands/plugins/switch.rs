//! `openclaw plugins enable` and `disable`: one key of an entry, and the slot that an enabled engine takes.

use super::install::plan::{self, SlotChange, Switch};
use crate::context::Context;
use crate::engines::Engines;
use crate::error::CliError;
use crate::output::Output;
use openclaw_config::{
    Config, DisabledReason, Edit, Enablement, Entry, KeyPath, Origin, Plugins, edit_file, same_id,
};
use openclaw_loader::Manifest;
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn enable(
    context: &Context,
    ids: &[String],
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    each(ids, output, |id, output| enable_one(context, id, output))
}

pub(crate) fn disable(
    context: &Context,
    ids: &[String],
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    each(ids, output, |id, output| disable_one(context, id, output))
}

/// In order, up to the first failure. What was done before it stays, and is told.
fn each(
    ids: &[String],
    output: &mut Output,
    mut one: impl FnMut(&str, &mut Output) -> Result<Value, CliError>,
) -> Result<ExitCode, CliError> {
    let mut done = Vec::new();
    for id in ids {
        match one(id, output) {
            Ok(document) => done.push(document),
            Err(error) => {
                let mut document = error.to_json();
                document["plugins"] = done.into();
                output.document(&document);
                output.error_text(&error);
                return Ok(ExitCode::from(error.exit_code()));
            }
        }
    }
    output.document(&json!({ "ok": true, "plugins": done }));
    Ok(ExitCode::SUCCESS)
}

fn enable_one(context: &Context, id: &str, output: &mut Output) -> Result<Value, CliError> {
    let engines = Engines::read(context)?;
    let manifest = manifest(&engines, id)?.ok_or_else(|| unknown(&engines, id))?;
    let id = manifest.id.as_str();
    let mut selected = SlotChange::Untouched;
    let outcome = edit_file(
        &context.paths.config_path,
        context.write_options(),
        |config| {
            let plugins = config.plugins()?;
            let (entry, switch) = plan::switch(&plugins, &manifest)
                .map_err(|kind| refused(context, id, &kind.to_string()))?;
            if let Switch::NeedsSettings(problems) = switch {
                return Err(refused(context, id, &problems.join("; ")));
            }
            if let Some(reason) = would_stay_off(&plugins, &entry, id) {
                return Err(blocked(context, id, reason));
            }
            selected = plan::slot(&plugins, &manifest, &Switch::On);
            let mut edits = vec![Edit::set(["plugins", "entries", &entry, "enabled"], true)];
            if matches!(selected, SlotChange::Selected { .. }) {
                edits.push(Edit::set(["plugins", "slots", "contextEngine"], id));
            }
            Ok(edits)
        },
    )?;
    output.line(&format!("enabled  {id}{}", already(outcome.changed)));
    if let SlotChange::Selected { former } = &selected {
        output.line(&format!("engine   {id} is now selected (before: {former})"));
    }
    let is_selected = matches!(selected, SlotChange::Selected { .. } | SlotChange::Already);
    Ok(json!({ "id": id, "enabled": true, "selected": is_selected, "changed": outcome.changed }))
}

fn disable_one(context: &Context, id: &str, output: &mut Output) -> Result<Value, CliError> {
    let engines = Engines::read(context)?;
    let known = manifest(&engines, id)?.map(|manifest| manifest.id);
    // One whose directory is gone can be switched off all the same.
    let known = known.or_else(|| Some(engines.installs.get(id)?.0.to_owned()));
    let known = known.or_else(|| Some(engines.plugins.entry(id)?.0.to_owned()));
    let id = known.ok_or_else(|| unknown(&engines, id))?;
    let mut keeps_slot = false;
    let outcome = edit_file(
        &context.paths.config_path,
        context.write_options(),
        |config: &Config| {
            let plugins = config.plugins()?;
            keeps_slot = plugins.filled_slot(&id).is_some();
            let entry = plugins.entry(&id).map_or(id.as_str(), |(key, _)| key);
            let path = ["plugins", "entries", entry, "enabled"];
            Ok::<_, CliError>(vec![Edit::set(path, false)])
        },
    )?;
    output.line(&format!("disabled {id}{}", already(outcome.changed)));
    if keeps_slot {
        output.line(&format!(
            "engine   the slot still names {id}; the built-in engine serves until it is enabled again"
        ));
    }
    let document =
        json!({ "id": id, "enabled": false, "selected": keeps_slot, "changed": outcome.changed });
    Ok(document)
}

fn already(changed: bool) -> &'static str {
    if changed { "" } else { ", as it was before" }
}

/// The manifest of a discovered plugin; its library may be at fault.
fn manifest(engines: &Engines, id: &str) -> Result<Option<Manifest>, CliError> {
    if let Some(plugin) = engines.plugin(id) {
        return Ok(Some(plugin.manifest.clone()));
    }
    let mut faults = engines.discovery.faults.iter();
    let broken = faults.find(|(_, fault)| {
        let plugin = fault.plugin.as_ref();
        plugin.is_some_and(|plugin| same_id(plugin, id))
    });
    Ok(broken
        .map(|(directory, _)| Manifest::read(directory))
        .transpose()?)
}

fn unknown(engines: &Engines, id: &str) -> CliError {
    let known = engines.discovery.ids();
    let help = match known.as_slice() {
        [] => "install it first: `openclaw plugins install <spec>`".to_owned(),
        known => format!("these are there: {}", known.join(", ")),
    };
    CliError::new(format!("plugin `{id}` was not found"), help)
}

/// Why the plugin would not run although its entry said so. That the slot names it does not count: the next selection
/// would switch it off again.
fn would_stay_off(plugins: &Plugins, entry: &str, id: &str) -> Option<DisabledReason> {
    let mut plugins = plugins.clone();
    plugins.slots.context_engine = None;
    let on = Entry {
        enabled: Some(true),
        ..Entry::default()
    };
    plugins.entries.insert(entry.to_owned(), on);
    match plugins.enablement(id, Origin::Config) {
        Enablement::Enabled { .. } => None,
        Enablement::Disabled { reason } => Some(reason),
    }
}

fn blocked(context: &Context, id: &str, reason: DisabledReason) -> CliError {
    let config = context.paths.config_path.display();
    let help = match reason {
        DisabledReason::PluginsDisabled => format!("set `plugins.enabled` to true in {config}"),
        DisabledReason::Denied => format!("take `{id}` out of `plugins.deny` in {config}"),
        _ => format!("add `{id}` to `plugins.allow` in {config}"),
    };
    CliError::new(format!("cannot enable `{id}`: {reason}"), help)
}

fn refused(context: &Context, id: &str, problems: &str) -> CliError {
    let at = KeyPath::new(["plugins", "entries", id, "config"]);
    let config = context.paths.config_path.display();
    CliError::new(
        format!("cannot enable `{id}`: its settings do not fit: {problems}"),
        format!("mend `{at}` in {config}, then enable it again"),
    )
    .code("load/settings")
}
