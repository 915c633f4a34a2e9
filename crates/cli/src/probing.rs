//! Trying out what engines promise about turns: in child processes of this same program.

use crate::commands::plugins::word;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::{CliError, chain};
use crate::output::{Output, Talk};
use openclaw_config::Plugins;
use openclaw_host::{
    Exercise, Finding, LEGACY_ID, ProbeCache, ProbeError, ProbeSubject, Probed, Slot, Verdict,
    run_probe_script,
};
use openclaw_loader::{BuildDirectory, check_settings};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// How long one call into an engine may take, where the user does not say.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// A user who waits longer than this is told for what.
const QUIET: Duration = Duration::from_secs(1);

/// The hidden command that a child process runs.
const CHILD_COMMAND: &str = "probe-engine";

/// What is known of an engine's promises about turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub(crate) enum Standing {
    /// It declares them, and every probe passed.
    Kept {
        /// How many.
        passed: usize,
    },
    /// It declares them, and a probe found otherwise.
    Failed {
        /// The first that did.
        probe: String,
        /// What was found.
        reason: String,
    },
    /// It does not declare them.
    NotDeclared,
    /// Nobody has looked: it serves as it declares.
    NotProbed,
}

impl Standing {
    pub(crate) fn of(verdict: Option<&Verdict>) -> Self {
        let Some(verdict) = verdict else {
            return Self::NotProbed;
        };
        let undeclared = |finding: &Finding| matches!(finding, Finding::NotApplicable(_));
        match verdict.failed() {
            Some((probe, reason)) => Self::Failed {
                probe: probe.to_owned(),
                reason: reason.to_owned(),
            },
            None if verdict.probes.iter().all(|it| undeclared(&it.finding)) => Self::NotDeclared,
            None => Self::Kept {
                passed: verdict.passed(),
            },
        }
    }

    /// In a word or two.
    pub(crate) fn short(&self) -> String {
        match self {
            Self::Kept { .. } => "kept".into(),
            Self::Failed { probe, .. } => format!("failed: {probe}"),
            Self::NotDeclared => "not declared".into(),
            Self::NotProbed => "declared, not probed".into(),
        }
    }

    /// What it means and what to do, when turns do not run through the engine.
    pub(crate) fn help(&self, directory: &Path) -> Option<String> {
        let validate = format!("`openclaw plugins validate {}`", word(directory));
        match self {
            Self::Failed { .. } => Some(format!(
                "turns run on {LEGACY_ID} until the engine keeps what it declares; mend and build it; {validate} probes \
                 it again and shows every probe"
            )),
            Self::NotDeclared => Some(format!(
                "turns run on {LEGACY_ID}; an engine that stores turns durably says so with `Info::durable_turns`"
            )),
            Self::Kept { .. } | Self::NotProbed => None,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept { passed } => write!(f, "kept, {passed} probes passed"),
            Self::Failed { probe, reason } => {
                write!(f, "semantics probe failed: {probe}: {reason}")
            }
            Self::NotDeclared => f.write_str("no durable turns are declared"),
            Self::NotProbed => f.write_str("declared, not probed; the next turn probes it once"),
        }
    }
}

/// The child's side: `openclaw probe-engine`.
pub(crate) fn run_script(output: &mut Output) -> Result<ExitCode, CliError> {
    output.keep_stdout();
    let ran = run_probe_script(&mut std::io::stdin().lock(), &mut |line| output.line(line));
    ran.map(|()| ExitCode::SUCCESS).map_err(|error| {
        CliError::new(
            format!("stdin holds no script: {error}"),
            "this command is for `openclaw plugins validate`, which writes one",
        )
    })
}

/// Tries an engine out.
pub(crate) fn probe(
    plugin: &BuildDirectory,
    settings: &Value,
    call_deadline: Duration,
) -> Result<Probed, ProbeError> {
    in_child(plugin, settings, call_deadline, openclaw_host::probe)
}

/// Runs an engine through a few turns and a compaction.
pub(crate) fn exercise(plugin: &BuildDirectory, settings: &Value) -> Result<Exercise, ProbeError> {
    in_child(plugin, settings, CALL_TIMEOUT, openclaw_host::exercise)
}

fn in_child<T>(
    plugin: &BuildDirectory,
    settings: &Value,
    call_deadline: Duration,
    work: impl FnOnce(&ProbeSubject<'_>) -> Result<T, ProbeError>,
) -> Result<T, ProbeError> {
    let program = std::env::current_exe().map_err(ProbeError::Child)?;
    work(&ProbeSubject {
        directory: &plugin.path,
        settings,
        library_sha256: &plugin.sha256,
        command: &|| {
            let mut command = Command::new(&program);
            command.arg(CHILD_COMMAND);
            command
        },
        call_deadline,
        now_ms: jiff::Timestamp::now().as_millisecond(),
    })
}

/// Keeps what was found, so that turns go by it.
pub(crate) fn keep(context: &Context, verdict: &Verdict, settings: &Value) -> Result<(), CliError> {
    let cache = ProbeCache::new(&context.paths.native_dir);
    cache.write(verdict, settings).map_err(|error| {
        CliError::io(
            "keep what was found below",
            &context.paths.native_dir,
            &error,
        )
    })
}

/// What is known of an engine's promises, without trying it out.
pub(crate) fn standing(context: &Context, plugin: &BuildDirectory, settings: &Value) -> Standing {
    let cache = ProbeCache::new(&context.paths.native_dir);
    Standing::of(cache.read(&plugin.sha256, settings).as_ref())
}

/// Tries the selected engine out when nobody has, such as after it was built again. Never stops the turn: what is wrong
/// with the engine, the turn itself says.
pub(crate) fn ensure(context: &Context, engines: &Engines) {
    let Slot::Engine(id) = &engines.slot else {
        return;
    };
    let Some(plugin) = engines.plugin(id) else {
        return;
    };
    let settings = engines.settings(id);
    let is_usable = plugin.check_trust(&engines.trust(plugin)).is_ok()
        && check_settings(&plugin.manifest, &settings).is_ok();
    if !is_usable || standing(context, plugin, &settings) != Standing::NotProbed {
        return;
    }
    let started = Instant::now();
    match probe(plugin, &settings, CALL_TIMEOUT) {
        Ok(probed) => {
            if let Err(error) = keep(context, &probed.verdict, &settings) {
                Talk.warning(&error.to_string());
            }
            let elapsed = started.elapsed();
            if elapsed > QUIET {
                Talk.talk(&format!(
                    "engine {id} is new or was built again: its promises were probed once, in {:.1} seconds",
                    elapsed.as_secs_f32()
                ));
            }
        }
        // The turn tells of a library that cannot be loaded.
        Err(ProbeError::Refused(_)) => {}
        Err(error) => Talk.warning(&format!(
            "engine {id} serves as it declares, because it could not be probed: {}",
            chain(&error)
        )),
    }
}

/// A plugin's settings in the configuration; null when it has none.
pub(crate) fn settings_of(plugins: &Plugins, id: &str) -> Value {
    let entry = plugins.entry(id);
    let config = entry.and_then(|(_, entry)| entry.config.clone());
    config.map_or(Value::Null, Value::Object)
}
