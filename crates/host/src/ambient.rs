//! Time, waiting and fresh ids, which come from outside so that a test can fix them.

use crate::cancel::Cancel;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Time, waiting and fresh ids.
#[derive(Clone)]
pub struct Ambient {
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    new_id: Arc<dyn Fn() -> String + Send + Sync>,
    wait: Arc<Wait>,
}

type Wait = dyn Fn(Duration, &Cancel) + Send + Sync;

impl Ambient {
    /// - `now_ms`: milliseconds since 1970, UTC.
    /// - `new_id`: an id that was never given out before, such as a UUID.
    pub fn new(
        now_ms: impl Fn() -> i64 + Send + Sync + 'static,
        new_id: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            now_ms: Arc::new(now_ms),
            new_id: Arc::new(new_id),
            wait: Arc::new(|duration, cancel| cancel.wait(duration)),
        }
    }

    /// Replaces waiting, which otherwise takes its time and ends with a cancel.
    #[must_use]
    pub fn with_wait(mut self, wait: impl Fn(Duration, &Cancel) + Send + Sync + 'static) -> Self {
        self.wait = Arc::new(wait);
        self
    }

    pub(crate) fn wait(&self, duration: Duration, cancel: &Cancel) {
        (self.wait)(duration, cancel);
    }

    pub(crate) fn now_ms(&self) -> i64 {
        (self.now_ms)()
    }

    pub(crate) fn new_id(&self) -> String {
        (self.new_id)()
    }

    /// Now, as transcripts write it.
    pub(crate) fn timestamp(&self) -> String {
        iso(self.now_ms())
    }
}

/// Milliseconds since 1970 as `2026-05-01T10:00:00.000Z`; empty when out of range.
pub(crate) fn iso(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map(|time| format!("{time:.3}"))
        .unwrap_or_default()
}

impl fmt::Debug for Ambient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ambient")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn timestamps_look_as_transcripts_write_them() {
        assert_eq!(super::iso(1_777_629_600_000), "2026-05-01T10:00:00.000Z");
    }
}
