//! A temporary home with one agent.

use crate::plugins::build_directory;
use openclaw_host::compaction::CompactionPolicy;
use openclaw_host::{
    Ambient, FileLines, Host, HostSettings, ImportReport, ImportTarget, Model, NoTools,
    PluginSource, Slot, Store, SystemPrompt, Trust, TurnError, TurnOutcome, TurnRequest,
};
use serde_json::Value;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The session tests use.
const SESSION: &str = "agent:main:main";

/// A temporary home with one agent; removed when dropped. Time moves a second with each look at it.
pub struct Home {
    directory: tempfile::TempDir,
    clock: Arc<AtomicI64>,
    ids: Arc<AtomicI64>,
    waits: Arc<Mutex<Vec<Duration>>>,
    plugins: Vec<PluginSource>,
    slot: Slot,
    strict: bool,
    handover_wait: Duration,
    leaked_generations: u64,
    compaction: CompactionPolicy,
}

impl Home {
    /// An empty home, with the built-in engine.
    ///
    /// # Panics
    ///
    /// No temporary directory can be made.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "making directories is no default"
    )]
    pub fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory can be made"),
            clock: Arc::new(AtomicI64::new(1_777_629_600_000)),
            ids: Arc::default(),
            waits: Arc::default(),
            plugins: Vec::new(),
            slot: Slot::Default,
            strict: false,
            handover_wait: Duration::from_secs(30),
            leaked_generations: 32,
            compaction: CompactionPolicy::default(),
        }
    }

    /// Puts engine `name` into the slot, with settings.
    #[must_use]
    pub fn with_engine(mut self, name: &str, settings: Value) -> Self {
        let directory = build_directory(name, self.directory.path());
        self.plugins.push(PluginSource {
            id: name.to_owned(),
            directory,
            settings,
            trust: Trust::default(),
        });
        self.slot = Slot::Engine(name.to_owned());
        self
    }

    /// The directory of an engine's plugin.
    pub(crate) fn plugin_directory(&self, name: &str) -> PathBuf {
        let found = self.plugins.iter().find(|plugin| plugin.id == name);
        found.expect("the engine was added").directory.clone()
    }

    /// Changes the settings of every engine: the next host has them.
    pub fn set_settings(&mut self, settings: &Value) {
        for plugin in &mut self.plugins {
            plugin.settings = settings.clone();
        }
    }

    /// Puts an engine into the slot, whether there is one or not.
    pub fn set_slot(&mut self, slot: Slot) {
        self.slot = slot;
    }

    /// Switches strict mode on.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Limits of reloads: how long a new build waits for the old one, and how many old ones may stay mapped.
    #[must_use]
    pub fn reloading(mut self, handover_wait: Duration, leaked_generations: u64) -> Self {
        self.handover_wait = handover_wait;
        self.leaked_generations = leaked_generations;
        self
    }

    /// Says when and how sessions are compacted.
    #[must_use]
    pub fn compacting(mut self, compaction: CompactionPolicy) -> Self {
        self.compaction = compaction;
        self
    }

    /// The build directory of engine `name`.
    #[must_use]
    pub fn plugin_dir(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Directory of everything.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Directory of the program's own files.
    #[must_use]
    pub fn native_dir(&self) -> PathBuf {
        self.path().join("native")
    }

    /// How long its hosts have waited so far. Waiting takes no time but moves the clock.
    ///
    /// # Panics
    ///
    /// A test panicked while it waited.
    #[must_use]
    pub fn waits(&self) -> Vec<Duration> {
        self.waits.lock().expect("nobody panicked").clone()
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    /// Time and ids of this home.
    #[must_use]
    pub fn ambient(&self) -> Ambient {
        let (clock, ids) = (Arc::clone(&self.clock), Arc::clone(&self.ids));
        let (later, waits) = (Arc::clone(&self.clock), Arc::clone(&self.waits));
        Ambient::new(
            move || clock.fetch_add(1000, Ordering::SeqCst),
            move || format!("id-{:04}", ids.fetch_add(1, Ordering::SeqCst)),
        )
        .with_wait(move |duration, _cancel| {
            let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
            later.fetch_add(ms, Ordering::SeqCst);
            waits.lock().expect("nobody panicked").push(duration);
        })
    }

    /// A host as a new process has it.
    ///
    /// # Panics
    ///
    /// The store cannot be opened.
    #[must_use]
    pub fn host(&self) -> Host {
        Host::open(HostSettings {
            native_dir: self.native_dir(),
            agent_id: "main".into(),
            workspace_dir: Some(self.path().join("workspace")),
            slot: self.slot.clone(),
            plugins: self.plugins.clone(),
            strict: self.strict,
            lane_wait: Duration::from_secs(2),
            handover_wait: self.handover_wait,
            leaked_generations: self.leaked_generations,
            compaction: self.compaction.clone(),
            ambient: self.ambient(),
        })
        .expect("the store opens")
    }
}

/// Runs one turn of the test session, without tools.
///
/// # Errors
///
/// As [`Host::turn`].
pub fn turn(
    host: &Host,
    text: &str,
    turn_id: Option<&str>,
    model: &mut dyn Model,
) -> Result<TurnOutcome, TurnError> {
    turn_in(host, SESSION, text, turn_id, model)
}

/// Runs one turn of a session, without tools.
///
/// # Errors
///
/// As [`Host::turn`].
pub fn turn_in(
    host: &Host,
    session_key: &str,
    text: &str,
    turn_id: Option<&str>,
    model: &mut dyn Model,
) -> Result<TurnOutcome, TurnError> {
    let request = TurnRequest {
        session_key: session_key.to_owned(),
        turn_id: turn_id.map(str::to_owned),
        ..request(text)
    };
    host.turn(request, model, &mut NoTools, &mut |_| {})
}

/// A message of the user in the test session.
#[must_use]
pub fn request(text: &str) -> TurnRequest {
    TurnRequest {
        session_key: SESSION.into(),
        text: text.to_owned(),
        system_prompt: SystemPrompt {
            stable: "You help.".into(),
            dynamic: "Today is Friday.".into(),
        },
        ..TurnRequest::default()
    }
}

/// The lines of the test session's transcript.
///
/// # Panics
///
/// There is no such session.
#[must_use]
pub fn transcript(host: &Host) -> Vec<Value> {
    let store = host.store();
    let session = store
        .session(SESSION)
        .expect("the store can be read")
        .expect("the session is there");
    let mut lines = Vec::new();
    store
        .export(&session, |line| {
            lines.push(serde_json::from_str(line).expect("a stored line is JSON"));
            Ok::<(), openclaw_host::StoreError>(())
        })
        .expect("the session can be exported");
    lines
}

/// Imports a transcript that lies in memory, behind `key` or the default one.
///
/// # Panics
///
/// It cannot be imported.
pub fn import(store: &mut Store, name: &str, bytes: &[u8], key: Option<&str>) -> ImportReport {
    let target = ImportTarget {
        name,
        agent_id: "main",
        key,
        wait: Duration::ZERO,
    };
    let mut lines = FileLines::new(Cursor::new(bytes)).expect("memory can be read");
    store
        .import(&mut lines, &target, &mut |_| {})
        .unwrap_or_else(|error| panic!("{name}: {error}: {:?}", error.kind))
}
