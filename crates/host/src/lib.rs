//! Runs turns through context engines.
//!
//! Takes plain values: it knows neither the config file nor the command line, and prints nothing. It owns the sessions
//! of one agent, chooses and guards the engine, talks to a model through the [`Model`] trait and keeps a record of each
//! turn.
//!
//! # Invariants
//!
//! - A failing engine never stops a reply: the built-in engine takes over, and the turn record says so.
//! - The user's message is on disk before an engine or a model sees it.
//! - The last entry of a turn and the engine's claim to it are stored in one transaction. A claim ends only with the
//!   engine's acknowledgement.
//! - What a model gets is in pairs, inside the budget and counted by the host, whatever an engine says.
//!
//! # Limits
//!
//! An engine runs in this process: a crash, an `exit` or an endless loop in it is not survived yet.

#![forbid(unsafe_code)]

mod ambient;
mod background;
mod cancel;
mod check;
pub mod compaction;
mod delegate;
mod desk;
mod guard;
mod handover;
mod history;
mod host;
mod lane;
mod legacy;
mod model;
mod probe;
mod quarantine;
mod registry;
mod reload;
mod requirements;
mod sent;
mod services;
mod slot;
mod store;
mod tokens;
mod turn;

pub use ambient::Ambient;
pub use cancel::Cancel;
pub use host::{Host, HostSettings};
pub use lane::LaneError;
pub use legacy::LEGACY_ID;
pub use model::{
    Block, Candidate, Candidates, Model, ModelError, ModelErrorKind, ModelInfo, ModelReply,
    ModelRequest, NoTools, Stop, ToolNote, ToolOutcome, ToolSpec, Tools, Usage,
};
pub use openclaw_loader::{Census, Trust};
pub use openclaw_transcript::{Pruning, TurnLimit, turn_limit};
pub use probe::{
    Exercise, Exercised, Finding, ProbeCache, ProbeError, ProbeOutcome, ProbeSubject, Probed,
    Refusal, Verdict, exercise, probe, run_probe_script,
};
pub use quarantine::{Health, QuarantineRecord, forget_ended, read_health};
pub use registry::PluginSource;
pub use reload::{ReloadError, Reloaded};
pub use requirements::{ExecutionHost, Unmet, UnmetRequirement};
pub use slot::Slot;
pub use store::{
    Backlog, DeltaError, EventLines, FenceViolation, FileLines, ImportProgress, ImportReport,
    ImportTarget, Imported, NoTranscript, OpenClawSession, OpenClawStore, OpenClawStoreError,
    OpenClawStoreErrorKind, PathEntry, Repair, RepairReport, Session, SessionSummary, Store,
    StoreError, StoreErrorKind, TranscriptLines,
};
pub use tokens::TokenCounter;
pub use turn::{
    Asked, CommitOutcome, CompactOutcome, CompactRequest, CompactionRecord, ContextBudgetStatus,
    ContextSizes, FailedAttempt, HookTiming, ModelUse, Recommit, RecoveredCommit, Retry, Scope,
    Served, Substitution, SystemPrompt, TurnError, TurnEvent, TurnKind, TurnOutcome, TurnRecord,
    TurnRequest, ViewSettings,
};
