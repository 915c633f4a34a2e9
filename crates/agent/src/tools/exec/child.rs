//! A running command with everything it starts. Ending it ends its whole process group; only what leaves the group on
//! purpose (`setsid`) outlives it.

use std::fmt;
use std::io::{self, PipeReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use openclaw_host::Cancel;

use super::environment::Environment;
use super::output::Output;

/// How long a command that should stop may take to notice.
const POLL: Duration = Duration::from_millis(20);
/// How long the last words of an ended command may take.
const LAST_WORDS: Duration = Duration::from_millis(500);
const PIECE_BYTES: usize = 16 << 10;

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Ending {
    Exited(i32),
    /// By a signal, or otherwise without a code.
    Died(String),
    TimedOut(Duration),
    Cancelled,
    /// By `process kill`.
    Killed,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Died(how) => write!(f, "died: {how}"),
            Self::TimedOut(after) => {
                write!(f, "ended after the timeout of {} s", after.as_secs_f64())
            }
            Self::Cancelled => f.write_str("cancelled by the user"),
            Self::Killed => f.write_str("killed"),
        }
    }
}

/// A command. Dropping it ends it.
pub(in super::super) struct Child {
    process: std::process::Child,
    /// To the thread that writes: a command that does not read would hold up the caller.
    input: Option<Sender<Vec<u8>>>,
    said: Arc<Mutex<Said>>,
    /// Closed when nobody can say anything more.
    silence: Receiver<()>,
    ending: Option<Ending>,
}

#[derive(Default)]
struct Said {
    all: Output,
    /// Since it was last asked for.
    fresh: Output,
}

impl Child {
    /// Starts a command line in a directory. Without `with_input` it reads nothing.
    pub(super) fn start(
        command: &str,
        dir: &Path,
        environment: &Environment,
        with_input: bool,
    ) -> io::Result<Self> {
        // One pipe for both, so that the order of what is said stays.
        let (from, to) = io::pipe()?;
        let mut shell = shell(command);
        shell
            .current_dir(dir)
            .env_clear()
            .envs(environment.iter())
            .stdin(if with_input {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(to.try_clone()?)
            .stderr(to);
        let mut process = shell.spawn()?;
        // Our ends of the pipe go, or it would never close.
        drop(shell);
        let (open, silence) = channel();
        let input = process.stdin.take();
        let said = Arc::new(Mutex::new(Said::default()));
        let mut child = Self {
            process,
            input: None,
            said,
            silence,
            ending: None,
        };
        // From here on a failure drops the child, which ends it.
        child.listen(from, open)?;
        child.input = input.map(feed).transpose()?;
        Ok(child)
    }

    fn listen(&self, mut from: PipeReader, open: Sender<()>) -> io::Result<()> {
        let said = Arc::clone(&self.said);
        let reader = move || {
            let _open = open;
            let mut piece = vec![0; PIECE_BYTES];
            while let Ok(bytes @ 1..) = from.read(&mut piece) {
                let mut said = lock(&said);
                said.all.push(&piece[..bytes]);
                said.fresh.push(&piece[..bytes]);
            }
        };
        thread::Builder::new()
            .name("command-output".to_owned())
            .spawn(reader)
            .map(drop)
    }

    /// Waits for the end; ends it itself after `timeout` or when cancelled.
    pub(super) fn wait(&mut self, timeout: Option<Duration>, cancel: &Cancel) -> Ending {
        let started = Instant::now();
        loop {
            if let Some(ending) = self.ending() {
                return ending;
            }
            if cancel.is_cancelled() {
                return self.end(Ending::Cancelled);
            }
            if let Some(timeout) = timeout
                && started.elapsed() >= timeout
            {
                return self.end(Ending::TimedOut(timeout));
            }
            self.rest();
        }
    }

    /// Waits a moment, less when the command has fallen silent for good.
    pub(in super::super) fn rest(&self) {
        if let Err(RecvTimeoutError::Disconnected) = self.silence.recv_timeout(POLL) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// How it ended; `None` while it runs.
    pub(in super::super) fn ending(&mut self) -> Option<Ending> {
        if self.ending.is_none() && self.has_ended() {
            // What it left behind in its group would hold its output open for ever.
            self.end_group();
            let ending = match self.process.wait() {
                Ok(status) => of_status(status),
                Err(error) => Ending::Died(error.to_string()),
            };
            self.finish(ending);
        }
        self.ending.clone()
    }

    /// Ends it with everything it started.
    pub(in super::super) fn end(&mut self, ending: Ending) -> Ending {
        if let Some(ending) = &self.ending {
            return ending.clone();
        }
        self.end_group();
        // It was just ended, so that this does not last.
        let _ = self.process.wait();
        self.finish(ending.clone());
        ending
    }

    fn finish(&mut self, ending: Ending) {
        self.input = None;
        let _ = self.silence.recv_timeout(LAST_WORDS);
        self.ending = Some(ending);
    }

    /// All it said.
    pub(in super::super) fn output(&self) -> String {
        lock(&self.said).all.text()
    }

    /// What it said since this was last asked.
    pub(in super::super) fn fresh_output(&self) -> String {
        std::mem::take(&mut lock(&self.said).fresh).text()
    }

    /// Hands a text to its input. False when nobody reads there any more.
    pub(in super::super) fn write(&mut self, bytes: &[u8], and_close: bool) -> bool {
        let is_taken = self
            .input
            .as_ref()
            .is_some_and(|input| input.send(bytes.to_vec()).is_ok());
        if and_close {
            self.input = None;
        }
        is_taken
    }

    /// Whether the shell has ended. It is not reaped yet, so that the number of its group stays taken.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.pid()), options), Ok(None))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    #[cfg(unix)]
    fn end_group(&mut self) {
        // Not there any more is what was wanted.
        let _ = rustix::process::kill_process_group(self.pid(), rustix::process::Signal::KILL);
    }

    #[cfg(not(unix))]
    fn end_group(&mut self) {
        let _ = self.process.kill();
    }

    #[cfg(unix)]
    fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.process)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end(Ending::Killed);
    }
}

/// Writes what it is sent to an input, and closes it when the sender is gone.
fn feed(mut input: ChildStdin) -> io::Result<Sender<Vec<u8>>> {
    let (sender, pieces) = channel::<Vec<u8>>();
    let writer = move || {
        for piece in pieces {
            if input
                .write_all(&piece)
                .and_then(|()| input.flush())
                .is_err()
            {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("command-input".to_owned())
        .spawn(writer)?;
    Ok(sender)
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

fn of_status(status: ExitStatus) -> Ending {
    status
        .code()
        .map_or_else(|| Ending::Died(status.to_string()), Ending::Exited)
}

fn lock(said: &Mutex<Said>) -> MutexGuard<'_, Said> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}
