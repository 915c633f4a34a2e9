//! What goes to stdout and what to stderr, with colour on a terminal only. No write panics.

mod plain;
mod progress;
mod stdout;

use crate::error::CliError;
use anstyle::{AnsiColor, Style};
use comfy_table::{Table, TableStyle};
use serde::Serialize;
use std::io::{self, Write};

pub(crate) use plain::plain;
pub(crate) use progress::Progress;
use stdout::Stdout;

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// The two streams of the command. With `--json`, text for stdout is dropped and one document is printed at the end.
///
/// Texts are made [`plain`]: what stands in a file or an answer cannot steer the terminal. A reader of stdout that went
/// away ends the output, not the command; another failure there is told by [`Self::failure`] at the end. What cannot be
/// written to stderr is lost.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    stdout: Stdout,
}

/// How a checked thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mark {
    /// In order.
    Ok,
    /// Worth knowing.
    Note,
    /// Needs attention.
    Warning,
    /// Does not work.
    Error,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            stdout: Stdout::of_process(),
        }
    }

    /// Keeps stdout for this output alone: whatever a library prints from here on goes to stderr.
    pub(crate) fn keep_stdout(&mut self) {
        self.stdout.keep();
    }

    /// Why a part of the result could not be written, other than a reader that went away.
    pub(crate) fn failure(&mut self) -> Option<CliError> {
        let error = self.stdout.failure()?;
        Some(CliError::new(
            format!("cannot write to stdout: {error}"),
            "the command itself is done; give stdout a place that takes it, and ask for the result again",
        ))
    }

    /// A line of the result.
    pub(crate) fn line(&mut self, text: &str) {
        if !self.json {
            self.stdout.write(&format!("{}\n", plain(text)));
        }
    }

    /// A text of our own with styles in it.
    pub(crate) fn styled(&mut self, text: &clap::builder::StyledStr) {
        if self.stdout.has_colour() {
            self.stdout.write(&text.ansi().to_string());
        } else {
            self.stdout.write(&text.to_string());
        }
    }

    /// A line of the result with a mark before it.
    pub(crate) fn marked(&mut self, mark: Mark, subject: &str, text: &str) {
        if self.json {
            return;
        }
        let (style, word) = match mark {
            Mark::Ok => (GREEN, "ok"),
            Mark::Note => (CYAN, "note"),
            Mark::Warning => (YELLOW, "warning"),
            Mark::Error => (RED, "error"),
        };
        let rest = format!("{subject:<10} {text}");
        let rest = plain(&rest);
        let line = if self.stdout.has_colour() {
            format!("{style}{word:<7}{style:#} {rest}\n")
        } else {
            format!("{word:<7} {rest}\n")
        };
        self.stdout.write(&line);
    }

    /// A piece of the result, as it comes.
    pub(crate) fn piece(&mut self, text: &str) {
        if !self.json {
            self.stdout.write(&plain(text));
        }
    }

    /// A table of the result.
    pub(crate) fn table(&mut self, head: &[&str], rows: Vec<Vec<String>>) {
        // A control character has no width, so it goes before the columns are measured.
        let rows = rows.into_iter().map(|row| {
            let cells = row.iter().map(|cell| plain(cell).into_owned());
            cells.collect::<Vec<_>>()
        });
        let mut table = Table::new();
        table
            .load_style(TableStyle::new())
            .set_header(head)
            .add_rows(rows);
        for line in table.to_string().lines() {
            self.line(line.trim_end());
        }
    }

    /// The result as one JSON document; nothing without `--json`.
    pub(crate) fn document(&mut self, value: &impl Serialize) {
        if self.json {
            match serde_json::to_string_pretty(value) {
                Ok(text) => self.stdout.write(&format!("{text}\n")),
                Err(error) => self.stdout.fail(error.into()),
            }
        }
    }

    /// One of several results, as one line of JSON; nothing without `--json`.
    pub(crate) fn record(&mut self, value: &impl Serialize) {
        if self.json {
            match serde_json::to_string(value) {
                Ok(text) => self.stdout.write(&format!("{text}\n")),
                Err(error) => self.stdout.fail(error.into()),
            }
        }
    }

    /// What stands before the next input.
    pub(crate) fn prompt(&mut self, text: &str) {
        to_stderr(text);
    }

    /// Talk: what is going on.
    pub(crate) fn talk(&mut self, text: &str) {
        Talk.talk(text);
    }

    /// Talk: how far something is. On a terminal only, and not with `--json`.
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(!self.json)
    }

    /// Talk: something needs attention.
    pub(crate) fn warning(&mut self, text: &str) {
        Talk.warning(text);
    }

    /// Talk: what to do next.
    pub(crate) fn help(&mut self, text: &str) {
        Talk.help(text);
    }

    /// The error the command ends with.
    pub(crate) fn error(&mut self, error: &CliError) {
        self.document(&error.to_json());
        self.error_text(error);
    }

    /// An error in words only.
    pub(crate) fn error_text(&mut self, error: &CliError) {
        to_stderr(&format!(
            "{RED}error:{RED:#} {}\n",
            plain(&error.to_string())
        ));
        if let Some(help) = error.help() {
            self.help(help);
        }
    }
}

/// What goes to stderr, for threads that have no part in the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk;

impl Talk {
    /// What is going on.
    pub(crate) fn talk(self, text: &str) {
        to_stderr(&format!("{DIM}{}{DIM:#}\n", plain(text)));
    }

    /// Something needs attention.
    pub(crate) fn warning(self, text: &str) {
        to_stderr(&format!("{YELLOW}warning:{YELLOW:#} {}\n", plain(text)));
    }

    /// What to do next.
    pub(crate) fn help(self, text: &str) {
        to_stderr(&format!("{CYAN}help:{CYAN:#} {}\n", plain(text)));
    }
}

/// The one way to stderr. Where nobody listens there is nobody to tell.
fn to_stderr(text: &str) {
    let mut stderr = anstream::AutoStream::auto(io::stderr());
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}
