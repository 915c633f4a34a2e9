//! What a message weighs when results are pruned.

use openclaw_interface::Role;

use crate::blocks::is_reasoning;
use crate::json::Object;
use crate::message::{Content, is_call, is_type};
use crate::tokens::text_units;

pub(super) const IMAGE: u64 = 8000;
/// Any message a person or model did not say.
const OTHER: u64 = 256;
const BROKEN_TEXT: u64 = 2;

/// Weighted units of a message.
///
/// - `reasoning`: whether its reasoning counts.
pub(super) fn of_message(role: Role, message: &Object<'_>, reasoning: bool) -> u64 {
    if !matches!(role, Role::User | Role::Assistant | Role::ToolResult) {
        return OTHER;
    }
    match Content::read(message.get("content")) {
        Ok(Content::Text(text)) => text_units(&text),
        Ok(Content::Blocks(blocks)) => blocks
            .iter()
            .map(|block| of_block(role, block, reasoning))
            .fold(0, u64::saturating_add),
        Ok(Content::Nothing) | Err(_) => 0,
    }
}

fn of_block(role: Role, block: &Object<'_>, reasoning: bool) -> u64 {
    let of_field = |field: &str| block.string(field).map_or(0, |text| text_units(&text));
    if is_type(block, "text") {
        return block
            .string("text")
            .map_or(BROKEN_TEXT, |text| text_units(&text));
    }
    if is_type(block, "image") {
        return IMAGE;
    }
    if role != Role::Assistant {
        return 0;
    }
    if is_reasoning(block) {
        let fields = ["thinking", "thinkingSignature", "data"];
        return if reasoning {
            fields.into_iter().map(of_field).sum()
        } else {
            0
        };
    }
    if !is_call(block) {
        return 0;
    }
    let arguments = block.get("arguments").or_else(|| block.get("input"));
    arguments.map_or(BROKEN_TEXT, |json| json.encode_utf16().count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::message;

    #[test]
    fn each_kind_of_content_has_its_weight() {
        let units = |json: &str, reasoning| {
            let message = message(json);
            of_message(message.role(), &message.object(), reasoning)
        };
        for (json, expected) in [
            (r#"{"role":"user","content":"abc漢"}"#, 7),
            (r#"{"role":"user"}"#, 0),
            (
                r#"{"role":"user","content":[{"type":"text","text":"ab"},{"type":"image"},{"type":"new","x":1}]}"#,
                8002,
            ),
            (r#"{"role":"custom","content":"abc"}"#, 256),
            (r#"{"role":"compactionSummary","summary":"abc"}"#, 256),
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"ab","thinkingSignature":"c"},{"type":"redacted_thinking","data":"d"},
                {"type":"toolCall","id":"a","name":"n","arguments":{"a":1}},{"type":"toolCall","id":"a","name":"n"}]}"#,
                13,
            ),
        ] {
            assert_eq!(units(json, true), expected, "{json}");
        }
        let thinks = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"ab"},{"type":"text","text":"x"}]}"#;
        assert_eq!(units(thinks, false), 1);
    }
}
