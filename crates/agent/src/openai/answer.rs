//! Collects an answer from the chunks of a stream, or from one document.

#[cfg(test)]
mod tests;

use openclaw_host::{Block, ModelErrorKind, ModelReply, Stop, Usage};
use serde_json::{Map, Value};

use super::failure::Failure;
use crate::surrogates::heal_half_surrogates;

/// More than a model calls at once; keeps a wild index from growing memory.
const MAX_CALLS: usize = 1_024;

/// An answer in the making.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    thinking: String,
    calls: Vec<CallParts>,
    stop: Option<Stop>,
    usage: Option<Usage>,
    response_id: Option<String>,
    done: bool,
}

#[derive(Debug, Default)]
struct CallParts {
    /// The provider's number; `None` in dialects without.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Answer {
    /// Takes the data of one stream event.
    ///
    /// # Errors
    ///
    /// When it is not what the dialect says, or an error of the server.
    pub(super) fn event(
        &mut self,
        data: &str,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let chunk: Value = serde_json::from_str(&heal_half_surrogates(data)).map_err(|error| {
            Failure::bad_answer(format!("a chunk of the stream is not JSON: {error}"))
        })?;
        self.chunk(&chunk, "delta", on_text)
    }

    /// Takes a whole answer that came in one piece.
    pub(super) fn document(
        &mut self,
        document: &Value,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        let document = document.get(0).unwrap_or(document);
        self.chunk(document, "message", on_text)?;
        if document.pointer("/choices/0/message").is_none() {
            return Err(Failure::bad_answer(
                "the answer holds no `choices[0].message`",
            ));
        }
        self.done = true;
        Ok(())
    }

    /// Whether the server said that nothing more comes.
    pub(super) fn saw_done(&self) -> bool {
        self.done
    }

    /// Whether the model said that it is done.
    pub(super) fn is_complete(&self) -> bool {
        self.done || self.stop.is_some()
    }

    fn chunk(
        &mut self,
        chunk: &Value,
        said_in: &str,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(Failure::of_error_object(error));
        }
        if self.response_id.is_none() {
            self.response_id = filled(chunk, "id").map(str::to_owned);
        }
        if let Some(usage) = chunk.get("usage").and_then(usage) {
            self.usage = Some(usage);
        }
        let Some(choice) = chunk.pointer("/choices/0") else {
            return Ok(());
        };
        if let Some(said) = choice.get(said_in) {
            self.said(said, on_text)?;
        }
        if let Some(reason) = filled(choice, "finish_reason") {
            self.stop = Some(stop(reason)?);
        }
        Ok(())
    }

    fn said(&mut self, said: &Value, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        let thinking = ["reasoning_content", "reasoning", "reasoning_text"];
        if let Some(thinking) = thinking.into_iter().find_map(|key| filled(said, key)) {
            self.thinking.push_str(thinking);
        }
        for text in texts(said.get("content"))
            .into_iter()
            .chain(filled(said, "refusal"))
        {
            self.text.push_str(text);
            on_text(text);
        }
        for call in said
            .get("tool_calls")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.call(call)?;
        }
        Ok(())
    }

    fn call(&mut self, delta: &Value) -> Result<(), Failure> {
        let index = delta.get("index").and_then(Value::as_u64);
        let id = filled(delta, "id").unwrap_or_default();
        let known = match index {
            Some(_) => self.calls.iter().position(|call| call.index == index),
            // Without numbers, another id or a piece with no id to it continues the last call.
            None => self
                .calls
                .len()
                .checked_sub(1)
                .filter(|last| id.is_empty() || self.calls[*last].id == id),
        };
        let known = known.unwrap_or_else(|| {
            self.calls.push(CallParts {
                index,
                ..CallParts::default()
            });
            self.calls.len() - 1
        });
        if known >= MAX_CALLS {
            return Err(Failure::bad_answer(format!(
                "the answer holds more than {MAX_CALLS} tool calls"
            )));
        }
        let call = &mut self.calls[known];
        let function = delta.get("function").unwrap_or(&Value::Null);
        // Some servers repeat id and name in each piece.
        for (part, value) in [
            (&mut call.id, id),
            (&mut call.name, filled(function, "name").unwrap_or_default()),
        ] {
            if part.is_empty() {
                part.push_str(value);
            }
        }
        match function.get("arguments") {
            Some(Value::String(piece)) => call.arguments.push_str(piece),
            Some(whole @ Value::Object(_)) => call.arguments = whole.to_string(),
            _ => {}
        }
        Ok(())
    }

    /// The reply.
    ///
    /// # Errors
    ///
    /// When nothing was said, a tool call has no name, or arguments that are not a JSON object.
    pub(super) fn finish(self) -> Result<ModelReply, Failure> {
        let cut = self.stop == Some(Stop::Length);
        let mut content = Vec::new();
        if !self.thinking.is_empty() {
            content.push(Block::Thinking(self.thinking));
        }
        if !self.text.is_empty() {
            content.push(Block::Text(self.text));
        }
        let has_calls = !self.calls.is_empty();
        for (number, call) in self.calls.into_iter().enumerate() {
            content.push(call.finish(number, cut)?);
        }
        if content.is_empty() {
            let why = if cut {
                "; the output limit was reached before a word"
            } else {
                ""
            };
            return Err(Failure::bad_answer(format!("the answer is empty{why}")));
        }
        // Servers disagree on whether calls end with `stop` or `tool_calls`; what came counts.
        let stop = match self.stop {
            Some(Stop::Length) => Stop::Length,
            Some(Stop::Stop | Stop::ToolUse) | None if has_calls => Stop::ToolUse,
            Some(Stop::Stop | Stop::ToolUse) | None => Stop::Stop,
        };
        Ok(ModelReply {
            content,
            stop,
            usage: self.usage,
            response_id: self.response_id,
        })
    }
}

