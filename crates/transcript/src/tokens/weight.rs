//! The original's estimate: weighted UTF-16 units, four to a token.

use openclaw_interface::Role;

use crate::json::Object;
use crate::message::{Content, is_call, is_type};
use crate::said::sender_of;

const UNITS_PER_TOKEN: u64 = 4;
const IMAGE_UNITS: u64 = 8000;
/// Units of the frame around the notes that stand in for blocks that are not text.
const NOTES_UNITS: u64 = 17;

/// Weighted UTF-16 units; saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight(u64);

impl Weight {
    pub(super) fn of_text(text: &str) -> Self {
        Self(super::text_units(text))
    }

    pub(super) fn tokens(self) -> u64 {
        self.0.div_ceil(UNITS_PER_TOKEN)
    }

    fn add(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }

    fn add_text(&mut self, text: Option<impl AsRef<str>>) {
        if let Some(text) = text {
            self.add(Self::of_text(text.as_ref()));
        }
    }
}

/// Units of a character, from what common tokenizers make of its script.
pub(crate) fn of_char(c: char) -> u64 {
    match c {
        // Most text is ASCII.
        '\0'..='\u{10FF}' => 1,
        // CJK extension A: about three tokens.
        '\u{3400}'..='\u{4DBF}' => 12,
        // Hangul jamo; radicals, kana, common ideographs; Hangul; compatibility and full-width forms: about one token.
        '\u{1100}'..='\u{11FF}'
        | '\u{2E80}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FF60}'
        | '\u{FFE0}'..='\u{FFEE}' => 4,
        // Yi; half-width kana and Hangul: about two tokens.
        '\u{A000}'..='\u{A4CF}' | '\u{FF61}'..='\u{FFDC}' => 8,
        // Supplementary ideographs: three or four tokens; the larger.
        '\u{20000}'..='\u{3FFFF}' => 16,
        _ => c.len_utf16() as u64,
    }
}

pub(super) fn message(message_json: &str) -> Weight {
    let mut weight = Weight::default();
    let Ok(message) = Object::read(message_json) else {
        return Weight::of_text(message_json);
    };
    if message.is_true("excludeFromContext") {
        return weight;
    }
    let role = message
        .string("role")
        .map_or(Role::Other, |role| Role::from_name(&role));
    match role {
        Role::BashExecution => {
            weight.add_text(message.string("command"));
            weight.add_text(message.string("output"));
        }
        Role::CompactionSummary | Role::BranchSummary => weight.add_text(message.string("summary")),
        Role::User | Role::Assistant | Role::ToolResult | Role::Custom | Role::Other => {
            match Content::read(message.get("content")) {
                Ok(Content::Nothing) => {}
                Ok(Content::Text(text)) => weight.add_text(Some(text)),
                Ok(Content::Blocks(blocks)) if role == Role::Assistant => {
                    blocks
                        .iter()
                        .for_each(|block| assistant_block(&mut weight, block));
                }
                Ok(Content::Blocks(blocks)) => heard_blocks(&mut weight, &blocks),
                Err(_) => weight.add_text(message.get("content")),
            }
        }
    }
    if role == Role::User {
        weight.add_text(sender_of(&message).map(|sender| format!(" sender={sender}")));
    }
    weight
}

fn assistant_block(weight: &mut Weight, block: &Object<'_>) {
    if is_type(block, "text") {
        weight.add_text(block.string("text"));
    } else if is_type(block, "thinking") {
        weight.add_text(block.string("thinking"));
    } else if is_call(block) {
        weight.add_text(block.string("name"));
        weight.add_text(block.get("arguments").or_else(|| block.get("input")));
    }
}

/// Blocks a model reads. Each kind that is not text is noted once.
fn heard_blocks(weight: &mut Weight, blocks: &[Object<'_>]) {
    let (mut images, mut others) = (false, false);
    for block in blocks {
        if is_type(block, "text") {
            weight.add_text(block.string("text"));
        } else if is_type(block, "image") {
            weight.add(Weight(IMAGE_UNITS));
            images = true;
        } else {
            others = true;
        }
    }
    weight.add_text(images.then_some("[image data omitted from summary input]"));
    weight.add_text(others.then_some("[other content omitted from summary input]"));
    if images || others {
        weight.add(Weight(NOTES_UNITS));
    }
}
