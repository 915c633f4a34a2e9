//! `openclaw completion`: what a shell needs to complete the command line.

use crate::args::CompletionArgs;
use crate::context::variable;
use crate::error::CliError;
use crate::help;
use crate::output::Output;
use clap_complete::Shell;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(args: &CompletionArgs, output: &mut Output) -> Result<ExitCode, CliError> {
    let Some(shell) = args.shell.or_else(of_user) else {
        return Err(CliError::new(
            "it is not known which shell this is for",
            "name it, such as `openclaw completion --shell zsh`",
        ));
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "openclaw", &mut script);
    let script = String::from_utf8_lossy(&script);
    output.piece(&script);
    output.document(&json!({ "ok": true, "shell": shell.to_string(), "script": script }));
    Ok(ExitCode::SUCCESS)
}

/// The shell the user logs in with.
fn of_user() -> Option<Shell> {
    Shell::from_shell_path(variable("SHELL")?)
}
