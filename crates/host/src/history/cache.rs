//! Histories kept between turns, so that a turn reads only what is new.
//!
//! In memory only, bounded in bytes; the one used longest ago goes first.

use super::{Fitted, History, Manner};
use crate::store::{Session, Store, StoreError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The histories of an agent's sessions.
#[derive(Debug)]
pub(crate) struct Histories {
    limit_bytes: usize,
    kept: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    by_session: HashMap<String, Kept>,
    /// Counts uses; the lowest is the oldest.
    uses: u64,
}

/// A history with what it holds for.
#[derive(Debug)]
struct Kept {
    generation: String,
    revision: i64,
    /// The path's positions before this one are in it.
    end: i64,
    history: Arc<History>,
    /// What it comes to for the model that was asked last.
    fitted: Option<Arc<Fitted>>,
    last_use: u64,
}

impl Kept {
    /// Whether the session's path begins with what this was made from.
    fn is_prefix(&self, session: &Session, end: i64) -> bool {
        self.generation == session.generation
            && self.revision == session.path_revision
            && self.end <= end
    }

    fn size_bytes(&self) -> usize {
        let fitted = self.fitted.as_ref().map_or(0, |fitted| fitted.size_bytes());
        self.history.size_bytes() + fitted
    }
}

/// A history, as it is stored and as the model that is asked takes it.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub(crate) history: Arc<History>,
    pub(crate) fitted: Arc<Fitted>,
}

impl Past {
    /// A history that is kept nowhere.
    pub(crate) fn of(history: History, manner: &Manner) -> Self {
        let mut fitted = Fitted::new(manner);
        fitted.follow(history.messages(), history.prelude());
        Self {
            history: Arc::new(history),
            fitted: Arc::new(fitted),
        }
    }
}

impl Histories {
    /// - `limit_bytes`: what all histories together may take.
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            kept: Mutex::default(),
        }
    }

    /// The history before position `end` of a session's path. Reads the entries behind those it holds already, and replays
    /// those that a model of this manner has not got yet.
    pub(crate) fn before(
        &self,
        store: &Store,
        session: &Session,
        end: i64,
        manner: &Manner,
    ) -> Result<Past, StoreError> {
        let mut kept = self.kept.lock().by_session.remove(&session.id);
        let fitted = kept.as_mut().and_then(|kept| kept.fitted.take());
        let grown = match kept.filter(|kept| kept.is_prefix(session, end)) {
            Some(kept) => grown(kept, store, session, end)?,
            None => None,
        };
        let history = match grown {
            Some(history) => history,
            None => {
                let start = store.context_start(session, end)?;
                Arc::new(History::of_path(&store.path_between(session, start..end)?))
            }
        };
        let mut fitted = fitted
            .filter(|fitted| fitted.manner() == manner)
            .unwrap_or_else(|| Arc::new(Fitted::new(manner)));
        Arc::make_mut(&mut fitted).follow(history.messages(), history.prelude());
        let past = Past { history, fitted };
        self.keep(session, end, &past);
        Ok(past)
    }

    fn keep(&self, session: &Session, end: i64, past: &Past) {
        let mut shelf = self.kept.lock();
        shelf.uses += 1;
        let kept = Kept {
            generation: session.generation.clone(),
            revision: session.path_revision,
            end,
            history: Arc::clone(&past.history),
            fitted: Some(Arc::clone(&past.fitted)),
            last_use: shelf.uses,
        };
        shelf.by_session.insert(session.id.clone(), kept);
        let mut total: usize = shelf.by_session.values().map(Kept::size_bytes).sum();
        while total > self.limit_bytes {
            let oldest = shelf
                .by_session
                .iter()
                .min_by_key(|(_, kept)| kept.last_use);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else {
                return;
            };
            let gone = shelf.by_session.remove(&id);
            total -= gone.map_or(0, |kept| kept.size_bytes());
        }
    }
}

/// A kept history with what stands behind it; `None` when that puts a part of it behind.
fn grown(
    kept: Kept,
    store: &Store,
    session: &Session,
    end: i64,
) -> Result<Option<Arc<History>>, StoreError> {
    let behind = store.path_between(session, kept.end..end)?;
    let mut history = kept.history;
    let is_grown = behind.is_empty() || Arc::make_mut(&mut history).extend(&behind);
    Ok(is_grown.then_some(history))
}
