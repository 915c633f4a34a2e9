//! Processes that are killed at many moments of their run.

use std::process::Command;
use std::time::Duration;

/// Kills processes at moments spread evenly over a run, until enough of them have died of it.
///
/// `OPENCLAW_KILLS` sets how many; the default is small enough for every test run.
pub struct Kills {
    /// How long an undisturbed run takes. Less, once runs have been faster.
    whole: Duration,
    wanted: usize,
    died: usize,
    tries: usize,
}

impl Kills {
    /// - `whole`: how long an undisturbed run takes.
    #[must_use]
    pub fn new(whole: Duration) -> Self {
        let wanted = std::env::var("OPENCLAW_KILLS").ok();
        Self {
            whole,
            wanted: wanted.and_then(|text| text.parse().ok()).unwrap_or(12),
            died: 0,
            tries: 0,
        }
    }

    /// The number of the next try; `None` when enough runs have died.
    ///
    /// # Panics
    ///
    /// Too many runs end before they are killed.
    pub fn next_try(&mut self) -> Option<usize> {
        self.tries += 1;
        assert!(
            self.tries <= 5 * self.wanted,
            "only {} of {} runs died",
            self.died,
            self.tries
        );
        (self.died < self.wanted).then_some(self.tries)
    }

    /// Starts a process and kills it at a moment of its run. Killing needs real time: there is no clock to hand in.
    ///
    /// # Panics
    ///
    /// The process cannot be run or killed.
    pub fn kill(&mut self, command: &mut Command) {
        let part = (self.tries as f64 * 0.618_034).fract();
        let mut child = command.spawn().expect("a child can be run");
        std::thread::sleep(self.whole.mul_f64(part));
        child.kill().expect("a child can be killed");
        if child.wait().expect("a child ends").success() {
            self.whole = self.whole.mul_f64(0.95);
        } else {
            self.died += 1;
        }
    }
}
