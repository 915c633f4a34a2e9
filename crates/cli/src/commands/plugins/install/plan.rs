//! What installing a plugin changes in `openclaw.json`. Writes nothing.

use openclaw_config::{Edit, Plugins, Slot, SlotChoice, same_id};
use openclaw_host::LEGACY_ID;
use openclaw_loader::{BuildDirectory, LoadError, LoadErrorKind, Manifest, check_settings};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The changes, and what they mean.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) edits: Vec<Edit>,
    /// The plugin's id as `plugins.entries` spells it.
    pub(super) entry: String,
    pub(super) switch: Switch,
    pub(super) slot: SlotChange,
    /// Load paths, as written, that another directory with the same id stood behind.
    pub(super) replaced: Vec<String>,
    /// Entries of `plugins.deny`, as written, that are taken out.
    pub(super) undenied: Vec<String>,
    /// Whether `plugins.enabled` is false.
    pub(super) plugins_off: bool,
}

/// What becomes of `plugins.entries.<id>.enabled`.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Switch {
    /// It is true.
    On,
    /// The user switched it off; that stays.
    KeptOff,
    /// Settings that the schema asks for are missing: off until they are there. All problems.
    NeedsSettings(Vec<String>),
}

/// What becomes of `plugins.slots.contextEngine`.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum SlotChange {
    /// It names the engine now, and named `former`, or meant it.
    Selected { former: String },
    /// It named the engine before.
    Already,
    /// A disabled plugin is not selected.
    Untouched,
    /// The manifest does not say that the plugin is a context engine.
    NoKind,
}

impl Plan {
    /// What linking `plugin` changes, or having copied it to where it is; `absolute` expands a load path.
    ///
    /// Settings that are there and break the schema are an error: the user has to mend them first. Settings that are
    /// missing are not.
    pub(super) fn new(
        plugins: &Plugins,
        plugin: &BuildDirectory,
        linked: bool,
        absolute: &dyn Fn(&str) -> PathBuf,
    ) -> Result<Self, LoadError> {
        let id = &plugin.manifest.id;
        let fault = |kind| LoadError {
            plugin: Some(id.clone()),
            path: plugin.path.clone(),
            kind,
        };
        let Some(path) = plugin.path.to_str() else {
            let reason = "openclaw.json cannot hold this path: it is not UTF-8";
            let error = std::io::Error::new(std::io::ErrorKind::InvalidInput, reason);
            return Err(fault(LoadErrorKind::Unreadable(error)));
        };
        let (entry, switch) = switch(plugins, &plugin.manifest).map_err(fault)?;
        let mut edits = Vec::new();
        match switch {
            Switch::On => edits.push(Edit::set(["plugins", "entries", &entry, "enabled"], true)),
            Switch::NeedsSettings(_) => {
                edits.push(Edit::set(["plugins", "entries", &entry, "enabled"], false));
            }
            Switch::KeptOff => {}
        }
        let slot = slot(plugins, &plugin.manifest, &switch);
        if matches!(slot, SlotChange::Selected { .. }) {
            edits.push(Edit::set(
                ["plugins", "slots", "contextEngine"],
                id.as_str(),
            ));
        }
        let (is_linked, replaced) = links(plugins, plugin, absolute);
        let paths = ["plugins", "load", "paths"];
        edits.extend(
            replaced
                .iter()
                .map(|old| Edit::remove_from(paths, old.as_str())),
        );
        if linked && !is_linked {
            edits.push(Edit::append_unique(paths, path));
        }
        let lists = |listed: &&String| same_id(listed.trim(), id);
        if !plugins.allow.is_empty() && !plugins.allow.iter().any(|listed| lists(&listed)) {
            edits.push(Edit::append_unique(["plugins", "allow"], id.as_str()));
        }
        let undenied: Vec<String> = plugins.deny.iter().filter(lists).cloned().collect();
        edits.extend(
            undenied
                .iter()
                .map(|listed| Edit::remove_from(["plugins", "deny"], listed.as_str())),
        );
        if !undenied.is_empty() {
            edits.push(Edit::remove_if_empty(["plugins", "deny"]));
        }
        Ok(Self {
            edits,
            entry,
            switch,
            slot,
            replaced,
            undenied,
            plugins_off: !plugins.enabled,
        })
    }
}

/// The spelling of the id in `entries`, and whether the plugin is on.
pub(in super::super) fn switch(
    plugins: &Plugins,
    manifest: &Manifest,
) -> Result<(String, Switch), LoadErrorKind> {
    let entry = plugins.entry(&manifest.id);
    let key = entry
        .map_or(manifest.id.as_str(), |(key, _)| key)
        .to_owned();
    let given = entry
        .and_then(|(_, entry)| entry.config.clone())
        .filter(|config| !config.is_empty());
    let has_settings = given.is_some();
    let settings = given.map_or(Value::Null, Value::Object);
    match check_settings(manifest, &settings) {
        Err(LoadErrorKind::Settings(problems)) if !has_settings => {
            return Ok((key, Switch::NeedsSettings(problems)));
        }
        checked => checked?,
    }
    let is_off = entry.is_some_and(|(_, entry)| entry.enabled == Some(false));
    Ok((key, if is_off { Switch::KeptOff } else { Switch::On }))
}

/// What becomes of the slot when `manifest`'s plugin is installed or enabled.
pub(in super::super) fn slot(
    plugins: &Plugins,
    manifest: &Manifest,
    switch: &Switch,
) -> SlotChange {
    let is_named = plugins.filled_slot(&manifest.id) == Some(Slot::ContextEngine);
    if *switch != Switch::On {
        return SlotChange::Untouched;
    }
    if plugins.slots.context_engine.as_ref() == Some(&manifest.id) {
        return SlotChange::Already;
    }
    // A slot that names it in another spelling is put right, whatever the manifest says.
    if !manifest.is_context_engine && !is_named {
        return SlotChange::NoKind;
    }
    SlotChange::Selected {
        former: match plugins.context_engine() {
            SlotChoice::Default => LEGACY_ID.to_owned(),
            SlotChoice::Off => "none".to_owned(),
            SlotChoice::Engine(engine) => engine,
        },
    }
}

/// Whether the directory is linked already, and the load paths that lead to other directories with the same id. The
/// first of several would hide this one, and linking means "use this one".
fn links(
    plugins: &Plugins,
    plugin: &BuildDirectory,
    absolute: &dyn Fn(&str) -> PathBuf,
) -> (bool, Vec<String>) {
    let real = plugin.path.canonicalize().ok();
    let is_same =
        |path: &Path| path == plugin.path || (real.is_some() && path.canonicalize().ok() == real);
    let has_same_id = |path: &Path| {
        Manifest::read(path).is_ok_and(|other| same_id(&other.id, &plugin.manifest.id))
    };
    let mut is_linked = false;
    let mut replaced = Vec::new();
    // A blank entry leads nowhere, not to the current directory.
    let written = plugins.load_paths.iter();
    for written in written.filter(|path| !path.trim().is_empty()) {
        let path = absolute(written);
        if is_same(&path) {
            is_linked = true;
        } else if has_same_id(&path) && !replaced.contains(written) {
            replaced.push(written.clone());
        }
    }
    (is_linked, replaced)
}
