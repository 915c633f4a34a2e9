//! Runs the selected engine in a process of its own and a scratch directory, and tries out what it promises where nobody
//! has.

use super::Finding;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::chain;
use crate::output::Mark;
use crate::probing::{self, CALL_TIMEOUT, Standing};
use openclaw_host::{Exercise, LEGACY_ID, Slot};
use openclaw_interface::Info;
use openclaw_loader::{BuildDirectory, check_settings};
use serde::Serialize;
use std::time::Duration;

/// A hook that takes longer is felt by whoever waits for the reply.
const SLOW: Duration = Duration::from_secs(1);

/// What running the engine showed.
pub(super) struct Ran {
    pub(super) findings: Vec<Finding>,
    pub(super) engine: Facts,
}

/// The selected engine.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Facts {
    pub(super) id: String,
    library: String,
    sha256: String,
    contract: String,
    /// What it says of itself; null when it could not be asked.
    info: Option<Info>,
    /// Whether every call was answered.
    pub(super) works: bool,
    calls: Vec<Call>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    call: String,
    answer: String,
    elapsed_us: u64,
}

/// Runs the engine of the slot. Nothing when that is the built-in one, or one that cannot be loaded: this is told already.
pub(super) fn selected(context: &Context, engines: &Engines) -> Option<Ran> {
    let Slot::Engine(id) = &engines.slot else {
        return None;
    };
    let plugin = engines.plugin(id).filter(|_| id != LEGACY_ID)?;
    let settings = engines.settings(id);
    let is_usable = plugin.check_trust(&engines.trust(plugin)).is_ok()
        && check_settings(&plugin.manifest, &settings).is_ok();
    if !is_usable {
        return None;
    }
    if probing::standing(context, plugin, &settings) == Standing::NotProbed {
        probing::ensure(context, engines);
    }
    let note = &plugin.facts.note;
    let mut facts = Facts {
        id: id.clone(),
        library: plugin.library.display().to_string(),
        sha256: plugin.sha256.clone(),
        contract: format!("{}.{}", note.contract_major, note.contract_minor),
        info: None,
        works: false,
        calls: Vec::new(),
    };
    let mut findings = Vec::new();
    match probing::exercise(plugin, &settings) {
        Ok(exercise) => {
            findings.extend(exercise.info.as_ref().map(capabilities));
            findings.push(outcome(plugin, &exercise));
            findings.extend(slowest(&exercise));
            facts.works = exercise.failure.is_none();
            facts.info = exercise.info;
            let calls = exercise.calls.into_iter().map(|call| Call {
                call: call.call,
                answer: call.answer,
                elapsed_us: u64::try_from(call.elapsed.as_micros()).unwrap_or(u64::MAX),
            });
            facts.calls = calls.collect();
        }
        Err(error) => {
            let text = format!("{id} could not be run: {}", chain(&error));
            findings.push(Finding::new(Mark::Error, "exercise", text).help(error.help()));
        }
    }
    Some(Ran {
        findings,
        engine: facts,
    })
}

/// What the engine says it can do.
fn capabilities(info: &Info) -> Finding {
    let semantics = info.transcript_semantics.clone().unwrap_or_default();
    let turns = match (
        semantics.fences_current_turn(),
        semantics.commits_idempotently(),
    ) {
        (true, true) => "durable turns",
        (true, false) => "a fence, no durable commits",
        (false, true) => "durable commits, no fence",
        (false, false) => "no durable turns",
    };
    let compaction = if info.owns_compaction == Some(true) {
        "compacts by itself"
    } else {
        "leaves compaction to the host"
    };
    let hooks = info
        .hooks
        .as_ref()
        .map(|hooks| format!(" · hooks {}", hooks.join(", ")));
    let mut needs: Vec<&str> = info
        .host_requirements
        .values()
        .flat_map(|need| need.required_capabilities.iter().map(String::as_str))
        .collect();
    needs.sort_unstable();
    needs.dedup();
    let needs = if needs.is_empty() {
        String::new()
    } else {
        format!(" · needs {}", needs.join(", "))
    };
    let text = format!(
        "{} declares {turns} · {compaction}{}{needs}",
        info.id,
        hooks.unwrap_or_default()
    );
    Finding::new(Mark::Ok, "declared", text)
}

fn outcome(plugin: &BuildDirectory, exercise: &Exercise) -> Finding {
    let id = &plugin.manifest.id;
    if let Some(failure) = &exercise.failure {
        let text = format!("{id} does not work: {failure}");
        return Finding::new(Mark::Error, "exercise", text).help(format!(
            "turns go on with {LEGACY_ID}; mend it and build it again, or empty `plugins.slots.contextEngine`"
        ));
    }
    let last = |name: &str| {
        let mut calls = exercise.calls.iter().rev();
        let call = calls.find(|call| call.call.starts_with(name));
        call.map_or("not asked", |call| call.answer.as_str())
    };
    let text = format!(
        "{id} was made, assembled {}, compact answered: {}; {} calls, each within {} seconds",
        last("assemble"),
        last("compact"),
        exercise.calls.len(),
        CALL_TIMEOUT.as_secs()
    );
    Finding::new(Mark::Ok, "exercise", text)
}

fn slowest(exercise: &Exercise) -> Option<Finding> {
    let slowest = exercise.calls.iter().max_by_key(|call| call.elapsed)?;
    let text = format!(
        "the slowest call, {}, took {} ms",
        slowest.call,
        slowest.elapsed.as_millis()
    );
    Some(if slowest.elapsed > SLOW {
        Finding::new(Mark::Warning, "deadline", text)
            .help("every turn waits for its hooks; do less in it, or do it in maintenance behind the reply")
    } else {
        Finding::new(Mark::Ok, "deadline", text)
    })
}
