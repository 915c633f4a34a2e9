//! What the slot and the plugins look like. Runs none of them.

use super::Finding;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::chain;
use crate::output::Mark;
use crate::probing::{self, Standing};
use openclaw_host::{LEGACY_ID, Slot};
use openclaw_loader::{BuildDirectory, LoadError, Vetted};

/// Load paths that lead somewhere else from another directory.
pub(super) fn relative_paths(context: &Context, engines: &Engines) -> Vec<Finding> {
    let written = engines.plugins.load_paths.iter().map(|path| path.trim());
    let is_relative = |path: &&str| {
        let is_home = *path == "~" || path.starts_with("~/");
        !path.is_empty() && !is_home && std::path::Path::new(path).is_relative()
    };
    let relative = written.filter(is_relative);
    relative
        .map(|path| {
            let now = context.absolute(path.as_ref());
            let text = format!(
                "`{path}` in `plugins.load.paths` starts at the current directory: {} now",
                now.display()
            );
            Finding::new(Mark::Note, "plugin", text).help("write it as an absolute path")
        })
        .collect()
}

pub(super) fn slot(engines: &Engines) -> Finding {
    let reason = engines.slot.reason();
    match &engines.slot {
        Slot::Default | Slot::Off => {
            Finding::new(Mark::Ok, "engine", format!("{LEGACY_ID} ({reason})"))
        }
        Slot::Disabled { engine_id, .. } => {
            Finding::new(Mark::Note, "engine", format!("{LEGACY_ID}: {reason}")).help(format!(
                "enable it: set `plugins.entries.{engine_id}.enabled` to true in openclaw.json"
            ))
        }
        Slot::Engine(id) if id == LEGACY_ID => {
            Finding::new(Mark::Ok, "engine", format!("{LEGACY_ID} ({reason})"))
        }
        Slot::Engine(id) => match engines.plugin(id) {
            Some(plugin) => {
                let version = plugin.manifest.version.as_deref().unwrap_or("no version");
                let note = &plugin.facts.note;
                let text = format!(
                    "{id} {version} ({reason}) · contract {}.{} · sha256 {} · {}",
                    note.contract_major,
                    note.contract_minor,
                    &plugin.sha256[..plugin.sha256.len().min(12)],
                    plugin.library.display()
                );
                Finding::new(Mark::Ok, "engine", text)
            }
            None => missing_engine(engines, id),
        },
    }
}

fn missing_engine(engines: &Engines, id: &str) -> Finding {
    let text =
        format!("the slot names `{id}`, and no usable plugin brings it; turns run on {LEGACY_ID}");
    let known = engines.discovery.ids();
    let help = match (engines.discovery.faults.is_empty(), known.as_slice()) {
        (false, _) => "see the plugin's error below".to_owned(),
        (true, []) => "link it: `openclaw plugins install -l <build directory>`".to_owned(),
        (true, known) => format!("did you mean {}?", known.join(" or ")),
    };
    Finding::new(Mark::Error, "engine", text).help(help)
}

pub(super) fn plugins(context: &Context, engines: &Engines) -> Vec<Finding> {
    let mut findings = Vec::new();
    for plugin in &engines.discovery.plugins {
        let id = &plugin.manifest.id;
        if !engines.enablement(id).is_enabled() {
            findings.push(Finding::new(
                Mark::Note,
                "plugin",
                format!("{id} is disabled"),
            ));
            continue;
        }
        let trust = engines.trust(plugin);
        match Vetted::of_directory(plugin.clone(), &engines.settings(id), &trust) {
            Ok(vetted) => {
                let place = format!("{id} in {}", plugin.path.display());
                findings.push(match vetted.is_changed_since_linked() {
                    true => {
                        let text = format!("{place}, changed since it was linked");
                        Finding::new(Mark::Note, "plugin", text)
                    }
                    false => Finding::new(Mark::Ok, "plugin", place),
                });
                findings.push(semantics(context, engines, plugin));
            }
            Err(error) => findings.push(fault(&error)),
        }
    }
    if let Some(fault) = &engines.installs_fault {
        findings.push(super::settings::of_error(Mark::Warning, "plugin", fault));
    }
    findings.extend(
        engines
            .discovery
            .faults
            .iter()
            .map(|(_, error)| fault(error)),
    );
    findings.extend(
        engines
            .discovery
            .shadowed
            .iter()
            .map(|(id, used, shadowed)| {
                let text = format!(
                    "{id} in {} is hidden by {}",
                    shadowed.display(),
                    used.display()
                );
                Finding::new(Mark::Warning, "plugin", text)
                    .help("remove one of the two from `plugins.load.paths`")
            }),
    );
    findings
}

/// What is known of an engine's promises about turns.
fn semantics(context: &Context, engines: &Engines, plugin: &BuildDirectory) -> Finding {
    let id = &plugin.manifest.id;
    let standing = probing::standing(context, plugin, &engines.settings(id));
    let mark = match standing {
        Standing::Kept { .. } => Mark::Ok,
        Standing::NotProbed | Standing::NotDeclared => Mark::Note,
        Standing::Failed { .. } => Mark::Warning,
    };
    let finding = Finding::new(mark, "semantics", format!("{id}: {standing}"));
    match standing.help(&plugin.path) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

fn fault(error: &LoadError) -> Finding {
    Finding::new(Mark::Error, "plugin", chain(error)).help(error.help())
}
