//! What an engine says of itself, against the contract.

use crate::manifest::RESERVED_IDS;
use openclaw_interface::model::{Info, TranscriptSemantics};

const CAPABILITIES: [&str; 7] = [
    "bootstrap",
    "assemble-before-prompt",
    "after-turn",
    "maintain",
    "compact",
    "runtime-llm-complete",
    "thread-bootstrap-projection",
];
const OPERATIONS: [&str; 3] = ["agent-run", "manual-compact", "subagent-spawn"];

/// All problems of a descriptor; empty when there is none. `id` is that of note and manifest.
pub(crate) fn problems(info: &Info, id: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if info.id.trim().is_empty() {
        problems.push("info.id is blank".to_owned());
    } else if info.id != id {
        problems.push(format!(
            "info.id is `{}`, note and manifest say `{id}`",
            info.id
        ));
    }
    if RESERVED_IDS.contains(&info.id.trim().to_ascii_lowercase().as_str()) {
        problems.push(format!("info.id `{}` is reserved", info.id.trim()));
    }
    if info.name.trim().is_empty() {
        problems.push("info.name is blank".to_owned());
    }
    if let Some(semantics) = &info.transcript_semantics {
        if semantics.current_turn_fence.is_some() && !semantics.fences_current_turn() {
            problems
                .push("info.transcriptSemantics.currentTurnFence has an unknown value".to_owned());
        }
        if semantics.turn_advancement_idempotency.is_some() && !semantics.commits_idempotently() {
            problems.push(
                "info.transcriptSemantics.turnAdvancementIdempotency has an unknown value"
                    .to_owned(),
            );
        }
    }
    let promises_commits = info
        .transcript_semantics
        .as_ref()
        .is_some_and(TranscriptSemantics::commits_idempotently);
    if let Some(hooks) = &info.hooks {
        let lacks = |name: &str| !hooks.iter().any(|hook| hook == name);
        if promises_commits && lacks("commitTurn") {
            problems.push(
                "info.transcriptSemantics promises durable turns, and info.hooks has no `commitTurn`"
                    .to_owned(),
            );
        }
    }
    for (operation, requirement) in &info.host_requirements {
        if !OPERATIONS.contains(&operation.as_str()) {
            problems.push(format!(
                "info.hostRequirements names an unknown operation `{operation}`"
            ));
        }
        let unknown = requirement
            .required_capabilities
            .iter()
            .filter(|name| !CAPABILITIES.contains(&name.as_str()));
        problems.extend(unknown.map(|name| {
            format!("info.hostRequirements.{operation} names no capability: `{name}`")
        }));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_interface::model::HostRequirement;

    #[test]
    fn good_descriptor_has_no_problem() {
        assert_eq!(
            problems(&Info::new("e", "Engine").durable_turns(), "e"),
            [] as [String; 0]
        );
    }

    /// Case R-3.
    #[test]
    fn all_problems_are_found_at_once() {
        let mut info = Info::new("other", " ");
        info.transcript_semantics = Some(TranscriptSemantics {
            current_turn_fence: Some("later".into()),
            ..TranscriptSemantics::default()
        });
        let requirement = HostRequirement {
            required_capabilities: vec!["compact".into(), "fly".into()],
            unsupported_message: None,
        };
        info.host_requirements
            .insert("agent-run".into(), requirement);
        let found = problems(&info, "e").join("\n");
        for part in ["`other`", "`e`", "info.name", "currentTurnFence", "`fly`"] {
            assert!(found.contains(part), "{part} in {found}");
        }
        assert!(!found.contains("`compact`"));
    }

    #[test]
    fn blank_and_reserved_ids_are_problems() {
        let check = |id: &str, expected: &str| {
            let found = problems(&Info::new(id, "Engine"), "e").join("\n");
            assert!(found.contains(expected), "{id:?}: {found}");
        };
        check(" ", "info.id is blank");
        check("legacy", "`legacy` is reserved");
        check(" Legacy ", "`Legacy` is reserved");
    }

    #[test]
    fn promise_of_durable_turns_needs_the_hook_where_hooks_are_listed() {
        let mut info = Info::new("e", "Engine").durable_turns();
        info.hooks = Some(vec!["assemble".into()]);
        assert!(problems(&info, "e")[0].contains("no `commitTurn`"));
        info.hooks = Some(vec!["commitTurn".into()]);
        assert_eq!(problems(&info, "e"), [] as [String; 0]);
    }
}
