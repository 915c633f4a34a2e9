//! `openclaw plugins`: build, link, validate and list.

mod build;
mod build_first;
mod doctor;
mod init;
mod inspect;
mod install;
mod list;
mod pack;
mod reload;
mod source;
mod text;
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
        PluginsCommand::List => list::run(context, output),
    }
}
