//! What the stores and the health files say.

use super::Finding;
use crate::context::{AGENT_ID, Context};
use crate::error::chain;
use crate::output::Mark;
use openclaw_host::{Backlog, Health, HostSettings, Store, read_health};

/// What the stores and the health files say.
pub(super) fn records(context: &Context) -> Vec<Finding> {
    let health = read_health(&HostSettings::health_dir(&context.paths.native_dir));
    let mut findings: Vec<Finding> = groups(&health)
        .iter()
        .filter_map(|group| quarantine(group))
        .collect();
    let store_path = HostSettings::store_path(&context.paths.native_dir, AGENT_ID);
    match Store::open_to_read(&store_path, Context::ambient()) {
        Ok(None) => findings.push(Finding::new(Mark::Ok, "sessions", "none yet")),
        Ok(Some(store)) => findings.extend(store_findings(&store)),
        Err(error) => {
            findings.push(Finding::new(Mark::Error, "sessions", chain(&error)).help(error.help()))
        }
    }
    findings
}

/// Records of one cause together, the last one last. A process that still runs stands for itself.
fn groups(health: &[Health]) -> Vec<Vec<&Health>> {
    fn cause(health: &Health) -> (&str, &str, &str, Option<&str>) {
        let record = &health.record;
        let location = record.location.as_deref();
        (
            &record.engine_id,
            &record.operation,
            &record.reason,
            location,
        )
    }
    let mut groups: Vec<Vec<&Health>> = Vec::new();
    for one in health {
        let is_same = |group: &Vec<&Health>| {
            let first = group.first();
            first.is_some_and(|first| !first.is_in_force && cause(first) == cause(one))
        };
        match groups.iter().position(is_same) {
            Some(known) if !one.is_in_force => groups[known].push(one),
            Some(_) | None => groups.push(vec![one]),
        }
    }
    groups
}

fn quarantine(group: &[&Health]) -> Option<Finding> {
    let health = group.last()?;
    let record = &health.record;
    let at = record
        .location
        .as_ref()
        .map(|location| format!(" at {location}"))
        .unwrap_or_default();
    let since = jiff::Timestamp::from_millisecond(record.failed_at_ms).unwrap_or_default();
    let id = health.process_id;
    let scope = match group.len() {
        1 if health.is_in_force => format!("quarantined in process {id}"),
        1 => format!("quarantined in process {id}, which has ended"),
        count => format!("quarantined in {count} processes, which have ended; the last is {id}"),
    };
    let text = format!(
        "{}: {} failed: {}{at} · {scope} · {since:.0}",
        record.engine_id, record.operation, record.reason
    );
    let help = if health.is_in_force {
        "mend the engine and restart that process; until then it uses the built-in engine"
    } else {
        "the next turn tries it again, and a good turn clears this; or install a mended build"
    };
    Some(Finding::new(Mark::Warning, "quarantine", text).help(help))
}

/// Turns that an engine has not acknowledged.
fn outbox(backlog: &Backlog) -> Vec<Finding> {
    let Backlog {
        engine_id,
        waiting,
        blocked,
        last_error,
    } = backlog;
    let reason = last_error.as_deref().unwrap_or("not offered yet");
    let waiting = (*waiting > 0).then(|| {
        let text = format!(
            "turns that wait for engine {engine_id} to acknowledge them: {waiting} ({reason})"
        );
        Finding::new(Mark::Warning, "outbox", text)
            .help("they are delivered before its next turn in their session")
    });
    let blocked = (*blocked > 0).then(|| {
        let text = format!("turns that engine {engine_id} refused too often: {blocked} ({reason})");
        Finding::new(Mark::Warning, "outbox", text).help(
            "when the engine is mended, `openclaw sessions recommit <session>` offers them again",
        )
    });
    waiting.into_iter().chain(blocked).collect()
}

fn store_findings(store: &Store) -> Vec<Finding> {
    if let Err(error) = store.verify() {
        return vec![Finding::new(Mark::Error, "sessions", chain(&error)).help(error.help())];
    }
    let mut findings = Vec::new();
    match store.sessions() {
        Ok(sessions) => {
            let text = format!("{} in {}", sessions.len(), store.path().display());
            findings.push(Finding::new(Mark::Ok, "sessions", text));
        }
        Err(error) => {
            findings.push(Finding::new(Mark::Error, "sessions", chain(&error)).help(error.help()))
        }
    }
    match store.backlog() {
        Ok(backlog) => findings.extend(backlog.iter().flat_map(outbox)),
        Err(error) => {
            findings.push(Finding::new(Mark::Error, "outbox", chain(&error)).help(error.help()))
        }
    }
    findings
}
