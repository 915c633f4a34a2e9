//! `openclaw doctor --fix`: repairs that lose nothing. Each is named; the configuration is backed up by whoever writes it.

use super::exercise::Facts;
use super::stale;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::CliError;
use openclaw_config::{Edit, edit_file};
use openclaw_host::{HostSettings, forget_ended, read_health};

/// What was repaired, in words.
pub(super) type Repairs = Vec<String>;

/// Links and a slot that lead to what is gone; everything else in the file stays as it is.
pub(super) fn configuration(context: &Context, engines: &Engines) -> Result<Repairs, CliError> {
    let paths = stale::deleted(context, engines);
    let mut repairs: Repairs = paths
        .iter()
        .map(|path| {
            format!("removed `{path}` from `plugins.load.paths`: the directory was deleted")
        })
        .collect();
    let mut edits: Vec<Edit> = paths
        .iter()
        .map(|path| Edit::remove_from(["plugins", "load", "paths"], path.as_str()))
        .collect();
    if !paths.is_empty() {
        edits.push(Edit::remove_if_empty(["plugins", "load", "paths"]));
        edits.push(Edit::remove_if_empty(["plugins", "load"]));
    }
    if let Some(id) = stale::slot(context, engines) {
        repairs.push(format!(
            "emptied `plugins.slots.contextEngine`: no plugin brings `{id}`; its settings stay"
        ));
        edits.push(Edit::remove(["plugins", "slots", "contextEngine"]));
        edits.push(Edit::remove_if_empty(["plugins", "slots"]));
    }
    if edits.is_empty() {
        return Ok(repairs);
    }
    let config_path = &context.paths.config_path;
    edit_file(config_path, context.write_options(), |_| {
        Ok::<_, CliError>(edits)
    })?;
    Ok(repairs)
}

/// Modes of our own files.
#[cfg(unix)]
pub(super) fn permissions(context: &Context) -> Result<Repairs, CliError> {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let mut repairs = Repairs::new();
    for open in super::permissions::open(context) {
        set_permissions(&open.path, Permissions::from_mode(open.closed))
            .map_err(|error| CliError::io("change the mode of", &open.path, &error))?;
        let path = open.path.display();
        repairs.push(format!(
            "closed {path} to others: mode {:04o}, before {:04o}",
            open.closed, open.mode
        ));
    }
    Ok(repairs)
}

#[cfg(not(unix))]
pub(super) fn permissions(_context: &Context) -> Result<Repairs, CliError> {
    Ok(Repairs::new())
}

/// What ended processes said of an engine that was just seen to work.
pub(super) fn health(context: &Context, engine: &Facts) -> Repairs {
    let directory = HostSettings::health_dir(&context.paths.native_dir);
    let is_past = |id: &str| {
        let health = read_health(&directory);
        health
            .iter()
            .filter(|it| !it.is_in_force && it.record.engine_id == id)
            .count()
    };
    let count = is_past(&engine.id);
    if count == 0 || !engine.works {
        return Repairs::new();
    }
    forget_ended(&directory, &engine.id);
    vec![format!(
        "forgot {count} {} of {} in ended processes: it works now",
        if count == 1 { "failure" } else { "failures" },
        engine.id
    )]
}
