//! The only place that calls an engine.
//!
//! Every failure of a plugin's engine sets it aside for this process. The built-in engine is never set aside.

use crate::ambient::Ambient;
use crate::desk::{Desk, Visit};
use crate::handover::Ticket;
use crate::legacy::LEGACY_ID;
use crate::quarantine::{Quarantine, QuarantineRecord};
use crate::registry::{Generation, create};
use crate::services::Services;
use openclaw_interface::hosting::{AssemblyView, EngineInstance};
use openclaw_interface::model::{
    AssembleParams, BootstrapResult, CommitParams, CommitStatus, CreateContext, MaintenanceResult,
    SessionParams,
};
use openclaw_interface::{EngineError, ErrorCode, Message};
use openclaw_loader::Plugin;
use std::sync::Arc;
use std::time::Instant;

/// How a call ended.
pub(crate) enum Hook<T> {
    /// The engine answered.
    Done(T),
    /// The engine has no such hook, or hands on that a service of the host is missing.
    Absent(EngineError),
    /// The engine failed and is set aside.
    Failed(QuarantineRecord),
    /// A read crossed the fence of the turn, in these words. The engine stays in use.
    Fenced(String),
}

/// An engine instance whose failures have consequences.
pub(crate) struct Guarded {
    /// Registered id.
    pub(crate) engine_id: String,
    instance: EngineInstance,
    /// For the build it was made by; `None` for the built-in engine. Goes after the instance.
    ticket: Option<Ticket>,
    desk: Arc<Desk>,
    quarantine: Arc<Quarantine>,
    ambient: Ambient,
    timings: Vec<(&'static str, u64)>,
    is_disposed: bool,
}

impl Guarded {
    pub(crate) fn new(
        engine_id: &str,
        ticket: Option<Ticket>,
        instance: EngineInstance,
        desk: Arc<Desk>,
        quarantine: Arc<Quarantine>,
        ambient: Ambient,
    ) -> Self {
        Self {
            engine_id: engine_id.to_owned(),
            instance,
            ticket,
            desk,
            quarantine,
            ambient,
            timings: Vec::new(),
            is_disposed: false,
        }
    }

    pub(crate) fn is_legacy(&self) -> bool {
        self.engine_id == LEGACY_ID
    }

    /// The build it was made by; `None` for the built-in engine.
    pub(crate) fn generation(&self) -> Option<&Generation> {
        self.ticket.as_ref().map(|ticket| &*ticket.generation)
    }

    /// Hook names and microseconds, in call order.
    pub(crate) fn take_timings(&mut self) -> Vec<(&'static str, u64)> {
        std::mem::take(&mut self.timings)
    }

    pub(crate) fn bootstrap(
        &mut self,
        params: &SessionParams,
        visit: Visit,
    ) -> Hook<BootstrapResult> {
        self.call("bootstrap", visit, |engine| engine.bootstrap(params))
    }

    pub(crate) fn maintain(
        &mut self,
        params: &SessionParams,
        visit: Visit,
    ) -> Hook<MaintenanceResult> {
        self.call("maintain", visit, |engine| engine.maintain(params))
    }

    /// Hands the answer to `read` where it lies; `read` says what is wrong with it.
    pub(crate) fn assemble<R>(
        &mut self,
        messages: &[Message<'_>],
        token_budget: Option<u64>,
        params: &AssembleParams,
        visit: Visit,
        read: impl FnOnce(AssemblyView<'_>) -> Result<R, String>,
    ) -> Hook<R> {
        self.call("assemble", visit, |engine| {
            let answer = engine.assemble_with(messages, token_budget, params, read)?;
            answer.map_err(|reason| EngineError::new(ErrorCode::InvalidAnswer, reason))
        })
    }

    pub(crate) fn commit_turn(
        &mut self,
        messages: &[Message<'_>],
        params: &CommitParams,
        visit: Visit,
    ) -> Hook<CommitStatus> {
        self.call("commitTurn", visit, |engine| {
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
            self.keep_mapped();
            tracing::debug!(engine = self.engine_id, op = "dispose", reason = %error, "engine failed to say goodbye");
        }
    }

    /// Sets the engine aside for an answer that breaks the contract.
    pub(crate) fn reject(&self, operation: &str, reason: String) -> QuarantineRecord {
        self.fail(operation, EngineError::failed(reason))
    }

    fn call<T>(
        &mut self,
        operation: &'static str,
        visit: Visit,
        f: impl FnOnce(&mut EngineInstance) -> Result<T, EngineError>,
    ) -> Hook<T> {
        let _span = tracing::trace_span!("hook", engine = self.engine_id, op = operation).entered();
        let started = Instant::now();
        self.desk.open(operation, visit);
        let result = f(&mut self.instance);
        let violation = self.desk.close();
        let elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.timings.push((operation, elapsed_us));
        let has_panicked = matches!(&result, Err(error) if matches!(error.code, ErrorCode::Panicked | ErrorCode::Gone));
        if let Some(reason) = violation.filter(|_| !has_panicked) {
            return Hook::Fenced(reason);
        }
        match result {
            Ok(value) => Hook::Done(value),
            Err(error) if error.is_unsupported() => {
                tracing::debug!(engine = self.engine_id, op = operation, reason = %error, "hook absent");
                Hook::Absent(error)
            }
            Err(error) => Hook::Failed(self.fail(operation, error)),
        }
    }

    /// What a failed engine left behind is unknown: its code stays.
    fn keep_mapped(&self) {
        if let Some(generation) = self.generation() {
            generation.plugin.keep_mapped();
        }
    }

    fn fail(&self, operation: &str, error: EngineError) -> QuarantineRecord {
        self.keep_mapped();
        let generation = self.generation();
        let record = QuarantineRecord {
            engine_id: self.engine_id.clone(),
            operation: operation.to_owned(),
            reason: error.message,
            location: error.location,
            library_sha256: generation.map(|it| it.plugin.sha256.clone()),
            generation: generation.map(|it| it.number),
            failed_at_ms: self.ambient.now_ms(),
        };
        if self.is_legacy() {
            record
        } else {
            self.quarantine.set_aside(record)
        }
    }
}

/// Makes an instance of a build that serves nobody yet, and lets it say goodbye.
///
/// # Errors
///
/// What failed, and how.
pub(crate) fn try_out(
    plugin: &Plugin,
    context: &CreateContext,
    services: Services,
) -> Result<(), (&'static str, EngineError)> {
    let made = create(plugin, context, services);
    let mut instance = made.map_err(|error| ("factory", error))?;
    instance.dispose().map_err(|error| {
        plugin.keep_mapped();
        ("dispose", error)
    })
}

impl Drop for Guarded {
    /// Whichever way a turn ends, its engine hears of it.
    fn drop(&mut self) {
        self.dispose();
    }
}
