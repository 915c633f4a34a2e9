//! Asks a person at a terminal.

use crate::output::Output;
use std::io::BufRead;

/// Whether the answer to a yes-or-no question is yes. No answer is no.
pub(super) fn asked(question: &str, input: &mut dyn BufRead, output: &mut Output) -> bool {
    output.prompt(&format!("{question} [y/N] "));
    let mut answer = String::new();
    let read = input.read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
