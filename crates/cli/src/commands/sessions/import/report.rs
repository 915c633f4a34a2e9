//! What an import did, in words and as a document.

use crate::output::Output;
use openclaw_host::{ImportReport, Imported};
use serde_json::{Value, json};
use std::fmt::Display;

/// Lines of each kind that are shown without `--verbose`.
const SHOWN: usize = 10;

pub(super) fn show(report: &ImportReport, shown: &str, is_verbose: bool, output: &mut Output) {
    let outcome = match report.imported {
        Imported::New => "imported".to_owned(),
        Imported::Extended { entries } => format!("new entries added: {entries}"),
        Imported::Unchanged => "nothing new".to_owned(),
    };
    output.line(&format!("{shown}: {outcome}"));
    output.line(&format!(
        "  session {} · header version {} · {} entries · {} messages on the active path",
        report.session_key, report.version, report.entries, report.messages
    ));
    if report.migrated_rows > 0 {
        let rows = report.migrated_rows;
        output.line(&format!("  rows brought to today's shape: {rows}"));
    }
    let at_most = if is_verbose { usize::MAX } else { SHOWN };
    list(&report.faults, report.fault_count, "", at_most, output);
    list(
        &report.path_faults,
        report.path_fault_count,
        "",
        at_most,
        output,
    );
    match &report.mends {
        Some(mends) => list(mends, mends.len(), "for the model: ", at_most, output),
        None => output.line("  for the model: not looked through, it is too much for any model"),
    }
    if report.skipped_lines > 0 {
        output.line(&format!(
            "  lines that could not be read, which the file keeps: {}",
            report.skipped_lines
        ));
    }
}

/// The first of a list, and how many there are.
fn list<T: Display>(items: &[T], count: usize, before: &str, at_most: usize, output: &mut Output) {
    let shown = &items[..items.len().min(at_most)];
    for item in shown {
        output.line(&format!("  {before}{item}"));
    }
    let left = count - shown.len();
    if left > 0 {
        let more = if shown.len() < items.len() {
            "; --verbose lists them"
        } else {
            ""
        };
        output.line(&format!("  {before}and {left} more like these{more}"));
    }
}

pub(super) fn document(report: &ImportReport, shown: &str) -> Value {
    let outcome = match report.imported {
        Imported::New => "new",
        Imported::Extended { .. } => "extended",
        Imported::Unchanged => "unchanged",
    };
    let faults = report.faults.iter().chain(&report.path_faults);
    let mends = report.mends.as_ref();
    json!({
        "file": shown,
        "sessionKey": report.session_key,
        "sessionId": report.session_id,
        "outcome": outcome,
        "headerVersion": report.version,
        "entries": report.entries,
        "messages": report.messages,
        "skippedLines": report.skipped_lines,
        "migratedRows": report.migrated_rows,
        "faultCount": report.fault_count + report.path_fault_count,
        "faults": faults.map(ToString::to_string).collect::<Vec<_>>(),
        "mends": mends.map(|mends| mends.iter().map(ToString::to_string).collect::<Vec<_>>()),
    })
}
