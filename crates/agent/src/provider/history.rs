//! The messages of a request in no dialect: whose turn it was and what was said. Does no I/O.

use openclaw_host::ModelErrorKind;
use openclaw_transcript::{Message, Piece, Role, pair};

use super::failure::Failure;
use super::ids::WireIds;
use crate::content::{Fields, Part, joined, parts};

pub(super) const EMPTY: &str = "[empty content omitted]";
const IMAGE_OMITTED: &str = "(image omitted: model does not support images)";
const TOOL_IMAGE_OMITTED: &str = "(tool image omitted: model does not support images)";
const TOOL_IMAGE_ATTACHED: &str = "(see attached image)";
const COMPACTION_LEAD: &str =
    "The conversation history before this point was compacted into the following summary:";
const BRANCH_LEAD: &str =
    "The following is a summary of a branch that this conversation came back from:";

/// One message of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// At least one item.
    User(Vec<Item>),
    /// A text, calls, or both.
    Assistant { text: String, calls: Vec<Call> },
    /// The result of a call of the assistant message before it.
    Result(CallResult),
}

/// A piece of what a user said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    Text(String),
    Image(Image),
}

/// An image in base64.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) data: String,
    pub(super) mime_type: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// JSON text.
    pub(super) arguments: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallResult {
    pub(super) id: String,
    pub(super) name: String,
    /// Never empty.
    pub(super) text: String,
    pub(super) images: Vec<Image>,
    pub(super) is_error: bool,
}

/// Reads the messages of a request.
///
/// Calls and results are paired once more, because one result without its call makes a server refuse the whole
/// request; a list that is in order passes as it is.
///
/// # Errors
///
/// When a message cannot be read; nothing is left out in silence.
pub(super) fn history(messages: &[&str], accepts_images: bool) -> Result<Vec<Said>, Failure> {
    let mut read = Vec::with_capacity(messages.len());
    for (index, json) in messages.iter().enumerate() {
        let message =
            Message::from_json(json).map_err(|error| unsendable(index, &error.to_string()))?;
        if !message.excluded() {
            read.push(message);
        }
    }
    let mut writer = Writer {
        accepts_images,
        ids: WireIds::default(),
        said: Vec::new(),
    };
    for (index, piece) in pair(&read).pieces.into_iter().enumerate() {
        match piece {
            Piece::Keep(kept) => writer.message(&read[kept]),
            Piece::New { json, .. } => {
                let made = Message::from_json(&json)
                    .map_err(|error| unsendable(index, &error.to_string()))?;
                writer.message(&made);
            }
        }
    }
    Ok(writer.said)
}

fn unsendable(index: usize, why: &str) -> Failure {
    Failure::new(
        ModelErrorKind::Refused,
        format!("message {index} of the request cannot be sent: {why}"),
    )
}

struct Writer {
    accepts_images: bool,
    ids: WireIds,
    said: Vec<Said>,
}

impl Writer {
    fn message(&mut self, message: &Message) {
        let fields = Fields::of(message.json());
        let summary = || fields.text("summary").unwrap_or_default();
        match message.role() {
            Role::Assistant => self.assistant(message),
            Role::User | Role::Custom => self.user(parts(message)),
            Role::CompactionSummary => {
                self.text(format!(
                    "{COMPACTION_LEAD}\n\n<summary>\n{}\n</summary>",
                    summary()
                ));
            }
            // An empty branch says nothing. The line break before the closing tag is missing in the original too.
            Role::BranchSummary if summary().is_empty() => {}
            Role::BranchSummary => {
                self.text(format!(
                    "{BRANCH_LEAD}\n\n<summary>\n{}</summary>",
                    summary()
                ));
            }
            Role::BashExecution => self.text(shell(&fields)),
            Role::ToolResult => self.result(message, &fields),
            Role::Other => tracing::debug!(
                reason = "unknown role",
                "message left out of the model request"
            ),
        }
    }

    fn text(&mut self, text: String) {
        self.said.push(Said::User(vec![Item::Text(text)]));
    }

    fn user(&mut self, parts: Vec<Part>) {
        let mut items: Vec<Item> = parts
            .into_iter()
            .filter_map(|part| match part {
                Part::Text(text) if !text.is_empty() => Some(Item::Text(text)),
                Part::Image { data, mime_type } if self.accepts_images => {
                    Some(Item::Image(Image { data, mime_type }))
                }
                Part::Image { .. } => Some(Item::Text(IMAGE_OMITTED.to_owned())),
                Part::Text(_) | Part::Call { .. } | Part::Other => None,
            })
            .collect();
        if items.is_empty() {
            items.push(Item::Text(EMPTY.to_owned()));
        }
        self.said.push(Said::User(items));
    }

    fn assistant(&mut self, message: &Message) {
        let parts = parts(message);
        let text = joined(&parts);
        let mut calls = Vec::new();
        self.ids.next_frame();
        for part in parts {
            if let Part::Call {
                id,
                name,
                arguments,
            } = part
            {
                let id = self.ids.call(&id);
                calls.push(Call {
                    id,
                    name,
                    arguments,
                });
            }
        }
        // Reasoning alone, or a failed answer without a word: nothing to send.
        if !text.is_empty() || !calls.is_empty() {
            self.said.push(Said::Assistant { text, calls });
        }
    }

    fn result(&mut self, message: &Message, fields: &Fields<'_>) {
        // After pairing each result stands behind its call.
        let Some(id) = message.result_of().and_then(|id| self.ids.result(id)) else {
            tracing::debug!(
                reason = "no open call",
                "tool result left out of the model request"
            );
            return;
        };
        let parts = parts(message);
        let mut text = joined(&parts);
        let mut images = Vec::new();
        for part in parts {
            if let Part::Image { data, mime_type } = part {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(if self.accepts_images {
                    TOOL_IMAGE_ATTACHED
                } else {
                    TOOL_IMAGE_OMITTED
                });
                if self.accepts_images {
                    images.push(Image { data, mime_type });
                }
            }
        }
        if text.is_empty() {
            text.push_str(EMPTY);
        }
        self.said.push(Said::Result(CallResult {
            id,
            name: fields.text("toolName").unwrap_or_default(),
            text,
            images,
            is_error: fields.is_true("isError"),
        }));
    }
}

/// A command the user ran, as a text of theirs.
fn shell(fields: &Fields<'_>) -> String {
    let text = |key| fields.text(key).unwrap_or_default();
    let (command, output) = (text("command"), text("output"));
    let mut said = format!("Ran `{command}`\n");
    if output.is_empty() {
        said.push_str("(no output)");
    } else {
        // A fence longer than any in the output, so that the output cannot close it.
        let longest = output.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        said.push_str(&format!("{fence}\n{output}\n{fence}"));
    }
    if fields.is_true("cancelled") {
        said.push_str("\n\n(command cancelled)");
    } else if let Some(code) = fields
        .raw("exitCode")
        .filter(|code| !matches!(*code, "0" | "null"))
    {
        said.push_str(&format!("\n\nCommand exited with code {code}"));
    }
    if fields.is_true("truncated")
        && let Some(path) = fields.text("fullOutputPath")
    {
        said.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    said
}
