//! Kills the command at many moments: nothing acknowledged is lost, nothing is done twice, nothing needs repair.
//!
//! `OPENCLAW_KILLS` sets how often a test kills; the default is small enough for every test run.

mod imports;
mod turns;

use crate::home::Home;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn kills() -> usize {
    std::env::var("OPENCLAW_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(12)
}

/// When to kill, until often enough.
struct Kills {
    /// How long an undisturbed run takes. Less, once runs have been faster.
    whole: Duration,
    wanted: usize,
    died: usize,
    tries: usize,
}

impl Kills {
    fn new(whole: Duration) -> Self {
        Self {
            whole,
            wanted: kills(),
            died: 0,
            tries: 0,
        }
    }

    /// The number of the next try; `None` when enough runs have died.
    fn next(&mut self) -> Option<usize> {
        self.tries += 1;
        assert!(
            self.tries <= 5 * self.wanted,
            "only {} of {} runs died",
            self.died,
            self.tries
        );
        (self.died < self.wanted).then_some(self.tries)
    }

    /// Starts a command and kills it at a moment of its run; the moments of many tries are spread evenly. Killing needs
    /// real time: there is no clock to hand in.
    fn kill(&mut self, command: &mut Command) {
        let part = (self.tries as f64 * 0.618_034).fract();
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command can be run");
        std::thread::sleep(self.whole.mul_f64(part));
        child.kill().expect("a child can be killed");
        let ended = child.wait().expect("a child ends");
        if ended.success() {
            self.whole = self.whole.mul_f64(0.95);
        } else {
            self.died += 1;
        }
    }
}

/// Runs a command to its end and returns its document and how long it took.
fn timed(home: &Home, args: &[&str]) -> (Value, Duration) {
    let started = Instant::now();
    let document = finish(home, args);
    (document, started.elapsed())
}

fn finish(home: &Home, args: &[&str]) -> Value {
    home.finish(&mut home.command(args)).succeeds().json()
}

/// The store is as it should be, as `doctor` sees it.
fn is_healthy(home: &Home) -> bool {
    finish(home, &["doctor", "--json"])["ok"] == true
}
