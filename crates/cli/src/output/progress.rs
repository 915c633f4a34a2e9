//! How far something is, in one line of stderr that is written over.

use super::plain;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line changes.
const INTERVAL: Duration = Duration::from_millis(100);

/// A line of stderr that tells how far something is; nothing where stderr is no terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    is_shown: bool,
    last: Option<Instant>,
}

impl Progress {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self {
            is_shown: is_wanted && io::stderr().is_terminal(),
            last: None,
        }
    }

    /// Shows a text in place of the one before.
    pub(crate) fn show(&mut self, text: &str) {
        let is_soon = self.last.is_some_and(|last| last.elapsed() < INTERVAL);
        if !self.is_shown || is_soon {
            return;
        }
        self.last = Some(Instant::now());
        write(&format!("\r\x1b[2K{}", plain(text)));
    }

    /// Takes the line away.
    pub(crate) fn end(self) {
        if self.last.is_some() {
            write("\r\x1b[2K");
        }
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr();
    // Where nobody listens there is nobody to tell.
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}
