//! Paths with boundaries, summaries and state.

use proptest::prelude::*;

use crate::{ContextMessage, Row, appended, context, context_start, parse, visible};

/// Rows in path order from members; ids and parents are filled in.
fn rows(members: &[&str]) -> Vec<Row> {
    let line = |(index, members)| format!("{{\"id\":\"r{index}\",\"parentId\":null,{members}}}\n");
    let text: String = members.iter().enumerate().map(line).collect();
    parse(text.as_bytes()).rows
}

fn user(text: &str) -> String {
    format!(r#""type":"message","message":{{"role":"user","content":"{text}"}}"#)
}

fn assistant(text: &str) -> String {
    format!(
        r#""type":"message","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"providerReplay":1}}"#
    )
}

#[track_caller]
fn check(members: &[&str], expected: &[&str]) {
    let rows = rows(members);
    let context = context(&rows.iter().collect::<Vec<_>>());
    let messages: Vec<_> = context
        .messages
        .iter()
        .map(|message| &*message.json)
        .collect();
    assert_eq!(messages, expected);
}

const COMPACTION: &str =
    r#""type":"compaction","summary":"S","tokensBefore":9,"timestamp":"1970-01-01T00:00:01.000Z""#;
const SUMMARY: &str =
    r#"{"role":"compactionSummary","summary":"S","tokensBefore":9,"timestamp":1000}"#;

#[test]
fn messages_are_taken_over_byte_for_byte() {
    check(
        &[r#""type":"message","message":{ "role" : "user", "content":"a", "n":0.10 }"#],
        &[r#"{ "role" : "user", "content":"a", "n":0.10 }"#],
    );
}

#[test]
fn a_compaction_puts_its_summary_before_what_it_keeps() {
    let kept = format!(r#"{COMPACTION},"firstKeptEntryId":"r1""#);
    let expected = [
        SUMMARY,
        r#"{"role":"assistant","content":[{"type":"text","text":"2"}]}"#,
        r#"{"role":"user","content":"3"}"#,
    ];
    check(&[&user("1"), &assistant("2"), &kept, &user("3")], &expected);
}

#[test]
fn a_compaction_that_keeps_an_unknown_row_keeps_none() {
    let unknown = format!(r#"{COMPACTION},"firstKeptEntryId":"gone""#);
    let later = format!(r#"{COMPACTION},"firstKeptEntryId":"r2""#);
    for compaction in [COMPACTION, &unknown, &later] {
        check(
            &[&user("1"), compaction, &user("3")],
            &[SUMMARY, r#"{"role":"user","content":"3"}"#],
        );
    }
}

#[test]
fn only_the_last_boundary_counts() {
    let kept = format!(
        r#"{},"firstKeptEntryId":"r0""#,
        COMPACTION.replace("\"S\"", "\"T\"")
    );
    let expected = [
        &SUMMARY.replace("\"S\"", "\"T\""),
        r#"{"role":"user","content":"1"}"#,
    ];
    check(&[&user("1"), COMPACTION, &kept], &expected);
    check(
        &[&user("1"), COMPACTION, r#""type":"reset","reason":"new""#],
        &[],
    );
}

#[test]
fn a_reset_carries_over_what_was_said_from_the_first_user_message_on() {
    let call = r#""type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{}}]}"#;
    let result =
        r#""type":"message","message":{"role":"toolResult","toolCallId":"c","content":[]}"#;
    let reset = r#""type":"reset","reason":"idle","firstKeptEntryId":"r0""#;
    let members = [
        &assistant("0"),
        &user("1"),
        call,
        result,
        &assistant("2"),
        &user(" "),
        reset,
        &user("3"),
    ];
    let rows = rows(&members);
    let context = context(&rows.iter().collect::<Vec<_>>());
    let found: Vec<_> = context
        .messages
        .iter()
        .map(|message| (message.row, message.prelude))
        .collect();
    assert_eq!(found, [(1, true), (4, true), (7, false)]);
}

#[test]
fn other_rows_become_messages_of_their_own_roles() {
    check(
        &[
            r#""type":"custom_message","customType":"note","content":"N","display":true,"details":{"q":1}"#,
            r#""type":"branch_summary","fromId":"q","summary":"B""#,
            r#""type":"branch_summary","fromId":"q","summary":"""#,
            r#""type":"custom","customType":"x","data":1"#,
            r#""type":"label","targetId":"a","label":"x""#,
            r#""type":"session_info","name":"t""#,
        ],
        &[
            r#"{"role":"custom","customType":"note","content":"N","display":true,"details":{"q":1}}"#,
            r#"{"role":"branchSummary","summary":"B","fromId":"q"}"#,
        ],
    );
}

#[test]
fn excluded_messages_are_visible_but_not_in_context() {
    let excluded = r#""type":"message","message":{"role":"user","content":"/status","excludeFromContext":true}"#;
    let rows = rows(&[&user("1"), excluded, COMPACTION, &user("2")]);
    let path: Vec<_> = rows.iter().collect();
    assert_eq!(
        context(&path)
            .messages
            .iter()
            .map(|message| message.row)
            .collect::<Vec<_>>(),
        [2, 3]
    );
    assert_eq!(
        visible(&path)
            .iter()
            .map(|message| message.row)
            .collect::<Vec<_>>(),
        [0, 1, 3]
    );
}

#[test]
fn state_is_what_was_chosen_last() {
    let answer = r#""type":"message","message":{"role":"assistant","content":[],"provider":"q","model":"n"}"#;
    let model = r#""type":"model_change","provider":"p","modelId":"m""#;
    let level = r#""type":"thinking_level_change","thinkingLevel":"high""#;
    let name = |provider: &str, model: &str| Some((provider.to_owned(), model.to_owned()));
    for (members, expected, thinking) in [
        (&[model, level, COMPACTION][..], name("p", "m"), "high"),
        (&[model, answer], name("q", "n"), "off"),
        (&[answer, model], name("p", "m"), "off"),
        (&[&user("1")], None, "off"),
    ] {
        let rows = rows(members);
        let context = context(&rows.iter().collect::<Vec<_>>());
        let found = context
            .model
            .map(|model| (model.provider.unwrap(), model.model.unwrap()));
        assert_eq!(
            (found, context.thinking_level.as_str()),
            (expected, thinking)
        );
    }
}

fn any_members() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]{0,2}".prop_map(|text| user(&text)),
        4 => "[a-c]{0,2}".prop_map(|text| assistant(&text)),
        1 => (0..12_usize).prop_map(|row| format!(r#"{COMPACTION},"firstKeptEntryId":"r{row}""#)),
        1 => Just(COMPACTION.to_owned()),
        1 => (0..12_usize).prop_map(|row| format!(r#""type":"reset","reason":"new","firstKeptEntryId":"r{row}""#)),
        1 => Just(r#""type":"branch_summary","fromId":"x","summary":"B""#.to_owned()),
        1 => Just(r#""type":"custom_message","customType":"t","content":"N","display":false"#.to_owned()),
        1 => Just(r#""type":"label","targetId":"r0","label":"l""#.to_owned()),
        1 => Just(r#""type":"message","message":{"role":"user","content":"x","excludeFromContext":true}"#.to_owned()),
    ]
}

proptest! {
    #[test]
    fn a_context_needs_no_row_before_its_start_and_grows_by_what_is_appended(
        members in prop::collection::vec(any_members(), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        let rows = rows(&members);
        let path: Vec<&Row> = rows.iter().collect();
        let whole = context(&path).messages;
        let shifted = |messages: Vec<ContextMessage>, by: usize| {
            let move_one = |message: ContextMessage| ContextMessage { row: message.row + by, ..message };
            messages.into_iter().map(move_one).collect::<Vec<_>>()
        };
        let start = context_start(&path);
        prop_assert_eq!(&shifted(context(&path[start..]).messages, start), &whole);
        let cut = cut.index(path.len() + 1);
        if let Some(more) = appended(&path[cut..]) {
            let grown = [context(&path[..cut]).messages, shifted(more, cut)].concat();
            prop_assert_eq!(grown, whole);
        }
    }
}
