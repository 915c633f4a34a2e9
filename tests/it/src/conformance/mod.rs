//! The conformance cases of the transcript semantics, as an engine sees them.

mod compaction;
mod degraded;
mod hooks;
mod kinds;
mod maintenance;
mod retries;
