//! Puts the user's message on disk before anything else happens with it.

use super::open::{Opened, Turn, degraded, unchecked};
use super::params::ModelFacts;
use super::{TurnError, TurnKind, TurnOutcome, TurnRecord, advance};
use crate::history::Held;
use crate::store::{PendingTurn, StoreErrorKind, TurnState};
use openclaw_interface::Role;
use openclaw_interface::model::Anchor;
use openclaw_transcript::message_row;
use serde_json::{Value, json};

/// A turn whose user entry is stored, unless it is an announcement.
pub(super) struct Admitted<'h> {
    pub(super) turn: Turn<'h>,
    /// Position on the active path of the turn's first entry.
    pub(super) position: i64,
    /// The user's message and what the turn has stored behind it, as far as a model may see it.
    pub(super) pending: Vec<Held>,
    /// Whether the transcript had a message when the attempt began.
    pub(super) has_messages: bool,
    /// The user entry; `None` for an announcement.
    pub(super) admission: Option<Anchor>,
    /// Whether the host has put a summary behind the turn's first entry.
    pub(super) was_folded: bool,
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
        let is_new = earlier.is_none();
        let seq = match earlier {
            None if turn.request.kind == TurnKind::Announcement => {
                return Ok(Admission::Admitted(turn.announced(facts)));
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
        turn.admitted(seq, is_new, facts).map(Admission::Admitted)
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
    fn announced(self, facts: ModelFacts) -> Box<Admitted<'h>> {
        let message = json!({ "role": "user", "content": self.request.text });
        Box::new(Admitted {
            position: self.session.path_length,
            has_messages: self.session.message_count > 0,
            pending: vec![Held::made(Role::User, message.to_string())],
            admission: None,
            was_folded: false,
            facts,
            turn: self,
        })
    }

    /// Finds the user entry. What a try that died left behind the entry is no part of the turn: the next entry goes
    /// behind the user entry again and leaves it on a branch of its own.
    fn admitted(
        mut self,
        seq: i64,
        is_new: bool,
        facts: ModelFacts,
    ) -> Result<Box<Admitted<'h>>, TurnError> {
        let Some(found) = self.user_entry(seq)? else {
            return Err(TurnError::MovedOn(self.turn_id));
        };
        if found.is_left_behind {
            return Err(TurnError::MovedOn(self.turn_id));
        }
        if text_of(&found.user.json) != Some(self.request.text.clone()) {
            return Err(TurnError::TurnIdTaken(self.turn_id));
        }
        self.session.append_parent = Some(found.user.id.to_string());
        let mut admitted = Box::new(Admitted {
            has_messages: !is_new || found.anchor.active_message_position > 0,
            position: found.position,
            pending: vec![found.user],
            admission: Some(found.anchor),
            was_folded: false,
            facts,
            turn: self,
        });
        admitted.announce()?;
        Ok(admitted)
    }

    /// Hands out the reply of a turn that was answered, after the engine got what it is owed.
    fn answered(mut self, admission_seq: i64, terminal_seq: i64) -> Result<TurnOutcome, TurnError> {
        let stored =
            self.host
                .store()
                .messages_between(&self.session, admission_seq, terminal_seq)?;
        let is_same = stored.first().is_some_and(|first| {
            let is_asked = first.role == Role::User;
            match self.request.kind {
                TurnKind::Announcement => !is_asked,
                TurnKind::Message | TurnKind::Heartbeat => {
                    is_asked && text_of(&first.json) == Some(self.request.text.clone())
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
}

impl Admitted<'_> {
    /// Notes for which engine the turn is meant. An earlier try may have been meant for another one: that one is owed the
    /// turn, and no other engine sees it.
    pub(super) fn announce(&mut self) -> Result<(), TurnError> {
        let (Some(engine_id), Some(commit)) = (&self.turn.owed, self.first_commit()) else {
            return Ok(());
        };
        let pending = PendingTurn {
            engine_id,
            session_id: &self.turn.session.id,
            commit: &commit,
        };
        let announced = self.turn.host.store().announce(&pending);
        let Err(error) = announced else {
            return Ok(());
        };
        let StoreErrorKind::KeyCollision { engine_id, .. } = &error.kind else {
            return Err(error.into());
        };
        self.turn.owed = Some(engine_id.clone());
        self.turn.substitute(degraded("outbox", unchecked(&error)))
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
