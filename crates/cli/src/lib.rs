//! The `openclaw` command: arguments, commands, output. No policy of its own.
//!
//! Reads the real environment, clock and current directory and hands them down as values. Results go to stdout, talk to
//! stderr; with `--json`, stdout is one JSON document, for wrong usage too, and for `chat` one a turn. What a library prints goes to stderr.
//! Exit codes stand in `help`, which shows them.

#![forbid(unsafe_code)]

mod args;
mod built;
mod commands;
mod context;
mod engines;
mod error;
mod help;
mod installs;
mod logging;
mod models;
mod output;
mod probing;
mod rebuilds;
mod tools;
mod turns;
mod usage;

pub use error::CliError;

use args::{Args, Command};
use clap::FromArgMatches;
use context::Context;
use output::Output;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command with the arguments and the environment of this process.
#[must_use]
pub fn main() -> ExitCode {
    let raw: Vec<OsString> = std::env::args_os().collect();
    let parsed = help::command()
        .try_get_matches_from(&raw)
        .and_then(|matches| Args::from_arg_matches(&matches));
    let args = match parsed {
        Ok(args) => args,
        Err(error) => return usage::end(&error, &raw),
    };
    logging::install(args.global.verbose);
    let mut output = Output::new(args.global.json);
    let ended = run(&args, &mut output).unwrap_or_else(|error| {
        output.error(&error);
        ExitCode::from(error.exit_code())
    });
    match output.failure() {
        None => ended,
        Some(failure) => {
            output.error_text(&failure);
            if ended == ExitCode::SUCCESS {
                ExitCode::FAILURE
            } else {
                ended
            }
        }
    }
}

fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CliError> {
    let context = Context::of_process(args.global.profile.as_deref())?;
    match &args.command {
        Command::Agent(args) => commands::agent::run(&context, args, output),
        Command::Chat(args) => commands::chat::run(&context, args, output),
        Command::Plugins(args) => commands::plugins::run(&context, args, output),
        Command::Sessions(sessions) => {
            commands::sessions::run(&context, sessions, args.global.verbose > 0, output)
        }
        Command::Doctor(args) => commands::doctor::run(&context, args, output),
        Command::Completion(args) => commands::completion::run(args, output),
        Command::Man(args) => commands::man::run(&context, args, output),
        Command::ProbeEngine => probing::run_script(output),
    }
}
