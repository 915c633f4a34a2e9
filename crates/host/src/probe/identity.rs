//! A turn has one key, and a key one turn: whoever asks again, with whatever messages, gets `duplicate`.

use super::child::Run;
use super::control::{Control, UNDISTURBED};
use super::script::{Answer, Step};
use super::verdict::{Report, Shortfall};
use super::{Lab, ProbeError};

const FIRST: &str = "commit-first";
const DUPLICATE: &str = "commit-duplicate";
const SECOND_INSTANCE: &str = "commit-second-instance";
const SECOND_PROCESS: &str = "commit-second-process";
const OTHER_PAYLOAD: &str = "commit-other-payload";
pub(super) const ACKNOWLEDGED: &str = "commit-acknowledged";

/// The probes of this file, in order.
pub(super) const NAMES: &[&str] = &[
    FIRST,
    DUPLICATE,
    SECOND_INSTANCE,
    SECOND_PROCESS,
    OTHER_PAYLOAD,
    ACKNOWLEDGED,
];

const AGENT: &str = "identity";

pub(super) fn probes(
    lab: &Lab<'_>,
    control: &Control,
    report: &mut Report,
) -> Result<(), ProbeError> {
    report.probe(FIRST, &[UNDISTURBED], || {
        for (turn, answer) in control.commits() {
            expect(
                answer?,
                &Answer::Committed,
                &format!("the first commitTurn of turn {turn}"),
            )?;
        }
        Ok(())
    })?;

    let mut steps = Step::turn(1);
    steps.push(Step::commit(1));
    let again = push(&mut steps, Step::commit(1));
    steps.extend([Step::Dispose, Step::Create]);
    let second = push(&mut steps, Step::commit(1));
    steps.push(Step::Dispose);
    let mut first_process = None;
    report.probe(DUPLICATE, &[FIRST], || {
        let run = first_process.insert(lab.run(AGENT, steps)?);
        let what = "the second commitTurn with one key, by the same instance,";
        expect(run.answer(again)?, &Answer::Duplicate, what)
    })?;
    // Without a run the next probe is not tried: it needs this one.
    let run = first_process.unwrap_or_default();
    report.probe(SECOND_INSTANCE, &[DUPLICATE], || {
        let what = "the second commitTurn with one key, by another instance,";
        expect(run.answer(second)?, &Answer::Duplicate, what)
    })?;

    let mut steps = vec![Step::Create];
    let process = push(&mut steps, Step::commit(1));
    let other = Step::Commit {
        turn: 1,
        other: true,
    };
    let other = push(&mut steps, other);
    steps.push(Step::Dispose);
    steps.extend(Step::turn(2));
    let behind_other = steps.len() - 1;
    let acknowledged = push(&mut steps, Step::commit(2));
    let mut second_process = None;
    report.probe(SECOND_PROCESS, &[SECOND_INSTANCE], || {
        let run = second_process.insert(run_and_kill(lab, steps)?);
        let what = "the second commitTurn with one key, by another process,";
        expect(run.answer(process)?, &Answer::Duplicate, what)
    })?;
    // Without a run the probes below are not tried: they need the one above.
    let run = second_process.unwrap_or_default();
    report.probe(OTHER_PAYLOAD, &[SECOND_PROCESS], || {
        let what = "commitTurn with a key that is stored and with other messages";
        expect(run.answer(other)?, &Answer::Duplicate, what)?;
        let after = "after a stored key came again with other messages";
        control.agrees(lab, 2, run.answer(behind_other)?, after)
    })?;
    report.probe(ACKNOWLEDGED, &[OTHER_PAYLOAD], || {
        let what = "the first commitTurn of turn 2";
        expect(run.answer(acknowledged)?, &Answer::Committed, what)?;
        is_remembered(lab, control)
    })
}

/// Kills the process as soon as the last step is answered, before it can do anything else.
fn run_and_kill(lab: &Lab<'_>, mut steps: Vec<Step>) -> Result<Run, ProbeError> {
    let count = steps.len();
    steps.push(Step::Hold);
    let (mut child, mut run) = lab.start(AGENT, steps)?;
    child.follow(count, &mut run)?;
    match child.kill()? {
        None => Ok(run),
        Some(reply) => Err(ProbeError::nonsense(&reply)),
    }
}

/// That another process knows the turn whose process was killed on the acknowledgement.
fn is_remembered(lab: &Lab<'_>, control: &Control) -> Result<(), Shortfall> {
    let mut steps = vec![Step::Create];
    let again = push(&mut steps, Step::commit(2));
    steps.push(Step::Dispose);
    steps.extend(Step::turn(3));
    let shown = steps.len() - 1;
    let run = lab.run(AGENT, steps)?;
    let what = "the process was killed right after turn 2 was acknowledged; the same commitTurn, by another process,";
    expect(run.answer(again)?, &Answer::Duplicate, what)?;
    let after = "after the process was killed right after turn 2 was acknowledged";
    control.agrees(lab, 3, run.answer(shown)?, after)
}

pub(super) fn push(steps: &mut Vec<Step>, step: Step) -> usize {
    steps.push(step);
    steps.len() - 1
}

/// That a commit was answered as it must be; `what` is the subject of the sentence that tells otherwise.
pub(super) fn expect(found: &Answer, expected: &Answer, what: &str) -> Result<(), Shortfall> {
    if found == expected {
        return Ok(());
    }
    Err(Shortfall::Broken(format!(
        "{what} must answer {expected}, and answered {found}"
    )))
}
