//! `openclaw doctor`: what serves, why, and what needs attention. Reads and inspects everything; runs the selected engine
//! in a process of its own, unless told not to.

mod engines;
mod exercise;
mod fix;
mod permissions;
mod records;
mod settings;
mod stale;

use crate::args::DoctorArgs;
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

/// What was looked at, and what was changed.
#[derive(Default)]
struct Checked {
    findings: Vec<Finding>,
    engine: Option<exercise::Facts>,
    repairs: Vec<String>,
    /// In words.
    scope: Vec<String>,
}

pub(crate) fn run(
    context: &Context,
    args: &DoctorArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let mut repairs = Vec::new();
    if args.fix {
        // An invalid configuration is told below and never repaired: nobody knows what was meant.
        if let Ok(engines) = Engines::read(context) {
            repairs.extend(fix::configuration(context, &engines)?);
        }
        repairs.extend(fix::permissions(context)?);
    }
    let mut checked = check(context, args);
    checked.repairs.splice(0..0, repairs);
    let is_well = checked
        .findings
        .iter()
        .all(|finding| matches!(finding.mark, Mark::Ok | Mark::Note));
    for repair in &checked.repairs {
        output.marked(Mark::Ok, "repaired", repair);
    }
    for finding in &checked.findings {
        output.marked(finding.mark, finding.subject, &finding.text);
        if let Some(help) = &finding.help {
            output.line(&format!("{:18} → {help}", ""));
        }
    }
    if args.fix && checked.repairs.is_empty() {
        output.line(
            "repaired: nothing; there was nothing that can be repaired without losing something",
        );
    }
    let scope = checked.scope.join("; ");
    output.line(&format!("checked: {scope}"));
    output.document(&json!({
        "ok": is_well, "findings": checked.findings, "engine": checked.engine, "repairs": checked.repairs,
        "checked": scope,
    }));
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn check(context: &Context, args: &DoctorArgs) -> Checked {
    let mut checked = Checked {
        scope: vec!["files and records".to_owned()],
        ..Checked::default()
    };
    let findings = &mut checked.findings;
    let path = context.paths.config_path.display();
    match Engines::read(context) {
        Err(error) => {
            findings.push(settings::of_error(Mark::Error, "config", &error));
            findings.extend(settings::native_settings(context));
            findings.extend(settings::turn_settings(context));
            checked.scope.push("no plugin was loaded".to_owned());
        }
        Ok(engines) => {
            // First, so that what it finds out is known below.
            let ran = (!args.no_run)
                .then(|| exercise::selected(context, &engines))
                .flatten();
            findings.push(Finding::new(Mark::Ok, "config", format!("{path}")));
            findings.extend(settings::native_settings(context));
            findings.extend(settings::turn_settings(context));
            findings.push(engines::slot(&engines));
            match ran {
                Some(ran) => {
                    findings.extend(ran.findings);
                    checked.engine = Some(ran.engine);
                    checked.scope.push(
                        "the selected engine ran in a process of its own and a scratch directory"
                            .to_owned(),
                    );
                }
                None => checked.scope.push("no plugin was loaded".to_owned()),
            }
            findings.extend(engines::plugins(context, &engines));
            findings.extend(engines::relative_paths(context, &engines));
            findings.extend(stale::findings(context, &engines));
        }
    }
    if let (true, Some(engine)) = (args.fix, &checked.engine) {
        checked.repairs = fix::health(context, engine);
    }
    #[cfg(unix)]
    checked.findings.extend(permissions::findings(context));
    checked.findings.extend(records::records(context));
    checked
}
