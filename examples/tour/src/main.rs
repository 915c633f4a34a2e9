//! A tour of OpenClaw with native engines: one run, one screen.
//!
//! Makes a temporary home, imports a session, builds and links two engines, runs turns, and prints what the `openclaw`
//! command answered. It is a check as well: it exits with 1 as soon as an answer is not what it must be. The command is
//! this very program, started again. The user's own home is never touched.

#![forbid(unsafe_code)]

mod answer;
mod config;
mod failure;
mod linking;
mod openclaw;
mod panicking;
mod screen;
mod serving;
mod sessions;

use failure::Failure;
use openclaw::Openclaw;
use screen::Screen;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "\
usage: cargo run --release -p tour [-- [--keep] [FILE.jsonl ...]]

Imports the files, or a session of its own, and runs turns in the largest of them.
--keep leaves the temporary home where it is.";

/// What the command line asks for.
struct Args {
    files: Vec<PathBuf>,
    keep: bool,
}

fn main() -> ExitCode {
    if openclaw::is_wanted() {
        return openclaw_cli::main();
    }
    let mut screen = Screen;
    let args = match arguments(std::env::args_os().skip(1)) {
        Ok(Some(args)) => args,
        Ok(None) => {
            screen.plain(USAGE);
            return ExitCode::SUCCESS;
        }
        Err(option) => {
            screen.failure(&Failure::new(format!("there is no option `{option}`")).help(USAGE));
            return ExitCode::from(2);
        }
    };
    match with_home(&args, &mut screen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            screen.failure(&failure);
            ExitCode::FAILURE
        }
    }
}

/// The arguments; `None` when help is wanted, the option when it is unknown.
fn arguments(args: impl Iterator<Item = OsString>) -> Result<Option<Args>, String> {
    let (mut files, mut keep, mut only_files) = (Vec::new(), false, false);
    for arg in args {
        match arg.to_str() {
            Some("--") if !only_files => only_files = true,
            Some("--keep") if !only_files => keep = true,
            Some("-h" | "--help") if !only_files => return Ok(None),
            Some(option) if option.starts_with('-') && !only_files => return Err(option.to_owned()),
            _ => files.push(PathBuf::from(arg)),
        }
    }
    Ok(Some(Args { files, keep }))
}

fn with_home(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let home = tempfile::Builder::new()
        .prefix("openclaw-tour-")
        .tempdir()
        .map_err(|error| Failure::new(format!("cannot make a temporary home: {error}")))?;
    let toured = tour(args, home.path(), screen);
    if args.keep {
        let kept = home.keep();
        screen.talk(&format!("kept: OPENCLAW_HOME={}", kept.display()));
    } else if let Err(error) = home.close() {
        screen.talk(&format!("the temporary home was not removed: {error}"));
    }
    toured
}

fn tour(args: &Args, home: &Path, screen: &mut Screen) -> Result<(), Failure> {
    let start = Instant::now();
    let openclaw = Openclaw::new(home)?;
    screen.title(&format!(
        "A tour of native context engines. Its home, ~, is {}",
        home.display()
    ));
    let files = if args.files.is_empty() {
        vec![openclaw.own_session()]
    } else {
        args.files.clone()
    };
    let session = sessions::import(&openclaw, screen, &files)?;
    config::write(&openclaw, &session)?;
    linking::engine(&openclaw, screen)?;
    let turns = serving::turns(&openclaw, screen, &session)?;
    serving::repeat(&openclaw, screen, &session, &turns)?;
    let broken = panicking::turn(&openclaw, screen, &session)?;
    panicking::doctor(&openclaw, screen, &broken)?;
    screen.verdict(&format!(
        "ok in {:.1} s · {} turns by {} · {} · 1 panic survived",
        start.elapsed().as_secs_f64(),
        turns.len(),
        serving::ENGINE,
        serving::saved(&turns),
    ));
    Ok(())
}
