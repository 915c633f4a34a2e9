//! Behaviour against captured material outside the tree.
//!
//! The material is recorded output of OpenClaw itself and transcripts of other projects. It is never copied here: the
//! environment names its folder, and the source names files and cases only.
//!
//! - `OPENCLAW_ORACLES`: the folder. Without it each group prints `skipped: OPENCLAW_ORACLES is not set` and passes.
//! - `OPENCLAW_ORACLES_REQUIRED`: when set to `1`, a missing variable fails as well. The full check sets both.
//!
//! A group that ran and agreed prints `oracle ran: <name> (<n> comparisons)`; run with `-- --show-output` to see it. A
//! missing folder or file and a group without a comparison fail, so that the full check has only to count these lines.
//!
//! A new suite is a file with tests that call `support::oracle` once per group, and a line below.

#![cfg(test)]
#![forbid(unsafe_code)]

mod bootstrap;
mod compaction;
mod delta;
mod directives;
mod faults;
mod formats;
mod import;
mod migrations;
mod pairs;
mod parsing;
mod plugins;
mod prune;
mod replay;
mod round_trip;
mod sequences;
mod shown;
mod support;
mod tokens;
mod tree;
