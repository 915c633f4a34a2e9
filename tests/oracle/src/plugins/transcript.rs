//! Reads a captured run: commands with what they printed, edits by hand, and the configuration after them.

use crate::support::parsed;
use serde_json::Value;

pub(super) enum Step {
    Ran {
        command: String,
        printed: Vec<String>,
        /// `None` for a command of the shell.
        succeeded: Option<bool>,
    },
    /// A Python expression that changed the configuration `c`.
    Edited(String),
    /// The plugins section of the configuration; null when there is none.
    Config(Value),
}

pub(super) fn steps(text: &str) -> Vec<Step> {
    let mut lines = text.lines().peekable();
    let mut steps = Vec::new();
    while let Some(line) = lines.next() {
        let mut indented = Vec::new();
        while let Some(next) = lines.next_if(|next| next.starts_with("  ") || next.is_empty()) {
            indented.push(next.trim_start().to_owned());
        }
        if let Some(command) = line.strip_prefix("$ ") {
            let exit = indented.iter().find_map(|it| it.strip_prefix("[exit "));
            steps.push(Step::Ran {
                command: command.to_owned(),
                succeeded: exit.map(|code| code == "0]"),
                printed: indented,
            });
        } else if let Some(expression) = line.strip_prefix("# edited openclaw.json: ") {
            steps.push(Step::Edited(expression.to_owned()));
        } else if line == "# openclaw.json (plugins section)" {
            steps.push(Step::Config(parsed(line, &indented.join("\n"))));
        }
    }
    steps
}
