//! The model's work: requests, tools, and the last entry.

use super::TurnError;
use super::admission::{Admitted, ModelFacts, commit_params, text_of};
use super::assemble::Assembled;
use super::open::Turn;
use crate::history::Held;
use crate::model::{
    Block, Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest, Stop,
    ToolOutcome, Tools, Usage,
};
use openclaw_interface::Role;
use openclaw_interface::model::Anchor;
use openclaw_transcript::message_row;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

/// Requests a turn may make. A model that still wants tools then is going in circles.
const REQUEST_LIMIT: usize = 50;

/// A turn whose last entry is stored.
pub(super) struct Answered<'h> {
    pub(super) turn: Turn<'h>,
    pub(super) reply: String,
}

impl<'h> Assembled<'h> {
    /// Asks the model until it is done, running the tools it calls. Each message is stored as it comes; the last one
    /// together with the end of the turn and the outbox row.
    pub(super) fn answer(
        self,
        model: &mut dyn Model,
        tools: &mut dyn Tools,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Answered<'h>, TurnError> {
        let Self {
            admitted,
            mut messages,
            system_prompt,
        } = self;
        let Admitted {
            mut turn,
            user,
            admission,
            facts,
            ..
        } = *admitted;
        messages.push(user);
        turn.record.model.provider = facts.provider.clone();
        turn.record.model.id = facts.model_id.clone();
        for _ in 0..REQUEST_LIMIT {
            let reply = turn.ask(model, tools, &system_prompt, &messages, on_text)?;
            turn.record.model.add(reply.usage);
            let message = assistant_message(&reply, model.info(), &turn);
            let calls: Vec<&Block> = reply
                .content
                .iter()
                .filter(|it| matches!(it, Block::ToolCall { .. }))
                .collect();
            if calls.is_empty() {
                return turn.accept(&message, admission, &facts);
            }
            turn.append(&mut messages, Role::Assistant, message)?;
            for call in calls {
                let Block::ToolCall {
                    id,
                    name,
                    arguments,
                } = call
                else {
                    continue;
                };
                let outcome = tools.run(name, arguments);
                turn.append(
                    &mut messages,
                    Role::ToolResult,
                    tool_message(id, name, &outcome, &turn),
                )?;
            }
        }
        Err(turn.give_up(TurnError::EndlessTools(REQUEST_LIMIT)))
    }
}

impl<'h> Turn<'h> {
    fn ask(
        &mut self,
        model: &mut dyn Model,
        tools: &dyn Tools,
        system_prompt: &str,
        messages: &[Held],
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, TurnError> {
        let texts: Vec<&str> = messages.iter().map(|message| &*message.json).collect();
        let cancelled = std::sync::Arc::clone(&self.cancelled);
        let is_cancelled = move || cancelled.load(Ordering::Relaxed);
        let request = ModelRequest {
            system_prompt,
            messages: &texts,
            tools: tools.specs(),
            is_cancelled: &is_cancelled,
        };
        let reply = model
            .respond(request, on_text)
            .and_then(|reply| said_something(reply, model.info()));
        reply.map_err(|error| self.give_up(TurnError::Model(error)))
    }

    /// Stores a message in mid-turn.
    fn append(
        &mut self,
        messages: &mut Vec<Held>,
        role: Role,
        json: Value,
    ) -> Result<(), TurnError> {
        let text = json.to_string();
        let row = self.next_row(&text);
        self.host.store().append_rows(&mut self.session, &[row])?;
        messages.push(Held::made(role, text));
        Ok(())
    }

    fn next_row(&self, message_json: &str) -> String {
        let ambient = self.host.ambient();
        let parent = self.session.append_parent.as_deref();
        message_row(
            &ambient.new_id(),
            parent,
            &ambient.timestamp(),
            message_json,
        )
    }

    /// Stores the last message, the end of the turn and what the engine is owed, all or nothing.
    fn accept(
        mut self,
        message: &Value,
        admission: Anchor,
        facts: &ModelFacts,
    ) -> Result<Answered<'h>, TurnError> {
        let text = message.to_string();
        let row = self.next_row(&text);
        let parent = self.session.append_parent.clone();
        let (turn_id, owed) = (self.turn_id.clone(), self.owed.clone());
        let frame = self.anchor("", 0, parent.as_deref(), None);
        self.host.store().accept(
            &mut self.session,
            &turn_id,
            &row,
            owed.as_deref(),
            |session, seq| {
                let terminal = Anchor {
                    entry_id: session.append_parent.clone().unwrap_or_default(),
                    raw_seq: u64::try_from(seq).unwrap_or(0),
                    active_message_position: u64::try_from(session.message_count - 1).unwrap_or(0),
                    ..frame
                };
                commit_params(&turn_id, admission, terminal, facts)
            },
        )?;
        Ok(Answered {
            reply: text_of(&text).unwrap_or_default(),
            turn: self,
        })
    }

