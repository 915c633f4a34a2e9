//! What a message says, part by part.

use std::borrow::Cow;

use openclaw_interface::Role;

use crate::json::{self, Object};
use crate::message::{Content, Message, is_call, is_type};

/// A part of what a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Text; of a shell execution its command and its output, of a summary the summary.
    Text(String),
    /// Reasoning.
    Thinking(String),
    /// A tool call, answerable or not.
    Call {
        /// Name of the tool; empty when it has none.
        name: String,
        /// The arguments as JSON text, as written; `None` when there are none.
        arguments: Option<String>,
    },
    /// An image.
    Image,
    /// Anything else.
    Other,
}

/// The parts of a message, in order. Blank texts are parts too.
#[must_use]
pub fn said(message: &Message) -> Vec<Said> {
    let object = message.object();
    let fields: &[&str] = match message.role() {
        Role::BashExecution => &["command", "output"],
        Role::CompactionSummary | Role::BranchSummary => &["summary"],
        Role::User | Role::Assistant | Role::ToolResult | Role::Custom | Role::Other => {
            return match Content::read(object.get("content")) {
                Ok(Content::Nothing) | Err(_) => Vec::new(),
                Ok(Content::Text(text)) => vec![Said::Text(text.into_owned())],
                Ok(Content::Blocks(blocks)) => blocks.iter().map(of_block).collect(),
            };
        }
    };
    let texts = fields.iter().filter_map(|field| object.string(field));
    texts.map(|text| Said::Text(text.into_owned())).collect()
}

/// Whether the content is a list of blocks, not one text.
#[must_use]
pub fn has_blocks(message: &Message) -> bool {
    let object = message.object();
    let content = object.get("content");
    content.is_some_and(|raw| raw.starts_with(['[', '{']))
}

/// Whether the message carries facts of the running program to the model, which are new in every request.
#[must_use]
pub fn is_runtime_carrier(message: &Message) -> bool {
    const MARK: &str = "runtimeContextCarrier";
    let object = message.object();
    let details = object
        .get("details")
        .and_then(|details| Object::read(details).ok());
    object.is_true(MARK) || details.is_some_and(|details| details.is_true(MARK))
}

/// Whether a person may see a custom message; `true` for all other roles.
#[must_use]
pub fn is_displayed(message: &Message) -> bool {
    message.role() != Role::Custom || message.object().is_true("display")
}

/// Whether a tool result reports a failure.
#[must_use]
pub fn is_error_result(message: &Message) -> bool {
    message.role() == Role::ToolResult && message.object().is_true("isError")
}

/// The name of the tool a result comes from.
#[must_use]
pub fn tool_name(message: &Message) -> Option<String> {
    message.object().filled("toolName")
}

/// The sender of a user message as a summariser is told: `{"id":…,"name":…,"username":…}`, absent facts left out.
#[must_use]
pub fn sender(message: &Message) -> Option<String> {
    (message.role() == Role::User).then(|| sender_of(&message.object()))?
}

pub(crate) fn sender_of(message: &Object<'_>) -> Option<String> {
    let facts = Object::read(message.get("__openclaw")?).ok()?;
    let fields = [
        ("senderId", "id"),
        ("senderName", "name"),
        ("senderUsername", "username"),
    ];
    let members: Vec<_> = fields
        .into_iter()
        .filter_map(|(field, key)| Some((key, json::quote(&facts.filled(field)?))))
        .collect();
    let members = members.iter().map(|(key, value)| (*key, value.as_str()));
    (members.len() > 0).then(|| json::object(members))
}

fn of_block(block: &Object<'_>) -> Said {
    let text = |field| block.string(field).map(Cow::into_owned).unwrap_or_default();
    if is_type(block, "text") {
        Said::Text(text("text"))
    } else if is_type(block, "thinking") {
        Said::Thinking(text("thinking"))
    } else if is_call(block) {
        let arguments = block.get("arguments").or_else(|| block.get("input"));
        Said::Call {
            name: text("name"),
            arguments: arguments.map(str::to_owned),
        }
    } else if is_type(block, "image") {
        Said::Image
    } else {
        Said::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> Message {
        Message::from_json(json).unwrap()
    }

    #[test]
    fn each_role_says_what_it_holds() {
        let text = |text: &str| Said::Text(text.to_owned());
        for (json, expected) in [
            (r#"{"role":"user","content":"a"}"#, vec![text("a")]),
            (r#"{"role":"user"}"#, vec![]),
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"c","name":"n","input":{"b":1e999}},{"type":"image"},{"type":"x"}]}"#,
                vec![
                    Said::Thinking("t".into()),
                    Said::Call {
                        name: "n".into(),
                        arguments: Some(r#"{"b":1e999}"#.into()),
                    },
                    Said::Image,
                    Said::Other,
                ],
            ),
            (
                r#"{"role":"bashExecution","command":"ls","output":"o"}"#,
                vec![text("ls"), text("o")],
            ),
            (
                r#"{"role":"compactionSummary","summary":"s"}"#,
                vec![text("s")],
            ),
        ] {
            assert_eq!(said(&message(json)), expected, "{json}");
        }
    }

    #[test]
    fn marks_are_read_where_they_stand() {
        let carrier = r#"{"role":"custom","details":{"runtimeContextCarrier":true}}"#;
        assert!(is_runtime_carrier(&message(carrier)));
        assert!(is_runtime_carrier(&message(
            r#"{"role":"user","runtimeContextCarrier":true}"#
        )));
        assert!(!is_runtime_carrier(&message(r#"{"role":"user"}"#)));
        assert!(!is_displayed(&message(carrier)));
        assert!(is_displayed(&message(r#"{"role":"user"}"#)));
        assert!(!has_blocks(&message(r#"{"role":"user","content":"["}"#)));
        assert!(has_blocks(&message(r#"{"role":"user","content":[]}"#)));
        assert!(is_error_result(&message(
            r#"{"role":"toolResult","isError":true}"#
        )));
        let user = r#"{"role":"user","__openclaw":{"senderName":"Ann","senderId":""}}"#;
        assert_eq!(sender(&message(user)).as_deref(), Some(r#"{"name":"Ann"}"#));
    }
}
