//! Command lines that cannot be understood, and those that only ask for help.

use crate::error::CliError;
use crate::output::Output;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::process::ExitCode;

/// Ends the command on what clap found. With `--json` among the arguments a document goes to stdout and clap's text to
/// stderr.
pub(crate) fn end(error: &clap::Error, raw: &[OsString]) -> ExitCode {
    if error.use_stderr() {
        let wants_json = raw.iter().skip(1).any(|arg| arg == "--json");
        Output::new(wants_json).document(&described(error).to_json());
        // Where stderr takes nothing there is nobody to tell.
        let _ = error.print();
        return ExitCode::from(2);
    }
    // Help and version are text, whatever else is asked for.
    let mut output = Output::new(false);
    output.styled(&error.render());
    match output.failure() {
        None => ExitCode::SUCCESS,
        Some(failure) => {
            output.error_text(&failure);
            ExitCode::FAILURE
        }
    }
}

/// Clap's text as message and next step.
fn described(error: &clap::Error) -> CliError {
    let text = error.to_string();
    let (message, help) = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ("no command is named", None),
        ErrorKind::InvalidUtf8 => (
            "an argument is not UTF-8",
            Some("name files and directories by a path in UTF-8; a link can give them one"),
        ),
        _ => {
            let first = text.split("\n\n").next().unwrap_or_default();
            (first.strip_prefix("error: ").unwrap_or(first), None)
        }
    };
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    CliError::new(message, help.unwrap_or("`openclaw --help` shows the usage"))
        .code("usage")
        .wrong_usage()
}
