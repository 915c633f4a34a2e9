//! Plain Rust twins of what crosses the boundary, with the contract's JSON names.
//!
//! Unknown fields are kept where an object passes through (`extra`), so that a newer host and an older engine, or the
//! other way round, lose nothing between them.

mod context;
mod error;
mod info;
mod message;
mod params;
mod result;
mod role;

pub use context::CreateContext;
pub use error::{EngineError, ErrorCode};
pub use info::{HostRequirement, Info, MaintenanceMode, TranscriptSemantics};
pub use message::{Message, Messages};
pub use params::{
    Anchor, AssembleParams, BatchParams, CommitParams, CompactParams, SessionParams, SessionTarget,
};
pub use result::{
    Assembly, AssemblyExtra, BootstrapResult, CommitResult, CommitStatus, CompactResult,
    IngestResult, MaintenanceResult, PromptAuthority,
};
pub use role::Role;
