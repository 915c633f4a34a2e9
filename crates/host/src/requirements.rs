//! What an engine needs of its host. An unmet need fails closed, before the run.

use openclaw_interface::model::Info;
use std::fmt;

/// What runs a model, and what it offers to an engine. Each candidate of a turn has one.
///
/// Source: context engine contract, "Hosts, capabilities, operations".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionHost {
    /// Id, such as `openclaw-embedded` or `cli:<backend>`.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// Capabilities by their contract names.
    pub capabilities: Vec<String>,
}

impl ExecutionHost {
    /// This program's own model loop.
    #[must_use]
    pub fn embedded() -> Self {
        let capabilities = [
            "bootstrap",
            "assemble-before-prompt",
            "after-turn",
            "maintain",
            "compact",
        ];
        Self {
            id: "openclaw-embedded".into(),
            label: "openclaw-native host".into(),
            capabilities: capabilities.map(str::to_owned).to_vec(),
        }
    }

    /// A program that holds its own context. It never asks for an assembled one.
    ///
    /// - `backend_id`: its name in the configuration.
    #[must_use]
    pub fn cli_backend(backend_id: &str) -> Self {
        Self {
            id: format!("cli:{backend_id}"),
            label: format!("CLI backend {backend_id}"),
            capabilities: ["bootstrap", "after-turn", "maintain"]
                .map(str::to_owned)
                .to_vec(),
        }
    }
}

/// Operations that an engine can declare needs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    AgentRun,
    ManualCompact,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::AgentRun => "agent-run",
            Self::ManualCompact => "manual-compact",
        }
    }
}

/// Needs of an engine that the hosts of a turn do not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "engine `{engine_id}` cannot run here: operation {operation} needs {}. Missing: {}{}",
    .required.join(", "),
    .unmet.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and "),
    .guidance.as_ref().map(|text| format!(". {text}")).unwrap_or_default()
)]
pub struct UnmetRequirement {
    /// The engine.
    pub engine_id: String,
    /// What was to be done.
    pub operation: &'static str,
    /// All that it needs.
    pub required: Vec<String>,
    /// What is missing, host by host.
    pub unmet: Vec<Unmet>,
    /// What the engine says about it.
    pub guidance: Option<String>,
}

/// What one host lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The host.
    pub host: ExecutionHost,
    /// What is missing.
    pub missing: Vec<String>,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offered = match self.host.capabilities.as_slice() {
            [] => "nothing".to_owned(),
            some => some.join(", "),
        };
        let (missing, label, id) = (self.missing.join(", "), &self.host.label, &self.host.id);
        write!(
            f,
            "{missing}, which {label} ({id}) lacks; it offers {offered}"
        )
    }
}

/// Checks what an engine needs for an operation against every host that may do it.
pub(crate) fn check(
    info: &Info,
    operation: Operation,
    hosts: &[ExecutionHost],
) -> Result<(), UnmetRequirement> {
    let operation = operation.as_str();
    let Some(requirement) = info.host_requirements.get(operation) else {
        return Ok(());
    };
    let mut unmet: Vec<Unmet> = Vec::new();
    for host in hosts {
        let needed = requirement.required_capabilities.iter();
        let missing: Vec<String> = needed
            .filter(|needed| !host.capabilities.contains(needed))
            .cloned()
            .collect();
        if !missing.is_empty() && unmet.iter().all(|known| known.host != *host) {
            unmet.push(Unmet {
                host: host.clone(),
                missing,
            });
        }
    }
    if unmet.is_empty() {
        return Ok(());
    }
    Err(UnmetRequirement {
        engine_id: info.id.clone(),
        operation,
        required: requirement.required_capabilities.clone(),
        unmet,
        guidance: requirement.unsupported_message.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_interface::model::HostRequirement;

    /// Case Q-6.
    #[test]
    fn unmet_need_names_engine_operation_capabilities_hosts_and_guidance() {
        let mut info = Info::new("e", "Engine");
        let bare = ExecutionHost {
            capabilities: Vec::new(),
            ..ExecutionHost::cli_backend("bare")
        };
        let hosts = [ExecutionHost::embedded(), bare.clone(), bare];
        assert_eq!(check(&info, Operation::AgentRun, &hosts), Ok(()));
        let needed = ["bootstrap", "thread-bootstrap-projection"];
        info.host_requirements.insert(
            "agent-run".into(),
            HostRequirement {
                required_capabilities: needed.map(str::to_owned).to_vec(),
                unsupported_message: Some("Use another host.".into()),
            },
        );
        assert_eq!(check(&info, Operation::ManualCompact, &hosts), Ok(()));
        let error = check(&info, Operation::AgentRun, &hosts).unwrap_err();
        let text = error.to_string();
        for part in [
            "`e`",
            "agent-run",
            "needs bootstrap, thread-bootstrap-projection. Missing: thread-bootstrap-projection, which openclaw-native host (openclaw-embedded) lacks",
            "offers bootstrap",
            "and bootstrap, thread-bootstrap-projection, which CLI backend bare (cli:bare) lacks; it offers nothing",
            "Use another host.",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(error.unmet.len(), 2, "a host is named once");
    }
}
