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

mod base64;
mod blocks;
mod context;
mod copy;
mod cut;
mod fault;
mod group;
mod header;
mod json;
mod message;
mod migrate;
mod parse;
mod prune;
mod repair;
mod replay;
mod row;
mod said;
mod scan;
#[cfg(test)]
mod tests;
mod time;
mod tokens;
mod tree;
mod write;

pub use context::{Context, ContextMessage, ModelRef, appended, context, context_start, visible};
pub use copy::{Copy, copied_row};
pub use cut::{is_legal_cut, newest_within};
pub use fault::{Fault, FaultKind};
pub use group::{groups, groups_by_role};
pub use header::{CURRENT_VERSION, Header};
pub use message::{BrokenCall, Call, Message, MessageError, StopReason};
pub use migrate::{IdSeed, Migrated, Migration, migrate, stable_hash, todays_header};
pub use openclaw_interface::Role;
pub use parse::{
    Line, LineReader, MAX_LINE_BYTES, Transcript, Unread, parse, parse_line, parse_row,
};
pub use prune::{
    CACHE_TTL_ROW, CLEARING_BETA, Decisions, HistoryShare, Pruned, PrunedResults, Pruning,
    ResultBudget, Touch, caches_prompts, history_share, last_touch_ms, prune_history_images,
    prune_tool_results, truncate_tool_text,
};
pub use repair::{
    Lead, MISSING_RESULT, Mend, MendKind, Piece, Repaired, pair, pair_behind, pair_with,
};
pub use replay::{
    CallIds, NativeIds, Policy, Reasoning, Replay, ReplayLead, Replayed, Signatures, Source,
    Target, TurnLimit, for_request, join_turns, limit_turns, normalize_history, replay,
    replay_behind, sanitize_history, turn_limit,
};
pub use row::{Parent, Row, RowKind};
pub use said::{
    Said, has_blocks, is_displayed, is_error_result, is_runtime_carrier, said, sender, tool_name,
};
pub use scan::MAX_DEPTH;
pub use tokens::{ContextTokens, IMAGE_TOKENS, context_tokens, count, estimate, estimate_text};
pub use tree::{
    ActivePath, Growth, Link, Node, PathFault, PathFaultKind, PathScan, Tip, active_path, growth,
};
pub use write::{
    NewCompaction, compaction_row, custom_row, header_row, leaf_row, message_row, model_change_row,
    reset_row,
};
