//! `process`: looks after the background jobs of `exec`.

use std::time::{Duration, Instant};

use openclaw_host::{Cancel, ToolSpec};
use serde_json::json;

use super::arguments::Arguments;
use super::exec::{Ending, Job, Jobs};
use super::{Tool, ToolFailure, fail, spec};

const LONGEST_WAIT: Duration = Duration::from_secs(120);

pub(super) struct Process(pub(super) Jobs);

impl Tool for Process {
    fn spec(&self) -> ToolSpec {
        let actions = ["list", "poll", "log", "write", "kill", "remove"];
        let parameters = json!({
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": actions},
                "sessionId": {"type": "string", "description": "Which job; not needed for list."},
                "wait": {"type": "integer", "minimum": 0, "description": "poll: seconds to wait for its end, 120 at most."},
                "data": {"type": "string", "description": "write: text for its input."},
                "eof": {"type": "boolean", "description": "write: close its input behind the text."},
            },
            "required": ["action"],
        });
        let description = "Look after background jobs of exec: list them, poll new output, read the whole log, write to the \
                           input, kill, remove.";
        spec("process", description, parameters)
    }

    fn run(&mut self, arguments: &Arguments<'_>, cancel: &Cancel) -> Result<String, ToolFailure> {
        let action = arguments.filled("action")?;
        let mut inner = self.0.lock();
        if action == "list" {
            let lines: Vec<String> = inner.jobs.iter_mut().map(line).collect();
            return Ok(if lines.is_empty() {
                "(no background jobs)".to_owned()
            } else {
                lines.join("\n")
            });
        }
        if !["poll", "log", "write", "kill", "remove"].contains(&action) {
            return arguments.refuse(format!(
                "there is no action `{action}`; use list, poll, log, write, kill or remove"
            ));
        }
        let id = arguments.filled("sessionId")?;
        let Some(at) = inner.jobs.iter().position(|job| job.id == id) else {
            let known: Vec<&str> = inner.jobs.iter().map(|job| job.id.as_str()).collect();
            return arguments.refuse(format!(
                "there is no session `{id}`; there are: {}",
                known.join(", ")
            ));
        };
        let job = &mut inner.jobs[at];
        match action {
            "poll" => {
                let wait = Duration::from_secs(arguments.optional_number("wait")?.unwrap_or(0));
                poll(job, wait.min(LONGEST_WAIT), cancel)
            }
            "log" => Ok(format!(
                "{}\n\n[{}]",
                shown(&job.child.output()),
                state(job)
            )),
            "write" => {
                let data = arguments.text("data")?;
                if !job.child.write(data.as_bytes(), arguments.flag("eof")?) {
                    return arguments.refuse(format!("{id} reads no input any more"));
                }
                Ok(format!("Wrote {} bytes to {id}", data.len()))
            }
            "kill" => Ok(format!("{id}: {}", job.child.end(Ending::Killed))),
            _ => {
                inner.jobs.remove(at);
                Ok(format!("{id} ended and removed"))
            }
        }
    }
}

/// The new output, once the job has ended or the wait is over.
fn poll(job: &mut Job, wait: Duration, cancel: &Cancel) -> Result<String, ToolFailure> {
    let started = Instant::now();
    while job.child.ending().is_none() && started.elapsed() < wait {
        if cancel.is_cancelled() {
            return fail("cancelled by the user; the job runs on");
        }
        job.child.rest();
    }
    let state = state(job);
    Ok(format!("{}\n\n[{state}]", shown(&job.child.fresh_output())))
}

fn shown(output: &str) -> &str {
    if output.trim().is_empty() {
        "(no new output)"
    } else {
        output.trim_end_matches('\n')
    }
}

fn state(job: &mut Job) -> String {
    job.child
        .ending()
        .map_or_else(|| "running".to_owned(), |ending| ending.to_string())
}

fn line(job: &mut Job) -> String {
    let state = state(job);
    format!("{} [{state}] {}", job.id, job.command)
}
