//! Puts the user's message on disk before anything else happens with it.

use super::open::{Opened, Turn};
use super::{TurnError, TurnOutcome, TurnRecord, advance};
use crate::history::Held;
use crate::model::ModelInfo;
use crate::store::{PathEntry, PendingTurn, TurnState};
use openclaw_interface::Role;
use openclaw_interface::model::{Anchor, CommitParams, SessionTarget};
use openclaw_transcript::message_row;
use serde_json::{Map, Value, json};

/// A turn whose user entry is stored.
pub(super) struct Admitted<'h> {
    pub(super) turn: Turn<'h>,
    /// The active path before the user entry.
    pub(super) before: Vec<PathEntry>,
    /// The user entry.
    pub(super) user: Held,
    pub(super) admission: Anchor,
    pub(super) facts: ModelFacts,
}

/// What admission found.
pub(super) enum Admission<'h> {
    Admitted(Box<Admitted<'h>>),
    /// The turn was answered before.
    Answered(Box<TurnOutcome>),
}

/// The facts about the model that a commit carries.
#[derive(Clone)]
pub(crate) struct ModelFacts {
    pub(crate) provider: String,
    pub(crate) model_id: String,
    pub(crate) window_tokens: u64,
    pub(crate) budget_tokens: u64,
}

impl<'h> Opened<'h> {
    /// Stores the user's message, or finds it stored by an earlier try of this turn.
    pub(super) fn admit(self, model: &ModelInfo) -> Result<Admission<'h>, TurnError> {
        let Self(mut turn) = self;
        let budget_tokens = turn
            .request
            .context_tokens
            .unwrap_or(u64::MAX)
            .min(model.context_window_tokens);
        let facts = ModelFacts {
            provider: model.provider.clone(),
            model_id: model.id.clone(),
            window_tokens: model.context_window_tokens,
            budget_tokens,
        };
        let earlier = turn.host.store().turn(&turn.turn_id)?;
        let seq = match earlier {
            None => turn.store_user_entry()?,
            Some(TurnState { session_id, .. }) if session_id != turn.session.id => {
                return Err(TurnError::TurnIdTaken(turn.turn_id));
            }
            Some(TurnState {
                terminal_seq: Some(terminal),
                admission_seq,
                ..
            }) => {
                return turn
                    .answered(admission_seq, terminal)
                    .map(|outcome| Admission::Answered(Box::new(outcome)));
            }
            Some(TurnState { admission_seq, .. }) => admission_seq,
        };
        turn.admitted(seq, facts)
            .map(|admitted| Admission::Admitted(Box::new(admitted)))
    }
}

impl<'h> Turn<'h> {
    fn store_user_entry(&mut self) -> Result<i64, TurnError> {
        let ambient = self.host.ambient();
        let message = json!({
            "role": "user",
            "content": self.request.text,
            "timestamp": ambient.now_ms(),
            "idempotencyKey": format!("{}:user", self.turn_id),
            "__openclaw": { "senderIsOwner": true },
        });
        let row = message_row(
            &ambient.new_id(),
            self.session.append_parent.as_deref(),
            &ambient.timestamp(),
            &message.to_string(),
        );
        Ok(self
            .host
            .store()
            .admit(&mut self.session, &self.turn_id, &row)?)
    }

