//! Runs an engine through a few turns and a compaction, as a check that it works here and now. Judges no promise.

use super::script::{Answer, Step};
use super::{Lab, ProbeError, ProbeSubject};
use openclaw_interface::Info;
use std::time::Duration;

/// Turns that are run and committed before the last one.
const TURNS: u32 = 3;

/// What came of it.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// What the engine says of itself; `None` when it died before it could.
    pub info: Option<Info>,
    /// Every call that was answered, in order.
    pub calls: Vec<Exercised>,
    /// Why it went no further.
    pub failure: Option<String>,
}

/// A call that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exercised {
    /// The call, such as `assemble of turn 2`.
    pub call: String,
    /// The answer in words.
    pub answer: String,
    /// How long the engine took.
    pub elapsed: Duration,
}

/// Makes the engine, runs turns through it as a host does, compacts and disposes, in one child process. Touches nothing but
/// a temporary directory.
///
/// # Errors
///
/// As [`probe`](super::probe).
pub fn exercise(subject: &ProbeSubject<'_>) -> Result<Exercise, ProbeError> {
    let lab = Lab::new(subject)?;
    let mut steps: Vec<Step> = (1..=TURNS).flat_map(Step::whole_turn).collect();
    steps.extend(Step::turn(TURNS + 1));
    steps.extend([Step::Compact, Step::assemble(TURNS + 1), Step::Dispose]);
    let run = lab.run("exercise", steps.clone())?;
    let calls = steps.iter().zip(&run.done);
    let calls = calls.map(|(step, (answer, elapsed_us))| Exercised {
        call: step.to_string(),
        answer: told(answer),
        elapsed: Duration::from_micros(*elapsed_us),
    });
    Ok(Exercise {
        calls: calls.collect(),
        info: run.info,
        failure: run.failure,
    })
}

fn told(answer: &Answer) -> String {
    match answer {
        Answer::Ended => "done".into(),
        Answer::Absent => "no such hook".into(),
        Answer::Committed => "committed".into(),
        Answer::Duplicate => "duplicate".into(),
        Answer::Shown(shown) => format!("{} messages", shown.messages.len()),
        Answer::Compacted {
            ok,
            compacted,
            reason,
        } => {
            let what = match (ok, compacted) {
                (false, _) => "not done",
                (true, false) => "nothing to compact",
                (true, true) => "compacted",
            };
            let reason = reason.as_ref().map(|reason| format!(" ({reason})"));
            format!("{what}{}", reason.unwrap_or_default())
        }
    }
}
