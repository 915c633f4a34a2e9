//! `openclaw man`: the manual, made of what `--help` knows.

use crate::args::ManArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::help;
use crate::output::Output;
use clap::Command;
use clap_mangen::Man;
use serde_json::json;
use std::fs;
use std::io;
use std::process::ExitCode;

/// A page: its file name and its text.
type Page = (String, String);

pub(crate) fn run(
    context: &Context,
    args: &ManArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let pages = pages().map_err(|error| {
        CliError::new(
            format!("the manual cannot be made: {error}"),
            "`openclaw --help` shows the same",
        )
    })?;
    let Some(out) = &args.out else {
        // The first is the page of the command itself.
        if let Some((_, text)) = pages.first() {
            output.piece(text);
        }
        let pages: Vec<_> = pages
            .iter()
            .map(|(name, text)| json!({ "name": name, "text": text }))
            .collect();
        output.document(&json!({ "ok": true, "pages": pages }));
        return Ok(ExitCode::SUCCESS);
    };
    let out = context.absolute(out);
    fs::create_dir_all(&out).map_err(|error| CliError::io("make", &out, &error))?;
    for (name, text) in &pages {
        let path = out.join(name);
        fs::write(&path, text).map_err(|error| CliError::io("write", &path, &error))?;
    }
    let names: Vec<&String> = pages.iter().map(|(name, _)| name).collect();
    output.line(&format!("wrote {} pages to {}", pages.len(), out.display()));
    output.document(&json!({ "ok": true, "directory": out.display().to_string(), "pages": names }));
    Ok(ExitCode::SUCCESS)
}

/// A page for the command and for each that it has, hidden ones aside.
fn pages() -> io::Result<Vec<Page>> {
    let mut command = help::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, "openclaw", &mut pages)?;
    Ok(pages)
}

fn collect(command: &Command, name: &str, pages: &mut Vec<Page>) -> io::Result<()> {
    let mut text = Vec::new();
    Man::new(command.clone())
        .title(name)
        .source(concat!("openclaw ", env!("CARGO_PKG_VERSION")))
        .date("")
        .render(&mut text)?;
    pages.push((
        format!("{name}.1"),
        String::from_utf8_lossy(&text).into_owned(),
    ));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(sub, &format!("{name}-{}", sub.get_name()), pages)?;
    }
    Ok(())
}
