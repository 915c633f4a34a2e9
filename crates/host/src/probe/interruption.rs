//! A commit that is killed is whole or absent, and an acknowledged one is never lost.
//!
//! The same session goes on over all rounds: a child offers the turn of the killed one again, as the outbox does, looks
//! at what the model would get, and is killed in the next commit itself.

use super::control::Control;
use super::identity::{ACKNOWLEDGED, expect};
use super::material::SMALL_TURNS;
use super::script::{Answer, Reply, Step};
use super::verdict::{Report, Shortfall};
use super::{Lab, ProbeError};
use std::thread;
use std::time::Duration;

const KILLED: &str = "commit-killed";

/// The probes of this file.
pub(super) const NAMES: &[&str] = &[KILLED];

/// Commits that are killed, one a turn.
const ROUNDS: u32 = 12;
/// The last turn of all.
pub(super) const LAST_TURN: u32 = SMALL_TURNS + ROUNDS;
/// Kills are spread over this many times the length of a commit.
const SPREAD: f64 = 1.5;

const AGENT: &str = "killed";

/// The step that offers the killed turn again.
const RETRY: usize = 1;

pub(super) fn probes(
    lab: &Lab<'_>,
    control: &Control,
    report: &mut Report,
) -> Result<(), ProbeError> {
    report.probe(KILLED, &[ACKNOWLEDGED], || killed(lab, control))
}

/// How a killed commit looked from outside.
#[derive(Clone, Copy, Default)]
struct Killed {
    after: Duration,
    is_acknowledged: bool,
}

fn killed(lab: &Lab<'_>, control: &Control) -> Result<(), Shortfall> {
    let delays = delays(lab.subject.library_sha256, control.commit_us());
    let mut rounds = Rounds {
        lab,
        control,
        before: None,
        unclear: None,
    };
    for (turn, delay) in (SMALL_TURNS + 1..).zip(delays) {
        rounds.before = Some(rounds.round(turn, Some(delay))?);
    }
    rounds.round(LAST_TURN + 1, None)?;
    match rounds.unclear {
        Some(reason) => Err(Shortfall::Unclear(reason)),
        None => Ok(()),
    }
}

struct Rounds<'r, 'l> {
    lab: &'r Lab<'l>,
    control: &'r Control,
    /// The last kill.
    before: Option<Killed>,
    /// Why answers could not be compared; what is acknowledged is judged all the same.
    unclear: Option<String>,
}

impl Rounds<'_, '_> {
    /// Judges what the kill before left, and kills in the commit of `turn`; without a delay there is no further commit.
    fn round(&mut self, turn: u32, delay: Option<Duration>) -> Result<Killed, Shortfall> {
        let mut steps = match self.before {
            Some(_) => vec![
                Step::Create,
                Step::commit(turn - 1),
                Step::Bootstrap,
                Step::Maintain,
                Step::assemble(turn),
            ],
            None => {
                let mut steps: Vec<Step> = (1..turn).flat_map(Step::whole_turn).collect();
                steps.extend(Step::turn(turn));
                steps
            }
        };
        let shown = steps.len() - 1;
        if delay.is_some() {
            steps.extend([Step::commit(turn), Step::Hold]);
        }
        let (mut child, mut run) = self.lab.start(AGENT, steps)?;
        child.follow(shown + 1, &mut run)?;
        let answer = run.answer(shown)?;
        if let Some(before) = self.before {
            self.judge(before, turn, run.answer(RETRY)?, answer)?;
        }
        let Some(delay) = delay else {
            return Ok(Killed::default());
        };
        if !child.commit_begins(&mut run)? {
            run.answer(shown + 1)?;
        }
        // Killing needs real time: there is no clock to hand in.
        thread::sleep(delay);
        Ok(Killed {
            after: delay,
            is_acknowledged: is_acknowledged(turn, child.kill()?)?,
        })
    }

    /// Judges what a kill in the turn before `turn` left: `again` is what the same commit was answered, `answer` what
    /// `assemble` answered behind it.
    fn judge(
        &mut self,
        before: Killed,
        turn: u32,
        again: &Answer,
        answer: &Answer,
    ) -> Result<(), Shortfall> {
        let killed = format!(
            "the process was killed {:.1} ms into commitTurn of turn {}",
            before.after.as_secs_f64() * 1000.0,
            turn - 1
        );
        if before.is_acknowledged {
            let what =
                format!("{killed}, just after it was acknowledged; the same commitTurn again");
            expect(again, &Answer::Duplicate, &what)?;
        } else if !matches!(again, Answer::Committed | Answer::Duplicate) {
            return Err(Shortfall::Broken(format!(
                "{killed}; the same commitTurn again answered {again}"
            )));
        }
        let after = format!("after {killed}, and the same commitTurn again answered {again}");
        match self.control.agrees(self.lab, turn, answer, &after) {
            Err(Shortfall::Unclear(reason)) => {
                self.unclear = Some(reason);
                Ok(())
            }
            other => other,
        }
    }
}

/// Whether a killed child had its commit acknowledged; `last` is what it had said of it.
fn is_acknowledged(turn: u32, last: Option<Reply>) -> Result<bool, Shortfall> {
    match last {
        None => Ok(false),
        Some(Reply::Done { answer, .. }) => {
            let what = format!("the first commitTurn of turn {turn}");
            expect(&answer, &Answer::Committed, &what)?;
            Ok(true)
        }
        Some(Reply::Failed { reason }) => Err(Shortfall::Broken(format!(
            "commitTurn of turn {turn} failed: {reason}"
        ))),
        Some(reply) => Err(ProbeError::nonsense(&reply).into()),
    }
}

/// One delay a round, spread evenly over the length of a commit and beyond. Drawn from the library's hash, so that a
/// library is probed the same way each time.
fn delays(seed: &str, commit_us: u64) -> impl Iterator<Item = Duration> + use<> {
    let mut state = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let whole = Duration::from_micros(commit_us).mul_f64(SPREAD);
    (0..ROUNDS).map(move |round| {
        // Steps of 7 reach each of the 12 parts once, early and late ones in turn.
        let part = f64::from(round * 7 % ROUNDS);
        whole.mul_f64((part + unit(&mut state)) / f64::from(ROUNDS))
    })
}

/// The next number from 0 to 1, by SplitMix64.
fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_spread_over_a_commit_and_repeatable() {
        let all = |seed| -> Vec<Duration> { delays(seed, 1_000_000).collect() };
        let mut drawn = all("a");
        assert_eq!(drawn, all("a"));
        assert_ne!(drawn, all("b"));
        drawn.sort_unstable();
        for (part, delay) in (0u32..).zip(drawn) {
            let place = delay.as_secs_f64() / SPREAD * f64::from(ROUNDS);
            assert!(
                (f64::from(part)..f64::from(part + 1)).contains(&place),
                "{part}: {delay:?}"
            );
        }
    }
}
