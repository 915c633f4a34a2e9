//! Whether the config lets a plugin run. Policy of the config only: whether the plugin can be loaded is not asked.

use std::fmt;

use crate::plugins::{DEFAULT_MEMORY, Plugins, SlotChoice, same_id};

/// Where a plugin was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Named by `plugins.load.paths`.
    Config,
    /// In `<workspace>/.openclaw/extensions`; needs an explicit yes, since a workspace may come from a stranger.
    Workspace,
    /// Installed for this user.
    Global,
    /// Comes with the host.
    Bundled {
        /// Whether it is on when the config says nothing.
        enabled_by_default: bool,
    },
}

/// A place that one plugin at a time fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// `plugins.slots.contextEngine`.
    ContextEngine,
    /// `plugins.slots.memory`.
    Memory,
}

/// Whether the config lets a plugin run, and which rule decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enablement {
    /// It may run.
    Enabled {
        /// The rule.
        reason: EnabledReason,
    },
    /// It may not.
    Disabled {
        /// The rule.
        reason: DisabledReason,
    },
}

/// Why a plugin is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnabledReason {
    /// It fills a slot; that counts even when the allow list leaves it out.
    FillsSlot(Slot),
    /// Its entry says `enabled: true`.
    EntryEnabled,
    /// It is on the allow list.
    Allowed,
    /// Nothing speaks against it.
    ByDefault,
}

/// Why a plugin is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisabledReason {
    /// `plugins.enabled` is `false`.
    PluginsDisabled,
    /// It is on the deny list.
    Denied,
    /// Its entry says `enabled: false`.
    EntryDisabled,
    /// It comes from the workspace and nothing asks for it.
    WorkspaceNotAskedFor,
    /// There is an allow list and it is not on it.
    NotAllowed,
    /// It comes with the host and is off unless asked for.
    OffByDefault,
    /// It can only fill the memory slot, and that is off or names another.
    MemorySlotElsewhere,
}

impl Enablement {
    /// Whether the plugin may run.
    pub fn is_enabled(self) -> bool {
        matches!(self, Self::Enabled { .. })
    }
}

impl Plugins {
    /// Whether plugin `id`, found at `origin`, may run. The first rule that applies decides.
    ///
    /// Source: plugin command line, "Is a plugin enabled?".
    pub fn enablement(&self, id: &str, origin: Origin) -> Enablement {
        let listed = |ids: &[String]| ids.iter().any(|other| same_id(other.trim(), id));
        let said = self.entry(id).and_then(|(_, entry)| entry.enabled);
        let slot = self.filled_slot(id);
        let allowed = listed(&self.allow);

        if !self.enabled {
            return off(DisabledReason::PluginsDisabled);
        }
        if listed(&self.deny) {
            return off(DisabledReason::Denied);
        }
        if said == Some(false) {
            return off(DisabledReason::EntryDisabled);
        }
        let asked_for = allowed || said == Some(true) || slot == Some(Slot::ContextEngine);
        if origin == Origin::Workspace && !asked_for {
            return off(DisabledReason::WorkspaceNotAskedFor);
        }
        if let Some(slot) = slot {
            return on(EnabledReason::FillsSlot(slot));
        }
        if !self.allow.is_empty() && !allowed {
            return off(DisabledReason::NotAllowed);
        }
        if said == Some(true) {
            return on(EnabledReason::EntryEnabled);
        }
        if allowed {
            return on(EnabledReason::Allowed);
        }
        match origin {
            Origin::Bundled {
                enabled_by_default: false,
            } => off(DisabledReason::OffByDefault),
            Origin::Bundled { .. } | Origin::Config | Origin::Workspace | Origin::Global => {
                on(EnabledReason::ByDefault)
            }
        }
    }

    /// As [`Plugins::enablement`], for a plugin that can do nothing but fill the memory slot.
    pub fn memory_only_enablement(&self, id: &str, origin: Origin) -> Enablement {
        match self.enablement(id, origin) {
            Enablement::Enabled { .. } if !self.holds_memory_slot(id) => {
                off(DisabledReason::MemorySlotElsewhere)
            }
            decided => decided,
        }
    }

    /// The slot that names `id`; the context engine slot first. Slot defaults count for memory.
    pub fn filled_slot(&self, id: &str) -> Option<Slot> {
        match self.context_engine() {
            SlotChoice::Engine(engine) if same_id(&engine, id) => Some(Slot::ContextEngine),
            SlotChoice::Engine(_) | SlotChoice::Default | SlotChoice::Off => {
                self.holds_memory_slot(id).then_some(Slot::Memory)
            }
        }
    }

