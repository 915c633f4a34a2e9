//! Old transcripts in today's shape.

use super::*;
use crate::parse;

const SEED: IdSeed<'_> = IdSeed {
    source: "old/s.jsonl",
    session_id: "s",
};

fn migrated(lines: &[&str]) -> (Vec<String>, Migrated) {
    let migrated = migrate(parse(lines.join("\n").as_bytes()), &SEED);
    let id = format!("{:016x}-", stable_hash(&["old/s.jsonl", "s"]));
    let header = migrated.transcript.header.iter().map(Header::raw);
    let rows = migrated.transcript.rows.iter().map(Row::raw);
    let lines = header
        .chain(rows)
        .map(|line| line.replace(&id, "#"))
        .collect();
    (lines, migrated)
}

#[test]
fn version_1_becomes_a_chain() {
    let (lines, migrated) = migrated(&[
        r#"{"type":"session","id":"s","cwd":"/"}"#,
        r#"{"type":"message","message":{"role":"user","content":"q"}}"#,
        r#"{"type":"future"}"#,
        r#"{"type":"message","message":{"role":"hookMessage","content":"h","n":0.10}}"#,
        r#"{"type":"compaction","summary":"S","firstKeptEntryIndex":3,"tokensBefore":1}"#,
    ]);
    assert_eq!(
        lines,
        [
            r#"{"type":"session","id":"s","cwd":"/","version":3}"#,
            r##"{"type":"message","message":{"role":"user","content":"q"},"id":"#1","parentId":null}"##,
            r#"{"type":"future"}"#,
            r##"{"type":"message","message":{"role":"custom","content":"h","n":0.10,"customType":"hook"},"id":"#3","parentId":"#1"}"##,
            r##"{"type":"compaction","summary":"S","tokensBefore":1,"id":"#4","parentId":"#3","firstKeptEntryId":"#3"}"##,
        ]
    );
    assert_eq!(migrated.changed, [0, 2, 3]);
    assert_eq!(migrated.transcript.faults, []);
}

#[test]
fn an_index_that_names_no_row_is_dropped_and_reported() {
    for index in ["0", "9", "-1", "\"x\"", "2"] {
        let compaction =
            format!(r#"{{"type":"compaction","summary":"S","firstKeptEntryIndex":{index}}}"#);
        let (lines, migrated) =
            migrated(&[r#"{"type":"session"}"#, &compaction, r#"{"type":"future"}"#]);
        assert_eq!(
            lines[1], r##"{"type":"compaction","summary":"S","id":"#1","parentId":null}"##,
            "{index}"
        );
        assert_eq!(
            migrated.transcript.faults,
            [Fault {
                line: 2,
                kind: FaultKind::UnknownKeptIndex
            }]
        );
    }
}

#[test]
fn version_2_changes_only_the_old_role() {
    let user =
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"q"}}"#;
    let (lines, migrated) = migrated(&[
        r#"{"type":"session","version":2,"id":"s"}"#,
        user,
        r#"{"type":"message","id":"b","parentId":"a","message":{"role":"hookMessage","content":"h","customType":"x"}}"#,
    ]);
    assert_eq!(
        lines,
        [
            r#"{"type":"session","version":3,"id":"s"}"#,
            user,
            r#"{"type":"message","id":"b","parentId":"a","message":{"role":"custom","content":"h","customType":"x"}}"#,
        ]
    );
    assert_eq!(migrated.changed, [1]);
}

/// Case F-12.
#[test]
fn version_3_and_later_are_left_alone() {
    for version in [3, 4, 7] {
        let header = format!(r#"{{"type":"session","version":{version}}}"#);
        let lines = [
            &header,
            r#"{"type":"message","message":{"role":"hookMessage","content":"h"}}"#,
        ];
        let transcript = parse(lines.join("\n").as_bytes());
        let migrated = migrate(transcript.clone(), &SEED);
        assert_eq!(
            (migrated.transcript, migrated.changed),
            (transcript, vec![])
        );
    }
}

/// Case F-1.
#[test]
fn rows_that_have_ids_keep_them_without_a_header() {
    let row =
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"q"}}"#;
    let (lines, migrated) = migrated(&["{", row]);
    assert_eq!((lines, migrated.changed), (vec![row.to_owned()], vec![]));
}

#[test]
fn a_second_import_gives_the_same_ids() {
    assert_eq!(stable_hash(&["a", "b"]), stable_hash(&["a", "b"]));
    assert_ne!(stable_hash(&["ab", ""]), stable_hash(&["a", "b"]));
    assert_eq!(stable_hash(&[]), 0xCBF2_9CE4_8422_2325);
    assert_eq!(
        [0, 9, 10, 35, 36, 1295].map(base_36),
        ["0", "9", "a", "z", "10", "zz"]
    );
}
