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
    /// Which build of the engine failed, counted from 1 in this process; absent where none was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
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
    engines: Mutex<BTreeMap<String, Builds>>,
    directory: PathBuf,
}

/// The builds of one engine that this process has run, and which of them failed.
#[derive(Debug, Default)]
struct Builds {
    /// Number of the newest.
    newest: u64,
    /// What the newest is made of.
    fingerprint: String,
    /// At most one a generation, and one for what failed before anything was loaded.
    records: Vec<QuarantineRecord>,
}

impl Builds {
    fn record(&self, generation: Option<u64>) -> Option<&QuarantineRecord> {
        self.records
            .iter()
            .find(|record| record.generation == generation)
    }

    fn newest(&self) -> Option<u64> {
        (self.newest > 0).then_some(self.newest)
    }

    /// What another process has to know.
    fn in_force(&self) -> impl Iterator<Item = &QuarantineRecord> {
        let newest = self.newest();
        let records = self.records.iter();
        records.filter(move |it| it.generation.is_none() || it.generation == newest)
    }
}

impl Quarantine {
    /// - `directory`: where the health files lie; made at the first failure.
    fn new(directory: PathBuf) -> Self {
        Self {
            engines: Mutex::default(),
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

    /// The number of a build among those of its engine that this process has run. One that is not the newest is new.
    ///
    /// - `fingerprint`: what makes it another build than the one before.
    pub(crate) fn generation_of(&self, engine_id: &str, fingerprint: String) -> u64 {
        let mut engines = self.engines.lock();
        let builds = engines.entry(engine_id.to_owned()).or_default();
        if builds.newest == 0 || builds.fingerprint != fingerprint {
            builds.newest += 1;
            builds.fingerprint = fingerprint;
        }
        builds.newest
    }

    /// The record of a generation that is set aside; without one, what keeps the engine from being loaded.
    pub(crate) fn record(
        &self,
        engine_id: &str,
        generation: Option<u64>,
    ) -> Option<QuarantineRecord> {
        let engines = self.engines.lock();
        let builds = engines.get(engine_id)?;
        let record = builds.record(generation);
        let or_newest = || {
            builds
                .record(builds.newest())
                .filter(|_| generation.is_none())
        };
        record.or_else(or_newest).cloned()
    }

    /// Sets a generation of an engine aside, unless it is already. Returns the record in force.
    pub(crate) fn set_aside(&self, record: QuarantineRecord) -> QuarantineRecord {
        let mut engines = self.engines.lock();
        let builds = engines.entry(record.engine_id.clone()).or_default();
        if let Some(first) = builds.record(record.generation) {
            return first.clone();
        }
        tracing::warn!(
            engine = record.engine_id,
            op = record.operation,
            generation = record.generation,
            reason = record.reason,
            location = record.location,
            "engine quarantined for this process; turns go on with the built-in engine"
        );
        builds.records.push(record.clone());
        self.write(&engines);
        record
    }

    /// A new build of the engine serves: what kept it from being loaded is over, and failures of older builds concern only
    /// those who still run them.
    pub(crate) fn renew(&self, engine_id: &str) {
        let mut engines = self.engines.lock();
        let Some(builds) = engines.get_mut(engine_id) else {
            return;
        };
        let is_quarantined = !builds.records.is_empty();
        builds.records.retain(|record| record.generation.is_some());
        if is_quarantined {
            self.write(&engines);
        }
    }

    fn write(&self, engines: &BTreeMap<String, Builds>) {
        let quarantined = engines
            .values()
            .flat_map(Builds::in_force)
            .cloned()
            .collect();
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
            generation: None,
            failed_at_ms: at,
        }
    }

    #[test]
    fn failure_of_one_generation_does_not_taint_another() {
        let home = tempfile::tempdir().unwrap();
        let quarantine = Quarantine::new(home.path().to_owned());
        let fails = |generation| QuarantineRecord {
            generation: Some(generation),
            ..record("a", "assemble", 1)
        };
        let is_set_aside = |generation| quarantine.record("a", generation).is_some();
        assert_eq!(quarantine.generation_of("a", "build 1".into()), 1);
        assert_eq!(quarantine.generation_of("a", "build 1".into()), 1);
        quarantine.set_aside(fails(1));
        assert!(is_set_aside(Some(1)) && is_set_aside(None));
        assert_eq!(quarantine.generation_of("a", "build 2".into()), 2);
        quarantine.renew("a");
        assert!(!is_set_aside(Some(2)) && !is_set_aside(None));
        assert!(
            is_set_aside(Some(1)),
            "whoever still runs it goes on without it"
        );
        assert_eq!(read_health(home.path()), []);
        quarantine.set_aside(fails(2));
        assert_eq!(read_health(home.path()).len(), 1);
        assert_eq!(quarantine.generation_of("a", "build 1".into()), 3);
        assert!(!is_set_aside(Some(3)), "the same file again is a new try");
    }

    #[test]
    fn what_kept_an_engine_from_being_loaded_ends_with_a_new_build() {
        let home = tempfile::tempdir().unwrap();
        let quarantine = Quarantine::new(home.path().to_owned());
        quarantine.set_aside(record("a", "load", 1));
        assert!(quarantine.record("a", None).is_some());
        assert_eq!(quarantine.record("a", Some(1)), None);
        quarantine.generation_of("a", "build".into());
        quarantine.renew("a");
        assert_eq!(quarantine.record("a", None), None);
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
