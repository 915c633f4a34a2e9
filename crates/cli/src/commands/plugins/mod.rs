//! `openclaw plugins`: make, build, check, install, show, switch, update and remove plugins.

mod build;
mod build_first;
mod consent;
mod doctor;
mod init;
mod inspect;
mod install;
mod list;
mod pack;
mod reload;
mod source;
mod switch;
mod text;
mod uninstall;
mod update;
mod validate;

pub(crate) use text::word;

use crate::args::{PluginsArgs, PluginsCommand};
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &PluginsArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    match &args.command {
        PluginsCommand::Init(args) => init::run(context, args, output),
        PluginsCommand::Build(args) => build::run(context, args, output),
        PluginsCommand::Install(args) => install::run(context, args, output),
        PluginsCommand::Validate(args) => validate::run(context, args, output),
        PluginsCommand::Pack(args) => pack::run(context, args, output),
        PluginsCommand::Inspect(args) => inspect::run(context, args, output),
        PluginsCommand::Reload(args) => reload::run(context, args, output),
        PluginsCommand::Doctor => doctor::run(context, output),
        PluginsCommand::List(args) => list::run(context, args, output),
        PluginsCommand::Enable(args) => switch::enable(context, &args.ids, output),
        PluginsCommand::Disable(args) => switch::disable(context, &args.ids, output),
        PluginsCommand::Uninstall(args) => uninstall::run(context, args, output),
        PluginsCommand::Update(args) => update::run(context, args, output),
    }
}