    fn holds_memory_slot(&self, id: &str) -> bool {
        match self.memory() {
            SlotChoice::Default => same_id(DEFAULT_MEMORY, id),
            SlotChoice::Off => false,
            SlotChoice::Engine(memory) => same_id(&memory, id),
        }
    }
}

impl fmt::Display for EnabledReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::FillsSlot(Slot::ContextEngine) => "selected as context engine",
            Self::FillsSlot(Slot::Memory) => "selected for memory",
            Self::EntryEnabled => "enabled in config",
            Self::Allowed => "on the allow list",
            Self::ByDefault => "enabled by default",
        })
    }
}

impl fmt::Display for DisabledReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::PluginsDisabled => "plugins disabled",
            Self::Denied => "on the deny list",
            Self::EntryDisabled => "disabled in config",
            Self::WorkspaceNotAskedFor => "workspace plugin, not asked for",
            Self::NotAllowed => "not on the allow list",
            Self::OffByDefault => "off by default",
            Self::MemorySlotElsewhere => "the memory slot names another plugin or none",
        })
    }
}

fn on(reason: EnabledReason) -> Enablement {
    Enablement::Enabled { reason }
}

fn off(reason: DisabledReason) -> Enablement {
    Enablement::Disabled { reason }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::document::Config;

    const BUNDLED_OFF: Origin = Origin::Bundled {
        enabled_by_default: false,
    };

    fn plugins(text: &str) -> Plugins {
        let text = format!("{{plugins: {{{text}}}}}");
        let config = Config::from_text(Path::new("openclaw.json"), text);
        config.unwrap().plugins().unwrap()
    }

    #[test]
    fn first_rule_that_applies_decides() {
        let check = |text: &str, origin: Origin, decided: Enablement| {
            assert_eq!(plugins(text).enablement("Eng", origin), decided, "{text}");
        };
        let (on, off) = (super::on, super::off);
        let engine = on(EnabledReason::FillsSlot(Slot::ContextEngine));
        let slot = "slots: {contextEngine: 'eng'}";

        check(
            "enabled: false, allow: ['eng']",
            Origin::Global,
            off(DisabledReason::PluginsDisabled),
        );
        check(
            &format!("deny: ['ENG'], {slot}"),
            Origin::Global,
            off(DisabledReason::Denied),
        );
        check(
            &format!("entries: {{ENG: {{enabled: false}}}}, {slot}"),
            Origin::Global,
            off(DisabledReason::EntryDisabled),
        );
        check(
            "",
            Origin::Workspace,
            off(DisabledReason::WorkspaceNotAskedFor),
        );
        check(
            "allow: ['eng']",
            Origin::Workspace,
            on(EnabledReason::Allowed),
        );
        check(slot, Origin::Workspace, engine);
        check(
            "slots: {memory: 'eng'}",
            Origin::Workspace,
            off(DisabledReason::WorkspaceNotAskedFor),
        );
        check(&format!("allow: ['other'], {slot}"), Origin::Global, engine);
        check(
            "slots: {memory: 'eng'}",
            Origin::Global,
            on(EnabledReason::FillsSlot(Slot::Memory)),
        );
        check(
            "allow: ['other']",
            Origin::Config,
            off(DisabledReason::NotAllowed),
        );
        check(
            "allow: ['other'], entries: {eng: {enabled: true}}",
            Origin::Config,
            off(DisabledReason::NotAllowed),
        );
        check(
            "entries: {eng: {enabled: true}}",
            BUNDLED_OFF,
            on(EnabledReason::EntryEnabled),
        );
        check("allow: ['eng']", BUNDLED_OFF, on(EnabledReason::Allowed));
        check("", BUNDLED_OFF, off(DisabledReason::OffByDefault));
        check("", Origin::Global, on(EnabledReason::ByDefault));
        check("", Origin::Config, on(EnabledReason::ByDefault));
    }

    #[test]
    fn memory_only_plugin_needs_its_slot() {
        let check = |text: &str, id: &str, enabled: bool| {
            let decided = plugins(text).memory_only_enablement(id, Origin::Global);
            assert_eq!(decided.is_enabled(), enabled, "{text} {id}");
        };
        check("", DEFAULT_MEMORY, true);
        check("", "notes", false);
        check("slots: {memory: 'notes'}", "notes", true);
        check("slots: {memory: 'notes'}", DEFAULT_MEMORY, false);
        check("slots: {memory: 'None'}", DEFAULT_MEMORY, false);
    }
}
