//! From the configuration to the engines a host may use.

use crate::context::Context;
use crate::error::CliError;
use crate::installs::Installs;
use openclaw_config::{Enablement, Origin, Plugins, SlotChoice, same_id};
use openclaw_host::{LEGACY_ID, PluginSource, Slot};
use openclaw_loader::{BuildDirectory, Discovery, LoadError, LoadErrorKind, Trust, discover};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The plugins of `plugins.load.paths` and the copied ones, whether each is enabled, and the slot.
#[derive(Debug)]
pub(crate) struct Engines {
    pub(crate) plugins: Plugins,
    pub(crate) discovery: Discovery,
    pub(crate) slot: Slot,
    pub(crate) installs: Installs,
    /// Why it is not known what was installed.
    pub(crate) installs_fault: Option<CliError>,
    allowed_libraries: Option<BTreeSet<String>>,
}

impl Engines {
    /// Reads and inspects every configured plugin. Runs none.
    pub(crate) fn read(context: &Context) -> Result<Self, CliError> {
        let plugins = context.config()?.plugins()?;
        let (blank, written): (Vec<_>, Vec<_>) = plugins
            .load_paths
            .iter()
            .enumerate()
            .partition(|(_, path)| path.trim().is_empty());
        let (installs, installs_fault) = match Installs::read(&context.paths.native_dir) {
            Ok(installs) => (installs, None),
            Err(fault) => (Installs::default(), Some(fault)),
        };
        let written = written.into_iter();
        let linked = written.map(|(_, path)| context.absolute(path.as_ref()));
        let copies = copies(&context.paths.extensions_dir, &installs);
        let mut discovery = discover(linked.chain(copies));
        discovery.faults.extend(blank.into_iter().map(blank_path));
        let slot = slot(&plugins, &discovery);
        // Who loads plugins refuses settings that cannot be read; who only looks says so elsewhere.
        let native = context.native_settings();
        let allowed_libraries = native.ok().and_then(|(it, _)| it.allowed_libraries);
        Ok(Self {
            plugins,
            discovery,
            slot,
            installs,
            installs_fault,
            allowed_libraries,
        })
    }

    /// Whether a plugin is enabled, and why.
    pub(crate) fn enablement(&self, id: &str) -> Enablement {
        self.plugins.enablement(id, Origin::Config)
    }

    /// A plugin's settings; null when it has none.
    pub(crate) fn settings(&self, id: &str) -> Value {
        crate::probing::settings_of(&self.plugins, id)
    }

    /// What operator and record say of a plugin's library.
    pub(crate) fn trust(&self, plugin: &BuildDirectory) -> Trust {
        Trust {
            allowed: self.allowed_libraries.clone(),
            provenance: self.installs.provenance(plugin),
        }
    }

    /// The record of a plugin's installation; null when there is none.
    pub(crate) fn install(&self, id: &str) -> Value {
        self.installs.document(id)
    }

    /// The plugin with this id, where it was found.
    pub(crate) fn plugin(&self, id: &str) -> Option<&BuildDirectory> {
        self.discovery
            .plugins
            .iter()
            .find(|plugin| same_id(&plugin.manifest.id, id))
    }

    /// What a host needs to run them. A directory that failed inspection is handed on where the slot means it, so that
    /// the turn says why.
    pub(crate) fn sources(&self) -> Vec<PluginSource> {
        let enabled = self
            .discovery
            .plugins
            .iter()
            .filter(|plugin| self.enablement(&plugin.manifest.id).is_enabled());
        let mut sources: Vec<PluginSource> = enabled
            .map(|plugin| PluginSource {
                id: plugin.manifest.id.clone(),
                directory: plugin.path.clone(),
                settings: self.settings(&plugin.manifest.id),
                trust: self.trust(plugin),
            })
            .collect();
        if let Slot::Engine(id) = &self.slot
            && let Some(directory) = self.broken(id)
        {
            sources.push(PluginSource {
                settings: self.settings(id),
                id: id.clone(),
                directory: directory.clone(),
                trust: Trust {
                    allowed: self.allowed_libraries.clone(),
                    ..Trust::default()
                },
            });
        }
        sources
    }

    /// The faulty directory of an engine that no usable plugin brings: the first that says it is this one, or else the
    /// only one that says nothing.
    fn broken(&self, id: &str) -> Option<&PathBuf> {
        if self.plugin(id).is_some() {
            return None;
        }
        let faults = || self.discovery.faults.iter();
        let known = faults().find(|(_, fault)| {
            fault
                .plugin
                .as_ref()
                .is_some_and(|plugin| same_id(plugin, id))
        });
        let mut unknown =
            faults().filter(|(path, fault)| fault.plugin.is_none() && !path.as_os_str().is_empty());
        let only = match (unknown.next(), unknown.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        };
        known.or(only).map(|(directory, _)| directory)
    }
}

/// Recorded copies, then what else lies in the directory of copies and is a native plugin: OpenClaw keeps its own there.
fn copies(extensions_dir: &Path, installs: &Installs) -> Vec<PathBuf> {
    let recorded: BTreeSet<PathBuf> = installs.copies().map(Path::to_owned).collect();
    let children = std::fs::read_dir(extensions_dir).into_iter().flatten();
    let children = children.flatten().filter(|child| {
        let name = child.file_name();
        !name.as_encoded_bytes().starts_with(b".")
    });
    let others: BTreeSet<PathBuf> = children
        .map(|child| child.path())
        .filter(|path| !recorded.contains(path) && BuildDirectory::read(path).is_ok())
        .collect();
    recorded.into_iter().chain(others).collect()
}

/// An entry of the load paths that names nothing, as a fault without a directory.
fn blank_path((index, _): (usize, &String)) -> (PathBuf, LoadError) {
    let reason = io::Error::new(io::ErrorKind::InvalidInput, "the entry is blank: remove it");
    let fault = LoadError {
        plugin: None,
        path: format!("`plugins.load.paths[{index}]`").into(),
        kind: LoadErrorKind::Unreadable(reason),
    };
    (PathBuf::new(), fault)
}

/// The engine the slot asks for, under the id its plugin has: ids match without regard to case.
fn slot(plugins: &Plugins, discovery: &Discovery) -> Slot {
    let written = match plugins.context_engine() {
        SlotChoice::Default => return Slot::Default,
        SlotChoice::Off => return Slot::Off,
        SlotChoice::Engine(written) => written,
    };
    if same_id(&written, LEGACY_ID) {
        return Slot::Engine(LEGACY_ID.to_owned());
    }
    let usable = discovery.plugins.iter().map(|plugin| &plugin.manifest.id);
    let broken = discovery
        .faults
        .iter()
        .filter_map(|(_, fault)| fault.plugin.as_ref());
    let own = usable.chain(broken).find(|id| same_id(id, &written));
    let engine_id = own.unwrap_or(&written).clone();
    match plugins.enablement(&engine_id, Origin::Config) {
        Enablement::Enabled { .. } => Slot::Engine(engine_id),
        Enablement::Disabled { reason } => Slot::Disabled {
            engine_id,
            reason: reason.to_string(),
        },
    }
}
