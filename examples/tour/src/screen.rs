//! What the tour prints: the story to stdout, talk to stderr, colour on a terminal only.

use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use std::io::Write;

const WIDTH: usize = 100;
const LABEL: usize = 9;
const HEAD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const CYAN: Style = AnsiColor::Cyan.on_default();
const GREEN: Style = AnsiColor::Green.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();

/// The screen. A reader that went away ends the output, not the tour.
#[derive(Debug)]
pub(crate) struct Screen;

impl Screen {
    pub(crate) fn plain(&mut self, text: &str) {
        let _ = writeln!(anstream::stdout(), "{text}");
    }

    pub(crate) fn title(&mut self, text: &str) {
        self.plain(&format!("{HEAD}{text}{HEAD:#}"));
    }

    pub(crate) fn heading(&mut self, text: &str) {
        self.plain(&format!("\n{HEAD}{text}{HEAD:#}"));
    }

    /// A command, broken where it is too long, as a shell takes it.
    pub(crate) fn command(&mut self, text: &str) {
        let lines = wrapped(text, WIDTH - 6);
        self.plain(&format!("  $ {CYAN}{}{CYAN:#}", lines.join(" \\\n      ")));
    }

    /// What was answered, under a label; an empty one goes on with the fact before.
    pub(crate) fn fact(&mut self, label: &str, text: &str) {
        for (index, line) in wrapped(text, WIDTH - LABEL - 5).into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            self.plain(&format!("    {DIM}{label:<LABEL$}{DIM:#} {line}"));
        }
    }

    /// As much of an answer as a line takes.
    pub(crate) fn excerpt(&mut self, label: &str, text: &str) {
        let mut lines = wrapped(text, WIDTH - LABEL - 7).into_iter();
        let first = lines.next().unwrap_or_default();
        let rest = if lines.next().is_some() { " …" } else { "" };
        self.fact(label, &format!("{first}{rest}"));
    }

    /// A line a command printed.
    pub(crate) fn printed(&mut self, line: &str) {
        let indent = if line.starts_with(' ') { 6 } else { 4 };
        for (index, line) in wrapped(line, WIDTH - 6).into_iter().enumerate() {
            let indent = if index == 0 { indent } else { 6 };
            self.plain(&format!("{:indent$}{line}", ""));
        }
    }

    /// The first of many facts, with their number.
    pub(crate) fn facts(&mut self, label: &str, lines: &[String], most: usize) {
        let shown = if lines.len() == most + 1 {
            lines.len()
        } else {
            most
        };
        for (index, line) in lines.iter().take(shown).enumerate() {
            let label = if index == 0 { label } else { "" };
            self.fact(label, line);
        }
        if lines.len() > shown {
            self.fact("", &format!("and {} more", lines.len() - shown));
        }
    }

    /// A table, columns to the right except the first two and the last.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.first().map_or(0, Vec::len);
        let width = |column: usize| rows.iter().map(|row| columns_of(&row[column])).max();
        let widths: Vec<usize> = (0..columns).filter_map(width).collect();
        for (index, row) in rows.iter().enumerate() {
            let cells = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(at, (cell, width))| {
                    if at < 2 || at + 1 == columns {
                        format!("{cell:<width$}")
                    } else {
                        format!("{cell:>width$}")
                    }
                });
            let line = cells.collect::<Vec<_>>().join("   ");
            let style = if index == 0 { DIM } else { Style::new() };
            self.plain(&format!("    {style}{}{style:#}", line.trim_end()));
        }
    }

    pub(crate) fn verdict(&mut self, text: &str) {
        self.plain(&format!("\n{GREEN}{text}{GREEN:#}"));
    }

    pub(crate) fn talk(&mut self, text: &str) {
        let _ = writeln!(anstream::stderr(), "{DIM}{text}{DIM:#}");
    }

    pub(crate) fn failure(&mut self, failure: &Failure) {
        let mut stderr = anstream::stderr();
        let _ = writeln!(stderr, "{RED}error:{RED:#} {}", failure.text);
        if let Some(help) = &failure.help {
            let _ = writeln!(stderr, "{CYAN}help:{CYAN:#} {help}");
        }
    }
}

/// Columns a text takes; wide characters take two.
fn columns_of(text: &str) -> usize {
    let columns = |c: char| {
        if c >= '\u{1100}' && !('\u{2000}'..'\u{2e80}').contains(&c) {
            2
        } else {
            1
        }
    };
    text.chars().filter(|c| !c.is_control()).map(columns).sum()
}

/// The text in lines of at most `width` columns, broken at spaces; a longer word is cut.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        if columns_of(&word) > width {
            word = word.chars().take(width / 2).chain(['…']).collect();
        }
        let last = lines
            .last_mut()
            .filter(|line| line.is_empty() || columns_of(line) + 1 + columns_of(&word) <= width);
        match last {
            Some(line) if line.is_empty() => *line = word,
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_never_grow_too_wide() {
        assert_eq!(wrapped("", 10), [""]);
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("漢字漢字 x", 8), ["漢字漢字", "x"]);
        assert_eq!(wrapped(&"y".repeat(30), 10), ["yyyyy…"]);
    }
}
