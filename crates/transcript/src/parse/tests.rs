//! Bytes of all kinds, read line by line.

use proptest::prelude::*;

use super::*;
use crate::Parent;

const HEADER: &str = r#"{"type":"session","version":4,"id":"s","timestamp":"t","cwd":"/ws"}"#;

fn said(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user","content":"x"}}}}"#
    )
}

fn file(lines: &[&str]) -> Vec<u8> {
    let mut text = lines.join("\n");
    text.push('\n');
    text.into_bytes()
}

#[track_caller]
fn check(bytes: &[u8], ids: &[&str], faults: &[(usize, FaultKind)]) -> Transcript {
    let transcript = parse(bytes);
    let found: Vec<_> = transcript
        .faults
        .iter()
        .map(|fault| (fault.line, fault.kind.clone()))
        .collect();
    assert_eq!(found, faults);
    assert_eq!(
        transcript
            .rows
            .iter()
            .filter_map(Row::id)
            .collect::<Vec<_>>(),
        ids
    );
    transcript
}

#[test]
fn an_empty_file_is_an_empty_transcript() {
    assert_eq!(parse(b""), Transcript::default());
    assert_eq!(parse(b"\n \n\r\n").rows, []);
}

/// An export has no blank lines, so they are reported like all that it lacks.
#[test]
fn blank_lines_are_reported_once() {
    let text = format!("\n{HEADER}\n \t\n{}\n\n", said("a", "null"));
    check(text.as_bytes(), &["a"], &[(1, FaultKind::BlankLine)]);
}

#[test]
fn the_header_says_version_id_and_place() {
    let header = parse(&file(&[HEADER])).header.unwrap();
    assert_eq!(header.raw(), HEADER);
    let read = (
        header.version(),
        header.id(),
        header.timestamp(),
        header.cwd(),
        header.parent_session(),
    );
    assert_eq!(read, (4, Some("s"), Some("t"), Some("/ws"), None));
}

