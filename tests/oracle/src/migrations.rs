//! Rows of old versions in today's shape.

use crate::support::{field, json_lines, list, oracle, parsed, with_plain_ids};
use openclaw_transcript::{Header, IdSeed, Row, migrate, parse};
use serde_json::Value;

#[test]
fn old_versions_are_migrated_as_the_original_does() {
    oracle("transcript migrations", |captured, tally| {
        let golden = captured.golden("transcript-migrations");
        for (index, case) in list(&golden).iter().enumerate() {
            let case_name = format!("transcript-migrations {index}");
            let expected = list(field(case, "output"));
            let actual = migrated(&json_lines(list(field(case, "input"))));
            tally.same(&case_name, "lines", expected.len(), actual.len());
            for (line, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
                tally.same(&case_name, &format!("output {line}"), expected, actual);
            }
        }
    });
}

fn migrated(bytes: &[u8]) -> Vec<Value> {
    let seed = IdSeed {
        source: "oracle",
        session_id: "s",
    };
    let transcript = migrate(parse(bytes), &seed).transcript;
    assert_eq!(transcript.faults, []);
    let header = transcript.header.as_ref().map(Header::raw);
    let rows = transcript.rows.iter().map(Row::raw);
    let lines = header.into_iter().chain(rows);
    lines
        .map(|line| with_plain_ids(parsed("migrated line", line)))
        .collect()
}
