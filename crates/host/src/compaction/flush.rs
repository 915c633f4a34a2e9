//! The memory flush: a silent turn before a compaction, so that durable notes get written. Data only; nothing here runs
//! one.

use super::budget::{reserve_tokens, threshold_tokens};

const SOFT_TOKENS: u64 = 4_000;
/// Transcripts of this size are flushed whatever their tokens.
pub const FLUSH_BYTES: u64 = 2 * 1024 * 1024;
/// Failed flushes after which a session goes on without.
const MAX_FAILURES: u32 = 3;

/// What decides on a flush.
#[derive(Clone, Copy, Debug)]
pub struct FlushState {
    /// Tokens the next request will take, as far as known.
    pub projected_tokens: u64,
    /// The model's window.
    pub window_tokens: u64,
    /// The reserve asked for.
    pub reserve_tokens: u64,
    /// How long before the threshold a flush comes; `None` for 4,000.
    pub soft_tokens: Option<u64>,
    /// Bytes of the active transcript.
    pub transcript_bytes: u64,
    /// From how many bytes on a flush comes in any case.
    pub flush_bytes: u64,
    /// Compactions of the session so far.
    pub compactions: u64,
    /// The count of compactions at the last flush.
    pub flushed_at: Option<u64>,
    /// Failed flushes since the last that worked.
    pub failures: u32,
}

/// What to ask in a flush, and what it may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flush {
    /// The only file it may write, from the workspace.
    pub file: String,
    /// The prompt.
    pub prompt: String,
}

impl FlushState {
    /// Whether a flush is due: near the threshold or at the byte limit, once between two compactions, and not after
    /// three failures. So a flush that grows the context cannot ask for another. Cases L-11 and L-12.
    ///
    /// Source: compaction, "Memory flush".
    #[must_use]
    pub fn is_due(&self) -> bool {
        let threshold = threshold_tokens(self.window_tokens, self.reserve_tokens, None);
        let reserve = reserve_tokens(self.window_tokens, self.reserve_tokens);
        let most = (self.window_tokens - reserve) / 2;
        let soft = self.soft_tokens.unwrap_or(SOFT_TOKENS).min(most);
        let is_near = self.projected_tokens >= threshold - soft.min(threshold);
        (is_near || self.transcript_bytes >= self.flush_bytes)
            && self.flushed_at != Some(self.compactions)
            && self.failures < MAX_FAILURES
    }
}

/// The flush of a day.
///
/// - `date`: `YYYY-MM-DD` in the user's zone.
#[must_use]
pub fn flush(date: &str) -> Flush {
    let file = format!("memory/{date}.md");
    Flush {
        prompt: format!(
            "The conversation will be compacted soon. Append to `{file}` what has to be remembered beyond it: facts, \
             decisions, preferences. Append only; write no other file, and treat the workspace's own documents as \
             read-only. If there is nothing to remember, answer NO_REPLY."
        ),
        file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: FlushState = FlushState {
        projected_tokens: 0,
        window_tokens: 32_000,
        reserve_tokens: 0,
        soft_tokens: None,
        transcript_bytes: 0,
        flush_bytes: FLUSH_BYTES,
        compactions: 2,
        flushed_at: None,
        failures: 0,
    };

    /// Case L-12.
    #[test]
    fn a_flush_comes_once_before_each_compaction() {
        let at = |projected_tokens| FlushState {
            projected_tokens,
            ..STATE
        };
        assert!(!at(19_999).is_due());
        assert!(at(20_000).is_due());
        let done = FlushState {
            flushed_at: Some(2),
            ..at(30_000)
        };
        assert!(!done.is_due());
        assert!(
            FlushState {
                compactions: 3,
                ..done
            }
            .is_due()
        );
        assert!(
            !FlushState {
                failures: 3,
                ..at(30_000)
            }
            .is_due()
        );
        assert!(
            FlushState {
                transcript_bytes: FLUSH_BYTES,
                ..STATE
            }
            .is_due()
        );
    }

    /// Case L-11.
    #[test]
    fn a_soft_threshold_larger_than_the_window_keeps_a_sane_floor() {
        let state = FlushState {
            window_tokens: 1_000,
            reserve_tokens: 400,
            soft_tokens: Some(900),
            projected_tokens: 300,
            ..STATE
        };
        assert!(!state.is_due());
        assert!(
            FlushState {
                projected_tokens: 650,
                ..state
            }
            .is_due()
        );
        assert!(
            FlushState {
                window_tokens: 0,
                ..state
            }
            .is_due(),
            "no underflow"
        );
    }

    #[test]
    fn a_flush_names_the_one_file_it_may_write() {
        let flush = flush("2026-05-01");
        assert_eq!(flush.file, "memory/2026-05-01.md");
        assert!(flush.prompt.contains(&flush.file) && flush.prompt.contains("NO_REPLY"));
    }
}
