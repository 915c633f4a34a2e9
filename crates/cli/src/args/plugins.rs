//! The arguments of `openclaw plugins`.

use super::path;
use clap::Subcommand;
use std::path::PathBuf;

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
