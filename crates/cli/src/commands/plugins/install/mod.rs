//! `openclaw plugins install`: links or copies a build directory, selects its engine, and tries out in another process
//! what it promises about turns.

mod archive;
mod copied;
mod npm;
pub(super) mod plan;
mod stage;
mod tree;

pub(super) use copied::{Wanted, fetch, install};
pub(super) use npm::Spec;

use super::text::{file_name, modified, shown, tidy, word};
use super::{build_first, source};
use crate::args::InstallArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::installs::{Installs, Source};
use crate::output::Output;
use crate::probing::{self, CALL_TIMEOUT, Standing};
use openclaw_config::{Config, KeyPath, edit_file};
use openclaw_host::{HostSettings, forget_ended};
use openclaw_loader::BuildDirectory;
use plan::{Plan, SlotChange, Switch};
use serde_json::json;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &InstallArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    if args.dangerously_force_unsafe_install {
        output.warning("--dangerously-force-unsafe-install has no effect: no check is left out");
    }
    let given = plain_path(&args.source);
    let source = match args.build {
        true => build_first::build(&tidy(&context.absolute(given)), output)?,
        false => given.to_owned(),
    };
    if args.link {
        link(context, tidy(&context.absolute(&source)), output)
    } else {
        copied::run(context, &source, args, output)
    }
}

/// Without the `file:` or `file://` in front, behind which a path stands as it is.
fn plain_path(given: &Path) -> &Path {
    let path = given.to_str().and_then(|text| text.strip_prefix("file:"));
    let path = path.map(|path| path.strip_prefix("//").unwrap_or(path));
    path.map_or(given, Path::new)
}

