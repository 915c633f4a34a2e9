//! Messages as text for a summariser.

use openclaw_transcript::{Message, Role, Said, is_runtime_carrier, said, sender};
use serde_json::{Map, Value};

use super::text::{head, tail, units};

const RESULT_UNITS: usize = 2_000;
const RESULT_TAIL_UNITS: usize = 600;
/// Messages with media that are noted one by one.
const NOTED_MESSAGES: usize = 8;
const MORE_NOTED: &str = "[further image and other non-text content omitted from summary input]";
/// Words at the end of a tool's output that tell what happened.
const DIAGNOSTIC: [&str; 9] = [
    "error",
    "exception",
    "failed",
    "fatal",
    "traceback",
    "panic",
    "stack trace",
    "errno",
    "exit code",
];

/// Who speaks in a quotation; `None` for what is not quoted.
pub(super) fn speaker(role: Role) -> Option<&'static str> {
    match role {
        Role::User => Some("User"),
        Role::Assistant => Some("Assistant"),
        Role::ToolResult
        | Role::BashExecution
        | Role::Custom
        | Role::CompactionSummary
        | Role::BranchSummary
        | Role::Other => None,
    }
}

/// Messages as text, a blank line between them.
///
/// Reasoning, runtime carriers and messages without text or calls are left out, tool results shortened to 2,000
/// characters; where their end tells of a failure, it is kept. Media are noted, never written.
///
/// Source: compaction, "The summary request".
#[must_use]
pub fn conversation(messages: &[&Message]) -> String {
    let mut noted = 0;
    let texts = messages
        .iter()
        .filter_map(|message| spoken(message, &mut noted));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// One message as text; `None` when it says nothing. `noted` counts the messages with media so far.
fn spoken(message: &Message, noted: &mut usize) -> Option<String> {
    if is_runtime_carrier(message) || message.excluded() {
        return None;
    }
    let parts = said(message);
    let text = joined(&parts);
    match message.role() {
        Role::Assistant => assistant(&text, &parts),
        Role::ToolResult => labelled("Tool result", &with_notes(&parts, &shortened(&text), noted)),
        Role::BashExecution => labelled("User", &shell(&parts)),
        Role::User | Role::Custom | Role::CompactionSummary | Role::BranchSummary | Role::Other => {
            let speaker = sender(message).map_or_else(
                || "User".to_owned(),
                |sender| format!("User sender={sender}"),
            );
            labelled(&speaker, &with_notes(&parts, &text, noted))
        }
    }
}

/// The texts of a message, a line break between blocks.
pub(super) fn joined(parts: &[Said]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Said::Text(text) => Some(text.as_str()),
        Said::Thinking(_) | Said::Call { .. } | Said::Image | Said::Other => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn labelled(speaker: &str, text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| format!("[{speaker}]: {text}"))
}

fn assistant(text: &str, parts: &[Said]) -> Option<String> {
    let calls: Vec<String> = parts.iter().filter_map(call).collect();
    let calls =
        (!calls.is_empty()).then(|| format!("[Assistant tool calls]: {}", calls.join("; ")));
    let said: Vec<String> = labelled("Assistant", text)
        .into_iter()
        .chain(calls)
        .collect();
    (!said.is_empty()).then(|| said.join("\n\n"))
}

fn call(part: &Said) -> Option<String> {
    let Said::Call { name, arguments } = part else {
        return None;
    };
    let raw = arguments.as_deref().unwrap_or_default();
    let arguments = match serde_json::from_str::<Map<String, Value>>(raw) {
        Ok(members) => {
            let members = members.iter().map(|(key, value)| format!("{key}={value}"));
            members.collect::<Vec<_>>().join(", ")
        }
        // Half-written arguments tell more than none.
        Err(_) => raw.to_owned(),
    };
    Some(format!("{name}({arguments})"))
}

fn shell(parts: &[Said]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Said::Text(text) => Some(text.as_str()),
            Said::Thinking(_) | Said::Call { .. } | Said::Image | Said::Other => None,
        })
        .collect();
    match texts.as_slice() {
        [command, output @ ..] => format!("Ran `{command}`\n{}", shortened(&output.join("\n"))),
        [] => String::new(),
    }
}

