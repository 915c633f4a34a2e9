//! The model's work: requests, tools, and the last entry.

use super::TurnError;
use super::admission::{Admitted, text_of};
use super::assemble::Assembled;
use super::event::TurnEvent;
use super::message;
use super::open::Turn;
use super::params::ModelFacts;
use crate::history::{Held, sum};
use crate::model::{
    Block, Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest, Stop, Tools,
};
use crate::store::Session;
use crate::tokens::TokenCounter;
use openclaw_interface::Role;
use openclaw_interface::model::Anchor;
use openclaw_transcript::message_row;
use serde_json::Value;

/// Requests a turn may make. A model that still wants tools then is going in circles.
const REQUEST_LIMIT: u32 = 50;

/// How an attempt ended.
pub(super) enum Attempt<'h> {
    /// With the last entry.
    Answered(Box<Answered<'h>>),
    /// Without an answer of the model.
    Failed(Failed<'h>),
}

/// A turn whose last entry is stored.
pub(super) struct Answered<'h> {
    pub(super) turn: Turn<'h>,
    pub(super) facts: ModelFacts,
    pub(super) reply: String,
}

/// A turn whose model gave no answer.
pub(super) struct Failed<'h> {
    pub(super) turn: Box<Admitted<'h>>,
    pub(super) error: ModelError,
    /// Tokens of the request, as the host counts.
    pub(super) request_tokens: u64,
    /// Whether the model answered an earlier request of the attempt.
    pub(super) was_answered: bool,
    /// Whether a part of the answer was handed out.
    pub(super) was_streaming: bool,
}

impl<'h> Assembled<'h> {
    /// Asks the model until it is done, running the tools it calls. Each message is stored as it comes; the last one
    /// together with the end of the turn and the outbox row.
    pub(super) fn answer(
        self,
        model: &mut dyn Model,
        tools: &mut dyn Tools,
        on_event: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Attempt<'h>, TurnError> {
        let Self {
            mut admitted,
            mut view,
            past,
            system_prompt,
        } = self;
        let model_use = &mut admitted.turn.record.model;
        model_use.provider.clone_from(&admitted.facts.provider);
        model_use.id.clone_from(&admitted.facts.model_id);
        let mut was_answered = false;
        loop {
            admitted.view_for_request(&mut view, &past, tools.specs())?;
            admitted.turn.go_on()?;
            let messages = admitted.request_messages(&view, &past)?;
            let began_ms = admitted.request_begins(&past);
            let mut was_streaming = false;
            let mut on_text = |text: &str| {
                was_streaming = true;
                on_event(TurnEvent::Text(text));
            };
            let asked = admitted
                .turn
                .ask(model, tools, &system_prompt, &messages, &mut on_text);
            // A cancelled request may fail in any words, or answer to the end.
            admitted.turn.go_on()?;
            let reply = match asked {
                Ok(reply) => reply,
                Err(error) => {
                    return Ok(Attempt::Failed(Failed {
                        request_tokens: sum(&messages) + TokenCounter.text(&system_prompt),
                        turn: admitted,
                        error,
                        was_answered,
                        was_streaming,
                    }));
                }
            };
            was_answered = true;
            admitted.request_answered(&past, began_ms);
            admitted.turn.record.model.add(reply.usage);
            let is_done = !reply.content.iter().any(is_call);
            let message = message::assistant(&reply, model.info(), &admitted.turn);
            if is_done {
                let answered = admitted.accept(&message)?;
                return Ok(Attempt::Answered(Box::new(answered)));
            }
            admitted.append(Role::Assistant, &message)?;
            admitted.run_tools(&reply.content, tools)?;
            if admitted.turn.record.model.requests >= REQUEST_LIMIT {
                let endless = TurnError::EndlessTools(REQUEST_LIMIT);
                return Err(admitted.turn.give_up(endless));
            }
        }
    }
}

fn is_call(block: &Block) -> bool {
    matches!(block, Block::ToolCall { .. })
}

impl<'h> Admitted<'h> {
    /// Runs the calls of an answer. What is only for display goes behind all results, so that these stay behind their
    /// calls.
    fn run_tools(&mut self, content: &[Block], tools: &mut dyn Tools) -> Result<(), TurnError> {
        let mut notes = Vec::new();
        for block in content {
            let Block::ToolCall {
                id,
                name,
                arguments,
            } = block
            else {
                continue;
            };
            self.turn.go_on()?;
            let outcome = tools.run(name, arguments, &self.turn.request.cancel);
            let result = message::tool_result(id, name, &outcome, &self.turn);
            self.append(Role::ToolResult, &result)?;
            notes.extend(outcome.notes);
        }
        for note in notes {
            self.turn.store_row(&message::note(&note, &self.turn))?;
        }
        Ok(())
    }

    /// Stores a message in mid-turn; the next request has it.
    fn append(&mut self, role: Role, message: &Value) -> Result<(), TurnError> {
        let text = self.turn.store_row(message)?;
        self.pending.push(Held::made(role, text));
        Ok(())
    }

    /// Stores the last message, the end of the turn and what the engine is owed, all or nothing.
    fn accept(self, message: &Value) -> Result<Answered<'h>, TurnError> {
        let Self {
            mut turn,
            admission,
            facts,
            ..
        } = self;
        let text = message.to_string();
        let row = turn.next_row(&text);
        let turn_id = turn.turn_id.clone();
        let host = turn.host;
        let mut session = turn.session.clone();
        match admission {
            None => host.store().accept_reply(&mut session, &turn_id, &row)?,
            Some(admission) => {
                let parent = session.append_parent.clone();
                let frame = turn.anchor(&session, "", 0, parent.as_deref(), 0);
                let commit = |session: &Session, seq: i64| {
                    let terminal = Anchor {
                        entry_id: session.append_parent.clone().unwrap_or_default(),
                        raw_seq: u64::try_from(seq).unwrap_or(0),
                        active_message_position: u64::try_from(session.message_count - 1)
                            .unwrap_or(0),
                        ..frame
                    };
                    turn.commit_params(admission, terminal, &facts)
                };
                let owed = turn.owed.as_deref();
                host.store()
                    .accept(&mut session, &turn_id, &row, owed, commit)?;
            }
        }
        turn.session = session;
        Ok(Answered {
            reply: text_of(&text).unwrap_or_default(),
            turn,
            facts,
        })
    }
}

impl Turn<'_> {
    fn ask(
        &mut self,
        model: &mut dyn Model,
        tools: &dyn Tools,
        system_prompt: &str,
        messages: &[Held],
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        let texts: Vec<&str> = messages.iter().map(|message| &*message.json).collect();
        let is_cancelled = || self.request.cancel.is_cancelled();
        let request = ModelRequest {
            system_prompt,
            messages: &texts,
            tools: tools.specs(),
            is_cancelled: &is_cancelled,
        };
        let reply = model.respond(request, on_text)?;
        said_something(reply, model.info())
    }

    /// Stores a message and returns its text.
    fn store_row(&mut self, message: &Value) -> Result<String, TurnError> {
        let text = message.to_string();
        let row = self.next_row(&text);
        self.host.store().append_rows(&mut self.session, &[row])?;
        Ok(text)
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
