//! An import against what the original's importer stored.

use crate::support::{
    CapturedTranscript, IMPORT_AFTER, IMPORT_BEFORE, REAL, Stored, field, list, loaded, oracle,
    parsed, text, with_plain_ids,
};

#[test]
fn imported_rows_are_those_the_original_stored() {
    oracle("import rows", |captured, tally| {
        let transcripts = CapturedTranscript::all(captured);
        let sources = sources(&transcripts);
        for after in transcripts.iter().filter(|one| one.is_in(IMPORT_AFTER)) {
            let stored = sources
                .iter()
                .find(|stored| stored.report.session_id == after.name())
                .unwrap_or_else(|| panic!("no source of {}", after.path));
            let expected: Vec<_> = after
                .lines()
                .iter()
                .map(|line| with_plain_ids(parsed(&after.path, line)))
                .collect();
            // The original stores rows as loaded; we store them as written.
            let actual: Vec<_> = stored
                .exported()
                .iter()
                .map(|line| with_plain_ids(loaded(line)))
                .collect();
            if stored.report.skipped_lines == 0 {
                tally.same(&after.path, "lines", expected.len(), actual.len());
            } else {
                // The original ends at the first bad line; we go on behind it.
                let ends_earlier = expected.len() < actual.len();
                tally.same(&after.path, "ends earlier", true, ends_earlier);
            }
            for (index, expected) in expected.iter().enumerate() {
                let what = format!("line {}", index + 1);
                tally.same(&after.path, &what, Some(expected), actual.get(index));
            }
        }
    });
}

#[test]
fn lines_are_skipped_where_the_original_reports_a_malformed_transcript() {
    oracle("import issues", |captured, tally| {
        let report = captured.json("openclaw-outputs/import/report.json");
        let targets = list(field(&report, "targets"));
        let malformed: Vec<_> = targets
            .iter()
            .flat_map(|target| list(field(target, "issues")))
            .filter(|issue| text(issue, "code") == "transcript_malformed")
            .map(|issue| text(issue, "sessionKey"))
            .collect();
        let sessions = captured.json(&format!("{IMPORT_BEFORE}/sessions.json"));
        let sources = sources(&CapturedTranscript::all(captured));
        for (key, entry) in sessions.as_object().expect("sessions.json is an object") {
            let id = text(entry, "sessionId");
            let stored = sources
                .iter()
                .find(|stored| stored.report.session_id == id)
                .unwrap_or_else(|| panic!("no source of session {id}"));
            let expected = malformed.contains(&key.as_str());
            let actual = stored.report.skipped_lines > 0;
            tally.same(key, "has a malformed transcript", expected, actual);
        }
    });
}

/// What the original was given, imported.
fn sources(transcripts: &[CapturedTranscript]) -> Vec<Stored> {
    let sources = transcripts
        .iter()
        .filter(|one| one.is_in(IMPORT_BEFORE) || one.is_in(REAL));
    sources.map(CapturedTranscript::stored).collect()
}
