//! The trait an engine implements.

use crate::author::Host;
use crate::convert::params;
use crate::model::{
    AssembleParams, Assembly, BatchParams, BootstrapResult, CommitParams, CommitResult,
    CompactParams, CompactResult, CreateContext, EngineError, Info, IngestResult,
    MaintenanceResult, Message, Messages, SessionParams, SpawnHandle, SpawnParams,
    SubagentEndedParams, ToolAnswer, ToolCall, ToolDescriptor,
};
use std::cell::OnceCell;

/// What [`ContextEngine::assemble`] receives.
pub struct AssembleRequest<'a> {
    /// History before the current turn, oldest first; results stand directly behind their call. Never the current
    /// prompt.
    pub messages: Messages<'a>,
    /// Tokens that messages and prompt addition may take, `> 0`; `None` when the host does not know.
    pub token_budget: Option<u64>,
    params_json: &'a str,
    params: OnceCell<AssembleParams>,
}

impl<'a> AssembleRequest<'a> {
    /// A request as a host makes it; for calling an engine directly.
    ///
    /// - `params_json`: the JSON object of [`AssembleParams`].
    #[must_use]
    pub fn new(messages: Messages<'a>, token_budget: Option<u64>, params_json: &'a str) -> Self {
        Self {
            messages,
            token_budget,
            params_json,
            params: OnceCell::new(),
        }
    }

    /// Everything else. Read at the first call, so that an engine that needs none of it pays nothing.
    ///
    /// # Errors
    ///
    /// They are not what the contract says.
    pub fn params(&self) -> Result<&AssembleParams, EngineError> {
        if let Some(params) = self.params.get() {
            return Ok(params);
        }
        let read = params(self.params_json)?;
        Ok(self.params.get_or_init(|| read))
    }
}

