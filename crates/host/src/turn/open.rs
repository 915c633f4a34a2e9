//! Chooses the engine, makes it, and lets it catch up.

use super::advance;
use super::record::{Asked, HookTiming, Scope, Served, Substitution, TurnRecord};
use super::{TurnError, TurnRequest};
use crate::Host;
use crate::guard::Guarded;
use crate::quarantine::QuarantineRecord;
use crate::registry::Registered;
use crate::requirements;
use crate::store::Session;
use openclaw_interface::model::CreateContext;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What every step of a turn works on.
pub(super) struct Turn<'h> {
    pub(super) host: &'h Host,
    pub(super) request: TurnRequest,
    pub(super) session: Session,
    pub(super) turn_id: String,
    /// The engine that serves.
    pub(super) engine: Guarded,
    /// The engine that is owed the turn's commit: the one asked for, when it ran at admission.
    pub(super) owed: Option<String>,
    pub(super) cancelled: Arc<AtomicBool>,
    pub(super) record: TurnRecord,
    /// Whether the turn was answered before: then nothing may stand between the user and the stored reply.
    is_answered: bool,
}

/// A turn with an engine.
pub(super) struct Opened<'h>(pub(super) Turn<'h>);

/// Refuses a request that makes no sense, before anything is touched.
pub(super) fn check(request: &TurnRequest) -> Result<(), TurnError> {
    if request.text.trim().is_empty() {
        return Err(TurnError::BlankText);
    }
    let is_id = |id: &str| {
        !id.trim().is_empty() && id.chars().count() <= 512 && !id.chars().any(char::is_control)
    };
    match &request.turn_id {
        Some(id) if !is_id(id) => Err(TurnError::BadTurnId),
        _ => Ok(()),
    }
}

/// Opens a turn: session, engine, requirements, outbox.
pub(super) fn open(host: &Host, request: TurnRequest) -> Result<Opened<'_>, TurnError> {
    let session = host
        .store()
        .session_or_new(&request.session_key, &host.workspace_text())?;
    let turn_id = request
        .turn_id
        .clone()
        .unwrap_or_else(|| host.ambient().new_id());
    let asked = host.slot().engine_id().to_owned();
    let cancelled = Arc::new(AtomicBool::new(false));
    let earlier = host.store().turn(&turn_id)?;
    let is_answered = earlier.is_some_and(|earlier| earlier.terminal_seq.is_some());
    let (engine, substitution) = match select(host, &asked, &cancelled) {
        Err(TurnError::Requirement(_)) if is_answered => (legacy(host, &cancelled), None),
        selected => selected?,
    };
    let record = TurnRecord {
        turn_id: turn_id.clone(),
        session_id: session.id.clone(),
        session_key: session.key.clone(),
        started_at_ms: host.ambient().now_ms(),
        asked: Asked {
            engine_id: asked,
            reason: host.slot().reason(),
        },
        served: served(&engine),
        ..TurnRecord::default()
    };
    let mut turn = Turn {
        host,
        request,
        session,
        turn_id,
        engine,
        owed: None,
        cancelled,
        record,
        is_answered,
    };
    match substitution {
        Some(substitution) => turn.note_substitution(substitution)?,
        None => turn.catch_up()?,
    }
    if !turn.engine.is_legacy() {
        turn.owed = Some(turn.engine.engine_id.clone());
    }
    Ok(Opened(turn))
}

pub(super) fn served(engine: &Guarded) -> Served {
    Served {
        engine_id: engine.engine_id.clone(),
        version: engine.version.clone(),
        library_sha256: engine.library_sha256.clone(),
    }
}

/// The engine asked for, or the built-in one and why.
fn select(
    host: &Host,
    asked: &str,
    cancelled: &Arc<AtomicBool>,
) -> Result<(Guarded, Option<Substitution>), TurnError> {
    let instead = |substitution| Ok((legacy(host, cancelled), Some(substitution)));
    let registered = match host.registry().find(asked) {
        Ok(registered) => registered,
        Err(record) => return instead(quarantined(*record)),
    };
    if let Some(info) = registered.info() {
        requirements::check(info).map_err(TurnError::Requirement)?;
    }
    if let Some(substitution) = not_durable(host, &registered) {
        return instead(substitution);
    }
    match host
        .registry()
        .make(&registered, &create_context(host), cancelled)
    {
        Ok(engine) => Ok((engine, None)),
        Err(record) => instead(quarantined(*record)),
    }
}

