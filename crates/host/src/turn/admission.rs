//! Puts the user's message on disk before anything else happens with it.

use super::open::{Opened, Turn};
use super::params::ModelFacts;
use super::{TurnError, TurnKind, TurnOutcome, TurnRecord, advance};
use crate::history::Held;
use crate::store::{MovedTurn, PathEntry, PendingTurn, Rotation, Session, StoreError, TurnState};
use openclaw_interface::Role;
use openclaw_interface::model::{Anchor, CommitParams, SessionTarget};
use openclaw_transcript::message_row;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A turn whose user entry is stored, unless it is an announcement.
pub(super) struct Admitted<'h> {
    pub(super) turn: Turn<'h>,
    /// The active path before the turn.
    pub(super) before: Vec<PathEntry>,
    /// The user's message and what the turn has stored behind it, as far as a model may see it.
    pub(super) pending: Vec<Held>,
    /// The user entry; `None` for an announcement.
    pub(super) admission: Option<Anchor>,
    /// Place of the first entry that the turn stores.
    first_seq: i64,
    pub(super) facts: ModelFacts,
}

/// What admission found.
pub(super) enum Admission<'h> {
    Admitted(Box<Admitted<'h>>),
    /// The turn was answered before.
    Answered(Box<TurnOutcome>),
}

impl<'h> Opened<'h> {
    /// Stores the user's message, or finds it stored by an earlier try of this turn.
    pub(super) fn admit(self, facts: ModelFacts) -> Result<Admission<'h>, TurnError> {
        let Self(mut turn) = self;
        let earlier = turn.host.store().turn(&turn.turn_id)?;
        let seq = match earlier {
            None if turn.request.kind == TurnKind::Announcement => {
                return turn.announced(facts).map(Admission::Admitted);
            }
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
        turn.admitted(seq, facts).map(Admission::Admitted)
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

    /// An announcement starts behind what is there and stores nothing of its own.
    fn announced(self, facts: ModelFacts) -> Result<Box<Admitted<'h>>, TurnError> {
        let message = json!({ "role": "user", "content": self.request.text });
        Ok(Box::new(Admitted {
            before: self.host.store().path_of(&self.session)?,
            pending: vec![Held::made(Role::User, message.to_string())],
            admission: None,
            first_seq: self.session.next_seq,
            facts,
            turn: self,
        }))
    }

