//! `openclaw doctor`: what serves, why, and what needs attention. Reads and inspects; runs no plugin.

mod engines;
mod records;
mod settings;

use crate::context::Context;
use crate::engines::Engines;
use crate::error::CliError;
use crate::output::{Mark, Output};
use serde::Serialize;
use serde_json::json;
use std::process::ExitCode;

/// One thing that was checked.
#[derive(Debug, Serialize)]
struct Finding {
    mark: Mark,
    subject: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Finding {
    fn new(mark: Mark, subject: &'static str, text: impl Into<String>) -> Self {
        Self {
            mark,
            subject,
            text: text.into(),
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

pub(crate) fn run(context: &Context, output: &mut Output) -> Result<ExitCode, CliError> {
    let findings = findings(context);
    let is_well = findings
        .iter()
        .all(|finding| matches!(finding.mark, Mark::Ok | Mark::Note));
    for finding in &findings {
        output.marked(finding.mark, finding.subject, &finding.text);
        if let Some(help) = &finding.help {
            output.line(&format!("{:18} → {help}", ""));
        }
    }
    output.line("checked: files and records; no plugin was loaded");
    output
        .document(&json!({ "ok": is_well, "findings": findings, "checked": "files and records" }));
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn findings(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    let path = context.paths.config_path.display();
    let engines = match Engines::read(context) {
        Ok(engines) => engines,
        Err(error) => {
            findings.push(settings::of_error(Mark::Error, "config", &error));
            findings.extend(settings::native_settings(context));
            findings.extend(settings::turn_settings(context));
            findings.extend(records::records(context));
            return findings;
        }
    };
    findings.push(Finding::new(Mark::Ok, "config", format!("{path}")));
    findings.extend(settings::native_settings(context));
    findings.extend(settings::turn_settings(context));
    findings.push(engines::slot(&engines));
    findings.extend(engines::plugins(context, &engines));
    findings.extend(engines::relative_paths(context, &engines));
    findings.extend(records::records(context));
    findings
}