/// The turn-local reason why an engine may not serve durable turns.
pub(super) fn not_durable(host: &Host, registered: &Registered) -> Option<Substitution> {
    let plugin = registered.plugin()?;
    let info = &plugin.info;
    let semantics = info.transcript_semantics.clone().unwrap_or_default();
    let reason = if !semantics.fences_current_turn() {
        "current-turn transcript fencing is not declared".to_owned()
    } else if !semantics.commits_idempotently() {
        "atomic idempotent turn advancement is not declared".to_owned()
    } else {
        // An engine that nobody has probed serves as it declares.
        let settings = Value::Object(plugin.settings.clone());
        let verdict = host.probes().read(&plugin.sha256, &settings)?;
        let (name, reason) = verdict.failed()?;
        format!("semantics probe failed: {name}: {reason}")
    };
    tracing::warn!(
        engine = info.id,
        reason,
        "turn degraded to the built-in engine; the configuration is unchanged"
    );
    Some(Substitution {
        scope: Scope::Degraded,
        operation: "selection".into(),
        reason,
        location: None,
    })
}

pub(super) fn quarantined(record: QuarantineRecord) -> Substitution {
    Substitution {
        scope: Scope::Quarantined,
        operation: record.operation,
        reason: record.reason,
        location: record.location,
    }
}

/// The built-in engine, which cannot fail to be made.
pub(super) fn legacy(host: &Host, cancelled: &Arc<AtomicBool>) -> Guarded {
    let registry = host.registry();
    registry
        .find(crate::LEGACY_ID)
        .and_then(|registered| registry.make(&registered, &CreateContext::default(), cancelled))
        .unwrap_or_else(|record| {
            unreachable!("the built-in engine is always there: {}", record.reason)
        })
}

pub(super) fn create_context(host: &Host) -> CreateContext {
    CreateContext {
        agent_dir: Some(host.agent_dir().to_owned()),
        workspace_dir: host.workspace_dir().map(std::path::Path::to_owned),
        ..CreateContext::default()
    }
}

impl Turn<'_> {
    /// Lets the engine store the turns it has not acknowledged. When it cannot, this turn runs without it.
    fn catch_up(&mut self) -> Result<(), TurnError> {
        if self.engine.is_legacy() {
            return Ok(());
        }
        let (commits, failure) = advance::drain(self.host, &mut self.engine, &self.session)?;
        self.record.recovered_commits = commits;
        match failure {
            Some(record) => self.substitute(quarantined(record)),
            None => Ok(()),
        }
    }

    /// Goes on with the built-in engine.
    pub(super) fn substitute(&mut self, substitution: Substitution) -> Result<(), TurnError> {
        self.keep_timings();
        let mut failed = std::mem::replace(&mut self.engine, legacy(self.host, &self.cancelled));
        failed.dispose();
        self.note_substitution(substitution)
    }

    fn note_substitution(&mut self, substitution: Substitution) -> Result<(), TurnError> {
        self.record.served = served(&self.engine);
        self.record.substitution = Some(substitution.clone());
        if self.host.is_strict() && !self.is_answered {
            let engine_id = self.record.asked.engine_id.clone();
            return Err(TurnError::Strict {
                engine_id,
                substitution,
            });
        }
        Ok(())
    }

    /// Moves what the engine's calls took into the record.
    pub(super) fn keep_timings(&mut self) {
        let engine_id = &self.engine.engine_id.clone();
        let timings = self
            .engine
            .take_timings()
            .into_iter()
            .map(|(hook, elapsed_us)| HookTiming {
                engine_id: engine_id.clone(),
                hook: hook.to_owned(),
                elapsed_us,
            });
        self.record.hooks.extend(timings);
    }
}
