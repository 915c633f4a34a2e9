//! Collects an answer from the chunks of a stream, or from one document.

#[cfg(test)]
mod tests;

use openclaw_host::{ModelErrorKind, ModelReply, Stop, Usage};
use serde_json::Value;

use crate::provider::dialect::{Reader, filled};
use crate::provider::draft::Draft;
use crate::provider::failure::Failure;
use crate::surrogates::heal_half_surrogates;

/// An answer in the making.
#[derive(Debug, Default)]
pub(super) struct Answer {
    draft: Draft,
    done: bool,
}

impl Reader for Answer {
    fn event(&mut self, data: &str, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let chunk: Value = serde_json::from_str(&heal_half_surrogates(data)).map_err(|error| {
            Failure::bad_answer(format!("a chunk of the stream is not JSON: {error}"))
        })?;
        self.chunk(&chunk, "delta", on_text)
    }

    fn document(&mut self, document: &Value, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
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

    fn saw_done(&self) -> bool {
        self.done
    }

    fn is_complete(&self) -> bool {
        self.done || self.draft.stop.is_some()
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, Failure> {
        self.draft.finish()
    }
}

impl Answer {
    fn chunk(
        &mut self,
        chunk: &Value,
        said_in: &str,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(Failure::of_error_object(error));
        }
        if self.draft.response_id.is_none() {
            self.draft.response_id = filled(chunk, "id").map(str::to_owned);
        }
        if let Some(usage) = chunk.get("usage").and_then(usage) {
            self.draft.usage = Some(usage);
        }
        let Some(choice) = chunk.pointer("/choices/0") else {
            return Ok(());
        };
        if let Some(said) = choice.get(said_in) {
            self.said(said, on_text)?;
        }
        if let Some(reason) = filled(choice, "finish_reason") {
            self.draft.stop = Some(stop(reason)?);
        }
        Ok(())
    }

    fn said(&mut self, said: &Value, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        let thinking = ["reasoning_content", "reasoning", "reasoning_text"];
        if let Some(thinking) = thinking.into_iter().find_map(|key| filled(said, key)) {
            self.draft.think(thinking);
        }
        for text in texts(said.get("content"))
            .into_iter()
            .chain(filled(said, "refusal"))
        {
            self.draft.say(text, on_text);
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
        let calls = self.draft.calls();
        let known = match index {
            Some(_) => calls.iter().position(|call| call.index == index),
            // Without numbers, another id or a piece with no id to it continues the last call.
            None => calls
                .len()
                .checked_sub(1)
                .filter(|last| id.is_empty() || calls[*last].id == id),
        };
        let call = self.draft.call(known, index)?;
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
