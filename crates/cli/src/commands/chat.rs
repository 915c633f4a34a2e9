//! `openclaw chat`: one turn a line.

use crate::args::ChatArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use crate::turns::{Said, Turns, compaction_document};
use serde_json::json;
use std::io::{self, BufRead, IsTerminal};
use std::process::ExitCode;

const HELP: &str = "a line is a message; /compact [FOCUS] makes the session's context smaller; /quit or Ctrl-D ends the chat";

/// What a line of input is.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Blank,
    Quit,
    Help,
    Compact(Option<&'a str>),
    UnknownCommand(&'a str),
    Message(&'a str),
}

pub(crate) fn run(
    context: &Context,
    args: &ChatArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let mut turns = Turns::open(context, args.model.as_deref(), output)?;
    let _builds = turns.follow_builds(context).unwrap_or_else(|error| {
        output.warning(&error.to_string());
        None
    });
    let is_terminal = io::stdin().is_terminal();
    output.talk(&format!(
        "session {} · engine {} · model {}",
        args.session_key,
        turns.engine_name(),
        turns.model_name()
    ));
    if is_terminal {
        output.talk(HELP);
    }
    let mut input = io::stdin().lock();
    let mut has_failed = false;
    while let Some(line) = next_line(&mut input, is_terminal, output)? {
        let Ok(line) = String::from_utf8(line) else {
            has_failed = true;
            output.warning("the line is not UTF-8; nothing was sent");
            continue;
        };
        let text = match read(line.trim_end_matches(['\n', '\r'])) {
            Line::Blank => continue,
            Line::Quit => break,
            Line::Help => {
                output.talk(HELP);
                continue;
            }
            Line::UnknownCommand(command) => {
                output.warning(&format!("there is no command {command}; nothing was sent"));
                output.help(HELP);
                continue;
            }
            Line::Compact(focus) => {
                match turns.compact(&args.session_key, focus, output) {
                    Ok(outcome) => output.record(&compaction_document(&outcome)),
                    Err(error) => {
                        has_failed = true;
                        output.record(&error.to_json());
                        output.error_text(&error);
                    }
                }
                continue;
            }
            Line::Message(text) => text.to_owned(),
        };
        let said = Said {
            session_key: &args.session_key,
            text,
            turn_id: None,
        };
        match turns.run(said, output) {
            Ok(outcome) => {
                output.record(&json!({ "reply": outcome.reply, "turn": outcome.record }));
            }
            Err(error) => {
                has_failed = true;
                output.record(&error.to_json());
                output.error_text(&error);
            }
        }
    }
    // At a terminal the user has seen it; a script has only this.
    Ok(if has_failed && !is_terminal {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The next line, its end included; `None` at the end of input.
fn next_line(
    input: &mut impl BufRead,
    is_terminal: bool,
    output: &mut Output,
) -> Result<Option<Vec<u8>>, CliError> {
    if is_terminal {
        output.prompt("> ");
    }
    let mut bytes = Vec::new();
    let read = input.read_until(b'\n', &mut bytes).map_err(|error| {
        CliError::new(
            format!("cannot read the next message from stdin: {error}"),
            "start the chat again; what was answered is stored",
        )
    })?;
    Ok((read > 0).then_some(bytes))
}

fn read(line: &str) -> Line<'_> {
    let trimmed = line.trim();
    match trimmed {
        "" => Line::Blank,
        "/quit" | "/exit" => Line::Quit,
        "/help" => Line::Help,
        _ => match command_of(trimmed) {
            Some("/compact") => {
                let focus = trimmed["/compact".len()..].trim();
                Line::Compact(Some(focus).filter(|focus| !focus.is_empty()))
            }
            Some(command) => Line::UnknownCommand(command),
            None => Line::Message(line),
        },
    }
}

/// The command a line starts with: a slash and a word. A path is none.
fn command_of(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    let name = word.strip_prefix('/')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_name.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_a_message_unless_it_is_a_command() {
        let cases = [
            ("hello /quit", Line::Message("hello /quit")),
            ("  ", Line::Blank),
            ("/quit ", Line::Quit),
            ("/compact", Line::Compact(None)),
            ("/compact the names", Line::Compact(Some("the names"))),
            ("/nope now", Line::UnknownCommand("/nope")),
            (
                "/etc/hosts is a file",
                Line::Message("/etc/hosts is a file"),
            ),
            ("/ alone", Line::Message("/ alone")),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line), expected, "{line}");
        }
    }
}
