//! When a model that gave no answer is asked again.

use crate::model::{ModelError, ModelErrorKind};
use openclaw_interface::model::ReasonCode;
use std::time::Duration;

const LIMIT: u32 = 8;
const RATE_LIMIT: u32 = 9;
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long after the first failure a model is still asked again.
const WINDOW: Duration = Duration::from_secs(90);

/// How often a model was asked again since it answered last.
///
/// Source: turn pipeline, "Retries inside a turn".
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Retries {
    made: u32,
    first_failure_ms: Option<i64>,
}

impl Retries {
    /// How long to wait before the model is asked again; `None` when it is not.
    pub(super) fn next(&mut self, error: &ModelError, now_ms: i64) -> Option<Duration> {
        let (limit, asked_wait) = match error.kind {
            ModelErrorKind::Transport | ModelErrorKind::Timeout | ModelErrorKind::Server => {
                (LIMIT, None)
            }
            ModelErrorKind::RateLimited { retry_after } => (RATE_LIMIT, retry_after),
            ModelErrorKind::Unreachable
            | ModelErrorKind::Unauthorized
            | ModelErrorKind::ContextOverflow
            | ModelErrorKind::Refused
            | ModelErrorKind::BadAnswer
            | ModelErrorKind::Cancelled => return None,
        };
        let first = *self.first_failure_ms.get_or_insert(now_ms);
        let elapsed = Duration::from_millis(u64::try_from(now_ms - first).unwrap_or(0));
        if self.made >= limit || elapsed >= WINDOW {
            return None;
        }
        let doubled = FIRST_WAIT.saturating_mul(1 << self.made.min(5));
        let wait = asked_wait.unwrap_or(doubled.min(LONGEST_WAIT));
        if wait > WINDOW {
            return None;
        }
        self.made += 1;
        Some(wait)
    }
}

/// Why another model is asked, as a code.
pub(super) fn reason_code(kind: ModelErrorKind) -> ReasonCode {
    match kind {
        ModelErrorKind::Timeout => ReasonCode::ProviderTimeout,
        ModelErrorKind::RateLimited { .. } => ReasonCode::RateLimited,
        ModelErrorKind::ContextOverflow => ReasonCode::ContextOverflow,
        ModelErrorKind::Unreachable
        | ModelErrorKind::Transport
        | ModelErrorKind::Server
        | ModelErrorKind::Unauthorized => ReasonCode::ProviderUnavailable,
        ModelErrorKind::Refused | ModelErrorKind::BadAnswer | ModelErrorKind::Cancelled => {
            ReasonCode::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits in seconds when each try takes `try_ms`.
    fn waits(kind: ModelErrorKind, try_ms: i64) -> Vec<u64> {
        let error = ModelError {
            provider: "p".into(),
            model: "m".into(),
            kind,
            reason: String::new(),
        };
        let mut retries = Retries::default();
        let mut now_ms = 1_000;
        std::iter::from_fn(|| {
            let wait = retries.next(&error, now_ms)?;
            now_ms += i64::try_from(wait.as_millis()).unwrap() + try_ms;
            Some(wait.as_secs())
        })
        .collect()
    }

    #[test]
    fn passing_troubles_are_tried_again_within_the_window() {
        for kind in [
            ModelErrorKind::Transport,
            ModelErrorKind::Timeout,
            ModelErrorKind::Server,
            ModelErrorKind::RateLimited { retry_after: None },
        ] {
            assert_eq!(waits(kind, 100), [1, 2, 4, 8, 16, 30, 30], "{kind:?}");
            assert_eq!(waits(kind, 60_000), [1, 2], "{kind:?}");
        }
    }

    #[test]
    fn count_is_bounded_where_waits_are_short() {
        let limited = |seconds| ModelErrorKind::RateLimited {
            retry_after: Some(Duration::from_secs(seconds)),
        };
        assert_eq!(waits(limited(0), 1), [0; 9]);
        assert_eq!(waits(limited(7), 1), [7; 9]);
        assert_eq!(waits(limited(90), 1), [90]);
        assert_eq!(waits(limited(91), 1), [0; 0]);
    }

    #[test]
    fn lasting_troubles_are_not() {
        for kind in [
            ModelErrorKind::Unreachable,
            ModelErrorKind::Unauthorized,
            ModelErrorKind::Refused,
            ModelErrorKind::BadAnswer,
            ModelErrorKind::ContextOverflow,
            ModelErrorKind::Cancelled,
        ] {
            assert_eq!(waits(kind, 1), [0; 0], "{kind:?}");
        }
    }
}
