//! What a decision makes of a result.

use std::borrow::Cow;

use super::text::{first_utf16, last_utf16, utf16};
use super::units;
use crate::blocks::{self, Fate};
use crate::json::Object;
use crate::message::{Message, is_type};

const IMAGE: &str = "[image removed during context pruning]";
/// The longest text that stays whole, and what is kept of a longer one at each end, in UTF-16 units.
const MAX_TEXT: usize = 4000;
const KEPT: usize = 1500;

/// What was decided on a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Its head and tail are sent.
    Soft,
    /// This text is sent in its place.
    Hard(String),
    /// Its texts are these.
    Cut(Vec<String>),
    /// It is sent as it is.
    Whole,
}

/// The JSON of the result after the decision; `None` when it stays as it is.
pub(super) fn applied(message: &Message, mode: &Mode) -> Option<String> {
    let object = message.object();
    match mode {
        Mode::Soft => soft(&object).map(|text| blocks::with_text(&object, &text)),
        Mode::Hard(placeholder) => Some(blocks::with_text(&object, placeholder)),
        Mode::Cut(texts) => with_texts(&object, texts),
        Mode::Whole => None,
    }
}

/// Units of the result after the decision.
pub(super) fn units_after(message: &Message, mode: Option<&Mode>) -> u64 {
    let json = mode.and_then(|mode| applied(message, mode));
    let object = match &json {
        Some(json) => Object::read(json).expect("an edited message is a JSON object"),
        None => message.object(),
    };
    units::of_message(message.role(), &object, true)
}

/// Head and tail of a long result, and a note in place of its images; `None` for one that stays whole.
fn soft(message: &Object<'_>) -> Option<String> {
    let mut images = false;
    let mut parts = Vec::new();
    for raw in blocks::as_blocks(message) {
        let Ok(block) = Object::read(&raw) else {
            continue;
        };
        if is_type(&block, "image") {
            images = true;
            parts.push(IMAGE.to_owned());
        } else if is_type(&block, "text") {
            parts.push(
                block
                    .string("text")
                    .map_or_else(|| raw.to_string(), Cow::into_owned),
            );
        }
    }
    let text = parts.join("\n");
    let length = utf16(&text);
    if length <= MAX_TEXT {
        return images.then_some(text);
    }
    let (head, tail) = (first_utf16(&text, KEPT), last_utf16(&text, KEPT));
    Some(format!(
        "{head}\n...\n{tail}\n\n[Tool result trimmed: kept first {KEPT} chars and last {KEPT} chars of {length} chars.]"
    ))
}

/// The result with these texts in its text blocks; `None` when their number differs.
fn with_texts(message: &Object<'_>, texts: &[String]) -> Option<String> {
    if blocks::texts(message).len() != texts.len() {
        return None;
    }
    if message.string("content").is_some() {
        return Some(message.with("content", &crate::json::quote(&texts[0])));
    }
    let mut texts = texts.iter();
    let edited = blocks::edited(message, |block| {
        let is_text = is_type(block, "text") && block.string("text").is_some();
        match is_text.then(|| texts.next()).flatten() {
            Some(text) => Fate::Become(blocks::with_block_text(block, text)),
            None => Fate::Keep,
        }
    })?;
    Some(blocks::with_blocks(message, &edited))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::message;

    fn result(content: &str) -> Message {
        message(&format!(
            r#"{{"role":"toolResult","toolCallId":"a","toolName":"n","content":{content},"isError":true,"x":1.50}}"#
        ))
    }

    fn text_after(content: &str, mode: &Mode) -> Option<String> {
        let json = applied(&result(content), mode)?;
        assert!(
            json.starts_with(r#"{"role":"toolResult","toolCallId":"a","toolName":"n","content":"#)
        );
        assert!(json.ends_with(r#","isError":true,"x":1.50}"#), "{json}");
        let after = message(&json);
        Some(blocks::texts(&after.object()).join("|"))
    }

    #[test]
    fn a_long_result_keeps_its_ends() {
        let block = |length: usize| format!("[{}]", blocks::text_block(&"x".repeat(length)));
        assert_eq!(text_after(&block(4000), &Mode::Soft), None);
        let ends = "x".repeat(1500);
        let expected = format!(
            "{ends}\n...\n{ends}\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 4001 chars.]"
        );
        assert_eq!(
            text_after(&block(4001), &Mode::Soft),
            Some(expected.clone())
        );
        let plain = format!("\"{}\"", "x".repeat(4001));
        assert_eq!(text_after(&plain, &Mode::Soft), Some(expected));
    }

    #[test]
    fn an_image_in_an_old_result_becomes_a_note() {
        let content = r#"[{"type":"text","text":"a"},{"type":"image","data":"A"},{"type":"new"},{"type":"text","text":7}]"#;
        let expected = format!("a\n{IMAGE}\n{{\"type\":\"text\",\"text\":7}}");
        assert_eq!(text_after(content, &Mode::Soft), Some(expected));
    }

    #[test]
    fn a_cut_never_splits_a_surrogate_pair() {
        let content = format!(
            "[{}]",
            blocks::text_block(&format!("x{}", "😀".repeat(3000)))
        );
        let text = text_after(&content, &Mode::Soft).unwrap();
        assert_eq!(utf16(text.split('\n').next().unwrap()), 1499);
    }

    #[test]
    fn a_cleared_result_keeps_all_but_its_content() {
        let content = r#"[{"type":"text","text":"a"},{"type":"image","data":"A"}]"#;
        assert_eq!(
            text_after(content, &Mode::Hard("[gone]".into())),
            Some("[gone]".into())
        );
        assert_eq!(text_after(content, &Mode::Whole), None);
    }

    #[test]
    fn frozen_texts_go_back_into_their_blocks() {
        let content = r#"[{"type":"text","text":"a","n":1},{"type":"image","data":"A"},{"type":"text","text":"b"}]"#;
        let cut = Mode::Cut(vec!["1".into(), "2".into()]);
        assert_eq!(text_after(content, &cut), Some("1|2".into()));
        assert_eq!(text_after(content, &Mode::Cut(vec!["1".into()])), None);
        assert_eq!(
            text_after("\"a\"", &Mode::Cut(vec!["1".into()])),
            Some("1".into())
        );
    }
}
