//! What an engine needs of its host. An unmet need fails closed, before the run.

use openclaw_interface::model::Info;

/// What this host offers to an agent run.
const CAPABILITIES: [&str; 3] = ["bootstrap", "assemble-before-prompt", "maintain"];

/// A need of an engine that this host does not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "engine `{engine_id}` cannot run here: operation {operation} needs {}, this host offers {}{}",
    .missing.join(", "),
    CAPABILITIES.join(", "),
    .guidance.as_ref().map(|text| format!(". {text}")).unwrap_or_default()
)]
pub struct UnmetRequirement {
    /// The engine.
    pub engine_id: String,
    /// What was to be done.
    pub operation: &'static str,
    /// What is missing.
    pub missing: Vec<String>,
    /// What the engine says about it.
    pub guidance: Option<String>,
}

/// Checks what an engine needs for an agent run.
pub(crate) fn check(info: &Info) -> Result<(), UnmetRequirement> {
    let operation = "agent-run";
    let Some(requirement) = info.host_requirements.get(operation) else {
        return Ok(());
    };
    let missing: Vec<String> = requirement
        .required_capabilities
        .iter()
        .filter(|needed| !CAPABILITIES.contains(&needed.as_str()))
        .cloned()
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let guidance = requirement.unsupported_message.clone();
    Err(UnmetRequirement {
        engine_id: info.id.clone(),
        operation,
        missing,
        guidance,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_interface::model::HostRequirement;

    /// Case Q-6.
    #[test]
    fn unmet_need_names_engine_operation_capabilities_and_guidance() {
        let mut info = Info::new("e", "Engine");
        assert_eq!(check(&info), Ok(()));
        let needed = ["bootstrap", "thread-bootstrap-projection"]
            .map(str::to_owned)
            .to_vec();
        info.host_requirements.insert(
            "agent-run".into(),
            HostRequirement {
                required_capabilities: needed,
                unsupported_message: Some("Use another host.".into()),
            },
        );
        let text = check(&info).unwrap_err().to_string();
        for part in [
            "`e`",
            "agent-run",
            "needs thread-bootstrap-projection,",
            "offers bootstrap",
            "Use another host.",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
