//! What a caller hears while a turn runs.

use super::record::CompactionRecord;
use crate::model::ModelInfo;
use std::time::Duration;

/// What a caller hears while a turn runs.
#[derive(Clone, Copy, Debug)]
pub enum TurnEvent<'a> {
    /// A piece of the model's text, as it arrives.
    Text(&'a str),
    /// A request came to nothing and is made again.
    Retry(&'a Retry),
    /// The context is too large for the model, and the engine is asked to make it smaller.
    Compacting {
        /// The engine.
        engine_id: &'a str,
    },
    /// The context is smaller now.
    Compacted(&'a CompactionRecord),
}

/// A request that came to nothing and is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Why, with the model that was asked.
    pub reason: String,
    /// The model that is asked next.
    pub next: ModelInfo,
    /// Whether that is another model than before.
    pub is_fallback: bool,
    /// How long is waited before.
    pub wait: Duration,
    /// Whether a part of the answer was handed out already. It does not count: the whole answer comes again.
    pub was_streaming: bool,
}
