//! What a compaction is told beside the path.

use std::time::Duration;

use super::input::InputKey;

/// Tokens of the end that stay as they are.
pub const KEEP_RECENT_TOKENS: u64 = 20_000;
/// How long one request for a summary may take.
pub const SUMMARY_TIMEOUT: Duration = Duration::from_secs(180);
/// New summaries after a refused one, at most.
const MAX_RETRIES: u8 = 3;

/// How to compact, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionSettings {
    /// Tokens of the end that stay as they are.
    pub keep_recent_tokens: u64,
    /// Turns before the kept end that are quoted behind the summary, 0 to 12.
    pub recent_turns: u8,
    /// Whether identifiers have to be carried over letter by letter.
    pub strict_identifiers: bool,
    /// Whether a summary is checked before it is written.
    pub audit: bool,
    /// New summaries after a refused one, at most 3.
    pub max_retries: u8,
    /// How long one request for a summary may take.
    pub timeout: Duration,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self {
            keep_recent_tokens: KEEP_RECENT_TOKENS,
            recent_turns: 3,
            strict_identifiers: true,
            audit: true,
            max_retries: 1,
            timeout: SUMMARY_TIMEOUT,
        }
    }
}

impl CompactionSettings {
    pub(super) fn attempts(&self) -> usize {
        1 + usize::from(self.max_retries.min(MAX_RETRIES))
    }
}

/// When to compact, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionPolicy {
    /// Whether the host compacts without being asked by a person. Case L-17.
    pub automatic: bool,
    /// Bytes of the active transcript from which on it is compacted; 0 for any size.
    pub max_active_bytes: u64,
    /// How.
    pub settings: CompactionSettings,
}

impl Default for CompactionPolicy {
    fn default() -> Self {
        Self {
            automatic: true,
            max_active_bytes: 0,
            settings: CompactionSettings::default(),
        }
    }
}

/// Why a compaction is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The user asked.
    Manual,
    /// The context reached its threshold.
    Budget,
    /// The transcript reached its size on disk.
    Bytes,
    /// A provider refused a prompt as too large.
    Overflow,
    /// A model timed out on a large prompt.
    Timeout,
}

/// One compaction.
#[derive(Clone, Copy, Debug)]
pub struct CompactionRequest<'a> {
    /// Why.
    pub trigger: Trigger,
    /// Tokens the whole next prompt may take: the window without the reserve. The same number that the trigger used.
    /// Case L-4.
    pub budget_tokens: u64,
    /// Tokens of the next prompt that no compaction can shrink: system prompt, tools, and a new message that is not on
    /// the path; 0 when not known. Cases L-5, L-8.
    pub fixed_tokens: u64,
    /// Tokens of the context as a provider counted them, where known.
    pub known_tokens: Option<u64>,
    /// Entry of the user's message that waits for its answer, when it is on the path. It is never folded.
    pub pending_entry_id: Option<&'a str>,
    /// What the user asks the summary to look at.
    pub focus: Option<&'a str>,
    /// The input of the last attempt that gained nothing.
    pub last_without_gain: Option<&'a InputKey>,
}

/// What a compaction needs of the world.
#[derive(Clone, Copy)]
pub struct CompactionWorld<'a> {
    /// Tokens of a text, counted as those of the input were.
    pub count_tokens: &'a dyn Fn(&str) -> u64,
    /// Milliseconds since some moment.
    pub now_ms: &'a dyn Fn() -> i64,
    /// Waits; at most a tenth of a second at a time.
    pub wait: &'a dyn Fn(Duration),
    /// Whether the caller wants no compaction any more.
    pub is_cancelled: &'a dyn Fn() -> bool,
}
