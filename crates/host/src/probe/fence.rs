//! Nothing of a turn is used before it is committed, and nothing at all when it never is.

use super::control::{Control, UNDISTURBED, as_shown};
use super::identity::push;
use super::material::{MARK, prompt};
use super::script::{Answer, Step};
use super::verdict::{Report, Shortfall};
use super::{Lab, ProbeError};

const BOOTSTRAP: &str = "fence-bootstrap";
const UNFINISHED: &str = "fence-unfinished-turn";

/// The probes of this file, in order.
pub(super) const NAMES: &[&str] = &[BOOTSTRAP, UNFINISHED];

const AGENT: &str = "fence";

/// Turns before the one that is left unfinished.
const BEFORE: u32 = 2;

pub(super) fn probes(
    lab: &Lab<'_>,
    control: &Control,
    report: &mut Report,
) -> Result<(), ProbeError> {
    report.probe(BOOTSTRAP, &[UNDISTURBED], || {
        let mut steps: Vec<Step> = (1..=BEFORE).flat_map(whole).collect();
        let turn = BEFORE + 1;
        steps.extend(Step::opening(turn));
        steps.push(Step::Dispose);
        steps.extend(Step::turn(turn));
        let shown = steps.len() - 1;
        steps.extend([Step::commit(turn), Step::Dispose]);
        let run = lab.run(AGENT, steps)?;
        let after = "after a turn that ended behind bootstrap and maintain";
        control.agrees(lab, turn, run.answer(shown)?, after)
    })?;
    report.probe(UNFINISHED, &[BOOTSTRAP], || unfinished(lab, control))
}

/// Leaves a turn after two attempts, and looks for its mark in them and in the turn that comes instead.
fn unfinished(lab: &Lab<'_>, control: &Control) -> Result<(), Shortfall> {
    let turn = BEFORE + 2;
    let marked = Step::Assemble {
        turn,
        prompt: Some(format!("{} ({MARK})", prompt(turn))),
    };
    let mut steps = Step::opening(turn);
    let attempts = [push(&mut steps, marked.clone()), push(&mut steps, marked)];
    steps.push(Step::Dispose);
    steps.extend(Step::turn(turn));
    let instead = steps.len() - 1;
    steps.push(Step::Dispose);
    let run = lab.run(AGENT, steps)?;
    for attempt in attempts {
        let answer: &Answer = run.answer(attempt)?;
        if as_shown(turn, answer)?.has_mark_in_messages {
            return Err(Shortfall::Broken(
                "the prompt of the turn in progress stands in a new message of its own assemble; it must come from the \
                 host alone"
                    .into(),
            ));
        }
    }
    let answer = run.answer(instead)?;
    let shown = as_shown(turn, answer)?;
    if shown.has_mark_in_messages || shown.has_mark_in_addition {
        let place = match shown.has_mark_in_messages {
            true => "a new message",
            false => "the system prompt addition",
        };
        return Err(Shortfall::Broken(format!(
            "a turn was left unfinished after assemble; the turn after it must know nothing of it, and its assemble has \
             the prompt of the unfinished turn in {place}"
        )));
    }
    let after = "after a turn that was left unfinished behind assemble";
    control.agrees(lab, turn, answer, after)
}

fn whole(turn: u32) -> Vec<Step> {
    let mut steps = Step::turn(turn);
    steps.extend([Step::commit(turn), Step::Dispose]);
    steps
}