fn with_notes(parts: &[Said], text: &str, noted: &mut usize) -> String {
    let has = |wanted: fn(&Said) -> bool| parts.iter().any(wanted);
    let images = has(|part| matches!(part, Said::Image));
    let others = has(|part| matches!(part, Said::Other));
    if !images && !others {
        return text.to_owned();
    }
    *noted += 1;
    let note = match (images, others) {
        _ if *noted == NOTED_MESSAGES + 1 => MORE_NOTED,
        _ if *noted > NOTED_MESSAGES => "",
        (true, true) => "[image data and other content omitted from summary input]",
        (true, false) => "[image data omitted from summary input]",
        (false, _) => "[other content omitted from summary input]",
    };
    let lines = [note, text].into_iter().filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

fn shortened(text: &str) -> String {
    let total = units(text);
    if total <= RESULT_UNITS {
        return text.to_owned();
    }
    let end = tail(text, RESULT_TAIL_UNITS);
    let lower = end.to_lowercase();
    let end = if DIAGNOSTIC.iter().any(|word| lower.contains(word)) {
        end
    } else {
        ""
    };
    let start = head(text, RESULT_UNITS - units(end));
    let cut = total - units(start) - units(end);
    let mark = format!("\n\n[... {cut} more characters truncated]");
    if end.is_empty() {
        format!("{start}{mark}")
    } else {
        format!("{start}{mark}\n\n{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(messages: &[&str]) -> String {
        let messages: Vec<Message> = messages
            .iter()
            .map(|json| Message::from_json(json).unwrap())
            .collect();
        conversation(&messages.iter().collect::<Vec<_>>())
    }

    #[test]
    fn every_role_is_named_and_silence_is_left_out() {
        let text = of(&[
            r#"{"role":"user","content":"hi","__openclaw":{"senderName":"Ann"}}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"no"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"toolCall","id":"c","name":"run","arguments":{"x":[1],"y":"z"}}]}"#,
            r#"{"role":"toolResult","toolCallId":"c","content":"done"}"#,
            r#"{"role":"bashExecution","command":"ls","output":"f"}"#,
            r#"{"role":"custom","content":"c","details":{"runtimeContextCarrier":true}}"#,
            r#"{"role":"branchSummary","summary":"s","fromId":"b"}"#,
            r#"{"role":"user","content":" "}"#,
        ]);
        assert_eq!(
            text,
            "[User sender={\"name\":\"Ann\"}]: hi\n\n[Assistant]: a\n\n[Assistant tool calls]: run(x=[1], y=\"z\")\n\n\
             [Tool result]: done\n\n[User]: Ran `ls`\nf\n\n[User]: s"
        );
    }

    #[test]
    fn long_results_keep_an_end_that_tells_of_a_failure() {
        let plain = "x".repeat(2_500);
        assert_eq!(
            shortened(&plain),
            format!(
                "{}\n\n[... 500 more characters truncated]",
                "x".repeat(2_000)
            )
        );
        let failed = format!("{plain} fatal: no space");
        let short = shortened(&failed);
        assert!(short.ends_with("fatal: no space"), "{short}");
        assert!(units(&short) <= RESULT_UNITS + 50);
        assert_eq!(shortened("short"), "short");
    }

    #[test]
    fn media_are_noted_a_few_times_and_never_written() {
        let image = r#"{"role":"user","content":[{"type":"image","data":"QUJD"}]}"#;
        let text = of(&[image; 12]);
        assert_eq!(text.matches("[image data omitted").count(), NOTED_MESSAGES);
        assert_eq!(text.matches(MORE_NOTED).count(), 1);
        assert!(!text.contains("QUJD"));
    }

    #[test]
    fn half_written_arguments_are_shown_as_they_are() {
        let text = of(&[
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"run","arguments":"{\"x\":"}]}"#,
        ]);
        assert_eq!(text, r#"[Assistant tool calls]: run("{\"x\":")"#);
    }
}
