//! The trait an engine implements.

use crate::author::Host;
use crate::model::{
    AssembleParams, Assembly, BatchParams, BootstrapResult, CommitParams, CommitResult,
    CompactParams, CompactResult, CreateContext, EngineError, Info, IngestResult,
    MaintenanceResult, Message, Messages, SessionParams,
};

/// What [`ContextEngine::assemble`] receives.
pub struct AssembleRequest<'a> {
    /// History before the current turn, oldest first; results stand directly behind their call. Never the current
    /// prompt.
    pub messages: Messages<'a>,
    /// Tokens that messages and prompt addition may take, `> 0`; `None` when the host does not know.
    pub token_budget: Option<u64>,
    /// Everything else.
    pub params: AssembleParams,
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
    /// The `maintain` of this attempt is skipped.
    fn bootstrap(&mut self, _params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        Err(EngineError::unsupported("bootstrap"))
    }

    /// Tidies up: after `bootstrap`, after an acknowledged commit, after a compaction.
    ///
    /// # Errors
    ///
    /// Ignored by the turn.
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

    /// Says goodbye. Called once per instance, after everything else; a process that dies never calls it.
    ///
    /// # Errors
    ///
    /// Logged.
    fn dispose(&mut self) -> Result<(), EngineError> {
        Ok(())
    }
}
