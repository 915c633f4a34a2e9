//! The settings that say how much of a history a model is shown.

use serde_json::{Map, Value};

use crate::error::KeyProblem;
use crate::section::{Section, wrong_type};

/// What of a history a model is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistorySettings {
    /// `agents.defaults.contextPruning`, as written; its `mode`, types and lists are checked.
    pub pruning: Map<String, Value>,
    /// `agents.defaults.heartbeat.prompt`.
    pub heartbeat_prompt: Option<String>,
    /// `channels`, as written: limits of turns stand in them, by channel, account and peer.
    pub channels: Map<String, Value>,
}

impl HistorySettings {
    pub(crate) fn of(root: &Section<'_, '_>) -> Self {
        let defaults = root.section("agents").section("defaults");
        check_pruning(&defaults.section("contextPruning"));
        Self {
            pruning: defaults.object("contextPruning").unwrap_or_default(),
            heartbeat_prompt: defaults.section("heartbeat").string("prompt"),
            channels: root.object("channels").unwrap_or_default(),
        }
    }
}

fn check_pruning(pruning: &Section<'_, '_>) {
    let mode = pruning.string("mode");
    if mode.is_some_and(|mode| !["off", "cache-ttl"].contains(&mode.as_str())) {
        let wanted = "`off` or `cache-ttl`";
        pruning.fault("mode", KeyProblem::WrongForm { wanted });
    }
    match pruning.get("ttl") {
        None | Some(Value::String(_) | Value::Number(_)) => {}
        Some(other) => pruning.fault("ttl", wrong_type("a time such as \"5m\"", other)),
    }
    let hard = pruning.section("hardClear");
    hard.bool("enabled");
    hard.string("placeholder");
    let tools = pruning.section("tools");
    tools.strings("allow");
    tools.strings("deny");
}

#[cfg(test)]
mod tests {
    use crate::{Config, ConfigErrorKind};
    use std::path::Path;

    fn config(text: &str) -> Config {
        Config::from_text(Path::new("/c/openclaw.json"), text.to_owned()).unwrap()
    }

    #[test]
    fn what_is_set_is_handed_on_and_nothing_is_no_fault() {
        let none = config("{}").history_settings().unwrap();
        assert!(none.pruning.is_empty() && none.channels.is_empty());
        let set = config(
            r#"{agents: {defaults: {contextPruning: {mode: "cache-ttl", ttl: 2}, heartbeat: {prompt: "Read it", every: "1h"}}},
                channels: {irc: {historyLimit: 3, nick: "x"}}}"#,
        );
        let set = set.history_settings().unwrap();
        assert_eq!(set.pruning["ttl"], 2);
        assert_eq!(set.heartbeat_prompt.as_deref(), Some("Read it"));
        assert_eq!(set.channels["irc"]["historyLimit"], 3);
    }

    #[test]
    fn a_value_that_cannot_be_there_is_named_with_its_path() {
        let text = r#"{agents: {defaults: {contextPruning: {
            mode: "always", ttl: [], hardClear: {enabled: 1, placeholder: false}, tools: {deny: [7], allow: "x"}}}}}"#;
        let error = config(text).history_settings().unwrap_err();
        let ConfigErrorKind::Invalid(faults) = &error.kind else {
            panic!("{error:?}");
        };
        let keys: Vec<String> = faults.iter().map(|fault| fault.key.to_string()).collect();
        let expected = [
            "mode",
            "ttl",
            "hardClear.enabled",
            "hardClear.placeholder",
            "tools.allow",
            "tools.deny.0",
        ]
        .map(|key| format!("agents.defaults.contextPruning.{key}"));
        assert_eq!(keys, expected);
    }
}
