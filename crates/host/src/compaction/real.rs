//! Which messages are conversation, and which only keep the program going.

use openclaw_transcript::{Message, Role, Said, is_displayed, is_runtime_carrier, said};

/// How far before a tool result a person's message may stand for the result to count.
const ANCHOR_DISTANCE: usize = 20;
const SILENT_WORDS: [&str; 2] = ["NO_REPLY", "HEARTBEAT_OK"];

/// Whether the message at `index` is conversation: something a person or a model said, or a tool result that belongs to
/// it. Blank texts, silent words, calls and reasoning alone, and hidden notes are not.
///
/// Source: compaction, "Safeguard mode".
#[must_use]
pub fn is_conversation(messages: &[&Message], index: usize) -> bool {
    let Some(message) = messages.get(index) else {
        return false;
    };
    if message.role() != Role::ToolResult {
        return is_said(message);
    }
    let before = &messages[index.saturating_sub(ANCHOR_DISTANCE)..index];
    before.iter().any(|message| {
        message.role() != Role::Assistant && message.role() != Role::ToolResult && is_said(message)
    })
}

/// Whether any message is conversation. Linear: a result only counts through a message that counts itself.
fn holds_conversation(messages: &[&Message]) -> bool {
    messages
        .iter()
        .any(|message| message.role() != Role::ToolResult && is_said(message))
}

/// Whether messages hold conversation, or work of tools that was started by some.
pub(super) fn is_worth_telling(messages: &[&Message]) -> bool {
    holds_conversation(messages) || messages.iter().any(|it| it.role() == Role::ToolResult)
}

fn is_said(message: &Message) -> bool {
    if is_runtime_carrier(message) || !is_displayed(message) || message.excluded() {
        return false;
    }
    said(message).iter().any(|part| match part {
        Said::Text(text) => {
            let text = text.trim();
            !text.is_empty() && !SILENT_WORDS.contains(&text)
        }
        Said::Image | Said::Other => true,
        Said::Thinking(_) | Said::Call { .. } => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &[&str], index: usize, expected: bool) {
        let messages: Vec<Message> = json
            .iter()
            .map(|json| Message::from_json(json).unwrap())
            .collect();
        let messages: Vec<&Message> = messages.iter().collect();
        assert_eq!(
            is_conversation(&messages, index),
            expected,
            "{json:?} at {index}"
        );
    }

    #[test]
    fn only_what_was_said_counts() {
        check(&[r#"{"role":"user","content":"go on"}"#], 0, true);
        check(
            &[r#"{"role":"user","content":" HEARTBEAT_OK\n"}"#],
            0,
            false,
        );
        check(&[r#"{"role":"user","content":""}"#], 0, false);
        check(&[r#"{"role":"custom","content":"note"}"#], 0, false);
        check(
            &[r#"{"role":"custom","content":"note","display":true}"#],
            0,
            true,
        );
        check(
            &[r#"{"role":"user","content":"x","excludeFromContext":true}"#],
            0,
            false,
        );
        check(&[], 0, false);
    }

    #[test]
    fn a_result_counts_near_a_persons_message() {
        let user = r#"{"role":"user","content":"go on"}"#;
        let silent = r#"{"role":"user","content":"NO_REPLY"}"#;
        let result = r#"{"role":"toolResult","toolCallId":"c","content":"r"}"#;
        check(&[user, result], 1, true);
        check(&[silent, result], 1, false);
        let mut far = vec![user];
        far.extend([result; ANCHOR_DISTANCE + 1]);
        check(&far, ANCHOR_DISTANCE, true);
        check(&far, ANCHOR_DISTANCE + 1, false);
    }
}