impl CallParts {
    fn finish(self, number: usize, cut: bool) -> Result<Block, Failure> {
        let Self {
            id,
            name,
            arguments,
            ..
        } = self;
        if name.is_empty() {
            return Err(Failure::bad_answer(format!(
                "tool call {number} has no name"
            )));
        }
        let arguments = if arguments.trim().is_empty() {
            Value::Object(Map::new())
        } else {
            let parsed = serde_json::from_str(&heal_half_surrogates(&arguments))
                .ok()
                .filter(Value::is_object);
            parsed.ok_or_else(|| {
                let why = if cut {
                    "; the output limit cut them off"
                } else {
                    ""
                };
                Failure::bad_answer(format!(
                    "arguments of tool call {number} (`{name}`) are not a JSON object{why}"
                ))
            })?
        };
        let id = if id.is_empty() {
            format!("call_{number}")
        } else {
            id
        };
        Ok(Block::ToolCall {
            id,
            name,
            arguments,
        })
    }
}

fn filled<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// Text content: a string, or a list with text parts.
fn texts(content: Option<&Value>) -> Vec<&str> {
    match content {
        Some(Value::String(text)) if !text.is_empty() => vec![text],
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| filled(part, "text"))
            .collect(),
        _ => Vec::new(),
    }
}

fn stop(reason: &str) -> Result<Stop, Failure> {
    match reason {
        "stop" | "end" | "eos" | "end_turn" | "stop_sequence" => Ok(Stop::Stop),
        "length" | "max_tokens" => Ok(Stop::Length),
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => Ok(Stop::ToolUse),
        "content_filter" => Err(Failure::new(
            ModelErrorKind::Refused,
            "the provider's content filter held the answer back",
        )),
        other => Err(Failure::bad_answer(format!(
            "unknown finish reason `{other}`"
        ))),
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let prompt_tokens = number("/prompt_tokens")?;
    let cache_read_tokens = number("/prompt_tokens_details/cached_tokens").unwrap_or(0);
    let cache_write_tokens = number("/prompt_tokens_details/cache_write_tokens").unwrap_or(0);
    Some(Usage {
        input_tokens: prompt_tokens
            .saturating_sub(cache_read_tokens)
            .saturating_sub(cache_write_tokens),
        output_tokens: number("/completion_tokens").unwrap_or(0),
        cache_read_tokens,
        cache_write_tokens,
    })
}
