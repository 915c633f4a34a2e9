//! Lines of a transcript, bad ones among them.

use crate::support::{field, list, loaded, oracle, text};
use openclaw_transcript::{Header, Row, parse};
use serde_json::Value;

#[test]
fn lines_are_read_as_the_original_does_and_bad_ones_are_kept() {
    oracle("jsonl parse", |captured, tally| {
        let case = captured.golden("jsonl-parse");
        let (input, expected) = (text(&case, "input"), list(field(&case, "output")));
        let transcript = parse(input.as_bytes());

        let header = transcript.header.as_ref().map(Header::raw);
        let lines = header
            .into_iter()
            .chain(transcript.rows.iter().map(Row::raw));
        let actual: Vec<Value> = lines.map(loaded).collect();
        tally.same("jsonl-parse", "lines", expected.len(), actual.len());
        for (index, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            tally.same("jsonl-parse", &format!("output {index}"), expected, actual);
        }

        let bad: Vec<_> = (1..)
            .zip(input.lines())
            .filter(|(_, line)| !line.is_empty())
            .filter(|(_, line)| serde_json::from_str::<Value>(line).is_err())
            .map(|(number, line)| (number, line.into()))
            .collect();
        let kept: Vec<_> = transcript
            .unread
            .iter()
            .map(|unread| (unread.line, String::from_utf8_lossy(&unread.bytes)))
            .collect();
        let reported: Vec<_> = transcript
            .faults
            .iter()
            .filter(|fault| fault.kind.skips_line())
            .map(|fault| fault.line)
            .collect();
        let numbers = bad.iter().map(|(number, _)| *number).collect();
        tally.same("jsonl-parse", "bad lines kept", bad, kept);
        tally.same("jsonl-parse", "bad lines reported", numbers, reported);
    });
}
