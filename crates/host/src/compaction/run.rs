//! The requests of one compaction: attempts, waits and time limits around a summariser.

use std::time::Duration;

use openclaw_transcript::Message;

use super::prompts::{self, PromptParts};
use super::settings::CompactionWorld;
use super::summariser::{Purpose, Summariser, SummaryError, SummaryRequest};

const ATTEMPTS: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How often a wait looks whether it is still wanted.
const STEP: Duration = Duration::from_millis(100);

/// What one request asks.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) purpose: Purpose,
    pub(super) task: String,
    pub(super) conversation: String,
    pub(super) previous: Option<String>,
    pub(super) max_output_tokens: u64,
}

/// A summariser at work.
pub(super) struct Run<'r> {
    pub(super) summariser: &'r mut dyn Summariser,
    pub(super) world: &'r CompactionWorld<'r>,
    pub(super) timeout: Duration,
    /// Requests made so far.
    pub(super) requests: usize,
}

impl Run<'_> {
    /// Makes a request; again after a passing trouble, not after a lasting one, a timeout or a cancellation.
    pub(super) fn ask(
        &mut self,
        ask: &Ask,
        messages: &[&Message],
        feedback: Option<&str>,
    ) -> Result<String, SummaryError> {
        let prompt = prompts::prompt(&PromptParts {
            task: &ask.task,
            conversation: &ask.conversation,
            previous: ask.previous.as_deref(),
            feedback,
        });
        let mut wait = FIRST_WAIT;
        for attempt in 1.. {
            let error = match self.once(ask, &prompt, messages) {
                Ok(text) if text.trim().is_empty() => return Err(SummaryError::Empty),
                Ok(text) => return Ok(text.trim().to_owned()),
                Err(error) => error,
            };
            if !error.may_pass() || attempt == ATTEMPTS {
                return Err(error);
            }
            let asked = match &error {
                SummaryError::Passing {
                    retry_after: Some(asked),
                    ..
                } => *asked,
                _ => wait,
            };
            if asked > LONGEST_WAIT {
                return Err(error);
            }
            self.pause(asked)?;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        unreachable!("the last attempt returns")
    }

    fn once(
        &mut self,
        ask: &Ask,
        prompt: &str,
        messages: &[&Message],
    ) -> Result<String, SummaryError> {
        let world = self.world;
        if (world.is_cancelled)() {
            return Err(SummaryError::Cancelled);
        }
        let started = (world.now_ms)();
        let limit = i64::try_from(self.timeout.as_millis()).unwrap_or(i64::MAX);
        let is_late = || (world.now_ms)().saturating_sub(started) >= limit;
        self.requests += 1;
        let answer = self.summariser.summarise(&SummaryRequest {
            purpose: ask.purpose,
            system_prompt: prompts::SYSTEM,
            prompt,
            messages,
            conversation: &ask.conversation,
            previous_summary: ask.previous.as_deref(),
            max_output_tokens: ask.max_output_tokens,
            should_stop: &|| (world.is_cancelled)() || is_late(),
        });
        if (world.is_cancelled)() {
            return Err(SummaryError::Cancelled);
        }
        match answer {
            Err(SummaryError::Cancelled) if is_late() => Err(SummaryError::TimedOut {
                after: self.timeout,
            }),
            answer => answer,
        }
    }

    fn pause(&self, time: Duration) -> Result<(), SummaryError> {
        let mut left = time;
        while !left.is_zero() {
            if (self.world.is_cancelled)() {
                return Err(SummaryError::Cancelled);
            }
            let step = left.min(STEP);
            (self.world.wait)(step);
            left -= step;
        }
        Ok(())
    }
}
