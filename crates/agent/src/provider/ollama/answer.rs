//! Collects an answer from its lines.

use openclaw_host::{ModelReply, Stop, Usage};
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
        let line: Value = serde_json::from_str(&heal_half_surrogates(data)).map_err(|error| {
            Failure::bad_answer(format!(
                "a line of the answer is not JSON: {error}; check baseUrl"
            ))
        })?;
        self.document(&line, on_text)
    }

    fn document(&mut self, line: &Value, on_text: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        if let Some(error) = line.get("error").filter(|error| !error.is_null()) {
            return Err(Failure::of_error_object(error));
        }
        let message = &line["message"];
        self.draft
            .think(filled(message, "thinking").unwrap_or_default());
        self.draft
            .say(filled(message, "content").unwrap_or_default(), on_text);
        for said in message["tool_calls"].as_array().into_iter().flatten() {
            let call = self.draft.call(None, None)?;
            let function = &said["function"];
            call.id = filled(said, "id").unwrap_or_default().to_owned();
            call.name = filled(function, "name").unwrap_or_default().to_owned();
            call.arguments = match &function["arguments"] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                arguments => arguments.to_string(),
            };
        }
        if line["done"] == true {
            self.end(line)?;
        }
        Ok(())
    }

    fn saw_done(&self) -> bool {
        self.done
    }

    fn is_complete(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Result<ModelReply, Failure> {
        self.draft.finish()
    }
}

impl Answer {
    fn end(&mut self, line: &Value) -> Result<(), Failure> {
        self.done = true;
        self.draft.stop = Some(match filled(line, "done_reason").unwrap_or("stop") {
            "stop" => Stop::Stop,
            "length" => Stop::Length,
            other => {
                return Err(Failure::bad_answer(format!(
                    "the server ended with `{other}`"
                )));
            }
        });
        if let Some(input_tokens) = line["prompt_eval_count"].as_u64() {
            self.draft.usage = Some(Usage {
                input_tokens,
                output_tokens: line["eval_count"].as_u64().unwrap_or(0),
                ..Usage::default()
            });
        }
        Ok(())
    }
}
