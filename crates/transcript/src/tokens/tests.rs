//! What counts, and how the estimate weighs scripts and media.

use super::*;

/// The texts a message hands to the tokenizer, and its media as tokens.
fn counted(json: &str) -> (Vec<String>, u64) {
    let mut texts = Vec::new();
    let tokens = count(json, &mut |text| {
        texts.push(text.to_owned());
        0
    });
    (texts, tokens)
}

#[track_caller]
fn check(json: &str, texts: &[&str], media: u64) {
    let (found, tokens) = counted(json);
    assert_eq!(found, texts);
    assert_eq!(tokens, media * IMAGE_TOKENS);
}

#[test]
fn texts_thoughts_and_calls_are_counted() {
    check(r#"{"role":"user","content":"hi"}"#, &["hi"], 0);
    check(
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"long"},
            {"type":"text","text":"a\nb"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"x"}}],"usage":{"input":9}}"#,
        &["hm", "a\nb", "read", r#"{"path":"x"}"#],
        0,
    );
    let result = r#"{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"r"}],"details":{"big":"x"}}"#;
    check(result, &["r"], 0);
    check(
        r#"{"role":"bashExecution","command":"ls","output":"a"}"#,
        &["ls", "a"],
        0,
    );
    check(r#"{"role":"branchSummary","summary":"s"}"#, &["s"], 0);
    check(
        r#"{"role":"user","content":"x","excludeFromContext":true}"#,
        &[],
        0,
    );
}

/// Case Q-8.
#[test]
fn every_shape_is_counted() {
    check(r#"{"role":"user"}"#, &[], 0);
    check(r#"{"role":"user","content":null}"#, &[], 0);
    check(
        r#"{"role":"toolResult","content":{"type":"text","text":"r"}}"#,
        &["r"],
        0,
    );
    check(r#"{"role":"system","content":"s"}"#, &["s"], 0);
    check("not json", &["not json"], 0);
    check(
        r#"{"role":"user","content":7}"#,
        &[r#"{"role":"user","content":7}"#],
        0,
    );
    check(
        r#"{"role":"user","content":[{"type":"new","x":1}]}"#,
        &[r#"{"type":"new","x":1}"#],
        0,
    );
    check(r#"{"role":"user","content":"a\ud83d"}"#, &["a\u{FFFD}"], 0);
}

/// Case T-2.
#[test]
fn an_image_costs_the_same_in_every_form() {
    let large = "A".repeat(1 << 20);
    for block in [
        format!(r#"{{"type":"image","data":"{large}","mimeType":"image/png"}}"#),
        r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#.to_owned(),
        r#"{"type":"image","source":{"path":"a.png"}}"#.to_owned(),
        r#"{"type":"image_url","image_url":{"url":"a"}}"#.to_owned(),
        r#"{"type":"audio","data":"A"}"#.to_owned(),
    ] {
        check(&format!(r#"{{"role":"user","content":[{block}]}}"#), &[], 1);
    }
    let estimates = [&large, "A", ""].map(|data| {
        estimate(&format!(
            r#"{{"role":"user","content":[{{"type":"image","data":"{data}"}}]}}"#
        ))
    });
    assert_eq!(estimates, [2014; 3]);
}

/// Case T-1.
#[test]
fn east_asian_text_is_not_counted_too_low() {
    assert_eq!(estimate_text(&"漢".repeat(160)), 160);
    assert!(estimate_text(&"漢かカ한".repeat(40)) >= 100);
    assert_eq!(estimate_text(&"ｶ".repeat(10)), 20);
    assert_eq!(estimate_text(&"𠀀".repeat(10)), 40);
}

#[test]
fn other_scripts_cost_a_token_for_four_utf16_units() {
    for (text, tokens) in [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("déjà vu", 2),
        ("😀😀", 1),
        ("да", 1),
    ] {
        assert_eq!(estimate_text(text), tokens, "{text}");
    }
}

/// Cases T-6, T-8.
#[test]
fn long_runs_and_control_tokens_are_ordinary_text() {
    assert_eq!(estimate_text(&"_".repeat(480_000)), 120_000);
    check(
        r#"{"role":"user","content":"see <|endoftext|>"}"#,
        &["see <|endoftext|>"],
        0,
    );
}

#[test]
fn one_message_is_rounded_once() {
    let blocks = r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"c"}]}"#;
    assert_eq!(estimate(blocks), 1);
    assert_eq!(
        estimate(r#"{"role":"user","content":"abcd","excludeFromContext":true}"#),
        0
    );
}

#[test]
fn a_sender_costs_what_a_summary_says_of_it() {
    let with = r#"{"role":"user","content":"","__openclaw":{"senderId":"7","senderName":"Bo"}}"#;
    assert_eq!(
        estimate(with),
        estimate_text(r#" sender={"id":"7","name":"Bo"}"#)
    );
    assert_eq!(
        estimate(r#"{"role":"user","content":"","__openclaw":{"senderIsOwner":true}}"#),
        0
    );
}

#[test]
fn sums_saturate() {
    let two =
        r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
    assert_eq!(count(two, &mut |_| u64::MAX), u64::MAX);
}
