//! `openclaw plugins uninstall`: takes back what an installation did. A linked directory is never deleted.

use super::text::shown;
use crate::args::UninstallArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::installs::{Install, Installs};
use crate::output::Output;
use openclaw_config::{
    DEFAULT_CONTEXT_ENGINE, DEFAULT_MEMORY, Edit, Plugins, SlotChoice, edit_file, same_id,
};
use serde_json::json;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &UninstallArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let installs = Installs::read(&context.paths.native_dir)?;
    let mut found: Vec<(&str, &Install)> = Vec::new();
    for id in &args.ids {
        let record = installs.get(id).ok_or_else(|| untracked(id))?;
        if !found.iter().any(|(id, _)| *id == record.0) {
            found.push(record);
        }
    }
    let mut done = Vec::new();
    for (id, install) in found {
        let directory = deletable(context, install).filter(|_| !args.keep_files);
        let removal = Removal::new(context, &context.config()?.plugins()?, id, install);
        let mut parts = removal.parts.clone();
        parts.extend(
            directory
                .as_ref()
                .map(|path| format!("directory: {}", path.display())),
        );
        output.line(&format!("plugin   {id}"));
        output.line(&format!("removes  {}", parts.join(", ")));
        if !args.dry_run {
            if !args.force {
                confirm(id, output)?;
            }
            remove(context, id, install, directory.as_deref())?;
            output.line(&format!("removed  {id}"));
        }
        done.push(json!({
            "id": id, "removed": parts, "directory": directory.as_deref().map(shown),
        }));
    }
    if args.dry_run {
        output.line("dry run, nothing was changed");
    }
    output.document(&json!({ "ok": true, "dryRun": args.dry_run, "plugins": done }));
    Ok(ExitCode::SUCCESS)
}

/// Config first, so that nothing points at what goes; the record last, so that a run that was cut off can be repeated.
fn remove(
    context: &Context,
    id: &str,
    install: &Install,
    directory: Option<&Path>,
) -> Result<(), CliError> {
    edit_file(
        &context.paths.config_path,
        context.write_options(),
        |config| {
            let removal = Removal::new(context, &config.plugins()?, id, install);
            Ok::<_, CliError>(removal.edits)
        },
    )?;
    if let Some(directory) = directory {
        match fs::remove_dir_all(directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(CliError::io("delete", directory, &error));
            }
            _ => {}
        }
    }
    Installs::forget(&context.paths.native_dir, id)
}

/// What goes out of the config, and how that is told.
struct Removal {
    edits: Vec<Edit>,
    parts: Vec<String>,
}

impl Removal {
    fn new(context: &Context, plugins: &Plugins, id: &str, install: &Install) -> Self {
        let key = plugins.entry(id).map_or(id, |(key, _)| key);
        let marker = json!({ "enabled": false });
        let mut it = Self {
            edits: vec![Edit::set(["plugins", "entries", key], marker)],
            parts: vec!["settings".into(), "install record".into()],
        };
        let is_this = |listed: &&String| same_id(listed.trim(), id);
        let taken =
            |list: &[String]| -> Vec<String> { list.iter().filter(is_this).cloned().collect() };
        it.take(
            "allow list entry",
            &["plugins", "allow"],
            taken(&plugins.allow),
        );
        it.take(
            "deny list entry",
            &["plugins", "deny"],
            taken(&plugins.deny),
        );
        let leads_there = |path: &&String| {
            let path = context.absolute(path.as_ref());
            let places = [Some(&install.path), install.source.source_path.as_ref()];
            places
                .into_iter()
                .flatten()
                .any(|place| same_place(&path, place))
        };
        let written = plugins
            .load_paths
            .iter()
            .filter(|path| !path.trim().is_empty());
        let paths: Vec<String> = written.filter(leads_there).cloned().collect();
        if !paths.is_empty() {
            it.take("load path", &["plugins", "load", "paths"], paths);
            it.edits.push(Edit::remove_if_empty(["plugins", "load"]));
        }
        let names =
            |slot: SlotChoice| matches!(slot, SlotChoice::Engine(named) if same_id(&named, id));
        let slots = [
            (
                "contextEngine",
                names(plugins.context_engine()),
                DEFAULT_CONTEXT_ENGINE,
            ),
            ("memory", names(plugins.memory()), DEFAULT_MEMORY),
        ];
        for (slot, is_named, default) in slots {
            if is_named {
                it.edits.push(Edit::remove(["plugins", "slots", slot]));
                it.edits.push(Edit::remove_if_empty(["plugins", "slots"]));
                it.parts
                    .push(format!("slot {slot}, which falls back to {default}"));
            }
        }
        it
    }

    fn take(&mut self, word: &str, list: &[&str], items: Vec<String>) {
        if items.is_empty() {
            return;
        }
        self.parts.push(word.to_owned());
        let path = || list.iter().copied();
        let removed = items
            .into_iter()
            .map(|item| Edit::remove_from(path(), item));
        self.edits.extend(removed);
        self.edits.push(Edit::remove_if_empty(path()));
    }
}

/// The same directory, also where it is gone.
fn same_place(one: &Path, other: &Path) -> bool {
    let real = one.canonicalize().ok();
    one == other || (real.is_some() && real == other.canonicalize().ok())
}

/// The directory of a copy, which lies directly in the directory of copies. Nothing else is ever deleted, whatever a
/// record says.
fn deletable(context: &Context, install: &Install) -> Option<PathBuf> {
    let root = &context.paths.extensions_dir;
    let is_inside = install.path.parent() == Some(root) && install.path.file_name().is_some();
    let is_real = fs::symlink_metadata(&install.path).is_ok_and(|it| it.is_dir());
    (!install.linked && is_inside && is_real).then(|| install.path.clone())
}

fn untracked(id: &str) -> CliError {
    CliError::new(
        format!("plugin `{id}` is not recorded as installed"),
        "`openclaw plugins list` shows what is there; what was put into `plugins.load.paths` by hand is taken out by hand",
    )
}

fn confirm(id: &str, output: &mut Output) -> Result<(), CliError> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::new(
            format!("uninstalling `{id}` has to be confirmed, and there is no terminal"),
            "add --force",
        ));
    }
    if super::consent::asked(&format!("uninstall {id}?"), &mut stdin.lock(), output) {
        return Ok(());
    }
    Err(CliError::new(
        format!("`{id}` was not uninstalled"),
        "answer `y`, or add --force",
    ))
}
