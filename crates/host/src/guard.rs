//! The only place that calls an engine.
//!
//! Every failure of a plugin's engine sets it aside for this process. The built-in engine is never set aside.

use crate::ambient::Ambient;
use crate::legacy::LEGACY_ID;
use crate::quarantine::{Quarantine, QuarantineRecord};
use openclaw_interface::hosting::{AssemblyView, EngineInstance};
use openclaw_interface::model::{
    AssembleParams, BootstrapResult, CommitParams, CommitStatus, CompactParams, CompactResult,
    Info, MaintenanceMode, MaintenanceResult, SessionParams,
};
use openclaw_interface::{EngineError, ErrorCode, Message};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How a call ended.
pub(crate) enum Hook<T> {
    /// The engine answered.
    Done(T),
    /// The engine has no such hook, or hands on that a service of the host is missing.
    Absent(EngineError),
    /// The engine ended the call because the turn was cancelled, which is no failure.
    Cancelled,
    /// The engine failed and is set aside.
    Failed(QuarantineRecord),
}

/// Who an engine is, and how it wants to be called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    /// Registered id.
    pub(crate) engine_id: String,
    /// Version the engine gives.
    pub(crate) version: Option<String>,
    /// SHA-256 of the library; `None` for the built-in engine.
    pub(crate) library_sha256: Option<String>,
    /// Whether the engine decides when to compact, and assembles before each model request.
    pub(crate) owns_compaction: bool,
    /// Whether its maintenance after a turn runs behind the reply.
    pub(crate) maintains_in_background: bool,
}

impl Identity {
    pub(crate) fn new(
        engine_id: &str,
        info: Option<&Info>,
        library_sha256: Option<String>,
    ) -> Self {
        Self {
            engine_id: engine_id.to_owned(),
            version: info.and_then(|info| info.version.clone()),
            library_sha256,
            owns_compaction: info.and_then(|info| info.owns_compaction) == Some(true),
            maintains_in_background: info.and_then(|info| info.turn_maintenance_mode)
                == Some(MaintenanceMode::Background),
        }
    }
}

/// An engine instance whose failures have consequences.
pub(crate) struct Guarded {
    pub(crate) identity: Identity,
    instance: EngineInstance,
    cancelled: Arc<AtomicBool>,
    quarantine: Arc<Quarantine>,
    ambient: Ambient,
    timings: Vec<(&'static str, u64)>,
    is_disposed: bool,
}

impl Guarded {
    pub(crate) fn new(
        identity: Identity,
        instance: EngineInstance,
        cancelled: Arc<AtomicBool>,
        quarantine: Arc<Quarantine>,
        ambient: Ambient,
    ) -> Self {
        Self {
            identity,
            instance,
            cancelled,
            quarantine,
            ambient,
            timings: Vec::new(),
            is_disposed: false,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.identity.engine_id
    }

    pub(crate) fn is_legacy(&self) -> bool {
        self.id() == LEGACY_ID
    }

    /// Hook names and microseconds, in call order.
    pub(crate) fn take_timings(&mut self) -> Vec<(&'static str, u64)> {
        std::mem::take(&mut self.timings)
    }

    pub(crate) fn bootstrap(&mut self, params: &SessionParams) -> Hook<BootstrapResult> {
        self.call("bootstrap", |engine| engine.bootstrap(params))
    }

    pub(crate) fn maintain(&mut self, params: &SessionParams) -> Hook<MaintenanceResult> {
        self.call("maintain", |engine| engine.maintain(params))
    }

    /// Maintenance behind a reply that is out: a failure is logged and has no consequence.
    pub(crate) fn maintain_in_background(&mut self, params: &SessionParams) {
        if let Err(error) = self.timed("maintain", |engine| engine.maintain(params)) {
            let (engine, reason) = (self.id(), error.to_string());
            if !error.is_unsupported() && !self.is_cancellation(&error) {
                tracing::warn!(
                    engine,
                    op = "maintain",
                    reason,
                    "maintenance in the background failed"
                );
            }
        }
    }

    pub(crate) fn compact(&mut self, params: &CompactParams) -> Hook<CompactResult> {
        self.call("compact", |engine| engine.compact(params))
    }

    /// Hands the answer to `read` where it lies; `read` says what is wrong with it.
    pub(crate) fn assemble<R>(
        &mut self,
        messages: &[Message<'_>],
        token_budget: Option<u64>,
        params: &AssembleParams,
        read: impl FnOnce(AssemblyView<'_>) -> Result<R, String>,
    ) -> Hook<R> {
        self.call("assemble", |engine| {
            let answer = engine.assemble_with(messages, token_budget, params, read)?;
            answer.map_err(|reason| EngineError::new(ErrorCode::InvalidAnswer, reason))
        })
    }

    pub(crate) fn commit_turn(
        &mut self,
        messages: &[Message<'_>],
        params: &CommitParams,
    ) -> Hook<CommitStatus> {
        self.call("commitTurn", |engine| {
            engine
                .commit_turn(messages, params)
                .map(|result| result.status)
        })
    }

    /// Says goodbye, once. A failure is logged and has no consequence.
    pub(crate) fn dispose(&mut self) {
        if std::mem::replace(&mut self.is_disposed, true) {
            return;
        }
        if let Err(error) = self.instance.dispose() {
            tracing::debug!(engine = self.id(), op = "dispose", reason = %error, "engine failed to say goodbye");
        }
    }

    /// Sets the engine aside for an answer that breaks the contract.
    pub(crate) fn reject(&self, operation: &str, reason: String) -> QuarantineRecord {
        self.fail(operation, EngineError::failed(reason))
    }

    fn call<T>(
        &mut self,
        operation: &'static str,
        f: impl FnOnce(&mut EngineInstance) -> Result<T, EngineError>,
    ) -> Hook<T> {
        match self.timed(operation, f) {
            Ok(value) => Hook::Done(value),
            Err(error) if error.is_unsupported() => {
                tracing::debug!(engine = self.id(), op = operation, reason = %error, "hook absent");
                Hook::Absent(error)
            }
            Err(error) if self.is_cancellation(&error) => Hook::Cancelled,
            Err(error) => Hook::Failed(self.fail(operation, error)),
        }
    }

    /// Whether a call ended because it was asked to. An engine that says so without being asked has failed.
    fn is_cancellation(&self, error: &EngineError) -> bool {
        error.code == ErrorCode::Cancelled && self.cancelled.load(Ordering::SeqCst)
    }

    fn timed<T>(
        &mut self,
        operation: &'static str,
        f: impl FnOnce(&mut EngineInstance) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let _span = tracing::trace_span!("hook", engine = self.id(), op = operation).entered();
        let started = Instant::now();
        let result = f(&mut self.instance);
        let elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.timings.push((operation, elapsed_us));
        result
    }

    fn fail(&self, operation: &str, error: EngineError) -> QuarantineRecord {
        let record = QuarantineRecord {
            engine_id: self.id().to_owned(),
            operation: operation.to_owned(),
            reason: error.message,
            location: error.location,
            library_sha256: self.identity.library_sha256.clone(),
            failed_at_ms: self.ambient.now_ms(),
        };
        if self.is_legacy() {
            record
        } else {
            self.quarantine.set_aside(record)
        }
    }
}

impl Drop for Guarded {
    /// Whichever way a turn ends, its engine hears of it.
    fn drop(&mut self) {
        self.dispose();
    }
}
