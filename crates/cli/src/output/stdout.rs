//! The way to stdout: every write may fail, none panics, and nothing but our data takes it.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Where the result goes.
pub(super) struct Stdout {
    sink: Box<dyn Write>,
    has_colour: bool,
    is_kept: bool,
    /// No more is written after a failure: half a result in the middle helps nobody.
    has_ended: bool,
    failure: Option<io::Error>,
}

impl Stdout {
    pub(super) fn of_process() -> Self {
        let stdout = io::stdout();
        let has_colour = stdout.is_terminal()
            && anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
        Self {
            sink: Box::new(stdout),
            has_colour,
            is_kept: false,
            has_ended: false,
            failure: None,
        }
    }

    /// Goes on with a private copy of stdout and lets the public one lead to stderr. Where the system cannot do that,
    /// stdout stays shared.
    pub(super) fn keep(&mut self) {
        if !self.is_kept
            && let Ok(sink) = private_stdout()
        {
            self.sink = sink;
            self.is_kept = true;
        }
    }

    pub(super) fn has_colour(&self) -> bool {
        self.has_colour
    }

    pub(super) fn write(&mut self, text: &str) {
        if self.has_ended {
            return;
        }
        let written = self.sink.write_all(text.as_bytes());
        if let Err(error) = written.and_then(|()| self.sink.flush()) {
            self.fail(error);
        }
    }

    /// Ends the output.
    pub(super) fn fail(&mut self, error: io::Error) {
        self.has_ended = true;
        // A reader that has seen enough is no failure.
        if error.kind() != ErrorKind::BrokenPipe {
            self.failure.get_or_insert(error);
        }
    }

    pub(super) fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

impl fmt::Debug for Stdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdout")
            .field("is_kept", &self.is_kept)
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

#[cfg(unix)]
fn private_stdout() -> io::Result<Box<dyn Write>> {
    use std::os::fd::AsFd;
    let copy = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(Box::new(std::fs::File::from(copy)))
}

#[cfg(not(unix))]
fn private_stdout() -> io::Result<Box<dyn Write>> {
    Err(ErrorKind::Unsupported.into())
}
