//! What an engine says of itself, against the contract.

use openclaw_interface::model::Info;

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
