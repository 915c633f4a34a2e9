//! Engines set aside for this process, and what other processes can see of it.
//!
//! In memory it decides; on disk it only informs: one file per process below `native/health/`. The first failure of an
//! engine wins. Writing the file is best effort: a full disk must not cost a reply.

use crate::store::make_private_directory;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// Why an engine was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuarantineRecord {
    /// The engine.
    pub engine_id: String,
    /// What failed: a hook's name, `resolve`, `load`, `factory` or `contract-validation`.
    pub operation: String,
    /// The error's text.
    pub reason: String,
    /// `file:line:column` of a panic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// SHA-256 of the library, where one was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_sha256: Option<String>,
    /// Milliseconds since 1970.
    pub failed_at_ms: i64,
}

/// A record as another process sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The record.
    pub record: QuarantineRecord,
    /// The process that set the engine aside.
    pub process_id: u32,
    /// Whether that process still runs: only then is the engine out of use.
    pub is_in_force: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HealthFile {
    process_id: u32,
    /// Start time of the process as the system tells it, so that a reused id is not mistaken for it.
    process_start: Option<String>,
    quarantined: Vec<QuarantineRecord>,
}

/// Engines set aside for this process.
#[derive(Debug)]
pub(crate) struct Quarantine {
    records: Mutex<BTreeMap<String, QuarantineRecord>>,
    directory: PathBuf,
}

impl Quarantine {
    /// - `directory`: where the health files lie; made at the first failure.
    fn new(directory: PathBuf) -> Self {
        Self {
            records: Mutex::default(),
            directory,
        }
    }

    /// The quarantine of this process for a directory: hosts that share it share what is set aside, for as long as one of
    /// them lives.
    pub(crate) fn of_process(directory: PathBuf) -> Arc<Self> {
        static SHARED: Mutex<BTreeMap<PathBuf, Weak<Quarantine>>> = Mutex::new(BTreeMap::new());
        let mut shared = SHARED.lock();
        if let Some(quarantine) = shared.get(&directory).and_then(Weak::upgrade) {
            return quarantine;
        }
        let quarantine = Arc::new(Self::new(directory.clone()));
        shared.insert(directory, Arc::downgrade(&quarantine));
        quarantine
    }

    /// The record of an engine that is set aside.
    pub(crate) fn record(&self, engine_id: &str) -> Option<QuarantineRecord> {
        self.records.lock().get(engine_id).cloned()
    }

    /// Sets an engine aside, unless it is already. Returns the record in force.
    pub(crate) fn set_aside(&self, record: QuarantineRecord) -> QuarantineRecord {
        let mut records = self.records.lock();
        if let Some(first) = records.get(&record.engine_id) {
            return first.clone();
        }
        tracing::warn!(
            engine = record.engine_id,
            op = record.operation,
            reason = record.reason,
            location = record.location,
            "engine quarantined for this process; turns go on with the built-in engine"
        );
        records.insert(record.engine_id.clone(), record.clone());
        self.write(records.values().cloned().collect());
        record
    }

    fn write(&self, quarantined: Vec<QuarantineRecord>) {
        let process_id = std::process::id();
        let file = HealthFile {
            process_id,
            process_start: process_start(process_id),
            quarantined,
        };
        let path = self.directory.join(format!("{process_id}.json"));
        if let Err(error) = write_whole(&path, &file) {
            tracing::debug!(path = %path.display(), reason = %error, "health record not written");
        }
    }
}

fn write_whole(path: &Path, file: &HealthFile) -> io::Result<()> {
    let text = serde_json::to_string_pretty(file)?;
    if let Some(directory) = path.parent() {
        make_private_directory(directory)?;
    }
    let staged = path.with_extension("json.new");
    fs::write(&staged, text)?;
    fs::rename(&staged, path)
}

