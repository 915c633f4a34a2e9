//! The command line.

use clap::builder::{StringValueParser, TypedValueParser};
use clap::{Parser, Subcommand};
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
pub(crate) struct PluginsArgs {
    #[command(subcommand)]
    pub(crate) command: PluginsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginsCommand {
    /// Make the crate of a new engine. It builds, passes its tests and can be linked at once.
    Init(InitArgs),
    /// Build an engine's crate into a build directory.
    Build(BuildArgs),
    /// Install a plugin and select its engine.
    Install(InstallArgs),
    /// Check a build directory: files, contract, settings, and by trying it out what its engine promises about turns.
    /// Exits with 1 when a check fails. Changes no configuration.
    Validate(ValidateArgs),
    /// List plugins. Loads nothing.
    List(ListArgs),
    /// Enable plugins, in order, and select their engine. What was done before a failure stays.
    Enable(EnableArgs),
    /// Disable plugins, in order. Settings and slots stay as they are.
    Disable(DisableArgs),
    /// Remove plugins: settings, record, list entries, load paths, slots, and the directory of a copy.
    Uninstall(UninstallArgs),
    /// Fetch newer versions of plugins that came from npm.
    Update(UpdateArgs),
    /// Pack a build directory into one archive. The same files make the same bytes.
    Pack(PackArgs),
    /// Show everything that is known of a plugin. Runs none of its code without `--runtime`.
    #[command(visible_alias = "info")]
    Inspect(InspectArgs),
    /// Bring the newest build of linked plugins into place and try it out. A running `openclaw chat` takes it by itself.
    Reload(ReloadArgs),
    /// Load every enabled plugin and report what is wrong. Exits with 1 when something is.
    Doctor,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Id of the engine, of its plugin and of its crate: small letters, digits and hyphens.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The name that people see; made of the id by default.
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// What the plugin brings.
    #[arg(long = "type", value_name = "TYPE", default_value = "context-engine")]
    pub(crate) scaffold_type: String,
    /// Where to make it; `./<ID>` by default.
    #[arg(long, value_name = "DIRECTORY", value_parser = path())]
    pub(crate) directory: Option<PathBuf>,
    /// Write into a directory that is not empty. Files of the scaffold replace those of the same name.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BuildArgs {
    /// Directory of the crate.
    #[arg(value_name = "CRATE", default_value = ".", value_parser = path())]
    pub(crate) crate_dir: PathBuf,
    /// The build directory to make; `<target directory>/openclaw/<engine id>` by default. A build directory that is
    /// there is replaced as a whole; anything else that is there is left alone.
    #[arg(long, value_name = "DIRECTORY", value_parser = path())]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// A build directory, an archive of one (.zip, .tgz, .tar.gz, .tar), or an npm package with an exact version or a
    /// tag (`name`, `name@1.2.3`, `npm:name`); with `--build`, what to build it from.
    #[arg(value_name = "SPEC", value_parser = path())]
    pub(crate) source: PathBuf,
    /// Use the directory where it is, instead of a copy.
    #[arg(short, long)]
    pub(crate) link: bool,
    /// Build it first: the source may be a crate, a workspace with one engine, or cargo's target directory.
    #[arg(long)]
    pub(crate) build: bool,
    /// Accept the source without asking, and replace a copy that is there. Links of local directories never ask.
    #[arg(long)]
    pub(crate) force: bool,
    /// Accept the plugin's capabilities without asking. Links of local directories never ask.
    #[arg(long)]
    pub(crate) accept_capabilities: bool,
    /// Record the exact version of an npm package, so that `update` stays there.
    #[arg(long, conflicts_with = "link")]
    pub(crate) pin: bool,
    /// Has no effect, as in OpenClaw; says so.
    #[arg(long, hide = true)]
    pub(crate) dangerously_force_unsafe_install: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only plugins that are enabled.
    #[arg(long)]
    pub(crate) enabled: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EnableArgs {
    /// Ids of the plugins.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Accept the plugins' capabilities. Native engines have none to accept.
    #[arg(long)]
    pub(crate) accept_capabilities: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DisableArgs {
    /// Ids of the plugins.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    /// Ids of the plugins. All are looked up before the first is removed.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Only say what would be removed.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Leave the directory of a copy. It stays disabled.
    #[arg(long, alias = "keep-config")]
    pub(crate) keep_files: bool,
    /// Do not ask.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    /// Ids of the plugins, or the npm specs they came from.
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub(crate) ids: Vec<String>,
    /// Every plugin that is recorded.
    #[arg(long)]
    pub(crate) all: bool,
    /// Only say what would be updated.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// The build directory.
    #[arg(value_name = "DIRECTORY", value_parser = path())]
    pub(crate) source: PathBuf,
    /// Seconds that one call into the engine may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) call_timeout: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PackArgs {
    /// The build directory.
    #[arg(value_name = "DIRECTORY", value_parser = path())]
    pub(crate) source: PathBuf,
    /// The archive to write; `./<id>-<version>.tgz` by default. A file that is there is not overwritten.
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// Id of the plugin.
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub(crate) id: Option<String>,
    /// Every plugin.
    #[arg(long)]
    pub(crate) all: bool,
    /// Load the plugin into this process and show what it says of itself. No engine is made.
    #[arg(long)]
    pub(crate) runtime: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReloadArgs {
    /// Ids of the plugins.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Import transcripts in OpenClaw's JSONL format, or sessions out of OpenClaw's own store.
    Import(ImportArgs),
    /// List the sessions of the agent.
    List,
    /// Write a session's transcript as JSONL.
    Export(ExportArgs),
    /// Put a damaged store aside and make a new one of what can be read of it.
    Repair,
    /// Offer every turn of a session to the selected engine again. It stores those it missed and answers `duplicate` for
    /// the others.
    Recommit(RecommitArgs),
    /// Make a session's context smaller: its older part becomes a summary.
    Compact(CompactArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The files: session files in JSONL, or an `openclaw-agent.sqlite`. They are only read.
    #[arg(value_name = "FILE", required_unless_present = "openclaw", value_parser = path())]
    pub(crate) files: Vec<PathBuf>,
    /// Import from OpenClaw's store in the state directory.
    #[arg(long)]
    pub(crate) openclaw: bool,
    /// Of a store, only the session with this key or id. Can be given several times.
    #[arg(long = "session", value_name = "KEY OR ID")]
    pub(crate) sessions: Vec<String>,
    /// Session key to put a single file behind; `agent:main:<id>` by default.
    #[arg(long, value_name = "KEY")]
    pub(crate) session_key: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Session key or id.
    #[arg(value_name = "SESSION", default_value = "agent:main:main")]
    pub(crate) session: String,
    /// File to write; stdout by default. A file that is there is not overwritten.
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecommitArgs {
    /// Session key or id.
    #[arg(value_name = "SESSION", default_value = "agent:main:main")]
    pub(crate) session: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompactArgs {
    /// Session key or id.
    #[arg(value_name = "SESSION", default_value = "agent:main:main")]
    pub(crate) session: String,
    /// What the summary should keep in view.
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,
    /// Model that writes the summary, as `<provider>/<id>` or `offline`.
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
