//! An engine instance as a host holds it.

use super::answer::AssemblyView;
use super::module::EngineSource;
use super::project::Accepted;
use crate::abi::{AssembleReq, EngineObject, MessagesReq, Reply};
use crate::convert::reply_text;
use crate::model::{
    AssembleParams, Assembly, BatchParams, BootstrapResult, CommitParams, CommitResult,
    CompactParams, CompactResult, EngineError, ErrorCode, IngestResult, MaintenanceResult, Message,
    SessionParams, SpawnHandle, SpawnParams, SubagentEndedParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// An engine instance, wherever it came from.
///
/// Answers are parsed and copied; an answer that does not parse is an error of kind `InvalidAnswer`. What the answer
/// *means* (picks in range, budgets) is for the host to check.
pub struct EngineInstance {
    object: EngineObject,
    accepted: Accepted,
    /// Whatever the object's code lies in; goes after the object.
    _source: Arc<dyn EngineSource>,
}

// SAFETY: the contract lets any thread call an instance, one call at a time; `ContextEngine` requires `Send`, and
// `&mut self` keeps calls apart.
unsafe impl Send for EngineInstance {}

impl EngineInstance {
    pub(super) fn new(
        object: EngineObject,
        accepted: Accepted,
        source: Arc<dyn EngineSource>,
    ) -> Self {
        Self {
            object,
            accepted,
            _source: source,
        }
    }

    /// See [`ContextEngine::bootstrap`](crate::ContextEngine::bootstrap).
    ///
    /// # Errors
    ///
    /// What the engine answered, or that its answer cannot be read. The same holds for every hook below.
    pub fn bootstrap(&mut self, params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        answer(self.small(params, |object, params| object.bootstrap(params.into())))
    }

    /// See [`ContextEngine::maintain`](crate::ContextEngine::maintain).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn maintain(&mut self, params: &SessionParams) -> Result<MaintenanceResult, EngineError> {
        answer(self.small(params, |object, params| object.maintain(params.into())))
    }

    /// See [`ContextEngine::ingest`](crate::ContextEngine::ingest).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn ingest(
        &mut self,
        message: Message<'_>,
        params: &BatchParams,
    ) -> Result<IngestResult, EngineError> {
        answer(self.with_messages(&[message], params, |object, request| object.ingest(request)))
    }

    /// See [`ContextEngine::ingest_batch`](crate::ContextEngine::ingest_batch).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn ingest_batch(
        &mut self,
        messages: &[Message<'_>],
        params: &BatchParams,
    ) -> Result<IngestResult, EngineError> {
        answer(self.with_messages(messages, params, |object, request| {
            object.ingest_batch(request)
        }))
    }

    /// See [`ContextEngine::after_turn`](crate::ContextEngine::after_turn).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn after_turn(
        &mut self,
        messages: &[Message<'_>],
        params: &BatchParams,
    ) -> Result<(), EngineError> {
        self.with_messages(messages, params, |object, request| {
            object.after_turn(request)
        })
        .map(drop)
    }

    /// See [`ContextEngine::commit_turn`](crate::ContextEngine::commit_turn).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn commit_turn(
        &mut self,
        messages: &[Message<'_>],
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        answer(self.with_messages(messages, params, |object, request| {
            object.commit_turn(request)
        }))
    }

    /// See [`ContextEngine::assemble`](crate::ContextEngine::assemble). `token_budget`: `None` when not known.
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn assemble(
        &mut self,
        messages: &[Message<'_>],
        token_budget: Option<u64>,
        params: &AssembleParams,
    ) -> Result<Assembly, EngineError> {
        self.assemble_with(messages, token_budget, params, |view| view.to_assembly())?
    }

    /// [`Self::assemble`] for a host that reads the answer where it lies, without a copy.
    ///
    /// # Errors
    ///
    /// What the engine answered.
    pub fn assemble_with<R>(
        &mut self,
        messages: &[Message<'_>],
        token_budget: Option<u64>,
        params: &AssembleParams,
        read: impl FnOnce(AssemblyView<'_>) -> R,
    ) -> Result<R, EngineError> {
        let Self {
            object, accepted, ..
        } = self;
        let out = accepted.call(params, |params| {
            let request = AssembleReq {
                messages: Message::views(messages).into(),
                token_budget: token_budget.unwrap_or(0),
                params_json: params.into(),
            };
            object
                .assemble(request)
                .into_result()
                .map_err(EngineError::from)
        })?;
        Ok(read(AssemblyView::new(&out)))
    }

    /// See [`ContextEngine::compact`](crate::ContextEngine::compact).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn compact(&mut self, params: &CompactParams) -> Result<CompactResult, EngineError> {
        answer(self.small(params, |object, params| object.compact(params.into())))
    }

    /// See [`ContextEngine::prepare_subagent_spawn`](crate::ContextEngine::prepare_subagent_spawn).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn prepare_subagent_spawn(
        &mut self,
        params: &SpawnParams,
    ) -> Result<Option<SpawnHandle>, EngineError> {
        let handle: Value = answer(self.small(params, |object, params| {
            object.prepare_subagent_spawn(params.into())
        }))?;
        Ok(Some(handle)
            .filter(|handle| !handle.is_null())
            .map(SpawnHandle))
    }

    /// See [`ContextEngine::rollback_subagent_spawn`](crate::ContextEngine::rollback_subagent_spawn).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn rollback_subagent_spawn(&mut self, handle: SpawnHandle) -> Result<(), EngineError> {
        reply_text(
            self.object
                .rollback_subagent_spawn(handle.0.to_string().as_str().into()),
        )
        .map(drop)
    }

    /// See [`ContextEngine::on_subagent_ended`](crate::ContextEngine::on_subagent_ended).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn on_subagent_ended(&mut self, params: &SubagentEndedParams) -> Result<(), EngineError> {
        self.small(params, |object, params| {
            object.on_subagent_ended(params.into())
        })
        .map(drop)
    }

    /// A hook newer than this trait, by its contract name; takes and answers a JSON object.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a name the engine does not know.
    pub fn call(&mut self, method: &str, params_json: &str) -> Result<String, EngineError> {
        reply_text(self.object.call_json(method.into(), params_json.into()))
    }

    /// See [`ContextEngine::dispose`](crate::ContextEngine::dispose).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn dispose(&mut self) -> Result<(), EngineError> {
        reply_text(self.object.dispose()).map(drop)
    }

    /// Calls a hook that takes a JSON object and answers one.
    fn small(
        &mut self,
        params: &impl Serialize,
        mut call: impl FnMut(&mut EngineObject, &str) -> Reply,
    ) -> Result<String, EngineError> {
        let Self {
            object, accepted, ..
        } = self;
        accepted.call(params, |params| reply_text(call(object, params)))
    }

    /// Calls a hook that also takes messages.
    fn with_messages(
        &mut self,
        messages: &[Message<'_>],
        params: &impl Serialize,
        mut call: impl FnMut(&mut EngineObject, MessagesReq<'_>) -> Reply,
    ) -> Result<String, EngineError> {
        let Self {
            object, accepted, ..
        } = self;
        accepted.call(params, |params| {
            let request = MessagesReq {
                messages: Message::views(messages).into(),
                params_json: params.into(),
            };
            reply_text(call(object, request))
        })
    }
}

impl fmt::Debug for EngineInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineInstance")
    }
}

fn answer<T: DeserializeOwned>(reply: Result<String, EngineError>) -> Result<T, EngineError> {
    let json = reply?;
    serde_json::from_str(&json).map_err(|error| {
        EngineError::new(
            ErrorCode::InvalidAnswer,
            format!("the answer cannot be read: {error}"),
        )
    })
}
