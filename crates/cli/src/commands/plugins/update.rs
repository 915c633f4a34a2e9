//! `openclaw plugins update`: newer versions of packages. Links and copies of local things are installed again instead.

use super::install::{Spec, Wanted, fetch, install};
use crate::args::UpdateArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::installs::{Install, Installs, SourceKind};
use crate::output::Output;
use openclaw_loader::BuildDirectory;
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &UpdateArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let installs = Installs::read(&context.paths.native_dir)?;
    let ids: Vec<&str> = if args.all {
        installs.ids().collect()
    } else {
        args.ids.iter().map(String::as_str).collect()
    };
    let mut found: Vec<(&str, &Install)> = Vec::new();
    for id in ids {
        found.push(
            installs
                .get(id)
                .or_else(|| installs.of_spec(id))
                .ok_or_else(|| {
                    CliError::new(
                        format!("no recorded plugin is called `{id}`"),
                        "`openclaw plugins list` shows what is there",
                    )
                })?,
        );
    }
    let mut results = Vec::new();
    let mut has_failed = false;
    for (id, record) in found {
        let result = update(context, args, id, record, output).unwrap_or_else(|error| {
            has_failed = true;
            output.error_text(&error);
            let mut document = error.to_json();
            document["outcome"] = "failed".into();
            document
        });
        let mut result = result;
        result["id"] = id.into();
        results.push(result);
    }
    output.document(&json!({ "ok": !has_failed, "dryRun": args.dry_run, "plugins": results }));
    Ok(if has_failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn update(
    context: &Context,
    args: &UpdateArgs,
    id: &str,
    record: &Install,
    output: &mut Output,
) -> Result<Value, CliError> {
    let spec = match (record.source.kind, &record.source.spec) {
        (SourceKind::Npm, Some(spec)) => spec,
        (kind, _) => {
            let word = kind.word();
            output.line(&format!("skipped  {id} (source: {word})"));
            output.help("install it again from where it came");
            return Ok(json!({ "outcome": "skipped", "source": word }));
        }
    };
    let spec = Spec::parse(spec).map_err(|problem| {
        CliError::new(
            format!("the record of `{id}` holds the spec `{spec}`: {problem}"),
            "install it again: `openclaw plugins install <package> --force`",
        )
    })?;
    let fetched = fetch(context, &Wanted::Npm(spec.clone()), false)?;
    if !fetched.is_plugin(id) {
        return Err(CliError::new(
            format!("`{}` is another plugin than `{id}` now", spec.text()),
            "nothing was changed; install it under its own id if that is what you want",
        ));
    }
    let present = BuildDirectory::read(&record.path).ok();
    let is_same = present.is_some_and(|present| fetched.is_same(&present));
    let version = fetched.version.clone();
    let shown = version.as_deref().unwrap_or("(no version)");
    if is_same {
        output.line(&format!("current  {id} {shown}"));
        return Ok(json!({ "outcome": "current", "version": version }));
    }
    if args.dry_run {
        output.line(&format!("would be {id} {shown}"));
        return Ok(json!({ "outcome": "wouldUpdate", "version": version }));
    }
    install(context, fetched, true)?;
    output.line(&format!("updated  {id} {shown}"));
    Ok(json!({ "outcome": "updated", "version": version }))
}