    /// Splits the active path at the user entry. What a try that died left behind the entry is no part of the turn: the
    /// next entry goes behind the user entry again and leaves it on a branch of its own.
    fn admitted(mut self, seq: i64, facts: ModelFacts) -> Result<Admitted<'h>, TurnError> {
        let mut before = self.host.store().path_of(&self.session)?;
        let place = before.iter().position(|entry| entry.seq == seq);
        let Some(place) = place else {
            return Err(TurnError::MovedOn(self.turn_id));
        };
        let behind = before.split_off(place);
        let later_turn = |entry: &PathEntry| {
            entry
                .row
                .message()
                .is_some_and(|it| it.role() == Role::User)
        };
        if behind.iter().skip(1).any(later_turn) {
            return Err(TurnError::MovedOn(self.turn_id));
        }
        let user = behind
            .into_iter()
            .next()
            .and_then(|entry| Some((entry.row.message().cloned()?, entry)));
        let Some((message, entry)) = user else {
            return Err(TurnError::MovedOn(self.turn_id));
        };
        if text_of(message.json()) != Some(self.request.text.clone()) {
            return Err(TurnError::TurnIdTaken(self.turn_id));
        }
        let id = entry.row.id().unwrap_or_default().to_owned();
        self.session.append_parent = Some(id.clone());
        let user = Held {
            id: id.clone(),
            role: Role::User,
            tokens: u32::try_from(entry.tokens).unwrap_or(u32::MAX),
            json: message.shared_json(),
        };
        let mut admission = self.anchor(
            &id,
            seq,
            before.last().and_then(|it| it.row.id()),
            entry.message_position,
        );
        admission.idempotency_key = message.idempotency_key().map(str::to_owned);
        admission
            .extra
            .insert("logicalTurnId".into(), self.turn_id.clone().into());
        admission.extra.insert("role".into(), "user".into());
        let admitted = Admitted {
            before,
            user,
            admission,
            facts,
            turn: self,
        };
        if let Some(engine_id) = &admitted.turn.owed {
            let commit = admitted.commit_params(admitted.admission.clone());
            let pending = PendingTurn {
                engine_id,
                session_id: &admitted.turn.session.id,
                commit: &commit,
            };
            admitted.turn.host.store().announce(&pending)?;
        }
        Ok(admitted)
    }

    /// Hands out the reply of a turn that was answered, after the engine got what it is owed.
    fn answered(mut self, admission_seq: i64, terminal_seq: i64) -> Result<TurnOutcome, TurnError> {
        let stored =
            self.host
                .store()
                .messages_between(&self.session, admission_seq, terminal_seq)?;
        let is_same = stored
            .first()
            .is_some_and(|first| text_of(&first.json) == Some(self.request.text.clone()));
        if !is_same {
            return Err(TurnError::TurnIdTaken(self.turn_id));
        }
        let reply = stored
            .last()
            .and_then(|last| text_of(&last.json))
            .unwrap_or_default();
        let recovered_commits = std::mem::take(&mut self.record.recovered_commits);
        let recorded = self.host.store().turn_record(&self.turn_id)?;
        let mut record: TurnRecord = recorded
            .and_then(|json| serde_json::from_str(&json).ok())
            .unwrap_or_else(|| self.record.clone());
        record.commit = advance::outcome_of_earlier(
            self.host,
            &recovered_commits,
            record.commit,
            &self.turn_id,
        )?;
        record.recovered_commits = recovered_commits;
        Ok(TurnOutcome {
            reply,
            record,
            is_repeat: true,
        })
    }

    pub(super) fn anchor(
        &self,
        entry_id: &str,
        seq: i64,
        parent: Option<&str>,
        message_position: Option<i64>,
    ) -> Anchor {
        Anchor {
            agent_id: self.host.agent_id().to_owned(),
            session_id: self.session.id.clone(),
            session_key: self.session.key.clone(),
            store_path: self.host.store_path_text(),
            generation: self.session.generation.clone(),
            entry_id: entry_id.to_owned(),
            raw_seq: u64::try_from(seq).unwrap_or(0),
            effective_parent_id: parent.map(str::to_owned),
            active_message_position: message_position
                .and_then(|it| u64::try_from(it).ok())
                .unwrap_or(0),
            ..Anchor::default()
        }
    }
}

impl Admitted<'_> {
    /// The commit of this turn, ending at `terminal`.
    pub(super) fn commit_params(&self, terminal: Anchor) -> CommitParams {
        commit_params(
            &self.turn.turn_id,
            self.admission.clone(),
            terminal,
            &self.facts,
        )
    }
}

/// The commit of a turn.
pub(crate) fn commit_params(
    turn_id: &str,
    admission: Anchor,
    terminal: Anchor,
    facts: &ModelFacts,
) -> CommitParams {
    let model = json!({
        "provider": facts.provider,
        "modelId": facts.model_id,
        "modelContextWindow": facts.window_tokens,
        "tokenBudget": facts.budget_tokens,
    });
    let runtime_context: Option<Map<String, Value>> = model.as_object().cloned();
    CommitParams {
        advancement_key: turn_id.to_owned(),
        session_id: admission.session_id.clone(),
        session_key: Some(admission.session_key.clone()),
        session_target: Some(SessionTarget {
            agent_id: Some(admission.agent_id.clone()),
            session_id: Some(admission.session_id.clone()),
            session_key: Some(admission.session_key.clone()),
            store_path: Some(admission.store_path.clone()),
            extra: Map::new(),
        }),
        is_heartbeat: false,
        runtime_context,
        admission,
        terminal,
        extra: Map::new(),
    }
}

/// The text of a message, its text blocks joined.
pub(super) fn text_of(message_json: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message_json).ok()?;
    match message.get("content")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts = blocks
                .iter()
                .filter(|block| block["type"] == "text")
                .filter_map(|block| block["text"].as_str());
            Some(texts.collect())
        }
        _ => None,
    }
}
