//! Plain Rust twins of what crosses the boundary, with the contract's JSON names.
//!
//! Unknown fields are kept where an object passes through (`extra`), so that a newer host and an older engine, or the
//! other way round, lose nothing between them.

mod context;
mod error;
mod info;
mod message;
mod open;
mod params;
mod result;
mod role;
mod runtime;
pub mod service;
mod subagent;
mod tool;

pub use context::CreateContext;
pub use error::{EngineError, ErrorCode};
pub use info::{HostRequirement, Info, MaintenanceMode, TranscriptSemantics};
pub use message::{Message, Messages};
pub use params::{
    Anchor, AssembleParams, BatchParams, CommitParams, CompactParams, SessionParams, SessionTarget,
};
pub use result::{
    Assembly, AssemblyExtra, BootstrapResult, CommitResult, CommitStatus, CompactResult,
    Compaction, ContextProjection, IngestResult, MaintenanceResult, ProjectionMode,
    PromptAuthority,
};
pub use role::Role;
pub use runtime::{
    Diagnostics, ExecutionHost, Limits, ModelFacts, ReasonCode, RuntimeFacts, RuntimeMode,
    RuntimeSettings, SelectionFacts, SelectionSource,
};
pub use subagent::{EndReason, SpawnHandle, SpawnMode, SpawnParams, SubagentEndedParams};
pub use tool::{ToolAnswer, ToolCall, ToolDescriptor};
