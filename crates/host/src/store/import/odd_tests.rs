//! Odd files: what comes in how, and that everything readable comes out as it went in.

use super::tests::{HEADER, file, home, said};
use super::*;
use proptest::prelude::*;

/// The lines of an export after an import of these bytes, and the report.
fn through(bytes: &[u8]) -> (Vec<String>, ImportReport) {
    let mut home = home();
    let report = home.imports(bytes, "s", None);
    (home.exported(&report.session_id), report)
}

/// Imports, and checks which lines come out and what is said of the file.
#[track_caller]
fn check(bytes: &[u8], expected: &[&str], skipped: usize, texts: &[&str]) {
    let (exported, report) = through(bytes);
    assert_eq!(exported, expected);
    assert_eq!(report.skipped_lines, skipped);
    let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
    assert_eq!(report.fault_count, faults.len());
    for text in texts {
        assert!(
            faults.iter().any(|fault| fault.contains(text)),
            "{text}: {faults:?}"
        );
    }
}

#[test]
fn line_endings_marks_and_blank_lines_go_away_with_a_word() {
    let (a, b) = (said("a", "1"), said("b", "2"));
    let crlf = format!("\u{FEFF}{HEADER}\r\n\r\n{a}\r\n{b}");
    let texts = ["byte order mark", "CR LF", "blank"];
    let (exported, report) = through(crlf.as_bytes());
    assert_eq!(exported, [HEADER, &a, &b]);
    assert_eq!(report.fault_count, texts.len(), "{:?}", report.faults);
    check(
        format!("{HEADER}\n\0\0{a}\0\n").as_bytes(),
        &[HEADER, &a],
        0,
        &["NUL"],
    );
}

/// Cases F-2, F-5, F-8, F-14.
#[test]
fn bad_line_costs_only_itself() {
    let (a, c) = (said("a", "1"), said("c", "3"));
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let somewhat = "[".repeat(200) + &"]".repeat(200);
    for bad in [
        b"{\"type\":\"mess".to_vec(),
        b"{\"type\":\"\xFF\"}".to_vec(),
        b"{\"type\":\"x\x08\"}".to_vec(),
        b"{\"type\":\"x\0y\"}".to_vec(),
        b"[1]".to_vec(),
        format!("{{\"x\":{deep}}}").into_bytes(),
        format!("{{\"x\":{somewhat}}}").into_bytes(),
    ] {
        let bytes = [HEADER.as_bytes(), a.as_bytes(), &bad, c.as_bytes(), b""].join(&b'\n');
        check(&bytes, &[HEADER, &a, &c], 1, &["line 3: skipped"]);
        // The same at the end; what is appended later stands on a line of its own.
        let cut = [HEADER.as_bytes(), a.as_bytes(), &bad].join(&b'\n');
        let mut home = home();
        home.imports(&cut, "s", None);
        home.says("s", "t1");
        let exported = home.exported("s");
        assert_eq!(exported[..2], [HEADER, &a]);
        assert_eq!(exported.len(), 3);
        assert!(openclaw_transcript::parse_row(3, &exported[2]).is_some());
    }
}

