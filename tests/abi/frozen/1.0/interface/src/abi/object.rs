//! The two trait objects that meet at the boundary.
//!
//! Methods are appended after the one marked `last_prefix_field`, each with a default body, and never moved. What a
//! method receives lives until it returns; what it returns carries its maker's functions.

use super::value::{AssembleOut, AssembleReq, EngineError, MessagesReq, Reply};
use abi_stable::sabi_trait;
use abi_stable::std_types::{RBox, RResult, RStr};

/// One engine instance. Any thread may call it, one call at a time.
#[sabi_trait]
pub trait Engine {
    /// See [`ContextEngine::bootstrap`](crate::ContextEngine::bootstrap).
    fn bootstrap(&mut self, params_json: RStr<'_>) -> Reply;
    /// See [`ContextEngine::maintain`](crate::ContextEngine::maintain).
    fn maintain(&mut self, params_json: RStr<'_>) -> Reply;
    /// See [`ContextEngine::ingest`](crate::ContextEngine::ingest).
    fn ingest(&mut self, request: MessagesReq<'_>) -> Reply;
    /// See [`ContextEngine::ingest_batch`](crate::ContextEngine::ingest_batch).
    fn ingest_batch(&mut self, request: MessagesReq<'_>) -> Reply;
    /// See [`ContextEngine::after_turn`](crate::ContextEngine::after_turn).
    fn after_turn(&mut self, request: MessagesReq<'_>) -> Reply;
    /// See [`ContextEngine::commit_turn`](crate::ContextEngine::commit_turn).
    fn commit_turn(&mut self, request: MessagesReq<'_>) -> Reply;
    /// See [`ContextEngine::assemble`](crate::ContextEngine::assemble).
    fn assemble(&mut self, request: AssembleReq<'_>) -> RResult<AssembleOut, EngineError>;
    /// See [`ContextEngine::compact`](crate::ContextEngine::compact).
    fn compact(&mut self, params_json: RStr<'_>) -> Reply;
    /// See [`ContextEngine::prepare_subagent_spawn`](crate::ContextEngine::prepare_subagent_spawn). Answers `null` or
    /// the handle.
    fn prepare_subagent_spawn(&mut self, params_json: RStr<'_>) -> Reply;
    /// See [`ContextEngine::rollback_subagent_spawn`](crate::ContextEngine::rollback_subagent_spawn).
    fn rollback_subagent_spawn(&mut self, handle_json: RStr<'_>) -> Reply;
    /// See [`ContextEngine::on_subagent_ended`](crate::ContextEngine::on_subagent_ended).
    fn on_subagent_ended(&mut self, params_json: RStr<'_>) -> Reply;
    /// See [`ContextEngine::dispose`](crate::ContextEngine::dispose).
    fn dispose(&mut self) -> Reply;
    /// The growth lane: hooks newer than this trait, by their contract name.
    #[sabi(last_prefix_field)]
    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;
}

/// What a host offers to one engine instance. Any thread may call it, at the same time.
#[sabi_trait]
pub trait Host {
    /// Hands one line to the host's log. Levels: 1 error, 2 warn, 3 info, 4 debug, 5 trace.
    fn log(&self, level: u32, message: RStr<'_>);
    /// Whether the call in progress should end early.
    fn cancelled(&self) -> bool;
    /// Tokens of `text` for the model in use.
    fn count_tokens(&self, text: RStr<'_>) -> u64;
    /// Services by name; which exist is told with each call.
    #[sabi(last_prefix_field)]
    fn call_json(&self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;
}

/// An engine instance behind the boundary.
pub type EngineObject = Engine_TO<'static, RBox<()>>;

/// A host's services behind the boundary.
pub type HostObject = Host_TO<'static, RBox<()>>;
