//! Pure functions on OpenClaw session transcripts.
//!
//! A transcript is a header and rows, one JSON object per line, that form a tree by `id` and `parentId`. This crate
//! reads lines, finds the active path, turns rows into messages, keeps calls and results together, repairs broken
//! pairs, counts and migrates. It does no I/O and knows neither clock, nor store, nor config file.
//!
//! # Invariants
//!
//! - Input never panics, and one bad line never hides another: reading gives rows *and* faults.
//! - The raw text of every line survives; bytes that cannot be read as a row are kept beside the fault.
//! - A message that is kept is kept byte for byte. Only a text this crate made is new.
//! - All work is linear in the input, and its depth is bounded by [`MAX_DEPTH`].
//!
//! # Limits
//!
//! Numbers are passed through as written and never interpreted, so `1e999` stays `1e999`.
//!
//! # Example
//!
//! ```
//! use openclaw_transcript::{Link, Row, active_path, context, parse};
//!
//! let file = br#"{"type":"session","version":4,"id":"s","timestamp":"","cwd":"/ws"}
//! {"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"Hello"}}
//! {"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[]}}
//! "#;
//! let transcript = parse(file);
//! assert!(transcript.faults.is_empty());
//!
//! let links: Vec<Link> = transcript.rows.iter().map(Row::link).collect();
//! let path = active_path(&links);
//! let rows: Vec<&Row> = path.rows.iter().map(|&row| &transcript.rows[row]).collect();
//! assert_eq!(context(&rows).messages.len(), 2);
//! ```

#![forbid(unsafe_code)]

mod context;
mod cut;
mod fault;
mod group;
mod header;
mod json;
mod message;
mod migrate;
mod parse;
mod repair;
mod row;
mod scan;
#[cfg(test)]
mod tests;
mod time;
mod tokens;
mod tree;
mod write;

pub use context::{Context, ContextMessage, ModelRef, appended, context, context_start, visible};
pub use cut::{is_legal_cut, newest_within};
pub use fault::{Fault, FaultKind};
pub use group::{groups, groups_by_role};
pub use header::{CURRENT_VERSION, Header};
pub use message::{BrokenCall, Call, Message, MessageError, StopReason};
pub use migrate::{IdSeed, Migrated, migrate, stable_hash};
pub use openclaw_interface::Role;
pub use parse::{Line, LineReader, Transcript, Unread, parse, parse_line, parse_row};
pub use repair::{
    Lead, MISSING_RESULT, Mend, MendKind, Piece, Repaired, pair, pair_behind, pair_with,
};
pub use row::{Parent, Row, RowKind};
pub use scan::MAX_DEPTH;
pub use tokens::{IMAGE_TOKENS, count, estimate, estimate_text};
pub use tree::{
    ActivePath, Growth, Link, Node, PathFault, PathFaultKind, Tip, active_path, growth,
};
pub use write::{
    NewCompaction, compaction_row, custom_row, header_row, leaf_row, message_row, model_change_row,
    reset_row,
};