    /// Ends a turn that is not accepted: the engine is owed nothing, the record says why. Returns the error.
    pub(super) fn give_up(&mut self, error: TurnError) -> TurnError {
        self.record.failure = Some(error.to_string());
        self.keep_timings();
        self.engine.dispose();
        let mut store = self.host.store();
        let removed = store.remove_from_outbox(&self.turn_id);
        let kept = super::advance::keep_record(&mut store, &self.record);
        for problem in removed.err().into_iter().chain(kept.err()) {
            tracing::warn!(turn = self.turn_id, reason = %problem, "the end of a failed turn was not recorded");
        }
        error
    }
}

/// Refuses a reply without any word or call: stored, it would stand for an answer for ever.
fn said_something(reply: ModelReply, model: &ModelInfo) -> Result<ModelReply, ModelError> {
    let is_something = |block: &Block| match block {
        Block::Text(text) => !text.is_empty(),
        Block::Thinking(_) => false,
        Block::ToolCall { .. } => true,
    };
    if reply.stop == Stop::Length || reply.content.iter().any(is_something) {
        return Ok(reply);
    }
    Err(ModelError {
        provider: model.provider.clone(),
        model: model.id.clone(),
        kind: ModelErrorKind::BadAnswer,
        reason: "the answer is empty".into(),
    })
}

fn assistant_message(reply: &ModelReply, model: &ModelInfo, turn: &Turn<'_>) -> Value {
    let content: Vec<Value> = reply.content.iter().map(block_json).collect();
    let usage = reply.usage.unwrap_or_default();
    let stop = match reply.stop {
        Stop::Stop => "stop",
        Stop::ToolUse => "toolUse",
        Stop::Length => "length",
    };
    let mut message = json!({
        "role": "assistant",
        "content": content,
        "api": model.api,
        "provider": model.provider,
        "model": model.id,
        "usage": usage_json(usage),
        "stopReason": stop,
        "timestamp": turn.host.ambient().now_ms(),
        "__openclaw": { "runId": turn.turn_id },
    });
    if let Some(id) = &reply.response_id {
        message["responseId"] = id.as_str().into();
    }
    message
}

fn block_json(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Thinking(text) => json!({ "type": "thinking", "thinking": text }),
        Block::ToolCall {
            id,
            name,
            arguments,
        } => {
            json!({ "type": "toolCall", "id": id, "name": name, "arguments": arguments })
        }
    }
}

fn usage_json(usage: Usage) -> Value {
    let parts = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    ];
    let total = parts.into_iter().fold(0, u64::saturating_add);
    json!({
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cacheRead": usage.cache_read_tokens,
        "cacheWrite": usage.cache_write_tokens,
        "totalTokens": total,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    })
}

fn tool_message(id: &str, name: &str, outcome: &ToolOutcome, turn: &Turn<'_>) -> Value {
    json!({
        "role": "toolResult",
        "toolCallId": id,
        "toolName": name,
        "content": [{ "type": "text", "text": outcome.text }],
        "isError": outcome.is_error,
        "timestamp": turn.host.ambient().now_ms(),
        "__openclaw": { "runId": turn.turn_id },
    })
}
