//! Undisturbed turns: what every other run is compared with.

use super::child::Run;
use super::interruption::LAST_TURN;
use super::material::SMALL_TURNS;
use super::script::{Answer, Shown, Step};
use super::verdict::Shortfall;
use super::{Lab, ProbeError};
use openclaw_interface::Info;
use std::cell::OnceCell;

/// All turns run one after another, each assembled and committed, without an error.
pub(super) const UNDISTURBED: &str = "turn-undisturbed";

/// All turns, run in one process without disturbance.
pub(super) struct Control {
    steps: Vec<Step>,
    run: Run,
    /// The same once more; made when something differs.
    again: OnceCell<Run>,
}

impl Control {
    pub(super) fn run(lab: &Lab<'_>) -> Result<Self, ProbeError> {
        let mut steps: Vec<Step> = (1..=LAST_TURN).flat_map(Step::whole_turn).collect();
        steps.extend(Step::turn(LAST_TURN + 1));
        Ok(Self {
            run: lab.run("undisturbed", steps.clone())?,
            steps,
            again: OnceCell::new(),
        })
    }

    pub(super) fn info(&self) -> Option<&Info> {
        self.run.info.as_ref()
    }

    /// Every hook answers.
    pub(super) fn is_undisturbed(&self) -> Result<(), Shortfall> {
        if let Some(failure) = &self.run.failure {
            return Err(Shortfall::Broken(failure.clone()));
        }
        (1..=LAST_TURN + 1).try_for_each(|turn| self.shown(&self.run, turn).map(drop))?;
        Ok(())
    }

    /// What the first commit of each turn was answered.
    pub(super) fn commits(&self) -> impl Iterator<Item = (u32, Result<&Answer, String>)> {
        (1..=LAST_TURN).map(|turn| (turn, self.run.answer(self.commit_at(turn))))
    }

    /// How long a large commit takes, in microseconds: the median.
    pub(super) fn commit_us(&self) -> u64 {
        let large = SMALL_TURNS + 1..=LAST_TURN;
        let mut all: Vec<u64> = large
            .filter_map(|turn| self.run.done.get(self.commit_at(turn)))
            .map(|(_, elapsed_us)| *elapsed_us)
            .collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0)
    }

    /// That `found` is what this turn got without disturbance; `after` says what was done before.
    pub(super) fn agrees(
        &self,
        lab: &Lab<'_>,
        turn: u32,
        found: &Answer,
        after: &str,
    ) -> Result<(), Shortfall> {
        let expected = self.shown(&self.run, turn)?;
        let found = as_shown(turn, found)?;
        if found == expected {
            return Ok(());
        }
        let again = match self.again.get() {
            Some(again) => again,
            None => {
                let again = lab.run("undisturbed-again", self.steps.clone())?;
                self.again.get_or_init(|| again)
            }
        };
        if self.shown(again, turn)? != expected {
            return Err(Shortfall::Unclear(format!(
                "two undisturbed runs already get different answers from assemble of turn {turn}"
            )));
        }
        Err(Shortfall::Broken(format!(
            "{after}, assemble of turn {turn} answers otherwise than without that: {}",
            expected.difference(found)
        )))
    }

    fn shown<'r>(&self, run: &'r Run, turn: u32) -> Result<&'r Shown, String> {
        let is_it = |step: &Step| matches!(step, Step::Assemble { turn: of, .. } if *of == turn);
        let place = self.steps.iter().position(is_it).unwrap_or(usize::MAX);
        as_shown(turn, run.answer(place)?)
    }

    fn commit_at(&self, turn: u32) -> usize {
        let commit = Step::commit(turn);
        let place = self.steps.iter().position(|step| *step == commit);
        place.unwrap_or(usize::MAX)
    }
}

/// The messages of an answer of `assemble`.
pub(super) fn as_shown(turn: u32, answer: &Answer) -> Result<&Shown, String> {
    match answer {
        Answer::Shown(shown) => Ok(shown),
        other => Err(format!("assemble of turn {turn} answered {other}")),
    }
}
