//! `openclaw plugins reload`: the newest build of a linked plugin in its place, and tried out.
//!
//! This process keeps no engine, so there is nothing in it to exchange: the next turn loads what is in place, and a
//! running `openclaw chat` watches the place and takes a new build between two turns.

use super::inspect::unknown;
use crate::args::ReloadArgs;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::CliError;
use crate::output::{Mark, Output};
use crate::probing::{self, CALL_TIMEOUT, Standing};
use crate::rebuilds::bring_newest;
use openclaw_loader::{BuildDirectory, LoadError, check_settings};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &ReloadArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let engines = Engines::read(context)?;
    // All are known before the first is touched.
    let mut plugins = Vec::new();
    for id in &args.ids {
        plugins.push(engines.plugin(id).ok_or_else(|| unknown(&engines, id))?);
    }
    let mut reloaded = Vec::new();
    for plugin in plugins {
        let one = reload(context, &engines, plugin)?;
        let id = &plugin.manifest.id;
        let mark = match one.standing {
            Standing::Failed { .. } => Mark::Warning,
            _ => Mark::Ok,
        };
        let source = if one.is_brought {
            "the newest library that cargo made"
        } else {
            "the library in place"
        };
        let text = format!(
            "{id}: {source}, {}, loads in a process of its own; promises {}",
            &one.sha256[..one.sha256.len().min(12)],
            one.standing
        );
        output.marked(mark, "reloaded", &text);
        if let Some(help) = one.standing.help(&plugin.path) {
            output.help(&help);
        }
        reloaded.push((id, one));
    }
    output.talk("the next turn runs it; an `openclaw chat` that is running takes a new build between two turns");
    let ids: Vec<&String> = reloaded.iter().map(|(id, _)| *id).collect();
    let digests: serde_json::Map<String, Value> = reloaded
        .iter()
        .map(|(id, one)| ((*id).clone(), one.sha256.clone().into()))
        .collect();
    let standings: serde_json::Map<String, Value> = reloaded
        .iter()
        .map(|(id, one)| ((*id).clone(), json!(one.standing)))
        .collect();
    output.document(&json!({
        "ok": true, "restartRequired": false, "pluginIds": ids,
        "runtime": { "pluginIds": ids, "sourceDigests": digests },
        "semantics": standings,
    }));
    Ok(ExitCode::SUCCESS)
}

/// A build that was found to load.
struct Reloaded {
    sha256: String,
    is_brought: bool,
    standing: Standing,
}

fn reload(
    context: &Context,
    engines: &Engines,
    plugin: &BuildDirectory,
) -> Result<Reloaded, CliError> {
    let is_brought = bring_newest(plugin)?;
    let plugin = BuildDirectory::read(&plugin.path)?;
    plugin.check_trust(&engines.trust(&plugin))?;
    let settings = engines.settings(&plugin.manifest.id);
    check_settings(&plugin.manifest, &settings).map_err(|kind| LoadError {
        plugin: Some(plugin.manifest.id.clone()),
        path: plugin.path.clone(),
        kind,
    })?;
    let probed = probing::probe(&plugin, &settings, CALL_TIMEOUT)
        .map_err(|error| CliError::caused(&error, error.help()))?;
    probing::keep(context, &probed.verdict, &settings)?;
    Ok(Reloaded {
        standing: Standing::of(Some(&probed.verdict)),
        sha256: plugin.sha256,
        is_brought,
    })
}
