//! `openclaw plugins`: build, validate, install, list, switch, uninstall and update.

mod build;
mod consent;
mod install;
mod list;
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
        PluginsCommand::Build(args) => build::run(context, args, output),
        PluginsCommand::Install(args) => install::run(context, args, output),
        PluginsCommand::Validate(args) => validate::run(context, args, output),
        PluginsCommand::List(args) => list::run(context, args, output),
        PluginsCommand::Enable(args) => switch::enable(context, &args.ids, output),
        PluginsCommand::Disable(args) => switch::disable(context, &args.ids, output),
        PluginsCommand::Uninstall(args) => uninstall::run(context, args, output),
        PluginsCommand::Update(args) => update::run(context, args, output),
    }
}
