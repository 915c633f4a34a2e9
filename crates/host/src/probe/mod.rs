//! Finds out whether an engine keeps what it declares about turns, in a scratch directory and in processes of its own.
//!
//! An engine shows what it stored through the answers of `commitTurn` and through `assemble`, and through nothing else.
//! So each probe does something to an engine (asks twice, kills it, leaves a turn unfinished) and compares what it
//! answers then with what it answers in a scratch directory where the same turns ran undisturbed. Where two undisturbed
//! runs already differ, nothing can be compared, and the engine is given the benefit of the doubt.
//!
//! # Limits
//!
//! A kill leaves what the system had taken to be written: a missing flush, which only a power failure shows, is not
//! found. An engine that recognises the probe can lie to it.

mod cache;
mod child;
mod control;
mod execute;
mod exercise;
mod fence;
mod identity;
mod interruption;
mod material;
mod script;
mod verdict;

pub use cache::ProbeCache;
pub use execute::run_probe_script;
pub use exercise::{Exercise, Exercised, exercise};
pub use script::Refusal;
pub use verdict::{Finding, ProbeOutcome, Verdict};

use child::{Child, Run};
use control::Control;
use openclaw_interface::Info;
use openclaw_interface::model::TranscriptSemantics;
use script::{Reply, Script, Step};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use verdict::Report;

/// The engine to probe, and how.
#[derive(Clone, Copy)]
pub struct ProbeSubject<'a> {
    /// Its build directory, absolute.
    pub directory: &'a Path,
    /// Its settings.
    pub settings: &'a Value,
    /// SHA-256 of the library that was looked at.
    pub library_sha256: &'a str,
    /// Makes the command of a child process that hands its stdin and stdout to [`run_probe_script`].
    pub command: &'a dyn Fn() -> Command,
    /// How long one call into the engine may take.
    pub call_deadline: Duration,
    /// Milliseconds since 1970.
    pub now_ms: i64,
}

/// Why there is no verdict. The engine is not to blame, or could not even be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The library cannot be loaded.
    #[error("{}", .0.text)]
    Refused(Refusal),
    /// The library is another one than at the start.
    #[error("the library was replaced while it was probed")]
    Changed,
    /// The scratch directory cannot be used.
    #[error("cannot use the scratch directory {}: {}", .0.display(), .1)]
    Scratch(PathBuf, io::Error),
    /// The child process could not be run, or does not speak as it should.
    #[error("cannot work with the child process: {0}")]
    Child(io::Error),
}

impl ProbeError {
    fn nonsense(reply: &Reply) -> Self {
        let text = format!("it said {reply:?} out of turn");
        Self::Child(io::Error::new(io::ErrorKind::InvalidData, text))
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &str {
        match self {
            Self::Refused(refusal) => &refusal.help,
            Self::Changed => "run the command again",
            Self::Scratch(..) => "check space and permissions of the temporary directory",
            Self::Child(_) => "run the command again; with -v it says more",
        }
    }
}

/// What a finished probing found.
#[derive(Clone, Debug)]
pub struct Probed {
    /// What the engine says of itself; `None` when it died before it could.
    pub info: Option<Info>,
    /// What came of it.
    pub verdict: Verdict,
}

/// Probes an engine. Touches nothing but a temporary directory.
///
/// # Errors
///
/// The library cannot be loaded, or the probing itself failed. An engine that crashes, hangs or panics is no error but a
/// failed probe.
pub fn probe(subject: &ProbeSubject<'_>) -> Result<Probed, ProbeError> {
    let started = Instant::now();
    let lab = Lab::new(subject)?;
    let control = Control::run(&lab)?;
    let mut report = Report::default();
    let info = control.info().cloned();
    let id = info.as_ref().map(|info| info.id.clone());
    // One that dies while it is loaded promises whatever it likes.
    let promised = info
        .as_ref()
        .map_or_else(TranscriptSemantics::durable, |info| {
            info.transcript_semantics.clone().unwrap_or_default()
        });
    let (fences, commits) = (
        promised.fences_current_turn(),
        promised.commits_idempotently(),
    );
    if fences || commits {
        report.probe(control::UNDISTURBED, &[], || control.is_undisturbed())?;
    }
    if commits {
        identity::probes(&lab, &control, &mut report)?;
        interruption::probes(&lab, &control, &mut report)?;
    } else {
        let names = identity::NAMES.iter().chain(interruption::NAMES);
        not_declared(names, "atomic idempotent commits are", &mut report);
    }
    if fences {
        fence::probes(&lab, &control, &mut report)?;
    } else {
        not_declared(
            fence::NAMES.iter(),
            "a fence of the current turn is",
            &mut report,
        );
    }
    Ok(Probed {
        info,
        verdict: Verdict {
            engine_id: id.unwrap_or_default(),
            library_sha256: subject.library_sha256.to_owned(),
            probed_at_ms: subject.now_ms,
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            probes: report.outcomes,
        },
    })
}

fn not_declared<'a>(
    names: impl Iterator<Item = &'a &'static str>,
    what: &str,
    report: &mut Report,
) {
    for name in names {
        report.add(name, Finding::NotApplicable(format!("{what} not declared")));
    }
}

/// The scratch directory, and the way to run things in it.
struct Lab<'a> {
    subject: ProbeSubject<'a>,
    scratch: tempfile::TempDir,
}

impl<'a> Lab<'a> {
    fn new(subject: &ProbeSubject<'a>) -> Result<Self, ProbeError> {
        let scratch = tempfile::Builder::new().prefix("openclaw-probe-").tempdir();
        let scratch = scratch.map_err(|error| ProbeError::Scratch(std::env::temp_dir(), error))?;
        Ok(Self {
            subject: *subject,
            scratch,
        })
    }

    /// Starts a child in the agent directory of this name; `None` and why when it dies before it has loaded the library.
    fn start(&self, agent: &str, steps: Vec<Step>) -> Result<(Child, Run), ProbeError> {
        let script = Script {
            directory: self.subject.directory.to_owned(),
            settings: self.subject.settings.clone(),
            scratch: self.scratch.path().join(agent),
            steps,
        };
        let command = (self.subject.command)();
        let mut child = Child::start(command, &script, self.subject.call_deadline)?;
        let mut run = Run::default();
        match child.loaded(self.subject.library_sha256)? {
            Ok(info) => run.info = Some(info),
            Err(why) => run.failure = Some(why),
        }
        Ok((child, run))
    }

    /// Runs a script to its end.
    fn run(&self, agent: &str, steps: Vec<Step>) -> Result<Run, ProbeError> {
        let count = steps.len();
        let started = Instant::now();
        let (mut child, mut run) = self.start(agent, steps)?;
        let loaded = started.elapsed();
        child.follow(count, &mut run)?;
        tracing::debug!(
            agent,
            steps = count,
            loaded_ms = loaded.as_millis(),
            elapsed_ms = started.elapsed().as_millis(),
            "probe script done"
        );
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_has_a_promise_and_stands_in_the_documents() {
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
        let documents = std::fs::read_to_string(documents).unwrap();
        let all = [identity::NAMES, interruption::NAMES, fence::NAMES].concat();
        for name in [control::UNDISTURBED].into_iter().chain(all) {
            let outcome = ProbeOutcome {
                name: name.to_owned(),
                finding: Finding::Passed,
            };
            let row = format!("| `{name}` | {} |", outcome.promise());
            assert!(documents.contains(&row), "no row {row}");
        }
    }
}
