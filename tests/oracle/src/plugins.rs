//! The `openclaw plugins` command lines of captured runs, run again with native plugins in a temporary home.
//!
//! Compared: whether a command succeeded, the plugins section of `openclaw.json` where it was captured, and the names in
//! directories that were listed. Every captured file is played or stands in [`NOT_PLAYED`], every step of a played one
//! is compared, stands in [`LEFT_OUT`] with a reason, or differs as a row of `docs/differences.md` explains.

mod cases;
mod edits;
mod exceptions;
mod player;
mod transcript;

use crate::support::{Tally, oracle};
use cases::CASES;
use exceptions::{DIFFERS, Effect, LEFT_OUT, NOT_PLAYED};
use player::Player;
use std::collections::BTreeSet;
use transcript::{Step, steps};

const DIFFERENCES: &str = include_str!("../../../docs/differences.md");
const FOLDER: &str = "openclaw-plugins-cli";

/// The exceptions that a step met; one that none meets is out of date.
#[derive(Default)]
struct Met {
    differs: BTreeSet<usize>,
    left_out: BTreeSet<usize>,
}

impl Met {
    fn is_left_out(&mut self, case: &str, command: &str) -> bool {
        let matches = |(file, line, _): &(&str, &str, &str)| {
            (*file == "*" || *file == case) && command.starts_with(line)
        };
        let Some(at) = LEFT_OUT.iter().position(matches) else {
            return false;
        };
        self.left_out.insert(at);
        true
    }

    /// Whether `effect` of the `nth` step is one that differs.
    fn differs(&mut self, case: &str, nth: usize, effect: Effect) -> bool {
        let found = DIFFERS
            .iter()
            .position(|it| (it.case, it.step, it.effect) == (case, nth, effect));
        self.differs.extend(found);
        found.is_some()
    }
}

fn play(case: &cases::Case, text: &str, met: &mut Met, tally: &mut Tally) {
    let player = Player::new(case);
    let mut nth = 0;
    for step in steps(text) {
        match step {
            Step::Edited(expression) => player.edit(&expression),
            Step::Config(captured) => {
                let is_same = player.captured(&captured) == player.plugins_section();
                let name = format!("{} {nth}", case.name);
                if met.differs(case.name, nth, Effect::Config) {
                    tally.same(name, "config is a difference", false, is_same);
                } else {
                    let ours = player.plugins_section();
                    tally.same(name, "config", player.captured(&captured), ours);
                }
            }
            Step::Ran {
                command,
                printed,
                succeeded,
            } => {
                nth += 1;
                if met.is_left_out(case.name, &command) {
                    continue;
                }
                let name = format!("{} {nth}: {command}", case.name);
                let Some(succeeded) = succeeded else {
                    player.shell(&name, &command, &printed, tally);
                    continue;
                };
                let ours = player.run(&command);
                let wanted = succeeded != met.differs(case.name, nth, Effect::Exit);
                tally.same(name, &ours.said, wanted, ours.succeeded);
            }
        }
    }
}

#[test]
fn captured_command_lines_have_the_captured_effects() {
    oracle("plugins command line", |captured, tally| {
        let mut met = Met::default();
        let mut known: Vec<String> = NOT_PLAYED
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect();
        for case in CASES {
            known.push(case.name.to_owned());
            let text = captured.text(&format!("{FOLDER}/{}.txt", case.name));
            play(case, &text, &mut met, tally);
        }
        let files = captured.files(FOLDER, "txt");
        let all: Vec<String> = files
            .iter()
            .map(|path| path[FOLDER.len() + 1..path.len() - ".txt".len()].to_owned())
            .collect();
        known.sort_unstable();
        tally.same("all", "played or with a reason, once", all, known);
        for (at, differs) in DIFFERS.iter().enumerate() {
            let name = format!("{} {}", differs.case, differs.step);
            let has_row = DIFFERENCES.contains(&format!("\n| {} |", differs.row));
            tally.same(&name, "row in docs/differences.md", true, has_row);
            tally.same(&name, "is met", true, met.differs.contains(&at));
        }
        for (at, left_out) in LEFT_OUT.iter().enumerate() {
            tally.same(left_out.1, "is met", true, met.left_out.contains(&at));
        }
    });
}
