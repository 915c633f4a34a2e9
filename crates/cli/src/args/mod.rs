//! The command line.

mod plugins;
mod sessions;

use clap::builder::{StringValueParser, TypedValueParser};
use clap::{Parser, Subcommand};
pub(crate) use plugins::*;
pub(crate) use sessions::*;
use std::path::PathBuf;

/// OpenClaw with native context engines.
///
/// The first steps: `openclaw plugins init demo` makes the crate of an engine, `openclaw plugins install -l demo --build`
/// builds and selects it, `openclaw agent -m "hello"` runs a turn through it, and `openclaw doctor` tells what serves and
/// why.
#[derive(Debug, Parser)]
#[command(
    name = "openclaw",
    version,
    max_term_width = 100,
    propagate_version = true
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArgs {
    /// Use the state directory `~/.openclaw-<NAME>`.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Print one JSON document instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log more to stderr; twice for everything. `OPENCLAW_LOG` takes a filter instead.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one agent turn.
    Agent(AgentArgs),
    /// Talk to the agent, one turn a line. A rebuilt engine serves from the next turn on.
    Chat(ChatArgs),
    /// Build, install, list and switch plugins.
    Plugins(PluginsArgs),
    /// Import, list and export sessions.
    Sessions(SessionsArgs),
    /// Check configuration, engines and sessions. Exits with 1 when something needs attention.
    Doctor(DoctorArgs),
    /// Write the completion of the command line for a shell.
    Completion(CompletionArgs),
    /// Write the manual: the page of `openclaw`, or all pages into a directory.
    Man(ManArgs),
    /// Run one script of calls into an engine, from stdin. For `plugins validate` and the like.
    #[command(hide = true)]
    ProbeEngine,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Repair what can be repaired without losing anything. Each repair is named; `openclaw.json` is kept as
    /// `openclaw.json.bak`.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Run no code of any plugin. Otherwise the selected engine runs in a process of its own and a scratch directory.
    #[arg(long)]
    pub(crate) no_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// The message; `-` reads it from stdin.
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: String,
    /// The session to go on with; made when it is new.
    #[arg(long, value_name = "KEY", default_value = "agent:main:main")]
    pub(crate) session_key: String,
    /// Id of the turn. Repeating a turn with its id finishes it if it died and never does it twice.
    #[arg(long, value_name = "ID")]
    pub(crate) turn_id: Option<String>,
    /// The model, as `<provider>/<model>`; `offline` for the built-in one.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChatArgs {
    /// The session to go on with; made when it is new.
    #[arg(long, value_name = "KEY", default_value = "agent:main:main")]
    pub(crate) session_key: String,
    /// The model, as `<provider>/<model>`; `offline` for the built-in one.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionArgs {
    /// The shell; that of `$SHELL` by default.
    #[arg(short, long, value_name = "SHELL")]
    pub(crate) shell: Option<clap_complete::Shell>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Directory to write `openclaw.1` and a page for each command to; the first goes to stdout by default.
    #[arg(long, value_name = "DIRECTORY", value_parser = path())]
    pub(crate) out: Option<PathBuf>,
}

/// A path in UTF-8: configuration, records and documents hold text only.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    StringValueParser::new().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Command lines that a document shows: lines of code that start with `openclaw`.
    fn shown_commands(document: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| line.starts_with("openclaw "))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn commands_in_the_documents_are_commands() {
        let documents = [
            "README.md",
            "docs/transcripts.md",
            "plugins/window/README.md",
            "docs/cli.md",
        ];
        let shown: Vec<String> = documents
            .iter()
            .flat_map(|document| shown_commands(document))
            .collect();
        assert!(shown.len() >= 6, "{shown:?}");
        for line in shown {
            let words = line
                .split_whitespace()
                .map(|word| word.trim_matches(['"', '\'']));
            assert!(Args::try_parse_from(words).is_ok(), "{line}");
        }
    }
}
