//! `exec`: one command of the shell, in the foreground or as a background job.

mod child;
mod environment;
mod jobs;
mod output;

use std::time::Duration;

use openclaw_host::{Cancel, ToolSpec};
use serde_json::json;

use super::arguments::Arguments;
use super::{Tool, ToolFailure, ToolSettings, fail, spec};
use crate::workspace::Workspace;
pub(super) use child::{Child, Ending};
use environment::Environment;
pub(super) use jobs::{Job, Jobs};

pub(super) struct Exec {
    workspace: Workspace,
    environment: Environment,
    timeout: Duration,
    jobs: Jobs,
}

impl Exec {
    pub(super) fn new(settings: &ToolSettings, jobs: Jobs) -> Self {
        Self {
            workspace: settings.workspace.clone(),
            environment: Environment::of(&settings.environment),
            timeout: settings.exec_timeout,
            jobs,
        }
    }
}

impl Tool for Exec {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "Command line for the shell."},
                "workdir": {"type": "string", "description": "Directory to start in; the workspace when left out."},
                "timeout": {
                    "type": "integer",
                    "minimum": 1,
                    "description": format!("Seconds after which it is ended; {} when left out.", self.timeout.as_secs()),
                },
                "background": {"type": "boolean", "description": "Let it run on; look after it with `process`."},
            },
            "required": ["command"],
        });
        let description = "Run a shell command and return its output. It cannot ask anything. For servers and long work use \
                           `background`.";
        spec("exec", description, parameters)
    }

    fn run(&mut self, arguments: &Arguments<'_>, cancel: &Cancel) -> Result<String, ToolFailure> {
        let command = arguments.filled("command")?;
        let workdir = arguments.optional_text("workdir")?.unwrap_or(".");
        let timeout = arguments
            .optional_number("timeout")?
            .map(|seconds| Duration::from_secs(seconds.max(1)));
        let in_background = arguments.flag("background")?;
        if in_background && timeout.is_some() {
            return arguments.refuse("a background job has no timeout; end it with `process`");
        }
        let Some(below) = self.workspace.below(workdir.as_ref()) else {
            return Err(self.workspace.outside(workdir.to_owned()).into());
        };
        let dir = self.workspace.real_dir(&below)?;
        let child = Child::start(command, &dir, &self.environment, in_background);
        let mut child = child.or_else(|error| {
            arguments.refuse(format!(
                "cannot start the shell in {}: {error}",
                dir.display()
            ))
        })?;
        if in_background {
            let id = self.jobs.add(command, child)?;
            return Ok(format!(
                "Running in the background as session {id}; see it with process poll"
            ));
        }
        let ending = child.wait(Some(timeout.unwrap_or(self.timeout)), cancel);
        report(&child.output(), &ending)
    }
}

/// The output of a command that ended, and how it ended.
pub(super) fn report(output: &str, ending: &Ending) -> Result<String, ToolFailure> {
    let shown = if output.trim().is_empty() {
        "(no output)"
    } else {
        output.trim_end_matches('\n')
    };
    match ending {
        Ending::Exited(0) => Ok(shown.to_owned()),
        ending => fail(format!("{shown}\n\n[{ending}]")),
    }
}

#[cfg(all(test, unix))]
mod tests;
