//! Collects an answer from the events of a stream, or from one message.

use openclaw_host::{ModelErrorKind, ModelReply, Stop, Usage};
use serde_json::Value;

use crate::provider::dialect::{Reader, filled};
use crate::provider::draft::Draft;
use crate::provider::failure::Failure;
use crate::surrogates::heal_half_surrogates;

#[derive(Debug, Default)]
pub(super) struct Answer {
    draft: Draft,
    done: bool,
}

impl Reader for Answer {
    fn event(&mut self, data: &str, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        let event: Value = serde_json::from_str(&heal_half_surrogates(data)).map_err(|error| {
            Failure::bad_answer(format!("an event of the stream is not JSON: {error}"))
        })?;
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.head(&event["message"]),
            "content_block_start" => self.block(index, &event["content_block"], on_text)?,
            "content_block_delta" => self.delta(index, &event["delta"], on_text)?,
            "message_delta" => {
                self.stop(&event["delta"])?;
                self.usage(&event["usage"]);
            }
            "message_stop" => self.done = true,
            "error" => return Err(Failure::of_error_object(&event["error"])),
            // `ping`, `content_block_stop`, and what is yet to come.
            _ => {}
        }
        Ok(())
    }

    fn document(&mut self, document: &Value, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        if let Some(error) = document.get("error").filter(|error| !error.is_null()) {
            return Err(Failure::of_error_object(error));
        }
        let Some(blocks) = document["content"].as_array() else {
            return Err(Failure::bad_answer("the answer holds no `content`"));
        };
        self.head(document);
        for (index, block) in (0..).zip(blocks) {
            self.block(index, block, on_text)?;
        }
        self.stop(document)?;
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
    fn head(&mut self, message: &Value) {
        self.draft.response_id = filled(message, "id").map(str::to_owned);
        self.usage(&message["usage"]);
    }

    fn block(
        &mut self,
        index: u64,
        block: &Value,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        self.delta_text(block, on_text);
        if block["type"] == "tool_use" {
            let call = self.draft.call_number(index)?;
            call.id = filled(block, "id").unwrap_or_default().to_owned();
            call.name = filled(block, "name").unwrap_or_default().to_owned();
            // In a stream an empty object stands here and the arguments follow.
            let input = block["input"].as_object().filter(|input| !input.is_empty());
            if input.is_some() {
                call.arguments = block["input"].to_string();
            }
        }
        Ok(())
    }

    fn delta(
        &mut self,
        index: u64,
        delta: &Value,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), Failure> {
        self.delta_text(delta, on_text);
        if let Some(piece) = filled(delta, "partial_json") {
            self.draft.call_number(index)?.arguments.push_str(piece);
        }
        Ok(())
    }

    fn delta_text(&mut self, value: &Value, on_text: &mut dyn FnMut(&str)) {
        self.draft
            .say(filled(value, "text").unwrap_or_default(), on_text);
        self.draft
            .think(filled(value, "thinking").unwrap_or_default());
    }

    fn stop(&mut self, value: &Value) -> Result<(), Failure> {
        let Some(reason) = filled(value, "stop_reason") else {
            return Ok(());
        };
        self.draft.stop = Some(match reason {
            "end_turn" | "stop_sequence" | "pause_turn" => Stop::Stop,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "tool_use" => Stop::ToolUse,
            "refusal" => {
                let reason = "the provider's filter held the answer back";
                return Err(Failure::new(ModelErrorKind::Refused, reason));
            }
            other => {
                return Err(Failure::bad_answer(format!(
                    "unknown stop reason `{other}`"
                )));
            }
        });
        Ok(())
    }

    /// Numbers come at the start and, higher, at the end.
    fn usage(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let mut known = self.draft.usage.unwrap_or_default();
        let Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
        } = &mut known;
        for (tokens, key) in [
            (input_tokens, "input_tokens"),
            (output_tokens, "output_tokens"),
            (cache_read_tokens, "cache_read_input_tokens"),
            (cache_write_tokens, "cache_creation_input_tokens"),
        ] {
            *tokens = usage[key].as_u64().unwrap_or(*tokens);
        }
        self.draft.usage = Some(known);
    }
}
