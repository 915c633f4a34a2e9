//! What of a message counts, and how much it roughly costs.

#[cfg(test)]
mod tests;
mod usage;
mod weight;

use std::borrow::Cow;

use openclaw_interface::Role;

use crate::json::Object;
use crate::message::{Content, is_call};
use crate::scan;
pub use usage::{ContextTokens, context_tokens};
use weight::Weight;
pub(crate) use weight::of_char as char_units;

/// What an image costs, in tokens, whatever its size and wherever its data is; other media cost the same.
///
/// Flat, because the real cost depends on the model and never on the length of the base64 text. Case T-2.
pub const IMAGE_TOKENS: u64 = 2000;

/// Counts the tokens of a message.
///
/// - `text_tokens`: tokens of a text; called for every text, thinking text, tool name and arguments as JSON.
///   Base64 never reaches it.
///
/// Media cost [`IMAGE_TOKENS`] each. A message with `excludeFromContext` costs 0. A text that is no readable message
/// is counted as text. Sums saturate.
pub fn count(message_json: &str, text_tokens: &mut dyn FnMut(&str) -> u64) -> u64 {
    let Some(message_json) = scan::readable(message_json) else {
        return text_tokens(message_json);
    };
    let mut total = 0u64;
    for part in parts(&message_json) {
        let tokens = match part {
            Part::Text(text) => text_tokens(&text),
            Part::Media => IMAGE_TOKENS,
        };
        total = total.saturating_add(tokens);
    }
    total
}

/// Estimates the tokens of a message without a tokenizer, four characters to a token.
///
/// East Asian characters count a token and more each (case T-1). The estimate is the original's, which adds the
/// notes that stand in for media where a model cannot see them, and the sender of a user message.
///
/// Source: compaction, "Token estimates".
#[must_use]
pub fn estimate(message_json: &str) -> u64 {
    scan::readable(message_json).map_or_else(
        || estimate_text(message_json),
        |json| weight::message(&json).tokens(),
    )
}

/// Estimates the tokens of a text; see [`estimate`].
#[must_use]
pub fn estimate_text(text: &str) -> u64 {
    Weight::of_text(text).tokens()
}

/// Weighted UTF-16 units of a text, four to a token: what the original measures characters in.
pub(crate) fn text_units(text: &str) -> u64 {
    text.chars().map(char_units).sum()
}

/// Something in a message that costs tokens.
enum Part<'a> {
    Text(Cow<'a, str>),
    Media,
}

fn parts(message_json: &str) -> Vec<Part<'_>> {
    let unreadable = || vec![Part::Text(Cow::Borrowed(message_json))];
    let Ok(message) = Object::read(message_json) else {
        return unreadable();
    };
    if message.is_true("excludeFromContext") {
        return Vec::new();
    }
    let fields: &[&str] = match message.string("role").as_deref().map(Role::from_name) {
        Some(Role::BashExecution) => &["command", "output"],
        Some(Role::CompactionSummary | Role::BranchSummary) => &["summary"],
        Some(Role::User | Role::Assistant | Role::ToolResult | Role::Custom | Role::Other)
        | None => {
            return match Content::read(message.get("content")) {
                Ok(content) => content_parts(content),
                Err(_) => unreadable(),
            };
        }
    };
    fields
        .iter()
        .filter_map(|field| message.string(field))
        .map(Part::Text)
        .collect()
}

fn content_parts(content: Content<'_>) -> Vec<Part<'_>> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Text(text) => vec![Part::Text(text)],
        Content::Blocks(blocks) => blocks.iter().flat_map(block_parts).collect(),
    }
}

fn block_parts<'a>(block: &Object<'a>) -> Vec<Part<'a>> {
    let kind = block.string("type").unwrap_or_default();
    let fields: &[&str] = match kind.as_ref() {
        "text" => &["text"],
        "thinking" => &["thinking"],
        // Opaque to everybody but its maker, who does not count it as input again.
        "redacted_thinking" => &[],
        _ if is_call(block) => {
            let arguments = block
                .get("arguments")
                .or_else(|| block.get("input"))
                .map(Cow::Borrowed);
            return block
                .string("name")
                .into_iter()
                .chain(arguments)
                .map(Part::Text)
                .collect();
        }
        _ if is_media(&kind, block) => return vec![Part::Media],
        _ => return vec![Part::Text(Cow::Owned(block.write()))],
    };
    fields
        .iter()
        .filter_map(|field| block.string(field))
        .map(Part::Text)
        .collect()
}

/// Whether a block carries or names data no tokenizer should see.
fn is_media(kind: &str, block: &Object<'_>) -> bool {
    let named = ["image", "audio", "video", "document", "attachment", "file"]
        .iter()
        .any(|word| kind.contains(word));
    named
        || ["data", "source", "mimeType"]
            .iter()
            .any(|field| block.get(field).is_some())
}