/// A context engine.
///
/// The host makes a fresh instance for each operation (a turn, a compaction) and drops it afterwards, so making one is
/// cheap and whatever has to last is on disk. Instances of different sessions run at the same time, on any thread; one
/// instance gets one call at a time. Calls block: the host owns the threads.
///
/// An error or a panic in any hook quarantines the engine for the rest of the process, and the turn goes on with the
/// built-in engine. A panic also ends the instance. A hook left at its default is absent, which is never an error.
///
/// Source: context engine contract, "Methods".
pub trait ContextEngine: Sized + Send + 'static {
    /// Engine id: lower-case letters, digits, `-`, `_` and `.`, at most 128 bytes. The same as the plugin's id.
    const ID: &'static str;

    /// What the engine says of itself. Called before any instance exists, any number of times; no side effects.
    fn info() -> Info;

    /// Makes an instance. Opening a file is fine, long work is not.
    ///
    /// # Errors
    ///
    /// The turn runs on the built-in engine and the engine is quarantined.
    fn create(context: CreateContext, host: Host) -> Result<Self, EngineError>;

    /// Builds the messages for one model run.
    ///
    /// Called once per attempt, after `bootstrap`. The answer keeps input messages by position, so nothing is copied and
    /// unknown fields survive. A call and its results stay adjacent. The host counts tokens again, mends split pairs and
    /// cuts what is over budget, and says so in the turn record.
    ///
    /// # Errors
    ///
    /// The model gets what the built-in engine would give it.
    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError>;

    /// Takes a session over, or finds that nothing is to do. Called at the start of every attempt of every turn when
    /// the transcript has messages; must be idempotent and cheap when nothing is missing.
    ///
    /// # Errors
    ///
    /// The built-in engine serves this turn. The OpenClaw gateway skips the `maintain` of this attempt and goes on.
    fn bootstrap(&mut self, _params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        Err(EngineError::unsupported("bootstrap"))
    }

    /// Tidies up: after `bootstrap`, after an acknowledged commit, after a compaction.
    ///
    /// # Errors
    ///
    /// Before the reply, the built-in engine serves this turn; after it, the turn is done. The OpenClaw gateway goes on.
    fn maintain(&mut self, _params: &SessionParams) -> Result<MaintenanceResult, EngineError> {
        Err(EngineError::unsupported("maintain"))
    }

    /// Takes one message, on runs outside durable turns and only when neither `after_turn` nor `ingest_batch` exists.
    ///
    /// # Errors
    ///
    /// The message is not offered again.
    fn ingest(
        &mut self,
        _message: Message<'_>,
        _params: &BatchParams,
    ) -> Result<IngestResult, EngineError> {
        Err(EngineError::unsupported("ingest"))
    }

    /// Takes the new messages of a run outside durable turns, when there is no `after_turn`.
    ///
    /// # Errors
    ///
    /// The messages are not offered again.
    fn ingest_batch(
        &mut self,
        _messages: Messages<'_>,
        _params: &BatchParams,
    ) -> Result<IngestResult, EngineError> {
        Err(EngineError::unsupported("ingestBatch"))
    }

    /// Takes the whole snapshot after a run outside durable turns.
    ///
    /// # Errors
    ///
    /// Maintenance is skipped.
    fn after_turn(
        &mut self,
        _messages: Messages<'_>,
        _params: &BatchParams,
    ) -> Result<(), EngineError> {
        Err(EngineError::unsupported("afterTurn"))
    }

    /// Stores one accepted turn, in one atomic write together with its advancement key.
    ///
    /// `messages` are the visible messages from admission to terminal, both included, context-excluded ones too. A key
    /// that is already stored answers `duplicate` and changes nothing. Keys are remembered as long as the session
    /// lives: the host repeats a commit after a crash, possibly from another process. Never answer before the write is
    /// durable.
    ///
    /// # Errors
    ///
    /// The host keeps the turn in its outbox and offers it again before the next one.
    fn commit_turn(
        &mut self,
        _messages: Messages<'_>,
        _params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        Err(EngineError::unsupported("commitTurn"))
    }

    /// Makes the context smaller.
    ///
    /// # Errors
    ///
    /// Handed to whoever asked for the compaction.
    fn compact(&mut self, _params: &CompactParams) -> Result<CompactResult, EngineError> {
        Err(EngineError::unsupported("compact"))
    }

    /// Prepares for a child session, before it is dispatched. `Some` handle comes back to
    /// [`rollback_subagent_spawn`](Self::rollback_subagent_spawn) of the same instance when the spawn fails.
    ///
    /// # Errors
    ///
    /// The spawn fails and the engine is quarantined.
    fn prepare_subagent_spawn(
        &mut self,
        _params: &SpawnParams,
    ) -> Result<Option<SpawnHandle>, EngineError> {
        Err(EngineError::unsupported("prepareSubagentSpawn"))
    }

    /// Takes a preparation back, at most once.
    ///
    /// # Errors
    ///
    /// Logged.
    fn rollback_subagent_spawn(&mut self, _handle: SpawnHandle) -> Result<(), EngineError> {
        Ok(())
    }

    /// Hears that a child session ended. Comes on a fresh instance, possibly more than once for one child and for
    /// children that were never prepared; must be idempotent.
    ///
    /// # Errors
    ///
    /// Logged, and the engine is quarantined.
    fn on_subagent_ended(&mut self, _params: &SubagentEndedParams) -> Result<(), EngineError> {
        Err(EngineError::unsupported("onSubagentEnded"))
    }

    /// A hook newer than this trait, by its contract name.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a name the engine does not know.
    fn call(&mut self, method: &str, _params_json: &str) -> Result<String, EngineError> {
        Err(EngineError::unsupported(method))
    }

    /// Says goodbye. Called once per instance, after everything else; a process that dies never calls it.
    ///
    /// # Errors
    ///
    /// Logged.
    fn dispose(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// The agent tools the engine brings. Called before any instance exists; no side effects.
    fn tools() -> Vec<ToolDescriptor> {
        Vec::new()
    }

    /// Runs one of its tools, without an instance: what it needs it opens itself below `call.context.agent_dir`.
    ///
    /// # Errors
    ///
    /// The model is told that the tool failed. A failure the model should learn from is an answer with `is_error`.
    fn execute_tool(call: &ToolCall, _host: &Host) -> Result<ToolAnswer, EngineError> {
        Err(EngineError::unsupported(&call.name))
    }
}