#[test]
fn odd_values_come_out_as_they_went_in() {
    let long = "i".repeat(50_000);
    let rows = [
        r#"{"type":"message","id":"a","message":{"role":"user","content":"\ud83d x \udc00","\ud83d":1}}"#.to_owned(),
        r#"{"type":"message","id":"b","message":{"role":"user","content":"\u0000\u001b"}}"#.to_owned(),
        r#"{"type":"future","id":"f","n":[1e999,0.0123456789012345678,-0,1E+400],"k":1,"k":2}"#.to_owned(),
        format!(r#"{{"type":"message","id":"{long}","message":{{"role":"user","content":"x"}}}}"#),
        r#"{"type":"message","id":"日 誌/../","message":{"role":"system","content":"x"}}  "#.to_owned(),
        said("a", "twice"),
    ];
    let lines: Vec<&str> = std::iter::once(HEADER)
        .chain(rows.iter().map(String::as_str))
        .collect();
    let (exported, report) = through(&file(&lines));
    assert_eq!(exported, lines);
    assert_eq!(report.path_fault_count, 1, "{:?}", report.path_faults);
}

/// Case F-12.
#[test]
fn header_of_any_version_is_kept_and_odd_ones_are_told() {
    let a = said("a", "1");
    for (version, text) in [
        ("\"3\"", "is the text"),
        ("7", "newer than 4"),
        ("0", "positive"),
    ] {
        let header = HEADER.replace("\"version\":3", &format!("\"version\":{version}"));
        let (exported, report) = through(&file(&[&header, &a]));
        assert!(
            report.faults[0].to_string().contains(text),
            "{:?}",
            report.faults
        );
        if version != "0" {
            assert_eq!(exported[0], header);
        }
    }
    // Case F-1: a broken header leaves the rows.
    let (exported, report) = through(&file(&[&HEADER[..20], &a]));
    assert_eq!((exported.len(), report.skipped_lines), (2, 1));
}

#[test]
fn files_that_are_no_transcripts_are_refused_with_a_hint() {
    let mut home = home();
    let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let text = format!("{HEADER}\n");
        text.encode_utf16().flat_map(order).collect()
    };
    let marked = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
    for (bytes, expected) in [
        (b"".to_vec(), NoTranscript::Empty),
        (b"\n \r\n\n".to_vec(), NoTranscript::Empty),
        (b"<html>\n".to_vec(), NoTranscript::NoSessionRow),
        (b"{\"a\":1}\n".to_vec(), NoTranscript::NoSessionRow),
        (utf16(u16::to_le_bytes), NoTranscript::Utf16),
        (
            marked(b"\xFF\xFE", utf16(u16::to_le_bytes)),
            NoTranscript::Utf16,
        ),
        (
            marked(b"\xFE\xFF", utf16(u16::to_be_bytes)),
            NoTranscript::Utf16,
        ),
    ] {
        let kind = home.refuses(&bytes, "s", None);
        assert!(
            matches!(&kind, StoreErrorKind::NoTranscript(found) if *found == expected),
            "{kind:?}"
        );
    }
    let error = home.import(b"\xFF\xFE", "s", None).unwrap_err();
    assert!(error.help().contains("iconv"));
}

/// A hundred thousand rows with a fault each: the list is whole and the path is found in one pass.
#[test]
fn many_rows_and_many_faults_are_counted() {
    let row = |id: usize| {
        format!(r#"{{"type":"custom","id":"{id}","parentId":"gone","customType":"t"}}"#)
    };
    let rows: Vec<String> = (0..100_000).map(row).collect();
    let lines: Vec<&str> = std::iter::once(HEADER)
        .chain(rows.iter().map(String::as_str))
        .collect();
    let (exported, report) = through(&file(&lines));
    assert_eq!(
        (report.entries, report.path_fault_count),
        (100_000, 100_000)
    );
    assert_eq!(exported, lines);
}

/// Rows of every kind: known, unknown, branches, without ids, with odd numbers and escapes.
fn any_row() -> impl Strategy<Value = String> {
    let parent = prop_oneof![
        Just(String::new()),
        Just(r#","parentId":null"#.to_owned()),
        "[a-h]".prop_map(|id| format!(r#","parentId":"{id}""#)),
    ];
    let body = prop_oneof![
        Just(r#""type":"message","message":{"role":"user","content":"x\ud83d","n":0.10e-1}"#),
        Just(
            r#""type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{"a":-0}}]}"#
        ),
        Just(
            r#""type":"message","message":{"role":"toolResult","toolCallId":"c","toolName":"n","content":"r","isError":false}"#
        ),
        Just(r#""type":"future" , "x":[1e999,{"k":1,"k":2}]"#),
        Just(r#""type":"leaf","targetId":"a""#),
        Just(r#""type":"compaction","summary":"S","firstKeptEntryId":"b""#),
        Just(r#""type":"label","targetId":"a","label":"L","unknown":"\u0000""#),
        Just(r#""type":"message","message":7"#),
        Just(r#""n":12345678901234567890.1234567890"#),
    ];
    let id = prop_oneof![3 => "[a-h]".prop_map(Some), 1 => Just(None)];
    (id, parent, body, "[ \t]{0,2}").prop_map(|(id, parent, body, space)| {
        let id = id.map(|id| format!(r#","id":"{id}""#)).unwrap_or_default();
        format!("{{{space}{body}{id}{parent}}}{space}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn export_of_an_import_is_the_same_byte_for_byte(rows in prop::collection::vec(any_row(), 1..20), split: prop::sample::Index) {
        let lines: Vec<&str> = std::iter::once(HEADER).chain(rows.iter().map(String::as_str)).collect();
        let bytes = file(&lines);
        let (exported, report) = through(&bytes);
        prop_assert_eq!(&exported, &lines);
        prop_assert_eq!(report.entries, rows.len());
        // In two parts it is the same.
        let mut home = home();
        let part = 2 + split.index(rows.len());
        home.imports(&file(&lines[..part.min(lines.len())]), "s", None);
        let whole = home.imports(&bytes, "s", None);
        prop_assert_eq!(home.exported("s"), lines);
        prop_assert_eq!(whole.messages, report.messages);
        prop_assert_eq!(whole.mends, report.mends);
    }
}
