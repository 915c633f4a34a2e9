//! The body of a request: transcript messages in the words of the chat completions dialect. Does no I/O.

mod ids;
#[cfg(test)]
mod tests;

use openclaw_host::{ModelErrorKind, ModelInfo, ModelRequest, ToolSpec};
use openclaw_transcript::{Message, Piece, Role, pair};
use serde_json::{Map, Value, json};

use super::failure::Failure;
use crate::content::{Fields, Part, joined, parts};
use ids::WireIds;

const EMPTY: &str = "[empty content omitted]";
const IMAGE_OMITTED: &str = "(image omitted: model does not support images)";
const TOOL_IMAGE_OMITTED: &str = "(tool image omitted: model does not support images)";
const COMPACTION_LEAD: &str =
    "The conversation history before this point was compacted into the following summary:";
const BRANCH_LEAD: &str =
    "The following is a summary of a branch that this conversation came back from:";

/// Writes the body of a request.
///
/// Calls and results are paired once more, because one result without its call makes a server refuse the whole
/// request; a list that is in order passes as it is. Equal requests give equal bytes.
///
/// # Errors
///
/// When a message cannot be read; nothing is left out in silence.
pub(super) fn body(
    info: &ModelInfo,
    request: ModelRequest<'_>,
    accepts_images: bool,
) -> Result<String, Failure> {
    let mut body = Map::new();
    body.insert("model".to_owned(), info.id.clone().into());
    body.insert(
        "messages".to_owned(),
        messages(request.system_prompt, request.messages, accepts_images)?.into(),
    );
    body.insert("stream".to_owned(), true.into());
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        body.insert("tool_choice".to_owned(), "auto".into());
    }
    if let Some(limit) = info.max_output_tokens {
        body.insert("max_completion_tokens".to_owned(), limit.into());
    }
    Ok(Value::Object(body).to_string())
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec {
        name,
        description,
        parameters,
    } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

fn messages(
    system_prompt: &str,
    messages: &[&str],
    accepts_images: bool,
) -> Result<Vec<Value>, Failure> {
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
        held_images: Vec::new(),
        out: Vec::new(),
    };
    if !system_prompt.is_empty() {
        writer
            .out
            .push(json!({"role": "system", "content": system_prompt}));
    }
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
    writer.release_images();
    Ok(writer.out)
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
    /// Images of tool results. The dialect has no place for them there, so they follow the last result of a run.
    held_images: Vec<Value>,
    out: Vec<Value>,
}

impl Writer {
    fn message(&mut self, message: &Message) {
        if message.role() == Role::ToolResult {
            return self.tool_result(message);
        }
        self.release_images();
        let fields = Fields::of(message.json());
        let summary = || fields.text("summary").unwrap_or_default();
        match message.role() {
            Role::Assistant => self.assistant(message),
            Role::User | Role::Custom => {
                let content = self.user_content(parts(message));
                self.user(content);
            }
            Role::CompactionSummary => {
                self.user(
                    format!("{COMPACTION_LEAD}\n\n<summary>\n{}\n</summary>", summary()).into(),
                );
            }
            // An empty branch says nothing. The line break before the closing tag is missing in the original too.
            Role::BranchSummary if summary().is_empty() => {}
            Role::BranchSummary => {
                self.user(format!("{BRANCH_LEAD}\n\n<summary>\n{}</summary>", summary()).into())
            }
            Role::BashExecution => self.user(shell(&fields).into()),
            Role::ToolResult | Role::Other => {
                tracing::debug!(
                    reason = "unknown role",
                    "message left out of the model request"
                );
            }
        }
    }

    fn user(&mut self, content: Value) {
        self.out.push(json!({"role": "user", "content": content}));
    }

    /// One text as it is; several parts as a list.
    fn user_content(&self, parts: Vec<Part>) -> Value {
        let mut content: Vec<Value> = parts
            .into_iter()
            .filter_map(|part| self.user_part(part))
            .collect();
        match content.as_mut_slice() {
            [] => EMPTY.into(),
            [one] if one["type"] == "text" => one["text"].take(),
            _ => content.into(),
        }
    }

    fn user_part(&self, part: Part) -> Option<Value> {
        match part {
            Part::Text(text) if !text.is_empty() => Some(text_part(&text)),
            Part::Image { data, mime_type } if self.accepts_images => {
                Some(image_part(&data, &mime_type))
            }
            Part::Image { .. } => Some(text_part(IMAGE_OMITTED)),
            Part::Text(_) | Part::Call { .. } | Part::Other => None,
        }
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
                let function = json!({"name": name, "arguments": arguments});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
        }
        // Reasoning alone, or a failed answer without a word: nothing to send.
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let mut wire = Map::new();
        wire.insert("role".to_owned(), "assistant".into());
        wire.insert(
            "content".to_owned(),
            if text.is_empty() {
                Value::Null
            } else {
                text.into()
            },
        );
        if !calls.is_empty() {
            wire.insert("tool_calls".to_owned(), calls.into());
        }
        self.out.push(wire.into());
    }

    fn tool_result(&mut self, message: &Message) {
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
        for part in parts {
            if let Part::Image { data, mime_type } = part {
                let note = if self.accepts_images {
                    "(see attached image)"
                } else {
                    TOOL_IMAGE_OMITTED
                };
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(note);
                if self.accepts_images {
                    self.held_images.push(image_part(&data, &mime_type));
                }
            }
        }
        let content = if text.is_empty() { EMPTY } else { &text };
        self.out
            .push(json!({"role": "tool", "content": content, "tool_call_id": id}));
    }

    fn release_images(&mut self) {
        if !self.held_images.is_empty() {
            let mut content = vec![text_part("Attached image(s) from tool result:")];
            content.append(&mut self.held_images);
            self.user(content.into());
        }
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_part(data: &str, mime_type: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:{mime_type};base64,{data}")}})
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
