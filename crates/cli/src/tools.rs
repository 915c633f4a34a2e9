//! From the configuration to the tools an agent gets.

use openclaw_agent::TOOL_NAMES;
use openclaw_config::ToolPolicy;

const GROUPS: [(&str, &[&str]); 2] = [
    ("group:fs", &["ls", "read", "edit", "write", "apply_patch"]),
    ("group:runtime", &["exec", "process"]),
];
const ALIASES: [(&str, &str); 2] = [("bash", "exec"), ("apply-patch", "apply_patch")];
/// Profiles without any of our tools.
const BARE_PROFILES: [&str; 2] = ["minimal", "messaging"];

/// The names of the tools the policy leaves, and what the user asked for and does not get.
pub(crate) fn offered(policy: &ToolPolicy) -> (Vec<&'static str>, Vec<String>) {
    let mut names = TOOL_NAMES.to_vec();
    let mut warnings = Vec::new();
    if policy
        .profile
        .as_deref()
        .is_some_and(|profile| BARE_PROFILES.contains(&profile))
    {
        names.clear();
    }
    if !policy.allow.is_empty() {
        names.retain(|name| policy.allow.iter().any(|pattern| names_tool(pattern, name)));
    }
    let is_denied = |name: &str| policy.deny.iter().any(|pattern| names_tool(pattern, name));
    // A patch writes.
    let is_left_out = |name: &str| is_denied(name) || name == "apply_patch" && is_denied("write");
    names.retain(|name| !is_left_out(name));
    if !names.contains(&"exec") {
        names.retain(|name| *name != "process");
    }
    if names.contains(&"exec")
        && let Some(reason) = without_exec(policy)
    {
        names.retain(|name| !["exec", "process"].contains(name));
        warnings.extend(reason);
    }
    (names, warnings)
}

/// Whether commands may not run; with a warning where the user asked for something other than that.
fn without_exec(policy: &ToolPolicy) -> Option<Option<String>> {
    let unmet = |key: &str, value: &str| {
        Some(Some(format!(
            "`tools.exec.{key}` is \"{value}\", which is not supported: the agent gets no `exec`"
        )))
    };
    match policy.exec_security.as_deref() {
        None | Some("full") => {}
        Some("deny") => return Some(None),
        Some(other) => return unmet("security", other),
    }
    match policy.exec_ask.as_deref() {
        None | Some("off") => {}
        Some(other) => return unmet("ask", other),
    }
    match policy.exec_host.as_deref() {
        None | Some("auto" | "gateway") => None,
        Some(other) => unmet("host", other),
    }
}

/// Whether a name, a group or a pattern with `*` of the configuration means a tool.
fn names_tool(pattern: &str, tool: &str) -> bool {
    let pattern = pattern.trim().to_lowercase();
    if let Some((_, tools)) = GROUPS.iter().find(|(group, _)| *group == pattern) {
        return tools.contains(&tool);
    }
    let alias = ALIASES.iter().find(|(alias, _)| *alias == pattern);
    matches(alias.map_or(&pattern, |(_, name)| name), tool)
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            (0..=text.len()).any(|at| text.get(at..).is_some_and(|text| matches(rest, text)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allow: &[&str], deny: &[&str]) -> ToolPolicy {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        ToolPolicy {
            allow: owned(allow),
            deny: owned(deny),
            ..ToolPolicy::default()
        }
    }

    #[test]
    fn names_groups_and_patterns_choose_tools() {
        let check = |allow: &[&str], deny: &[&str], expected: &[&str]| {
            assert_eq!(
                offered(&policy(allow, deny)),
                (expected.to_vec(), vec![]),
                "{allow:?} {deny:?}"
            );
        };
        check(&[], &[], &TOOL_NAMES);
        check(
            &["group:fs"],
            &["edit"],
            &["ls", "read", "write", "apply_patch"],
        );
        check(&["*"], &["group:runtime", "write"], &["ls", "read", "edit"]);
        check(&["READ", "bash"], &[], &["read", "exec"]);
        check(&["process"], &[], &[]);
        check(&[], &["*e*"], &["ls"]);
        check(&["web_search"], &[], &[]);
        let bare = ToolPolicy {
            profile: Some("minimal".to_owned()),
            ..ToolPolicy::default()
        };
        assert_eq!(offered(&bare).0, [""; 0]);
    }

    #[test]
    fn a_limit_on_commands_that_cannot_be_kept_takes_them_away() {
        let check = |set: fn(&mut ToolPolicy), warns: bool| {
            let mut policy = policy(&[], &[]);
            set(&mut policy);
            let (names, warnings) = offered(&policy);
            assert_eq!(
                (names.contains(&"exec"), names.contains(&"process")),
                (false, false)
            );
            assert_eq!(!warnings.is_empty(), warns, "{warnings:?}");
        };
        check(
            |policy| policy.exec_security = Some("deny".to_owned()),
            false,
        );
        check(
            |policy| policy.exec_security = Some("allowlist".to_owned()),
            true,
        );
        check(|policy| policy.exec_ask = Some("always".to_owned()), true);
        check(|policy| policy.exec_host = Some("sandbox".to_owned()), true);
    }
}
