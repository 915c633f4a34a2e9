//! An answer in the making, in no dialect: what was said, thought and called so far.

use openclaw_host::{Block, ModelReply, Stop, Usage};
use serde_json::{Map, Value};

use super::failure::Failure;
use crate::surrogates::heal_half_surrogates;

/// More than a model calls at once; keeps a wild index from growing memory.
const MAX_CALLS: usize = 1_024;

/// An answer in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    thinking: String,
    calls: Vec<CallParts>,
    pub(super) stop: Option<Stop>,
    pub(super) usage: Option<Usage>,
    pub(super) response_id: Option<String>,
}

/// A tool call in the making.
#[derive(Debug, Default)]
pub(super) struct CallParts {
    /// The provider's number; `None` in dialects without.
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl Draft {
    pub(super) fn say(&mut self, text: &str, on_text: &mut dyn FnMut(&str)) {
        if !text.is_empty() {
            self.text.push_str(text);
            on_text(text);
        }
    }

    pub(super) fn think(&mut self, thinking: &str) {
        self.thinking.push_str(thinking);
    }

    /// The calls so far.
    pub(super) fn calls(&self) -> &[CallParts] {
        &self.calls
    }

    /// A call that is known, or at the end a new one.
    pub(super) fn call(
        &mut self,
        known: Option<usize>,
        index: Option<u64>,
    ) -> Result<&mut CallParts, Failure> {
        let at = known.unwrap_or(self.calls.len());
        if at >= MAX_CALLS {
            return Err(Failure::bad_answer(format!(
                "the answer holds more than {MAX_CALLS} tool calls"
            )));
        }
        if at == self.calls.len() {
            self.calls.push(CallParts {
                index,
                ..CallParts::default()
            });
        }
        Ok(&mut self.calls[at])
    }

    /// The call with the provider's number, made when it is not known.
    pub(super) fn call_number(&mut self, index: u64) -> Result<&mut CallParts, Failure> {
        let known = self.calls.iter().position(|call| call.index == Some(index));
        self.call(known, Some(index))
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
