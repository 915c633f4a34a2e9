//! The `tools` part of the config, as far as this host follows it.

use crate::section::Section;

/// Which tools the user lets an agent have. Names are as written; what they mean is decided by whoever offers tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// `profile`.
    pub profile: Option<String>,
    /// `allow`; empty means all.
    pub allow: Vec<String>,
    /// `deny`; wins over `allow`.
    pub deny: Vec<String>,
    /// `exec.security`.
    pub exec_security: Option<String>,
    /// `exec.ask`.
    pub exec_ask: Option<String>,
    /// `exec.host`.
    pub exec_host: Option<String>,
    /// `exec.timeoutSec`.
    pub exec_timeout_secs: Option<u64>,
}

impl ToolPolicy {
    pub(crate) fn of(root: &Section<'_, '_>) -> Self {
        let tools = root.section("tools");
        let exec = tools.section("exec");
        Self {
            profile: tools.string("profile"),
            allow: tools.strings("allow"),
            deny: tools.strings("deny"),
            exec_security: exec.string("security"),
            exec_ask: exec.string("ask"),
            exec_host: exec.string("host"),
            exec_timeout_secs: exec.count("timeoutSec"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Config;
    use crate::error::ConfigErrorKind;
    use std::path::Path;

    fn read(text: &str) -> Result<ToolPolicy, crate::ConfigError> {
        Config::from_text(Path::new("openclaw.json"), text.to_owned())
            .unwrap()
            .tool_policy()
    }

    #[test]
    fn the_policy_is_read_and_other_keys_are_passed_over() {
        let policy = read(
            "{tools: {profile: 'coding', allow: ['group:fs'], deny: ['exec'], web: {}, exec: {security: 'deny', timeoutSec: 5}}}",
        );
        let expected = ToolPolicy {
            profile: Some("coding".to_owned()),
            allow: vec!["group:fs".to_owned()],
            deny: vec!["exec".to_owned()],
            exec_security: Some("deny".to_owned()),
            exec_timeout_secs: Some(5),
            ..ToolPolicy::default()
        };
        assert_eq!(policy.unwrap(), expected);
        assert_eq!(read("{}").unwrap(), ToolPolicy::default());
    }

    /// A denial that cannot be read must not be passed over.
    #[test]
    fn a_policy_of_a_wrong_type_is_refused() {
        for text in [
            "{tools: {deny: 'exec'}}",
            "{tools: {deny: [1]}}",
            "{tools: {exec: true}}",
            "{tools: []}",
        ] {
            assert!(
                matches!(read(text).unwrap_err().kind, ConfigErrorKind::Invalid(_)),
                "{text}"
            );
        }
        let included = read("{tools: {$include: 'tools.json5'}}").unwrap_err();
        assert!(matches!(included.kind, ConfigErrorKind::Included { .. }));
    }
}
