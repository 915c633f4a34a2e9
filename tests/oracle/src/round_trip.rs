//! What goes into a store comes out again.

use crate::support::{CapturedTranscript, Stored, Tally, oracle};
use openclaw_host::Imported;
use std::collections::HashSet;

/// Rows look as they do today since this version; those of older ones are rewritten on import.
const ROWS_VERSION: u32 = 3;

#[test]
fn export_is_the_file_except_for_lines_reported_as_skipped() {
    oracle("export", |captured, tally| {
        for transcript in CapturedTranscript::all(captured) {
            compare_export(tally, &transcript, &transcript.stored());
        }
    });
}

#[test]
fn second_import_changes_nothing() {
    oracle("second import", |captured, tally| {
        for transcript in CapturedTranscript::all(captured) {
            let mut stored = transcript.stored();
            let (exported, summaries) = (stored.exported(), stored.summaries());
            let again = stored.import_again(transcript.name(), &transcript.bytes);
            let path = &transcript.path;
            tally.same(path, "outcome", Imported::Unchanged, again.imported);
            tally.same(path, "export", exported, stored.exported());
            tally.same(path, "list of sessions", summaries, stored.summaries());
        }
    });
}

#[test]
fn import_of_an_export_gives_the_same_export() {
    oracle("import of an export", |captured, tally| {
        for transcript in CapturedTranscript::all(captured) {
            let first = joined(&transcript.stored().exported());
            let second = Stored::new(transcript.name(), first.as_bytes());
            let path = &transcript.path;
            tally.same(path, "export", first, joined(&second.exported()));
            tally.same(path, "skipped lines", 0, second.report.skipped_lines);
            tally.same(path, "migrated rows", 0, second.report.migrated_rows);
        }
    });
}

fn compare_export(tally: &mut Tally, transcript: &CapturedTranscript, stored: &Stored) {
    let (path, report) = (&transcript.path, &stored.report);
    let skipped: HashSet<usize> = report
        .faults
        .iter()
        .filter(|fault| fault.kind.skips_line())
        .map(|fault| fault.line)
        .collect();
    let lines: Vec<_> = (1..)
        .zip(transcript.lines())
        .filter(|(number, _)| !skipped.contains(number))
        .map(|(_, line)| line)
        .collect();
    let exported = stored.exported();
    tally.same(path, "skipped lines", skipped.len(), report.skipped_lines);
    if report.version >= ROWS_VERSION {
        tally.same(path, "export", joined(&lines), joined(&exported));
        return;
    }
    tally.same(path, "exported lines", lines.len(), exported.len());
    let rewritten = lines.iter().zip(&exported).skip(1).filter(|(a, b)| a != b);
    tally.same(
        path,
        "rewritten rows",
        report.migrated_rows,
        rewritten.count(),
    );
}

fn joined<T: AsRef<str>>(lines: &[T]) -> String {
    let lines = lines.iter().flat_map(|line| [line.as_ref(), "\n"]);
    lines.collect()
}
