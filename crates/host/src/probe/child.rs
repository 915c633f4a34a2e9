//! The parent's side of a child process: starts it, listens with a deadline, kills it.

use super::ProbeError;
use super::script::{Answer, Reply, Script, Step};
use openclaw_interface::Info;
use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child as Process, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a dead child's last words that are told.
const LAST_WORDS_BYTES: usize = 300;

/// A child process at work. It does not outlive this value.
pub(super) struct Child {
    process: Process,
    /// Open for as long as the child may wait.
    _stdin: ChildStdin,
    lines: Receiver<String>,
    steps: Vec<Step>,
    done: usize,
    stderr: PathBuf,
    deadline: Duration,
}

/// How far a script came.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// What the engine says of itself; `None` when the child died before it could.
    pub(super) info: Option<Info>,
    /// What came of each step that was done, and how long the engine took, in microseconds.
    pub(super) done: Vec<(Answer, u64)>,
    /// Why it went no further.
    pub(super) failure: Option<String>,
}

impl Run {
    /// What came of a step, or why it was never done.
    pub(super) fn answer(&self, step: usize) -> Result<&Answer, String> {
        match self.done.get(step) {
            Some((answer, _)) => Ok(answer),
            None => Err(self
                .failure
                .clone()
                .unwrap_or_else(|| "the child process said nothing of it".to_owned())),
        }
    }
}

/// What a child said, or did instead.
enum Heard {
    Reply(Reply),
    /// It will say nothing more, and why.
    End(String),
}

impl Child {
    /// Starts `command` in `script.scratch` and hands it the script.
    pub(super) fn start(
        mut command: Command,
        script: &Script,
        deadline: Duration,
    ) -> Result<Self, ProbeError> {
        let scratch = &script.scratch;
        let at_scratch = |error| ProbeError::Scratch(scratch.clone(), error);
        fs::create_dir_all(scratch).map_err(at_scratch)?;
        let stderr = scratch.join("stderr.txt");
        command
            .current_dir(scratch)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).map_err(at_scratch)?);
        let mut process = command.spawn().map_err(ProbeError::Child)?;
        let (Some(mut stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            unreachable!("both were asked to be pipes");
        };
        let line =
            serde_json::to_string(script).map_err(|error| ProbeError::Child(error.into()))?;
        // A child that died before it read this tells so by its silence.
        let _ = writeln!(stdin, "{line}");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            process,
            _stdin: stdin,
            lines,
            steps: script.steps.clone(),
            done: 0,
            stderr,
            deadline,
        })
    }

    /// Waits until the library is loaded; `None` when the child dies in it.
    pub(super) fn loaded(&mut self, sha256: &str) -> Result<Result<Info, String>, ProbeError> {
        match self.hear()? {
            Heard::Reply(Reply::Loaded {
                info,
                sha256: found,
            }) if found == sha256 => Ok(Ok(*info)),
            Heard::Reply(Reply::Loaded { .. }) => Err(ProbeError::Changed),
            Heard::Reply(Reply::Refused(refusal)) => Err(ProbeError::Refused(refusal)),
            Heard::Reply(reply) => Err(ProbeError::nonsense(&reply)),
            Heard::End(why) => Ok(Err(why)),
        }
    }

    /// Collects what comes of the next `count` steps; a step that holds is not waited for.
    pub(super) fn follow(&mut self, count: usize, run: &mut Run) -> Result<(), ProbeError> {
        let mut left = count;
        while left > 0 && run.failure.is_none() {
            match self.hear()? {
                Heard::Reply(Reply::Begins) => {}
                Heard::Reply(Reply::Done { answer, elapsed_us }) => {
                    run.done.push((answer, elapsed_us));
                    self.done += 1;
                    left -= 1;
                }
                Heard::Reply(Reply::Failed { reason }) => {
                    run.failure = Some(format!("{} failed: {reason}", self.at()));
                }
                Heard::Reply(reply) => return Err(ProbeError::nonsense(&reply)),
                Heard::End(why) => run.failure = Some(why),
            }
        }
        Ok(())
    }

    /// Waits until a commit begins; false when the child ends before.
    pub(super) fn commit_begins(&mut self, run: &mut Run) -> Result<bool, ProbeError> {
        match self.hear()? {
            Heard::Reply(Reply::Begins) => Ok(true),
            Heard::Reply(reply) => Err(ProbeError::nonsense(&reply)),
            Heard::End(why) => {
                run.failure = Some(why);
                Ok(false)
            }
        }
    }

    /// Kills the child. Returns what it had said of its last commit, when it had.
    pub(super) fn kill(mut self) -> Result<Option<Reply>, ProbeError> {
        self.process.kill().map_err(ProbeError::Child)?;
        self.process.wait().map_err(ProbeError::Child)?;
        // The other end of the pipe is closed now, so that this ends at once.
        let line = self.lines.recv_timeout(self.deadline).ok();
        line.map(|line| parse(&line)).transpose()
    }

    fn hear(&mut self) -> Result<Heard, ProbeError> {
        match self.lines.recv_timeout(self.deadline) {
            Ok(line) => parse(&line).map(Heard::Reply),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.deadline.as_secs_f32();
                let at = self.at();
                let _ = self.process.kill();
                Ok(Heard::End(format!(
                    "{at} did not end within {seconds} seconds; the child process was killed"
                )))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.ended()?;
                let words = last_words(&self.stderr);
                Ok(Heard::End(format!(
                    "the child process ended in {} ({}){words}",
                    self.at(),
                    Ended(status),
                )))
            }
        }
    }

    /// Waits for a child that has closed its stdout, for as long as a call may take.
    fn ended(&mut self) -> Result<Option<ExitStatus>, ProbeError> {
        let started = Instant::now();
        loop {
            let status = self.process.try_wait().map_err(ProbeError::Child)?;
            if status.is_some() || started.elapsed() > self.deadline {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// What the child is doing, in words.
    fn at(&self) -> String {
        self.steps
            .get(self.done)
            .map_or_else(|| "the end of its script".to_owned(), Step::to_string)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, which is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn parse(line: &str) -> Result<Reply, ProbeError> {
    serde_json::from_str(line).map_err(|error| ProbeError::Child(error.into()))
}

/// How a child ended.
struct Ended(Option<ExitStatus>);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => write!(f, "{status}"),
            None => f.write_str("it closed its stdout and runs on"),
        }
    }
}

/// The end of what a child wrote to stderr, in one line.
fn last_words(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let plain: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let plain = plain.join(" ");
    if plain.is_empty() {
        return String::new();
    }
    let from = plain.ceil_char_boundary(plain.len().saturating_sub(LAST_WORDS_BYTES));
    format!(", its last words: {}", &plain[from..])
}
