//! `openclaw sessions repair`: a damaged store aside, and a new one of what can be read of it.

use super::store_path;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use openclaw_host::{Repair, RepairReport, Store};
use serde_json::json;
use std::process::ExitCode;

pub(super) fn run(context: &Context, output: &mut Output) -> Result<ExitCode, CliError> {
    let path = store_path(context);
    let (outcome, text) = match Store::repair(&path, &Context::ambient())? {
        Repair::Missing => (
            "missing",
            format!("there is no store at {}", path.display()),
        ),
        Repair::Sound => (
            "sound",
            format!("{} is sound; nothing was changed", path.display()),
        ),
        Repair::Replaced(report) => {
            show(&report, &path.display().to_string(), output);
            return Ok(ExitCode::SUCCESS);
        }
    };
    output.line(&text);
    output.document(&json!({ "ok": true, "outcome": outcome, "store": path.to_string_lossy() }));
    Ok(ExitCode::SUCCESS)
}

fn show(report: &RepairReport, store: &str, output: &mut Output) {
    output.line(&format!("{store} was damaged: {}", report.damage));
    output.line(&format!("  kept as it was: {}", report.set_aside.display()));
    output.line(&format!(
        "  saved into a new store: {} sessions, {} entries, {} turns, {} turns waiting for an engine",
        report.sessions, report.entries, report.turns, report.outbox
    ));
    if report.lost_entries > 0 {
        output.line(&format!("  entries lost: {} at least", report.lost_entries));
    }
    for key in &report.incomplete {
        output.line(&format!("  session {key} lacks entries"));
    }
    output.document(&json!({
        "ok": true,
        "outcome": "replaced",
        "store": store,
        "damage": report.damage,
        "setAside": report.set_aside.to_string_lossy(),
        "sessions": report.sessions,
        "entries": report.entries,
        "lostEntries": report.lost_entries,
        "turns": report.turns,
        "outbox": report.outbox,
        "incomplete": report.incomplete,
    }));
}
