//! What the hook that runs may ask of the host. Between hooks nothing may be asked.

use crate::delegate::Delegate;
use crate::store::Session;
use openclaw_interface::model::Anchor;
use openclaw_interface::model::service::{
    COMPACTION_DELEGATE, TRANSCRIPT_DELTA, TRANSCRIPT_REWRITE,
};
use parking_lot::{Mutex, RwLock, RwLockReadGuard};

/// A hook's run as far as services care: whose session, what is offered, and what may not be seen.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub(crate) session_id: String,
    pub(crate) session_key: String,
    /// The admission of the turn that runs; reads end before it.
    pub(crate) fence: Option<Anchor>,
    offered: &'static [&'static str],
    /// Who compacts for an engine that has it done.
    pub(crate) delegate: Option<Delegate>,
}

impl Visit {
    /// `bootstrap`, its `maintain`, and `assemble`: before the model has answered.
    ///
    /// - `admission`: `None` for a turn whose message is not stored.
    pub(crate) fn inside_turn(session: &Session, admission: Option<&Anchor>) -> Self {
        Self {
            fence: admission.cloned(),
            ..Self::new(session, &[TRANSCRIPT_DELTA])
        }
    }

    /// `commitTurn`.
    pub(crate) fn commit(session: &Session) -> Self {
        Self::new(session, &[TRANSCRIPT_DELTA])
    }

    /// `compact`.
    pub(crate) fn compaction(session: &Session) -> Self {
        Self::new(session, &[TRANSCRIPT_DELTA, COMPACTION_DELEGATE])
    }

    /// The same with who compacts for the engine.
    pub(crate) fn served_by(self, delegate: Delegate) -> Self {
        Self {
            delegate: Some(delegate),
            ..self
        }
    }

    /// The `maintain` that follows an acknowledged commit or a compaction.
    pub(crate) fn after_commit(session: &Session) -> Self {
        Self::new(session, &[TRANSCRIPT_DELTA, TRANSCRIPT_REWRITE])
    }

    fn new(session: &Session, offered: &'static [&'static str]) -> Self {
        Self {
            session_id: session.id.clone(),
            session_key: session.key.clone(),
            fence: None,
            offered,
            delegate: None,
        }
    }

    pub(crate) fn offers(&self, service: &str) -> bool {
        self.offered.contains(&service)
    }

    /// The names for a hook's parameters.
    pub(crate) fn names(&self) -> Vec<String> {
        self.offered.iter().map(|name| (*name).to_owned()).collect()
    }
}

/// A hook that runs.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) hook: &'static str,
    pub(crate) visit: Visit,
}

/// Where an engine instance's services find the hook that runs.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    running: RwLock<Option<Running>>,
    violation: Mutex<Option<String>>,
}

impl Desk {
    /// A hook begins.
    pub(crate) fn open(&self, hook: &'static str, visit: Visit) {
        *self.running.write() = Some(Running { hook, visit });
    }

    /// The hook has ended: waits for calls that are being served, refuses those that come later. Returns how the fence
    /// was violated, when it was.
    pub(crate) fn close(&self) -> Option<String> {
        *self.running.write() = None;
        self.violation.lock().take()
    }

    /// The hook that runs; it cannot end while this is held.
    pub(crate) fn running(&self) -> RwLockReadGuard<'_, Option<Running>> {
        self.running.read()
    }

    /// Notes how the fence was violated; the first time counts.
    pub(crate) fn note_violation(&self, reason: &str) {
        self.violation
            .lock()
            .get_or_insert_with(|| reason.to_owned());
    }
}
