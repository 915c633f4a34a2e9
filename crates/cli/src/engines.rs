//! From the configuration to the engines a host may use.

use crate::context::Context;
use crate::error::CliError;
use openclaw_config::{Enablement, Origin, Plugins, SlotChoice, same_id};
use openclaw_host::{PluginSource, Slot};
use openclaw_loader::{BuildDirectory, Discovery, discover};
use serde_json::Value;

/// The plugins of `plugins.load.paths`, whether each is enabled, and the slot.
#[derive(Debug)]
pub(crate) struct Engines {
    pub(crate) plugins: Plugins,
    pub(crate) discovery: Discovery,
    pub(crate) slot: Slot,
}

impl Engines {
    /// Reads and inspects every configured plugin. Runs none.
    pub(crate) fn read(context: &Context) -> Result<Self, CliError> {
        let plugins = context.config()?.plugins()?;
        let discovery = discover(
            plugins
                .load_paths
                .iter()
                .map(|path| context.absolute(path.as_ref())),
        );
        let slot = slot(&plugins);
        Ok(Self {
            plugins,
            discovery,
            slot,
        })
    }

    /// Whether a plugin is enabled, and why.
    pub(crate) fn enablement(&self, id: &str) -> Enablement {
        self.plugins.enablement(id, Origin::Config)
    }

    /// A plugin's settings; null when it has none.
    pub(crate) fn settings(&self, id: &str) -> Value {
        let entry = self
            .plugins
            .entry(id)
            .and_then(|(_, entry)| entry.config.clone());
        entry.map_or(Value::Null, Value::Object)
    }

    /// The plugin with this id, where it was found.
    pub(crate) fn plugin(&self, id: &str) -> Option<&BuildDirectory> {
        self.discovery
            .plugins
            .iter()
            .find(|plugin| same_id(&plugin.manifest.id, id))
    }

    /// What a host needs to run them. A directory that failed inspection is handed on when the slot names it, so that
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
            })
            .collect();
        let broken = self.discovery.faults.iter().filter_map(|fault| {
            let id = fault.plugin.clone()?;
            let directory = if fault.path.is_dir() {
                fault.path.clone()
            } else {
                fault.path.parent()?.to_owned()
            };
            Some(PluginSource {
                settings: self.settings(&id),
                id,
                directory,
            })
        });
        sources.extend(broken.collect::<Vec<_>>());
        sources
    }
}

fn slot(plugins: &Plugins) -> Slot {
    match plugins.context_engine() {
        SlotChoice::Default => Slot::Default,
        SlotChoice::Off => Slot::Off,
        SlotChoice::Engine(engine_id) => match plugins.enablement(&engine_id, Origin::Config) {
            Enablement::Enabled { .. } => Slot::Engine(engine_id),
            Enablement::Disabled { reason } => Slot::Disabled {
                engine_id,
                reason: reason.to_string(),
            },
        },
    }
}
