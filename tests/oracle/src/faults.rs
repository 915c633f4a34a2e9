//! What reading says of each transcript: exactly what is wrong with it.

use crate::support::{CapturedTranscript, oracle};
use openclaw_transcript::{
    CURRENT_VERSION, Fault, FaultKind, Link, Mend, MendKind, Row, active_path, parse,
};

/// A session cut off in a line, with rows that lack an id, a parent or a call.
const DAMAGED: &str = "real-transcripts/letta-openclaw-cleanup.jsonl";

/// What is to be said of a transcript: faults by line, mends by message of the context.
#[derive(Default)]
struct Expected {
    faults: Vec<(usize, FaultKind)>,
    mends: Vec<(usize, MendKind)>,
}

fn expected(path: &str) -> Expected {
    match path {
        DAMAGED => Expected {
            faults: vec![
                newer_version(),
                (3, not_json()),
                (
                    4,
                    FaultKind::Incomplete {
                        kind: "custom".to_owned(),
                        field: "customType",
                    },
                ),
                (8, FaultKind::MissingId),
            ],
            mends: vec![(4, MendKind::OrphanDropped)],
        },
        "real-transcripts/letta-openclaw-tool-calls.jsonl"
        | "openclaw-outputs/import/after/openclaw-session-0001.jsonl"
        | "openclaw-outputs/import/after/openclaw-session-0002.jsonl" => Expected {
            faults: vec![newer_version()],
            mends: vec![],
        },
        "openclaw-outputs/import/before/aaaaaaaa-0000-4000-8000-000000000003.jsonl" => Expected {
            faults: vec![(3, not_json())],
            mends: vec![],
        },
        // The original stores the result of an unknown tool without its call.
        "openclaw-outputs/transcripts/v4-tool-calls.jsonl" => Expected {
            faults: vec![],
            mends: vec![(9, MendKind::OrphanDropped)],
        },
        _ => Expected::default(),
    }
}

#[test]
fn import_reports_exactly_the_faults_of_each_transcript() {
    oracle("import faults", |captured, tally| {
        for transcript in CapturedTranscript::all(captured) {
            let (path, expected) = (&transcript.path, expected(&transcript.path));
            let report = transcript.stored().report;
            let faults = report.faults.into_iter().map(without_reason).collect();
            tally.same(path, "faults", expected.faults, faults);
            tally.same(path, "path faults", vec![], report.path_faults);
            let mends = report.mends.iter().flatten().map(short).collect();
            tally.same(path, "mends", expected.mends, mends);
        }
    });
}

#[test]
fn damaged_transcript_keeps_every_readable_row_and_its_path() {
    oracle("damaged transcript", |captured, tally| {
        let transcript = parse(&captured.bytes(DAMAGED));
        let lines = |rows: Vec<&Row>| rows.into_iter().map(Row::line).collect::<Vec<_>>();
        let links: Vec<Link> = transcript.rows.iter().map(Row::link).collect();
        let path = active_path(&links).rows;
        let path = path.iter().map(|&row| &transcript.rows[row]).collect();

        let rows = lines(transcript.rows.iter().collect());
        tally.same(DAMAGED, "lines kept", vec![2, 4, 5, 6, 7, 8, 9], rows);
        tally.same(
            DAMAGED,
            "lines on the path",
            vec![2, 5, 6, 7, 9],
            lines(path),
        );
    });
}

fn newer_version() -> (usize, FaultKind) {
    let kind = FaultKind::NewerVersion {
        found: 7,
        known: CURRENT_VERSION,
    };
    (1, kind)
}

fn not_json() -> FaultKind {
    FaultKind::NotJson {
        reason: String::new(),
    }
}

/// A fault without the words of the JSON parser.
fn without_reason(fault: Fault) -> (usize, FaultKind) {
    let kind = match fault.kind {
        FaultKind::NotJson { .. } => not_json(),
        kind => kind,
    };
    (fault.line, kind)
}

fn short(mend: &Mend) -> (usize, MendKind) {
    (mend.message, mend.kind)
}
