//! The command line with what `--help` teaches beyond the options: examples, and what the exit codes mean.

use crate::args::Args;
use clap::{Command, CommandFactory};

/// What a process ends with; the same text stands in `docs/cli.md`.
const EXIT_CODES: &str = "\
Exit codes:
  0  done; for `doctor` and `validate`: nothing needs attention
  1  failed, or something needs attention; stderr says what and what to do next
  2  the command line or the environment cannot be understood; nothing was done

Results go to stdout, talk to stderr. With --json stdout is one document, and nothing else is on it.";

/// Command lines that show how a command is used, by its path.
const EXAMPLES: &[(&[&str], &[&str])] = &[
    (
        &["agent"],
        &[
            "openclaw agent -m \"hello\"",
            "openclaw agent -m - --json < question.txt",
        ],
    ),
    (
        &["chat"],
        &["openclaw chat", "openclaw chat --model offline"],
    ),
    (
        &["plugins"],
        &[
            "openclaw plugins init demo",
            "openclaw plugins install -l demo --build",
        ],
    ),
    (
        &["plugins", "init"],
        &[
            "openclaw plugins init demo",
            "openclaw plugins init demo --name \"My engine\" --directory engines/demo",
        ],
    ),
    (
        &["plugins", "build"],
        &[
            "openclaw plugins build .",
            "openclaw plugins build engines/demo --out made",
        ],
    ),
    (
        &["plugins", "install"],
        &[
            "openclaw plugins install -l made",
            "openclaw plugins install -l . --build",
        ],
    ),
    (
        &["plugins", "validate"],
        &[
            "openclaw plugins validate made",
            "openclaw plugins validate made --call-timeout 60 --json",
        ],
    ),
    (
        &["plugins", "list"],
        &["openclaw plugins list", "openclaw plugins list --json"],
    ),
    (
        &["plugins", "pack"],
        &[
            "openclaw plugins pack made",
            "openclaw plugins pack made --out demo.tgz",
        ],
    ),
    (
        &["plugins", "inspect"],
        &[
            "openclaw plugins inspect demo",
            "openclaw plugins inspect demo --runtime --json",
            "openclaw plugins inspect --all",
        ],
    ),
    (&["plugins", "reload"], &["openclaw plugins reload demo"]),
    (
        &["plugins", "doctor"],
        &["openclaw plugins doctor", "openclaw plugins doctor --json"],
    ),
    (
        &["sessions", "import"],
        &[
            "openclaw sessions import session.jsonl",
            "openclaw sessions import --openclaw --session agent:main:main",
        ],
    ),
    (&["sessions", "list"], &["openclaw sessions list"]),
    (
        &["sessions", "export"],
        &["openclaw sessions export agent:main:main --out session.jsonl"],
    ),
    (&["sessions", "repair"], &["openclaw sessions repair"]),
    (
        &["sessions", "recommit"],
        &["openclaw sessions recommit agent:main:main"],
    ),
    (
        &["doctor"],
        &[
            "openclaw doctor",
            "openclaw doctor --fix",
            "openclaw doctor --no-run --json",
        ],
    ),
    (
        &["completion"],
        &[
            "openclaw completion --shell zsh > ~/.zfunc/_openclaw",
            "openclaw completion --shell bash > ~/.local/share/bash-completion/completions/openclaw",
        ],
    ),
    (
        &["man"],
        &[
            "openclaw man | man -l -",
            "openclaw man --out ~/.local/share/man/man1",
        ],
    ),
];

/// The whole command line.
pub(crate) fn command() -> Command {
    let mut command = Args::command().after_help(EXIT_CODES);
    for (path, examples) in EXAMPLES {
        command = with_examples(command, path, examples);
    }
    command
}

fn with_examples(command: Command, path: &[&str], examples: &[&str]) -> Command {
    match path.split_first() {
        Some((first, rest)) if command.find_subcommand(first).is_some() => {
            command.mut_subcommand(first, |it| with_examples(it, rest, examples))
        }
        Some(_) => command,
        None => command.after_help(format!("Examples:\n  {}", examples.join("\n  "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words a shell would make of a line, redirections and pipes aside.
    fn words(line: &str) -> Vec<String> {
        let line = line.split(['<', '>', '|']).next().unwrap_or_default();
        let mut words = Vec::new();
        for (place, part) in line.split('"').enumerate() {
            if place % 2 == 1 {
                words.push(part.to_owned());
            } else {
                words.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        words
    }

    #[test]
    fn examples_are_command_lines_of_the_command_they_stand_at() {
        for (path, examples) in EXAMPLES {
            for example in *examples {
                let words = words(example);
                let parsed = command().try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{example}: {parsed:?}");
                assert!(
                    words[1..]
                        .starts_with(&path.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()),
                    "{example}"
                );
            }
        }
    }

    #[test]
    fn exit_codes_are_the_same_in_the_documents() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
        let text = std::fs::read_to_string(path).unwrap();
        assert!(
            text.contains(EXIT_CODES),
            "docs/cli.md does not hold:\n{EXIT_CODES}"
        );
    }

    #[test]
    fn command_line_is_consistent() {
        command().debug_assert();
    }
}
