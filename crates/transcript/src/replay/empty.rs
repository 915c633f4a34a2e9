//! No message goes out empty.

use openclaw_interface::Role;

use super::draft::Verdict;
use crate::blocks::{self, Fate, is_blank_text};
use crate::message::{Content, Message, StopReason};

const OMITTED: &str = "[empty content omitted]";

/// Takes blank texts out. What is then empty gets a text that says so; an assistant's message is dropped, unless it
/// holds a provider's checkpoint. A failed answer stays for the steps that judge failed answers.
pub(super) fn fill(message: &Message) -> Verdict {
    let role = message.role();
    if !matches!(role, Role::User | Role::Assistant | Role::ToolResult) {
        return Verdict::Keep;
    }
    let object = message.object();
    let content = Content::read(object.get("content")).unwrap_or(Content::Nothing);
    let said = match &content {
        Content::Nothing => 0,
        Content::Text(text) => usize::from(!text.trim().is_empty()),
        Content::Blocks(all) => all.iter().filter(|block| !is_blank_text(block)).count(),
    };
    if said == 0 {
        return match role {
            Role::Assistant if message.stop_reason() == Some(StopReason::Error) => Verdict::Keep,
            Role::Assistant if object.get("providerReplay").is_some() => Verdict::Keep,
            Role::Assistant => Verdict::Drop,
            _ => Verdict::Change(blocks::with_text(&object, OMITTED)),
        };
    }
    let edited = blocks::edited(&object, |block| {
        if is_blank_text(block) {
            Fate::Drop
        } else {
            Fate::Keep
        }
    });
    edited.map_or(Verdict::Keep, |left| {
        Verdict::Change(blocks::with_blocks(&object, &left))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::run_each;

    #[test]
    fn what_is_empty_says_so_and_empty_answers_go() {
        let filled = r#"[{"type":"text","text":"[empty content omitted]"}]"#;
        let given = [
            r#"{"role":"toolResult","toolCallId":"c","content":[],"isError":false}"#,
            r#"{"role":"user","content":"","MediaPath":"a.png"}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":" "}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":" "},{"type":"text","text":"x"}]}"#,
            r#"{"role":"assistant","content":[],"providerReplay":{}}"#,
            r#"{"role":"assistant","content":[],"stopReason":"error"}"#,
            r#"{"role":"custom","content":""}"#,
        ];
        let expected = [
            &format!(
                r#"{{"role":"toolResult","toolCallId":"c","content":{filled},"isError":false}}"#
            ),
            &format!(r#"{{"role":"user","content":{filled},"MediaPath":"a.png"}}"#),
            r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#,
            given[4],
            given[5],
            given[6],
        ];
        assert_eq!(run_each(fill, &given), expected);
        assert_eq!(run_each(fill, &expected), expected);
    }
}
