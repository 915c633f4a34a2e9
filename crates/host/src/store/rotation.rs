//! Successors: a session key that goes on with another transcript, with the turn that is running.

use super::Store;
use super::entries::append_texts;
use super::error::{StoreError, StoreErrorKind};
use super::outbox::{self, PendingTurn};
use super::sessions::{self, Session};
use crate::Host;
use openclaw_interface::model::CommitParams;
use openclaw_transcript::{header_row, message_row};
use rusqlite::params;
use std::sync::Arc;

/// The transcript to come.
#[derive(Clone, Debug)]
pub(crate) struct Rotation {
    id: String,
    header: String,
    generation: String,
}

impl Rotation {
    pub(crate) fn new(host: &Host, id: &str) -> Self {
        let ambient = host.ambient();
        Self {
            id: id.to_owned(),
            header: header_row(id, &ambient.timestamp(), &host.workspace_text()),
            generation: ambient.new_id(),
        }
    }
}

/// A running turn that goes along.
pub(crate) struct MovedTurn<'a> {
    pub(crate) turn_id: &'a str,
    /// The messages it has stored so far, the user entry first.
    pub(crate) messages: &'a [Arc<str>],
    /// Whether the first of them is its user entry.
    pub(crate) is_admitted: bool,
    /// The engine that is owed it.
    pub(crate) owed: Option<&'a str>,
    /// Builds the commit once the place of the user entry is known.
    pub(crate) commit: &'a dyn Fn(&Session, i64, &str) -> CommitParams,
}

/// A session on its new transcript.
pub(crate) struct Rotated {
    pub(crate) session: Session,
    /// Places of the messages that went along.
    pub(crate) seqs: Vec<i64>,
}

impl Store {
    /// Makes an empty transcript and puts the session's key on it, in one transaction. The old transcript stays and is
    /// found by its id. A running turn goes along: its messages are stored again at the start of the new transcript,
    /// under the same turn id, and what the engine is owed is anchored there.
    pub(crate) fn rotate(
        &mut self,
        old: &Session,
        rotation: &Rotation,
        turn: Option<&MovedTurn<'_>>,
    ) -> Result<Rotated, StoreError> {
        let ambient = self.ambient.clone();
        let now_ms = ambient.now_ms();
        self.transaction("move a session in", |transaction, attempt| {
            match sessions::by_key(transaction, &old.key, attempt)? {
                Some(bound) if bound.id == old.id => {}
                _ => return Err(attempt.kind(StoreErrorKind::NoSession(old.key.clone()))),
            }
            if sessions::by_id(transaction, &rotation.id, attempt)?.is_some() {
                return Err(attempt.kind(StoreErrorKind::SessionTaken(rotation.id.clone())));
            }
            let sql = "DELETE FROM session_keys WHERE session_key = ?1";
            transaction
                .execute(sql, [&old.key])
                .map_err(|error| attempt.sql(error))?;
            let new = (
                &*old.key,
                &*rotation.id,
                &*rotation.header,
                &*rotation.generation,
            );
            let mut session = sessions::create(transaction, new, now_ms, attempt)?;
            let mut seqs = Vec::new();
            let mut first_id = None;
            let messages = turn.map(|turn| turn.messages).unwrap_or_default();
            for message in messages {
                let id = ambient.new_id();
                let parent = session.append_parent.clone();
                let row = message_row(&id, parent.as_deref(), &ambient.timestamp(), message);
                seqs.extend(append_texts(transaction, &mut session, &[row], attempt)?);
                first_id.get_or_insert(id);
            }
            session.save(transaction, now_ms, attempt)?;
            let admitted = turn.filter(|turn| turn.is_admitted).zip(first_id);
            if let (Some((turn, first_id)), Some(seq)) = (admitted, seqs.first()) {
                let sql = "UPDATE turns SET session_id = ?2, admission_seq = ?3 WHERE turn_id = ?1";
                transaction
                    .execute(sql, params![turn.turn_id, session.id, seq])
                    .map_err(|error| attempt.sql(error))?;
                if let Some(engine_id) = turn.owed {
                    let commit = (turn.commit)(&session, *seq, &first_id);
                    let pending = PendingTurn {
                        engine_id,
                        session_id: &session.id,
                        commit: &commit,
                    };
                    outbox::remove(transaction, turn.turn_id, attempt)?;
                    outbox::admit(transaction, &pending, now_ms, attempt)?;
                }
            }
            Ok(Rotated { session, seqs })
        })
    }

    /// A session as it is stored now.
    pub(crate) fn reload(&self, session: &Session) -> Result<Session, StoreError> {
        let attempt = self.attempt("read");
        let found = sessions::by_id(&self.connection, &session.id, &attempt)?;
        found.ok_or_else(|| attempt.kind(StoreErrorKind::NoSession(session.id.clone())))
    }
}
