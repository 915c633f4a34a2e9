//! What goes to stdout and what to stderr, with colour on a terminal only.

#![expect(clippy::print_stdout, reason = "the one place that prints")]

use crate::error::CliError;
use anstyle::{AnsiColor, Style};
use comfy_table::{Table, TableStyle};
use serde::Serialize;
use std::io::{self, Write};

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// The two streams of the command. With `--json`, text for stdout is dropped and one document is printed at the end.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
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
        Self { json }
    }

    /// A line of the result.
    pub(crate) fn line(&mut self, text: &str) {
        if !self.json {
            anstream::println!("{text}");
        }
    }

    /// A line of the result with a mark before it.
    pub(crate) fn marked(&mut self, mark: Mark, subject: &str, text: &str) {
        let (style, word) = match mark {
            Mark::Ok => (GREEN, "ok"),
            Mark::Note => (CYAN, "note"),
            Mark::Warning => (YELLOW, "warning"),
            Mark::Error => (RED, "error"),
        };
        self.line(&format!("{style}{word:<7}{style:#} {subject:<10} {text}"));
    }

    /// A piece of the result, as it comes.
    pub(crate) fn piece(&mut self, text: &str) {
        if !self.json {
            let mut stdout = io::stdout().lock();
            // A reader that went away ends the output, not the turn.
            let _ = stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush());
        }
    }

    /// A table of the result.
    pub(crate) fn table(&mut self, head: &[&str], rows: Vec<Vec<String>>) {
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
            let text = serde_json::to_string_pretty(value).unwrap_or_default();
            println!("{text}");
        }
    }

    /// Talk: what is going on.
    pub(crate) fn talk(&mut self, text: &str) {
        anstream::eprintln!("{DIM}{text}{DIM:#}");
    }

    /// Talk: something needs attention.
    pub(crate) fn warning(&mut self, text: &str) {
        anstream::eprintln!("{YELLOW}warning:{YELLOW:#} {text}");
    }

    /// Talk: what to do next.
    pub(crate) fn help(&mut self, text: &str) {
        anstream::eprintln!("{CYAN}help:{CYAN:#} {text}");
    }

    /// The error the command ends with.
    pub(crate) fn error(&mut self, error: &CliError) {
        if self.json {
            self.document(&error.to_json());
        }
        anstream::eprintln!("{RED}error:{RED:#} {error}");
        if let Some(help) = error.help() {
            self.help(help);
        }
    }
}
