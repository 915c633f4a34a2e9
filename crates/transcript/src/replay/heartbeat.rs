//! Heartbeats that had nothing to tell leave no trace in what a model sees.

use openclaw_interface::Role;

use super::draft::Draft;
use crate::blocks::{self, is_reasoning};
use crate::message::{Content, Message, is_type};

const POLL: &str = "[OpenClaw heartbeat poll]";
const TASKS: &str = "Run the following periodic tasks (only those due based on their intervals):";
const TASKS_END: &str = "After completing all due tasks, reply HEARTBEAT_OK.";
const TOKEN: &str = "HEARTBEAT_OK";
/// What may stand beside the token before it is an answer, in UTF-16 units.
const MAX_ACK_UNITS: usize = 300;
/// Marks a model puts around the token.
const MARKS: [char; 4] = ['*', '`', '~', '_'];

/// Drops each heartbeat with the answer right behind it that only acknowledges it.
///
/// - `prompt`: how the configured heartbeat prompt begins; `None` when none is configured.
pub(super) fn drop_acknowledged(draft: &mut Draft, prompt: Option<&str>) {
    let prompt = prompt.map(str::trim).filter(|prompt| !prompt.is_empty());
    let messages = draft.messages();
    let mut gone = vec![false; messages.len()];
    for index in 1..messages.len() {
        if !gone[index - 1]
            && is_heartbeat(&messages[index - 1], prompt)
            && is_acknowledgement(&messages[index])
        {
            gone[index - 1] = true;
            gone[index] = true;
        }
    }
    if gone.contains(&true) {
        draft.retain(|index, _| !gone[index]);
    }
}

fn is_heartbeat(message: &Message, prompt: Option<&str>) -> bool {
    if message.role() != Role::User {
        return false;
    }
    let text = blocks::texts(&message.object()).concat();
    let text = text.trim();
    text == POLL
        || prompt.is_some_and(|prompt| text.starts_with(prompt))
        || (text.starts_with(TASKS) && text.contains(TASKS_END))
}

fn is_acknowledgement(message: &Message) -> bool {
    if message.role() != Role::Assistant {
        return false;
    }
    let object = message.object();
    let Ok(content) = Content::read(object.get("content")) else {
        return false;
    };
    let only_text = content
        .blocks()
        .iter()
        .all(|block| is_type(block, "text") || is_reasoning(block));
    only_text && acknowledges(&blocks::texts(&object).concat())
}

/// Whether a text is blank, or the token with at most a short remark beside it.
fn acknowledges(text: &str) -> bool {
    let mut rest = text.trim().trim_matches(MARKS).trim();
    let mut found = rest.is_empty();
    loop {
        let before = rest;
        if let Some(after) = rest.strip_prefix(TOKEN) {
            rest = after.trim();
        } else if let Some((said, after)) = rest.rsplit_once(TOKEN)
            && after.chars().count() <= 4
            && !after.chars().any(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            rest = said.trim();
        }
        if rest == before {
            break;
        }
        found = true;
    }
    found && rest.encode_utf16().count() <= MAX_ACK_UNITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::replay::tests::run;

    fn left(heartbeat: &str, answer: &str) -> usize {
        let user = format!(r#"{{"role":"user","content":{}}}"#, json::quote(heartbeat));
        run(
            |draft| drop_acknowledged(draft, Some(" Read HEARTBEAT.md ")),
            &[&user, answer, &user],
        )
        .len()
    }

    fn said(text: &str) -> String {
        let block = blocks::text_block(text);
        format!(r#"{{"role":"assistant","content":[{block}]}}"#)
    }

    #[test]
    fn a_heartbeat_goes_with_its_acknowledgement() {
        let tasks = format!("{TASKS}\n- mail\n{TASKS_END}");
        for heartbeat in [
            POLL,
            " [OpenClaw heartbeat poll]\n",
            "Read HEARTBEAT.md and so on",
            &tasks,
        ] {
            assert_eq!(left(heartbeat, &said(TOKEN)), 1, "{heartbeat}");
        }
        for answer in [
            "**HEARTBEAT_OK**",
            "HEARTBEAT_OK all good",
            "All good. HEARTBEAT_OK!!",
            " ",
            "HEARTBEAT_OK HEARTBEAT_OK",
        ] {
            assert_eq!(left(POLL, &said(answer)), 1, "{answer}");
        }
    }

    #[test]
    fn what_says_more_stays() {
        let long = format!("{TOKEN} {}", "word ".repeat(80));
        for answer in [
            "Your meeting starts.",
            &long,
            "I answer HEARTBEAT_OK when nothing is due",
        ] {
            assert_eq!(left(POLL, &said(answer)), 3, "{answer}");
        }
        let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"n","arguments":{}}]}"#;
        assert_eq!(left(POLL, call), 3);
        for user in ["hi", "what is [OpenClaw heartbeat poll]?", TASKS] {
            assert_eq!(left(user, &said(TOKEN)), 3, "{user}");
        }
    }

    #[test]
    fn without_a_configured_prompt_the_known_ones_count() {
        let given = [
            r#"{"role":"user","content":"Read HEARTBEAT.md"}"#,
            &said(TOKEN),
        ];
        assert_eq!(run(|draft| drop_acknowledged(draft, None), &given), given);
        assert_eq!(
            run(|draft| drop_acknowledged(draft, Some(" ")), &given),
            given
        );
    }
}
