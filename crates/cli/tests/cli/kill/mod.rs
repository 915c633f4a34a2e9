//! Kills the command at many moments: nothing acknowledged is lost, nothing is done twice, nothing needs repair.

mod imports;
mod turns;

use crate::home::Home;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a command to its end and returns its document and how long it took.
fn timed(home: &Home, args: &[&str]) -> (Value, Duration) {
    let started = Instant::now();
    let document = finish(home, args);
    (document, started.elapsed())
}

fn finish(home: &Home, args: &[&str]) -> Value {
    home.finish(&mut home.command(args)).succeeds().json()
}

/// A command of which only the death is of interest.
fn silent(mut command: Command) -> Command {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The store is as it should be, as `doctor` sees it.
fn is_healthy(home: &Home) -> bool {
    finish(home, &["doctor", "--json"])["ok"] == true
}