    /// Splits the active path at the user entry. What a try that died left behind the entry is no part of the turn: the
    /// next entry goes behind the user entry again and leaves it on a branch of its own.
    fn admitted(mut self, seq: i64, facts: ModelFacts) -> Result<Box<Admitted<'h>>, TurnError> {
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
        let Some(entry) = behind.into_iter().next() else {
            return Err(TurnError::MovedOn(self.turn_id));
        };
        let Some((user, admission)) = self.user_entry(&entry, before.last()) else {
            return Err(TurnError::MovedOn(self.turn_id));
        };
        if text_of(&user.json) != Some(self.request.text.clone()) {
            return Err(TurnError::TurnIdTaken(self.turn_id));
        }
        self.session.append_parent = Some(user.id.clone());
        let admitted = Admitted {
            before,
            pending: vec![user],
            admission: Some(admission),
            first_seq: seq,
            facts,
            turn: self,
        };
        if let (Some(engine_id), Some(commit)) = (&admitted.turn.owed, admitted.first_commit()) {
            let pending = PendingTurn {
                engine_id,
                session_id: &admitted.turn.session.id,
                commit: &commit,
            };
            admitted.turn.host.store().announce(&pending)?;
        }
        Ok(Box::new(admitted))
    }

    /// The user's message and its place.
    fn user_entry(&self, entry: &PathEntry, parent: Option<&PathEntry>) -> Option<(Held, Anchor)> {
        let message = entry.row.message()?;
        let id = entry.row.id().unwrap_or_default();
        let user = Held {
            id: id.to_owned(),
            role: Role::User,
            tokens: u32::try_from(entry.tokens).unwrap_or(u32::MAX),
            json: message.shared_json(),
        };
        let parent = parent.and_then(|it| it.row.id());
        let position = entry.message_position;
        let mut anchor = self.anchor(&self.session, id, entry.seq, parent, position);
        anchor.idempotency_key = message.idempotency_key().map(str::to_owned);
        self.mark_as_admission(&mut anchor);
        Some((user, anchor))
    }

    fn mark_as_admission(&self, anchor: &mut Anchor) {
        let extra = &mut anchor.extra;
        extra.insert("logicalTurnId".into(), self.turn_id.clone().into());
        extra.insert("role".into(), "user".into());
    }

    /// Hands out the reply of a turn that was answered, after the engine got what it is owed.
    fn answered(mut self, admission_seq: i64, terminal_seq: i64) -> Result<TurnOutcome, TurnError> {
        let stored =
            self.host
                .store()
                .messages_between(&self.session, admission_seq, terminal_seq)?;
        let is_same = stored.first().is_some_and(|first| {
            let is_unasked = first.role != Role::User;
            match self.request.kind {
                TurnKind::Announcement => is_unasked,
                TurnKind::Message | TurnKind::Heartbeat => {
                    text_of(&first.json) == Some(self.request.text.clone()) && !is_unasked
                }
            }
        });
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
        session: &Session,
        entry_id: &str,
        seq: i64,
        parent: Option<&str>,
        message_position: Option<i64>,
    ) -> Anchor {
        Anchor {
            agent_id: self.host.agent_id().to_owned(),
            session_id: session.id.clone(),
            session_key: session.key.clone(),
            store_path: self.store_path.clone(),
            generation: session.generation.clone(),
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
    /// The commit as long as the user entry is all there is.
    fn first_commit(&self) -> Option<CommitParams> {
        let admission = self.admission.clone()?;
        Some(
            self.turn
                .commit_params(admission.clone(), admission, &self.facts),
        )
    }

    /// Reads what stands before the turn again, after an engine may have changed it, and finds the user entry where it
    /// is now.
    pub(super) fn read_again(&mut self) -> Result<(), TurnError> {
        let turn = &mut self.turn;
        turn.session = turn.host.store().reload(&turn.session)?;
        let mut path = turn.host.store().path_of(&turn.session)?;
        let Some(admission) = &mut self.admission else {
            path.retain(|entry| entry.seq < self.first_seq);
            self.before = path;
            return Ok(());
        };
        let key = admission.idempotency_key.as_deref();
        let is_user = |entry: &PathEntry| {
            let found = entry.row.message().and_then(|it| it.idempotency_key());
            entry.seq == self.first_seq || (key.is_some() && found == key)
        };
        let Some(place) = path.iter().position(is_user) else {
            return Err(TurnError::MovedOn(turn.turn_id.clone()));
        };
        let behind = path.split_off(place);
        let found = turn.user_entry(&behind[0], path.last());
        let Some((user, anchor)) = found else {
            return Err(TurnError::MovedOn(turn.turn_id.clone()));
        };
        if anchor.raw_seq != admission.raw_seq {
            turn.host
                .store()
                .move_admission(&turn.turn_id, behind[0].seq)?;
        }
        self.first_seq = behind[0].seq;
        *admission = anchor;
        self.pending[0] = user;
        self.before = path;
        Ok(())
    }

    /// Goes on in a new transcript, with what the turn has stored so far: neither the user's message nor the reply is
    /// lost to the engine.
    pub(super) fn move_to(&mut self, successor_id: &str) -> Result<(), StoreError> {
        let turn = &self.turn;
        let rotation = Rotation::new(turn.host, successor_id);
        let stored = turn
            .host
            .store()
            .messages_between(&turn.session, self.first_seq, i64::MAX)?;
        let messages: Vec<Arc<str>> = stored.into_iter().map(|message| message.json).collect();
        let key = self
            .admission
            .as_ref()
            .and_then(|it| it.idempotency_key.clone());
        let admission = |session: &Session, seq: i64, id: &str| {
            let mut anchor = turn.anchor(session, id, seq, None, Some(0));
            anchor.idempotency_key.clone_from(&key);
            turn.mark_as_admission(&mut anchor);
            anchor
        };
        let commit = |session: &Session, seq: i64, id: &str| {
            let admission = admission(session, seq, id);
            turn.commit_params(admission.clone(), admission, &self.facts)
        };
        let moved = MovedTurn {
            turn_id: &turn.turn_id,
            messages: &messages,
            is_admitted: self.admission.is_some(),
            owed: turn.owed.as_deref(),
            commit: &commit,
        };
        let rotated = turn
            .host
            .store()
            .rotate(&turn.session, &rotation, Some(&moved))?;
        self.first_seq = rotated
            .seqs
            .first()
            .copied()
            .unwrap_or(rotated.session.next_seq);
        self.turn.record.session_id.clone_from(&rotated.session.id);
        self.turn.session = rotated.session;
        Ok(())
    }
}

impl Turn<'_> {
    /// The commit of this turn.
    pub(super) fn commit_params(
        &self,
        admission: Anchor,
        terminal: Anchor,
        facts: &ModelFacts,
    ) -> CommitParams {
        CommitParams {
            advancement_key: self.turn_id.clone(),
            session_id: admission.session_id.clone(),
            session_key: Some(admission.session_key.clone()),
            session_target: Some(SessionTarget {
                agent_id: Some(admission.agent_id.clone()),
                session_id: Some(admission.session_id.clone()),
                session_key: Some(admission.session_key.clone()),
                store_path: Some(admission.store_path.clone()),
                extra: Map::new(),
            }),
            is_heartbeat: self.request.kind == TurnKind::Heartbeat,
            runtime_context: Some(facts.committed()),
            admission,
            terminal,
            extra: Map::new(),
        }
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
