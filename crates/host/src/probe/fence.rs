//! Nothing of a turn is used before it is committed, and nothing at all when it never is.

use super::control::{Control, UNDISTURBED, as_shown};
use super::identity::push;
use super::material::{MARK, prompt};
use super::script::Step;
use super::verdict::{Report, Shortfall};
use super::{Lab, ProbeError};

const BOOTSTRAP: &str = "fence-bootstrap";
const UNFINISHED: &str = "fence-unfinished-turn";

/// The probes of this file, in order.
pub(super) const NAMES: &[&str] = &[BOOTSTRAP, UNFINISHED];

/// An engine repeats what the host adds itself.
const REPEATED: &str = "the prompt of the turn in progress stands in a new message of its own assemble; the host alone \
                        must add it";

/// The start of a sentence that ends with where the mark was.
const LEFT: &str = "a turn was left unfinished behind assemble, and the next turn must know nothing of it; its assemble";

/// Turns before the one that is left unfinished.
const BEFORE: u32 = 2;

/// Both probes are one process: what an engine forgets with its process is not their business.
pub(super) fn probes(
    lab: &Lab<'_>,
    control: &Control,
    report: &mut Report,
) -> Result<(), ProbeError> {
    let mut steps: Vec<Step> = (1..=BEFORE).flat_map(Step::whole_turn).collect();
    let (first, second) = (BEFORE + 1, BEFORE + 2);
    steps.extend(Step::opening(first));
    steps.push(Step::Dispose);
    steps.extend(Step::turn(first));
    let behind_bootstrap = steps.len() - 1;
    steps.extend([Step::commit(first), Step::Dispose]);
    steps.extend(Step::opening(second));
    let marked = Step::Assemble {
        turn: second,
        prompt: Some(format!("{} ({MARK})", prompt(second))),
    };
    let attempts = [push(&mut steps, marked.clone()), push(&mut steps, marked)];
    steps.push(Step::Dispose);
    steps.extend(Step::turn(second));
    let behind_assemble = steps.len() - 1;
    steps.push(Step::Dispose);

    let mut ran = None;
    report.probe(BOOTSTRAP, &[UNDISTURBED], || {
        let run = ran.insert(lab.run("fence", steps)?);
        let after = "after a turn that ended behind bootstrap and maintain";
        control.agrees(lab, first, run.answer(behind_bootstrap)?, after)
    })?;
    // Without a run the next probe is not tried: it needs this one.
    let run = ran.unwrap_or_default();
    report.probe(UNFINISHED, &[BOOTSTRAP], || {
        for attempt in attempts {
            if as_shown(second, run.answer(attempt)?)?.has_mark_in_messages {
                return Err(Shortfall::Broken(REPEATED.into()));
            }
        }
        let answer = run.answer(behind_assemble)?;
        let shown = as_shown(second, answer)?;
        for (has_mark, place) in [
            (shown.has_mark_in_messages, "a new message"),
            (shown.has_mark_in_addition, "the system prompt addition"),
        ] {
            if has_mark {
                return Err(Shortfall::Broken(format!(
                    "{LEFT} has its prompt in {place}"
                )));
            }
        }
        let after = "after a turn that was left unfinished behind assemble";
        control.agrees(lab, second, answer, after)
    })
}