/// Everything the processes of this machine say of their engines, the oldest failure first. Files that cannot be read
/// are passed over.
#[must_use]
pub fn read_health(directory: &Path) -> Vec<Health> {
    let mut all: Vec<Health> = health_files(directory)
        .flat_map(|(_, file)| {
            let is_in_force = file.is_running();
            let process_id = file.process_id;
            file.quarantined.into_iter().map(move |record| Health {
                record,
                process_id,
                is_in_force,
            })
        })
        .collect();
    all.sort_by_key(|health| health.record.failed_at_ms);
    all
}

/// Forgets what ended processes said of an engine: it has served a whole turn since, or was installed anew.
pub fn forget_ended(directory: &Path, engine_id: &str) {
    for (path, mut file) in health_files(directory).filter(|(_, file)| !file.is_running()) {
        let before = file.quarantined.len();
        file.quarantined
            .retain(|record| record.engine_id != engine_id);
        let outcome = match file.quarantined.len() {
            0 => fs::remove_file(&path),
            after if after < before => write_whole(&path, &file),
            _ => Ok(()),
        };
        if let Err(error) = outcome {
            tracing::debug!(path = %path.display(), reason = %error, "health record not changed");
        }
    }
}

fn health_files(directory: &Path) -> impl Iterator<Item = (PathBuf, HealthFile)> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let path = entry.path();
        let is_record = path
            .extension()
            .is_some_and(|extension| extension == "json");
        let file = is_record.then(|| fs::read(&path).ok()).flatten()?;
        Some((path, serde_json::from_slice(&file).ok()?))
    })
}

impl HealthFile {
    fn is_running(&self) -> bool {
        self.process_start.is_some() && process_start(self.process_id) == self.process_start
    }
}

/// When a process started, as text to compare; `None` when it does not run or the system does not tell.
fn process_start(process_id: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process_id}/stat")).ok()?;
    // The name in parentheses may hold anything; the start time is the 20th field behind it.
    let behind_name = stat.rsplit_once(") ")?.1;
    behind_name.split(' ').nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(engine: &str, operation: &str, at: i64) -> QuarantineRecord {
        QuarantineRecord {
            engine_id: engine.into(),
            operation: operation.into(),
            reason: "because".into(),
            location: None,
            library_sha256: None,
            failed_at_ms: at,
        }
    }

    #[test]
    fn first_failure_of_an_engine_wins() {
        let home = tempfile::tempdir().unwrap();
        let quarantine = Quarantine::new(home.path().to_owned());
        assert_eq!(
            quarantine.set_aside(record("a", "assemble", 1)).operation,
            "assemble"
        );
        assert_eq!(
            quarantine.set_aside(record("a", "compact", 2)).operation,
            "assemble"
        );
        quarantine.set_aside(record("b", "factory", 3));
        let seen = read_health(home.path());
        assert_eq!(
            seen.iter()
                .map(|health| health.record.engine_id.as_str())
                .collect::<Vec<_>>(),
            ["a", "b"]
        );
        assert!(
            seen.iter().all(|health| health.is_in_force),
            "this process runs"
        );
    }

    #[test]
    fn record_of_an_ended_process_or_a_reused_id_is_not_in_force() {
        let home = tempfile::tempdir().unwrap();
        let start = Some("1".to_owned());
        for process_id in [u32::MAX, std::process::id()] {
            let file = HealthFile {
                process_id,
                process_start: start.clone(),
                quarantined: vec![record("a", "assemble", 1)],
            };
            write_whole(&home.path().join(format!("{process_id}.json")), &file).unwrap();
        }
        fs::write(home.path().join("broken.json"), "{").unwrap();
        let seen = read_health(home.path());
        assert_eq!(seen.len(), 2);
        assert!(seen.iter().all(|health| !health.is_in_force));
        forget_ended(home.path(), "b");
        assert_eq!(read_health(home.path()).len(), 2);
        forget_ended(home.path(), "a");
        assert_eq!(read_health(home.path()).len(), 0);
    }
}