/// Case F-12.
#[test]
fn header_versions_are_read_as_far_as_possible() {
    for (field, version, fault) in [
        ("", 1, None),
        (r#","version":1"#, 1, None),
        (r#","version":4"#, 4, None),
        (
            r#","version":7"#,
            7,
            Some(FaultKind::NewerVersion { found: 7, known: 4 }),
        ),
        (
            r#","version":"3""#,
            3,
            Some(FaultKind::VersionIsText {
                text: "3".into(),
                version: 3,
            }),
        ),
        (
            r#","version":0"#,
            1,
            Some(FaultKind::BadVersion { found: "0".into() }),
        ),
        (
            r#","version":[3]"#,
            1,
            Some(FaultKind::BadVersion {
                found: "[3]".into(),
            }),
        ),
    ] {
        let line = format!(r#"{{"type":"session","id":"s"{field}}}"#);
        let faults: Vec<_> = fault.into_iter().map(|fault| (1, fault)).collect();
        let transcript = check(line.as_bytes(), &[], &faults);
        assert_eq!(transcript.header.unwrap().version(), version, "{line}");
    }
}

/// Case F-1.
#[test]
fn rows_behind_a_broken_header_are_read() {
    let bytes = file(&[&HEADER[..20], &said("a", "null"), &said("b", "\"a\"")]);
    let transcript = parse(&bytes);
    assert_eq!(transcript.rows.len(), 2);
    assert_eq!(
        transcript.unread,
        [Unread {
            line: 1,
            bytes: HEADER.as_bytes()[..20].to_owned()
        }]
    );
    let kinds: Vec<_> = transcript
        .faults
        .iter()
        .map(|fault| (fault.line, &fault.kind))
        .collect();
    assert!(
        matches!(
            kinds[..],
            [(1, FaultKind::NotJson { .. }), (0, FaultKind::NoHeader)]
        ),
        "{kinds:?}"
    );
}

/// Case F-2.
#[test]
fn a_cut_off_last_line_is_told_from_a_bad_one() {
    let mut bytes = file(&[HEADER, &said("a", "null")]);
    bytes.extend(br#"{"type":"mess"#);
    let transcript = check(
        &bytes,
        &["a"],
        &[(3, FaultKind::TruncatedLastLine { bytes: 13 })],
    );
    assert_eq!(transcript.unread[0].bytes, br#"{"type":"mess"#);

    bytes.extend(b"\n");
    assert!(matches!(
        parse(&bytes).faults[0].kind,
        FaultKind::NotJson { .. }
    ));
}

#[test]
fn a_last_line_without_line_ending_is_read() {
    check(
        format!("{HEADER}\n{}", said("a", "null")).as_bytes(),
        &["a"],
        &[],
    );
}

#[test]
fn byte_order_mark_and_crlf_are_skipped_and_reported_once() {
    let text = format!("\u{FEFF}{HEADER}\r\n\r\n{}\r\n", said("a", "null"));
    let faults = [
        (1, FaultKind::CarriageReturn),
        (1, FaultKind::ByteOrderMark),
        (2, FaultKind::BlankLine),
    ];
    let transcript = check(text.as_bytes(), &["a"], &faults);
    assert_eq!(transcript.rows[0].raw(), said("a", "null"));
    assert_eq!(transcript.rows[0].line(), 3);
}

#[test]
fn nul_bytes_around_a_line_are_skipped() {
    let text = format!("{HEADER}\n\0\0{}\n\0\0\0", said("a", "null"));
    check(
        text.as_bytes(),
        &["a"],
        &[
            (2, FaultKind::NulBytes { count: 2 }),
            (3, FaultKind::NulBytes { count: 3 }),
        ],
    );
}

#[test]
fn a_line_that_is_not_utf8_is_kept_as_bytes() {
    let mut bytes = file(&[HEADER]);
    bytes.extend(b"{\"type\":\"\xFF\"}\n");
    bytes.extend(said("a", "null").into_bytes());
    let transcript = check(
        &bytes,
        &["a"],
        &[(2, FaultKind::InvalidUtf8 { valid_bytes: 9 })],
    );
    assert_eq!(transcript.unread[0].bytes, b"{\"type\":\"\xFF\"}");
}

/// Case F-8.
#[test]
fn a_raw_control_character_costs_only_its_line() {
    let bad = said("b", "\"a\"").replace("\"x\"", "\"x\u{8}\"");
    let transcript = parse(&file(&[
        HEADER,
        &said("a", "null"),
        &bad,
        &said("c", "\"a\""),
    ]));
    assert_eq!(transcript.rows.len(), 2);
    assert!(matches!(
        transcript.faults[..],
        [Fault {
            line: 3,
            kind: FaultKind::NotJson { .. }
        }]
    ));

    let split = said("b", "\"a\"").replace("\"x\"", "\"x\ny\"");
    assert_eq!(
        parse(&file(&[
            HEADER,
            &said("a", "null"),
            &split,
            &said("c", "\"a\"")
        ]))
        .rows
        .len(),
        2
    );
}

/// Case F-5.
#[test]
fn half_an_emoji_is_read_as_a_replacement_character_and_kept_raw() {
    let line = said("a", "null")
        .replace("\"x\"", r#""x\ud83d""#)
        .replace("\"role\"", r#""k\udc00":1,"role""#);
    let transcript = check(
        &file(&[HEADER, &line]),
        &["a"],
        &[(2, FaultKind::LoneSurrogate)],
    );
    assert_eq!(transcript.rows[0].raw(), line);
    let json = transcript.rows[0].message().unwrap().json();
    assert_eq!(json, r#"{"k\ufffd":1,"role":"user","content":"x\ufffd"}"#);
}

/// Case F-14.
#[test]
fn deep_nesting_costs_only_its_line() {
    for levels in [200, 10_000] {
        let deep = said("b", "\"a\"").replace("\"x\"", &("[".repeat(levels) + &"]".repeat(levels)));
        let bytes = file(&[HEADER, &said("a", "null"), &deep, &said("c", "\"a\"")]);
        check(&bytes, &["a", "c"], &[(3, FaultKind::TooDeep)]);
    }
}

#[test]
fn a_line_of_10_mb_is_read_and_one_beyond_the_limit_costs_only_itself() {
    let of =
        |bytes: usize| said("b", "\"a\"").replace("\"x\"", &format!("\"{}\"", "x".repeat(bytes)));
    let bytes = file(&[
        HEADER,
        &said("a", "null"),
        &of(10_000_000),
        &said("c", "\"b\""),
    ]);
    check(&bytes, &["a", "b", "c"], &[]);
    let bytes = file(&[
        HEADER,
        &said("a", "null"),
        &of(MAX_LINE_BYTES),
        &said("c", "\"a\""),
    ]);
    check(&bytes, &["a", "c"], &[(3, FaultKind::TooLong)]);
}

/// A raw NUL inside is no JSON; escaped it is text like any other.
#[test]
fn nul_inside_a_line_counts_as_json_counts_it() {
    let raw = said("b", "\"a\"").replace("\"x\"", "\"x\0y\"");
    let escaped = said("c", "\"a\"").replace("\"x\"", r#""x\u0000y""#);
    let transcript = parse(&file(&[HEADER, &said("a", "null"), &raw, &escaped]));
    assert_eq!(transcript.rows.len(), 2);
    assert_eq!(transcript.rows[1].raw(), escaped);
    assert!(matches!(
        transcript.faults[..],
        [Fault {
            line: 3,
            kind: FaultKind::NotJson { .. }
        }]
    ));
}

#[test]
fn odd_numbers_keys_and_ids_are_kept_as_written() {
    let long = "x".repeat(100_000);
    for odd in [
        r#""n":[1e999,-1e-999,0.0123456789012345678,-0,-0.0,1E+400,123456789012345678901234567890]"#.to_owned(),
        r#""n":1,"n":2,"type":"message""#.to_owned(),
        format!(r#""{long}":"{long}""#),
        r#""":"","\u0000":null,"__proto__":{},"\ud83d":1"#.to_owned(),
    ] {
        let line = said("a", "null").replace("\"type\"", &format!("{odd},\"type\""));
        let transcript = parse(&file(&[HEADER, &line]));
        assert_eq!(transcript.rows[0].raw(), line);
        assert!(transcript.rows[0].message().is_some(), "{odd:.60}");
    }
    for id in [" a ", "a b", "日誌", "../..", "\u{202e}x", &long] {
        check(&file(&[HEADER, &said(id, "null")]), &[id], &[]);
    }
}

#[test]
fn lines_that_are_no_objects_are_skipped() {
    check(
        &file(&[HEADER, "[]", "3"]),
        &[],
        &[(2, FaultKind::NotAnObject), (3, FaultKind::NotAnObject)],
    );
}

#[test]
fn a_second_header_is_kept_as_an_opaque_row() {
    let second = HEADER.replace("\"s\"", "\"s2\"");
    let transcript = check(
        &file(&[HEADER, &second]),
        &["s2"],
        &[(2, FaultKind::SecondHeader)],
    );
    assert_eq!(transcript.header.unwrap().id(), Some("s"));
    assert_eq!(transcript.rows[0].kind(), &RowKind::Opaque);
    let back = parse_row(2, &second);
    assert_eq!(back.as_ref(), transcript.rows.first());
}

#[test]
fn a_header_behind_rows_is_used() {
    let transcript = check(
        &file(&[&said("a", "null"), HEADER]),
        &["a"],
        &[(2, FaultKind::HeaderNotFirst)],
    );
    assert_eq!(transcript.header.unwrap().id(), Some("s"));
}

/// Case F-13.
#[test]
fn unknown_rows_are_kept_without_a_fault() {
    let lines = [
        HEADER,
        r#"{"type":"future","id":"f","parentId":"a","x":[1]}"#,
        r#"{"id":"n"}"#,
    ];
    let transcript = check(&file(&lines), &["f", "n"], &[]);
    assert!(
        transcript
            .rows
            .iter()
            .all(|row| *row.kind() == RowKind::Opaque)
    );
    assert_eq!(transcript.rows[0].raw(), lines[1]);
}

#[test]
fn known_rows_that_lack_something_are_opaque_with_a_fault() {
    for (fields, kind, field) in [
        (r#""type":"message""#, "message", "message"),
        (
            r#""type":"model_change","provider":"p","modelId":" ""#,
            "model_change",
            "modelId",
        ),
        (
            r#""type":"thinking_level_change","thinkingLevel":1"#,
            "thinking_level_change",
            "thinkingLevel",
        ),
        (
            r#""type":"compaction","firstKeptEntryId":"a""#,
            "compaction",
            "summary",
        ),
        (r#""type":"reset""#, "reset", "reason"),
        (
            r#""type":"branch_summary","fromId":"a""#,
            "branch_summary",
            "summary",
        ),
        (r#""type":"custom","data":1"#, "custom", "customType"),
        (
            r#""type":"custom_message","customType":"x","content":3"#,
            "custom_message",
            "content",
        ),
        (r#""type":"label""#, "label", "targetId"),
        (r#""type":"leaf""#, "leaf", "targetId"),
    ] {
        let line = format!(r#"{{"id":"a","parentId":null,{fields}}}"#);
        let fault = FaultKind::Incomplete {
            kind: kind.into(),
            field,
        };
        let transcript = check(&file(&[HEADER, &line]), &["a"], &[(2, fault)]);
        assert_eq!(transcript.rows[0].kind(), &RowKind::Opaque, "{line}");
    }
}

#[test]
fn links_of_the_wrong_type_are_read_as_missing() {
    let transcript = check(
        &file(&[HEADER, &said("a", "7")]),
        &["a"],
        &[(2, FaultKind::BadParent)],
    );
    assert_eq!(transcript.rows[0].parent(), &Parent::Absent);
    check(
        &file(&[HEADER, &said("a", "null"), &said(" ", "null")]),
        &["a"],
        &[(3, FaultKind::MissingId)],
    );
    check(
        &file(&[r#"{"type":"session"}"#, &said(" ", "null")]),
        &[],
        &[],
    );
}

/// Cases F-4, F-12: they are on the path, so no fault says that they are not.
#[test]
fn rows_without_ids_in_front_of_others_are_reported_once() {
    let flat = said(" ", "null");
    check(
        &file(&[HEADER, &flat, &flat, &said("a", "null"), &flat]),
        &["a"],
        &[(2, FaultKind::FlatRows), (5, FaultKind::MissingId)],
    );
}

#[test]
fn faults_say_what_was_done_and_why() {
    for (line, kind, expected) in [
        (
            0,
            FaultKind::NoHeader,
            "no readable session header; rows are read as version 1",
        ),
        (
            3,
            FaultKind::TooDeep,
            "line 3: skipped: nested deeper than 127 levels",
        ),
        (
            4,
            FaultKind::Path(crate::PathFaultKind::DuplicateId {
                id: "a".into(),
                first: 2,
            }),
            "line 4: id `a` is taken by line 2; left off the path",
        ),
        (
            2,
            FaultKind::UnreadableMessage(crate::MessageError::NoRole),
            "line 2: message row kept but not interpreted: `role` is missing or not text",
        ),
    ] {
        assert_eq!(Fault { line, kind }.to_string(), expected);
    }
}

/// A line of any kind, good ones more often.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => "[a-z]{1,3}".prop_map(|id| said(&id, "null").into_bytes()),
        1 => Just(HEADER.as_bytes().to_owned()),
        1 => Just(Vec::new()),
        1 => Just(br#"{"type":"future","id":"f","n":1.0e5}  "#.to_vec()),
        1 => prop::collection::vec(any::<u8>().prop_filter("one line", |byte| *byte != b'\n'), 0..20),
    ]
}

proptest! {
    #[test]
    fn every_byte_survives_but_for_blank_and_reported_lines(lines in prop::collection::vec(any_line(), 0..12)) {
        let bytes = lines.join(&b'\n');
        let transcript = parse(&bytes);
        let mut kept: Vec<(usize, &[u8])> = Vec::new();
        kept.extend(transcript.rows.iter().map(|row| (row.line(), row.raw().as_bytes())));
        kept.extend(transcript.unread.iter().map(|unread| (unread.line, unread.bytes.as_slice())));
        for (index, line) in lines.iter().enumerate() {
            let number = index + 1;
            let repaired = transcript.faults.iter().any(|fault| fault.line == number && !fault.kind.skips_line());
            let header = transcript.header.as_ref().is_some_and(|header| header.raw().as_bytes() == line);
            let found = kept.iter().find(|(line, _)| *line == number).map(|(_, bytes)| *bytes);
            let survives = found == Some(line) || header || line.trim_ascii().is_empty();
            prop_assert!(survives || repaired, "line {number}: {line:?} became {found:?}");
        }
    }

    /// A store keeps rows as text: whatever was read once reads again.
    #[test]
    fn every_row_reads_back_from_its_text(lines in prop::collection::vec(any_line(), 0..12)) {
        for row in parse(&lines.join(&b'\n')).rows {
            prop_assert_eq!(parse_row(row.line(), row.raw()), Some(row));
        }
    }

    #[test]
    fn a_stream_of_lines_gives_what_the_whole_gives(lines in prop::collection::vec(any_line(), 0..12)) {
        let bytes = lines.join(&b'\n');
        let (mut reader, mut faults, mut rows) = (LineReader::new(), Vec::new(), Vec::new());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if let Line::Row(row) = reader.read(line, &mut faults) {
                rows.push(row);
            }
        }
        reader.finish(&mut faults);
        let transcript = parse(&bytes);
        prop_assert_eq!(transcript.rows, rows);
        prop_assert_eq!(transcript.faults, faults);
    }
}
