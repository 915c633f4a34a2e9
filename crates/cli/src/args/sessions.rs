//! The arguments of `openclaw sessions`.

use super::path;
use clap::Subcommand;
use std::path::PathBuf;

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
