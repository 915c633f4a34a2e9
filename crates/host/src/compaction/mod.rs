//! The built-in compactor: the older part of a session becomes a summary, the newer part stays as it is.
//!
//! [`compact`] takes the visible part of a path and a [`Summariser`] and hands out a row to append, or says why not. It
//! writes nothing itself and knows neither store, nor engine, nor config file. The rest are the rules around it, each a
//! pure function: when a context is too large ([`should_compact`], [`pressure`], [`is_overflow`], [`bytes_due`]), where
//! it is cut ([`find_cut`], [`prepare`]), what a summariser sees ([`conversation`], [`chunks`]) and what a summary must
//! hold ([`audit`]).
//!
//! # Invariants
//!
//! - A compaction makes the context smaller or is none: nothing to gain is an answer, not a write.
//! - A failure, a time limit and a cancellation leave the transcript as it is.
//! - A call is never parted from its results, and every message is given to the summariser or kept, once.
//! - Work without the model is linear in the visible part of the path.

mod ask;
mod audit;
mod budget;
mod bytes;
mod chunks;
mod compact;
mod compose;
mod conversation;
mod cut;
mod draft;
mod extractive;
mod facts;
mod files;
mod flush;
mod focus;
mod identifiers;
mod input;
mod job;
mod model_summariser;
mod notices;
mod outcome;
mod overflow;
mod plan;
mod prepare;
mod pressure;
mod prompts;
mod real;
mod run;
mod sentences;
mod settings;
mod structure;
mod summariser;
#[cfg(test)]
mod tests;
mod text;

pub use audit::{AuditInput, Flaw, audit};
pub use budget::{reserve_tokens, should_compact, threshold_tokens, timed_out_on_size};
pub use bytes::{ByteLatch, byte_latch, bytes_due};
pub use chunks::{Weighed, chunk_ratio, chunk_tokens, chunks, oversized_note, stages};
pub use compact::compact;
pub use conversation::conversation;
pub use cut::{Cut, find_cut};
pub use extractive::Extractive;
pub use files::FileLists;
pub use flush::{FLUSH_BYTES, Flush, FlushState, flush};
pub use focus::focus_block;
pub use identifiers::identifiers;
pub use input::{CompactionInput, InputKey};
pub use model_summariser::{ModelSummariser, summariser_for};
pub use notices::{notice, started_notice};
pub use outcome::{
    Compacted, CompactionDetails, CompactionError, CompactionErrorKind, Outcome, Skip,
};
pub use overflow::{is_overflow, is_request_ceiling, is_silent_overflow, observed_tokens};
pub use prepare::{PrepareSettings, Prepared, prepare};
pub use pressure::{
    Counted, Pressure, PressureInput, Route, pressure, pressure_of, result_limit_units,
};
pub use real::is_conversation;
pub use settings::{
    CompactionPolicy, CompactionRequest, CompactionSettings, CompactionWorld, KEEP_RECENT_TOKENS,
    SUMMARY_TIMEOUT, Trigger,
};
pub use structure::{HEADINGS, SUMMARY_UNITS, cap_summary, structured_fallback};
pub use summariser::{Purpose, Summariser, SummariserLimits, SummaryError, SummaryRequest};
