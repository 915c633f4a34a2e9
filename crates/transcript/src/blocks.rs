//! Editing the content blocks of a message; everything else in it stays as written.

use std::borrow::Cow;

use crate::json::{self, Object};
use crate::message::{Content, Message, is_type};

/// What becomes of a block.
pub(crate) enum Fate {
    Keep,
    Drop,
    Become(String),
}

/// The raw text of each content block; one block instead of a list counts as a list of it. Empty for a plain text.
pub(crate) fn raw_blocks<'a>(message: &Object<'a>) -> Vec<&'a str> {
    match message.get("content") {
        Some(raw) if raw.starts_with('{') => vec![raw],
        Some(raw) => json::array(raw).unwrap_or_default(),
        None => Vec::new(),
    }
}

/// The blocks after an edit; `None` when all are kept.
pub(crate) fn edited<'a>(
    message: &Object<'a>,
    mut fate: impl FnMut(&Object<'a>) -> Fate,
) -> Option<Vec<Cow<'a, str>>> {
    let raw = raw_blocks(message);
    let mut changed = false;
    let mut blocks = Vec::with_capacity(raw.len());
    for raw in raw {
        let fate = Object::read(raw).map_or(Fate::Keep, |block| fate(&block));
        match fate {
            Fate::Keep => blocks.push(Cow::Borrowed(raw)),
            Fate::Drop => changed = true,
            Fate::Become(json) => {
                changed = true;
                blocks.push(Cow::Owned(json));
            }
        }
    }
    changed.then_some(blocks)
}

/// The message with these blocks as its content.
pub(crate) fn with_blocks(message: &Object<'_>, blocks: &[impl AsRef<str>]) -> String {
    let mut content = String::from("[");
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            content.push(',');
        }
        content.push_str(block.as_ref());
    }
    content.push(']');
    message.with("content", &content)
}

/// The message with one text block as its content.
pub(crate) fn with_text(message: &Object<'_>, text: &str) -> String {
    with_blocks(message, &[text_block(text)])
}

/// A text block.
pub(crate) fn text_block(text: &str) -> String {
    json::object([("type", "\"text\""), ("text", &json::quote(text))])
}

/// A block with another text.
pub(crate) fn with_block_text(block: &Object<'_>, text: &str) -> String {
    let text = json::quote(text);
    block.with("text", &text)
}

/// The content of a message as blocks: a plain text becomes one.
pub(crate) fn as_blocks<'a>(message: &Object<'a>) -> Vec<Cow<'a, str>> {
    match Content::read(message.get("content")) {
        Ok(Content::Text(text)) => vec![Cow::Owned(text_block(&text))],
        _ => raw_blocks(message).into_iter().map(Cow::Borrowed).collect(),
    }
}

/// The texts of a message: a plain text, or that of each text block.
pub(crate) fn texts<'a>(message: &Object<'a>) -> Vec<Cow<'a, str>> {
    match Content::read(message.get("content")) {
        Ok(Content::Text(text)) => vec![text],
        Ok(Content::Blocks(blocks)) => blocks
            .iter()
            .filter(|block| is_type(block, "text"))
            .filter_map(|block| block.string("text"))
            .collect(),
        Ok(Content::Nothing) | Err(_) => Vec::new(),
    }
}

/// Whether a block is reasoning.
pub(crate) fn is_reasoning(block: &Object<'_>) -> bool {
    is_type(block, "thinking") || is_type(block, "redacted_thinking")
}

/// Whether a block is a text that says nothing: white space only, or no text at all.
pub(crate) fn is_blank_text(block: &Object<'_>) -> bool {
    is_type(block, "text") && block.filled("text").is_none()
}

/// Whether a message may contain this ASCII word: a cheap look before an expensive one.
///
/// Never false when the word is there, since an escape that could hide it counts as one.
pub(crate) fn mentions(message: &Message, word: &str) -> bool {
    message.json().contains(word) || message.json().contains(r"\u00")
}