/// - `path`: the build directory.
fn link(context: &Context, path: PathBuf, output: &mut Output) -> Result<ExitCode, CliError> {
    // What was linked before does not matter: it is linked anew.
    let plugin = source::read(&path, &context.trust()?)?;
    let plan = Plan::make(context, &plugin, true)?;
    output.talk(
        "source: a local directory, checked by nobody; its code will run with all your rights",
    );
    let source = Source {
        source_path: Some(path),
        ..Source::default()
    };
    let native_dir = &context.paths.native_dir;
    let recorded = Installs::record(native_dir, &plugin, true, source, jiff::Timestamp::now());
    let how = How {
        verb: "linked",
        from: plugin.path.display().to_string(),
        again: format!("openclaw plugins install -l {}", word(&plugin.path)),
    };
    tell(context, &plan, &plugin, &how, output)?;
    if let Err(error) = recorded {
        output.warning(&format!("linked, but not recorded: {error}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// How a plugin was installed, for people.
struct How {
    verb: &'static str,
    from: String,
    /// The command that installs it once more, or what else goes on from here.
    again: String,
}

/// A plan that was carried out, and whether that changed the config.
pub(super) struct Planned {
    plan: Plan,
    changed: bool,
}

impl Plan {
    /// The plan for the config at hand, carried out.
    fn make(context: &Context, plugin: &BuildDirectory, linked: bool) -> Result<Planned, CliError> {
        let plan_for = |config: &Config| -> Result<Self, CliError> {
            let absolute = |path: &str| context.absolute(path.as_ref());
            Ok(Self::new(&config.plugins()?, plugin, linked, &absolute)?)
        };
        // Once ahead, so that a refusal leaves no trace at all; the one that counts is made under the lock.
        plan_for(&context.config()?)?;
        let mut plan = None;
        let config_path = &context.paths.config_path;
        let outcome = edit_file(config_path, context.write_options(), |config| {
            let made = plan_for(config)?;
            let edits = made.edits.clone();
            plan = Some(made);
            Ok::<_, CliError>(edits)
        })?;
        let plan = plan.ok_or_else(|| {
            CliError::new("the config was not looked at", "run the command again")
        })?;
        Ok(Planned {
            plan,
            changed: outcome.changed,
        })
    }
}

/// What is the same for every way to install: a fresh start, a try, and the report.
fn tell(
    context: &Context,
    planned: &Planned,
    plugin: &BuildDirectory,
    how: &How,
    output: &mut Output,
) -> Result<(), CliError> {
    forget_ended(
        &HostSettings::health_dir(&context.paths.native_dir),
        &plugin.manifest.id,
    );
    let promises = try_out(context, &planned.plan, plugin)?;
    report(
        planned,
        plugin,
        how,
        &context.paths.config_path,
        &promises,
        output,
    );
    Ok(())
}

/// What the engine's promises turned out to be worth, or why nobody looked.
enum Promises {
    Known(Standing),
    NotTried(String),
}

/// Probes the engine with the settings it will run with. Nothing in here undoes the link.
fn try_out(context: &Context, plan: &Plan, plugin: &BuildDirectory) -> Result<Promises, CliError> {
    if plan.switch != Switch::On {
        return Ok(Promises::NotTried("not probed while it is disabled".into()));
    }
    let plugins = context.config()?.plugins()?;
    let settings = probing::settings_of(&plugins, &plugin.manifest.id);
    let probed = probing::probe(plugin, &settings, CALL_TIMEOUT);
    Ok(match probed {
        Ok(probed) => match probing::keep(context, &probed.verdict, &settings) {
            Ok(()) => Promises::Known(Standing::of(Some(&probed.verdict))),
            Err(error) => Promises::NotTried(error.to_string()),
        },
        Err(error) => Promises::NotTried(format!("not probed: {error}")),
    })
}

fn report(
    planned: &Planned,
    plugin: &BuildDirectory,
    how: &How,
    config_path: &Path,
    promises: &Promises,
    output: &mut Output,
) {
    let Planned { plan, changed } = planned;
    let changed = *changed;
    let id = &plugin.manifest.id;
    let version = plugin.manifest.version.as_deref();
    let note = &plugin.facts.note;
    let contract = format!("{}.{}", note.contract_major, note.contract_minor);
    output.line(&format!(
        "{:<8} {id} {} from {}",
        how.verb,
        version.unwrap_or("(no version)"),
        how.from
    ));
    let written = modified(&plugin.library)
        .map(|time| format!(", written {time}"))
        .unwrap_or_default();
    output.line(&format!(
        "library  {}, contract {contract}{written}",
        file_name(&plugin.library)
    ));
    for path in &plan.replaced {
        output.line(&format!(
            "instead  of {path}, which has the same id and is no longer linked"
        ));
    }
    for listed in &plan.undenied {
        output.line(&format!(
            "allowed  `{}` was in `plugins.deny` and is no longer",
            listed.trim()
        ));
    }
    output.line(&format!("engine   {}", slot_words(&plan.slot, id)));
    output.line(&format!(
        "config   {}{}",
        config_path.display(),
        if changed {
            ""
        } else {
            " said so already; nothing was written"
        }
    ));
    let (promises_text, standing) = match promises {
        Promises::Known(standing) => (standing.to_string(), Some(standing)),
        Promises::NotTried(why) => (why.clone(), None),
    };
    output.line(&format!("promises {promises_text}"));
    if let Some(help) = standing.and_then(|standing| standing.help(&plugin.path)) {
        output.warning(&format!(
            "the engine is installed and loads, but turns do not run through it: {help}"
        ));
    }
    let (attention, next) = next_step(plan, plugin, &how.again, config_path);
    if let Some(attention) = attention {
        output.warning(&attention);
    }
    output.help(&next);
    let missing: &[String] = match &plan.switch {
        Switch::NeedsSettings(problems) => problems,
        Switch::On | Switch::KeptOff => &[],
    };
    output.document(&json!({
        "ok": true, "id": id, "version": version, "contract": contract, "directory": shown(&plugin.path),
        "library": shown(&plugin.library), "config": shown(config_path), "changed": changed,
        "enabled": plan.switch == Switch::On && !plan.plugins_off,
        "selected": matches!(plan.slot, SlotChange::Selected { .. } | SlotChange::Already),
        "replaced": plan.replaced, "removedFromDeny": plan.undenied, "missingSettings": missing,
        "semantics": standing, "promises": promises_text, "next": next,
    }));
}

fn slot_words(slot: &SlotChange, id: &str) -> String {
    match slot {
        SlotChange::Selected { former } => format!("{id} is now selected (before: {former})"),
        SlotChange::Already => format!("{id} is selected"),
        SlotChange::Untouched => "the selection is as it was".to_owned(),
        SlotChange::NoKind => {
            format!("{id} is not selected: its manifest has no `\"kind\": \"context-engine\"`")
        }
    }
}

/// What needs attention, and what to do next.
fn next_step(
    plan: &Plan,
    plugin: &BuildDirectory,
    again: &str,
    config_path: &Path,
) -> (Option<String>, String) {
    let id = &plugin.manifest.id;
    let config = config_path.display();
    let entry = KeyPath::new(["plugins", "entries", &plan.entry]);
    match (&plan.switch, &plan.slot) {
        (Switch::NeedsSettings(problems), _) => (
            Some(format!(
                "{id} is disabled until it has its settings: {}",
                problems.join("; ")
            )),
            format!(
                "set `{entry}.config` in {config}, remove `{entry}.enabled`, and run `{again}` again"
            ),
        ),
        (Switch::KeptOff, _) => (
            Some(format!(
                "{id} stays disabled: `{entry}.enabled` is false in {config}"
            )),
            format!("to use it: `openclaw plugins enable {id}`"),
        ),
        (Switch::On, _) if plan.plugins_off => (
            Some(format!(
                "all plugins are off: `plugins.enabled` is false in {config}"
            )),
            format!("set `plugins.enabled` to true in {config}"),
        ),
        (Switch::On, SlotChange::NoKind) => (
            None,
            format!(
                "to select the engine, set `plugins.slots.contextEngine` to \"{id}\" in {config}"
            ),
        ),
        (Switch::On, _) => (None, "run a turn: `openclaw agent -m \"hello\"`".to_owned()),
    }
}
