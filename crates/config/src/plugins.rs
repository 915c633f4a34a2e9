//! The `plugins` part of the config.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::error::KeyProblem;
use crate::section::Section;

/// The engine that serves when the slot is unset or off.
pub const DEFAULT_CONTEXT_ENGINE: &str = "legacy";

/// The memory plugin when its slot is unset.
pub const DEFAULT_MEMORY: &str = "memory-core";

/// The `plugins` part of the config. A missing part is [`Plugins::default`].
#[derive(Debug, Clone, PartialEq)]
pub struct Plugins {
    /// `false` turns all plugins off.
    pub enabled: bool,
    /// When not empty, only these ids are enabled.
    pub allow: Vec<String>,
    /// Ids that are off whatever else is set.
    pub deny: Vec<String>,
    /// Files and directories under `load.paths`, as written; see [`crate::expand`].
    pub load_paths: Vec<String>,
    /// Which plugin fills which slot.
    pub slots: Slots,
    /// Plugin settings by id as written; look up with [`Plugins::entry`].
    pub entries: BTreeMap<String, Entry>,
}

/// The slots as written; see [`Plugins::context_engine`] for what they mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slots {
    /// `slots.contextEngine`.
    pub context_engine: Option<String>,
    /// `slots.memory`.
    pub memory: Option<String>,
}

/// The settings of one plugin.
#[derive(Clone, Default, PartialEq)]
pub struct Entry {
    /// Switched on or off by the user; `None` when not said.
    pub enabled: Option<bool>,
    /// The plugin's own settings, to be checked against its schema; `None` counts as `{}`.
    pub config: Option<Map<String, Value>>,
    /// Whether the entry is exactly `{"enabled": false}`, which uninstalling leaves behind.
    pub is_uninstall_marker: bool,
}

/// What a slot asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotChoice {
    /// Unset or blank: the default serves.
    Default,
    /// `none`, in any case: switched off.
    Off,
    /// This id, trimmed.
    Engine(String),
}

impl Plugins {
    /// What `slots.contextEngine` asks for. `Default` and `Off` both mean [`DEFAULT_CONTEXT_ENGINE`].
    ///
    /// Source: context engine contract, "Choosing the engine id".
    pub fn context_engine(&self) -> SlotChoice {
        choice(self.slots.context_engine.as_deref())
    }

    /// What `slots.memory` asks for. `Default` means [`DEFAULT_MEMORY`], `Off` no memory plugin.
    pub fn memory(&self) -> SlotChoice {
        choice(self.slots.memory.as_deref())
    }

    /// The settings of plugin `id` and the spelling of the id in the file, which an edit has to use.
    ///
    /// Ids match without regard to case; the exact spelling wins where the file has several.
    pub fn entry(&self, id: &str) -> Option<(&str, &Entry)> {
        let exact = self.entries.get_key_value(id);
        exact
            .or_else(|| self.entries.iter().find(|(key, _)| same_id(key, id)))
            .map(|(key, entry)| (key.as_str(), entry))
    }

    pub(crate) fn of(root: &Section<'_, '_>) -> Self {
        let plugins = root.section("plugins");
        plugins.only(&["enabled", "allow", "deny", "load", "slots", "entries"]);
        let load = plugins.section("load");
        load.only(&["paths"]);
        let slots = plugins.section("slots");
        slots.only(&["memory", "contextEngine"]);
        let entries = plugins.section("entries");
        Self {
            enabled: plugins.bool("enabled").unwrap_or(true),
            allow: plugins.strings("allow"),
            deny: plugins.strings("deny"),
            load_paths: load.strings("paths"),
            slots: Slots {
                context_engine: slots.string("contextEngine"),
                memory: slots.string("memory"),
            },
            entries: entries
                .members()
                .map(|(id, _)| (id.clone(), Entry::of(&entries.section(id))))
                .collect(),
        }
    }
}

impl Default for Plugins {
    fn default() -> Self {
        Self {
            enabled: true,
            allow: Vec::new(),
            deny: Vec::new(),
            load_paths: Vec::new(),
            slots: Slots::default(),
            entries: BTreeMap::new(),
        }
    }
}

impl Entry {
    fn of(entry: &Section<'_, '_>) -> Self {
        entry.only(&["enabled", "config", "hooks", "subagent", "llm"]);
        let hooks = entry.section("hooks");
        hooks.only(&[
            "allowPromptInjection",
            "allowConversationAccess",
            "timeoutMs",
            "timeouts",
        ]);
        if hooks.count("timeoutMs").is_some_and(|ms| ms > 600_000) {
            let wanted = "at most 600000";
            hooks.fault("timeoutMs", KeyProblem::OutOfRange { wanted });
        }
        entry
            .section("subagent")
            .only(&["allowModelOverride", "allowedModels"]);
        entry.section("llm").only(&[
            "allowModelOverride",
            "allowedModels",
            "allowedCompletionModels",
            "allowAuthProfileOverride",
            "allowAgentIdOverride",
        ]);
        let enabled = entry.bool("enabled");
        Self {
            enabled,
            config: entry.object("config"),
            is_uninstall_marker: enabled == Some(false) && entry.members().count() == 1,
        }
    }
}

impl fmt::Debug for Entry {
    /// Leaves out the plugin's own settings, which may hold secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Entry")
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}

/// Whether two plugin ids are the same; case does not count.
pub fn same_id(one: &str, other: &str) -> bool {
    one == other || one.to_lowercase() == other.to_lowercase()
}

fn choice(slot: Option<&str>) -> SlotChoice {
    match slot.map(str::trim) {
        None | Some("") => SlotChoice::Default,
        Some(off) if off.eq_ignore_ascii_case("none") => SlotChoice::Off,
        Some(id) => SlotChoice::Engine(id.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::document::Config;

    fn plugins(text: &str) -> Plugins {
        let config = Config::from_text(Path::new("openclaw.json"), text.to_owned());
        config.unwrap().plugins().unwrap()
    }

    #[test]
    fn slot_is_trimmed_and_blank_means_default() {
        let check = |slot: &str, choice: SlotChoice| {
            let found = plugins(&format!(
                "{{plugins: {{slots: {{contextEngine: '{slot}'}}}}}}"
            ));
            assert_eq!(found.context_engine(), choice, "{slot:?}");
            assert_eq!(found.memory(), SlotChoice::Default);
        };
        check("", SlotChoice::Default);
        check(" \\t", SlotChoice::Default);
        check("none", SlotChoice::Off);
        check(" NoNe ", SlotChoice::Off);
        check(" window ", SlotChoice::Engine("window".to_owned()));
        assert_eq!(plugins("{}").context_engine(), SlotChoice::Default);
    }

    #[test]
    fn entry_is_found_without_regard_to_case() {
        let found = plugins(
            "{plugins: {entries: {'ENG-2': {enabled: true}, w: {enabled: false}, W: {enabled: false, config: {}}}}}",
        );
        let (key, entry) = found.entry("eng-2").unwrap();
        assert_eq!((key, entry.enabled), ("ENG-2", Some(true)));
        assert!(found.entry("w").unwrap().1.is_uninstall_marker);
        assert!(!found.entry("W").unwrap().1.is_uninstall_marker);
        assert!(found.entry("other").is_none());
    }
}
