//! Where a turn stands in its session, and how it moves when an engine changes what stands before it.

use super::admission::Admitted;
use super::open::Turn;
use super::params::ModelFacts;
use super::{TurnError, TurnKind};
use crate::history::Held;
use crate::store::{MovedTurn, PathEntry, PendingTurn, Rotation, Session, StoreError};
use openclaw_interface::Role;
use openclaw_interface::model::{Anchor, CommitParams, SessionTarget};
use serde_json::Map;
use std::sync::Arc;

/// Where a turn starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Position on the active path of the turn's first entry.
    pub(super) position: i64,
    /// Messages on the path before it.
    pub(super) messages_before: i64,
}

impl Place {
    /// Behind everything.
    pub(super) fn end_of(session: &Session) -> Self {
        Self {
            position: session.path_length,
            messages_before: session.message_count,
        }
    }
}

/// A user entry on the active path.
pub(super) struct UserEntry {
    pub(super) user: Held,
    pub(super) anchor: Anchor,
    pub(super) place: Place,
    /// Whether a later turn has begun behind it.
    pub(super) is_left_behind: bool,
}

impl Turn<'_> {
    /// The user entry stored at `seq`; `None` when it is not on the active path.
    pub(super) fn user_entry(&self, seq: i64) -> Result<Option<UserEntry>, StoreError> {
        let store = self.host.store();
        let Some(position) = store.position_of(&self.session, seq)? else {
            return Ok(None);
        };
        let from_parent = (position - 1).max(0)..self.session.path_length;
        let entries = store.path_between(&self.session, from_parent)?;
        drop(store);
        let (parent, behind) = entries.split_at(usize::from(position > 0));
        let Some((entry, later)) = behind.split_first() else {
            return Ok(None);
        };
        let found = self.read_user_entry(position, entry, parent.first());
        let is_user = |entry: &PathEntry| {
            let message = entry.row.message();
            message.is_some_and(|message| message.role() == Role::User)
        };
        Ok(found.map(|found| UserEntry {
            is_left_behind: later.iter().any(is_user),
            ..found
        }))
    }

    fn read_user_entry(
        &self,
        position: i64,
        entry: &PathEntry,
        parent: Option<&PathEntry>,
    ) -> Option<UserEntry> {
        let user = entry.held()?;
        let messages_before = entry.message_position?;
        let parent = parent.and_then(|it| it.row.id());
        let mut anchor = self.anchor(&self.session, &user.id, entry.seq, parent, messages_before);
        let key = entry.row.message().and_then(|it| it.idempotency_key());
        anchor.idempotency_key = key.map(str::to_owned);
        self.mark_as_admission(&mut anchor);
        Some(UserEntry {
            user,
            anchor,
            place: Place {
                position,
                messages_before,
            },
            is_left_behind: false,
        })
    }

    fn mark_as_admission(&self, anchor: &mut Anchor) {
        let extra = &mut anchor.extra;
        extra.insert("logicalTurnId".into(), self.turn_id.clone().into());
        extra.insert("role".into(), "user".into());
    }

    pub(super) fn anchor(
        &self,
        session: &Session,
        entry_id: &str,
        seq: i64,
        parent: Option<&str>,
        message_position: i64,
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
            active_message_position: u64::try_from(message_position).unwrap_or(0),
            ..Anchor::default()
        }
    }

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

impl Admitted<'_> {
    /// The commit as long as the user entry is all there is.
    pub(super) fn first_commit(&self) -> Option<CommitParams> {
        let admission = self.admission.clone()?;
        let commit = self
            .turn
            .commit_params(admission.clone(), admission, &self.facts);
        Some(commit)
    }

    /// Reads the session again, after an engine may have changed it, and finds the user entry where it is now: a rewrite
    /// of what stands before it stores it anew.
    pub(super) fn read_again(&mut self) -> Result<(), TurnError> {
        let turn = &mut self.turn;
        let stored = turn.host.store().reload(&turn.session)?;
        if stored.next_seq == turn.session.next_seq && stored.generation == turn.session.generation
        {
            return Ok(());
        }
        turn.session = stored;
        let Some(admission) = &self.admission else {
            return Ok(());
        };
        let seq = i64::try_from(admission.raw_seq).unwrap_or(i64::MAX);
        if turn.host.store().position_of(&turn.session, seq)?.is_some() {
            return Ok(());
        }
        let path = turn.host.store().path_of(&turn.session)?;
        let key = admission.idempotency_key.as_deref();
        let is_it = |entry: &PathEntry| {
            let found = entry.row.message().and_then(|it| it.idempotency_key());
            key.is_some() && found == key
        };
        let moved_on = || TurnError::MovedOn(turn.turn_id.clone());
        let at = path.iter().rposition(is_it).ok_or_else(moved_on)?;
        let parent = at.checked_sub(1).map(|before| &path[before]);
        let position = i64::try_from(at).unwrap_or(i64::MAX);
        let found = turn
            .read_user_entry(position, &path[at], parent)
            .ok_or_else(moved_on)?;
        let store = &mut turn.host.store();
        store.move_admission(&turn.turn_id, path[at].seq)?;
        self.place = found.place;
        self.pending[0] = found.user;
        self.admission = Some(found.anchor);
        if let (Some(engine_id), Some(commit)) = (&self.turn.owed, self.first_commit()) {
            store.announce(&PendingTurn {
                engine_id,
                session_id: &self.turn.session.id,
                commit: &commit,
            })?;
        }
        Ok(())
    }

    /// Goes on in a new transcript, with what the turn has stored so far: neither the user's message nor the reply is
    /// lost to the engine.
    pub(super) fn move_to(&mut self, successor_id: &str) -> Result<(), StoreError> {
        let turn = &self.turn;
        let rotation = Rotation::new(turn.host, successor_id);
        let of_turn = self.place.position..turn.session.path_length;
        let stored = turn.host.store().path_between(&turn.session, of_turn)?;
        // What a try that died left behind is on the path until this one stores something.
        let leaf = turn.session.append_parent.as_deref();
        let own = stored.iter().rposition(|entry| entry.row.id() == leaf);
        let messages: Vec<Arc<str>> = stored[..own.map_or(0, |last| last + 1)]
            .iter()
            .filter_map(|entry| Some(entry.held()?.json))
            .collect();
        let key = self
            .admission
            .as_ref()
            .and_then(|it| it.idempotency_key.clone());
        let commit = |session: &Session, seq: i64, id: &str| {
            let mut admission = turn.anchor(session, id, seq, None, 0);
            admission.idempotency_key.clone_from(&key);
            turn.mark_as_admission(&mut admission);
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
        self.turn.session = rotated.session;
        self.turn
            .record
            .session_id
            .clone_from(&self.turn.session.id);
        self.place = Place {
            position: 0,
            messages_before: 0,
        };
        if let (Some(_), Some(seq)) = (&self.admission, rotated.seqs.first()) {
            let found = self.turn.user_entry(*seq)?;
            if let Some(found) = found {
                self.pending[0] = found.user;
                self.admission = Some(found.anchor);
            }
        }
        Ok(())
    }
}
