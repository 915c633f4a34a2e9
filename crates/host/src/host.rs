//! The host of one agent.

use crate::ambient::Ambient;
use crate::lane::{Lane, LaneError, Lanes};
use crate::model::{Model, Tools};
use crate::probe::ProbeCache;
use crate::quarantine::Quarantine;
use crate::registry::{PluginSource, Registry};
use crate::slot::Slot;
use crate::store::{Store, StoreError};
use crate::turn::{self, Recommit, TurnError, TurnOutcome, TurnRequest};
use parking_lot::{Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a host is made from.
#[derive(Clone, Debug)]
pub struct HostSettings {
    /// Directory of everything this program keeps, `<state dir>/native`.
    pub native_dir: PathBuf,
    /// The agent.
    pub agent_id: String,
    /// Directory the agent works in.
    pub workspace_dir: Option<PathBuf>,
    /// Which engine is asked for.
    pub slot: Slot,
    /// Plugins that are enabled.
    pub plugins: Vec<PluginSource>,
    /// Whether a substitution is an error.
    pub strict: bool,
    /// How long to wait for another process that runs a turn in the same session.
    pub lane_wait: Duration,
    /// Time and fresh ids.
    pub ambient: Ambient,
}

impl HostSettings {
    /// Directory of an agent's state.
    #[must_use]
    pub fn agent_dir(native_dir: &Path, agent_id: &str) -> PathBuf {
        native_dir.join("agents").join(agent_id)
    }

    /// The store of an agent's sessions.
    #[must_use]
    pub fn store_path(native_dir: &Path, agent_id: &str) -> PathBuf {
        Self::agent_dir(native_dir, agent_id).join("sessions.sqlite")
    }

    /// Where processes write which engines they have set aside.
    #[must_use]
    pub fn health_dir(native_dir: &Path) -> PathBuf {
        native_dir.join("health")
    }
}

/// The host of one agent: its sessions, its engines, its turns. Turns of different sessions may run at the same time.
pub struct Host {
    settings: HostSettings,
    agent_dir: PathBuf,
    health_dir: PathBuf,
    store: Mutex<Store>,
    registry: Registry,
    probes: ProbeCache,
    lanes: Lanes,
}

impl Host {
    /// Opens the agent's store. No library is opened before the first turn.
    ///
    /// # Errors
    ///
    /// The store cannot be opened; see [`Store::open`].
    pub fn open(settings: HostSettings) -> Result<Self, StoreError> {
        let store_path = HostSettings::store_path(&settings.native_dir, &settings.agent_id);
        let store = Store::open(&store_path, settings.ambient.clone())?;
        let health_dir = HostSettings::health_dir(&settings.native_dir);
        let quarantine = Quarantine::of_process(health_dir.clone());
        let registry = Registry::new(
            settings.plugins.clone(),
            settings.native_dir.join("run"),
            quarantine,
            settings.ambient.clone(),
        );
        let probes = ProbeCache::new(&settings.native_dir);
        let agent_dir = HostSettings::agent_dir(&settings.native_dir, &settings.agent_id);
        let lanes = Lanes::new(agent_dir.join("locks"), settings.lane_wait);
        Ok(Self {
            settings,
            agent_dir,
            health_dir,
            store: Mutex::new(store),
            registry,
            probes,
            lanes,
        })
    }

    /// Runs one turn. One at a time per session; `on_text` gets the reply piece by piece.
    ///
    /// # Errors
    ///
    /// The model or the store failed, the engine needs what this host has not, or strict mode forbids a substitution.
    pub fn turn(
        &self,
        request: TurnRequest,
        model: &mut dyn Model,
        tools: &mut dyn Tools,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<TurnOutcome, TurnError> {
        turn::run(self, request, model, tools, on_text)
    }

    /// Offers every accepted turn of a session to the engine again: what it missed it stores, what it has is a
    /// duplicate.
    ///
    /// # Errors
    ///
    /// There is no such session, or the engine fails.
    pub fn recommit(&self, session_name: &str) -> Result<Recommit, TurnError> {
        let session = self.store().session_named(session_name)?;
        let _alone = self.enter(&session.key)?;
        turn::recommit(self, &session)
    }

    /// The store, for as long as one operation takes.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock()
    }

    /// Which engine is asked for, and why.
    #[must_use]
    pub fn slot(&self) -> &Slot {
        &self.settings.slot
    }

    pub(crate) fn enter(&self, session_key: &str) -> Result<Lane, LaneError> {
        self.lanes.enter(session_key)
    }

    pub(crate) fn probes(&self) -> &ProbeCache {
        &self.probes
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn ambient(&self) -> &Ambient {
        &self.settings.ambient
    }

    pub(crate) fn agent_id(&self) -> &str {
        &self.settings.agent_id
    }

    pub(crate) fn agent_dir(&self) -> &Path {
        &self.agent_dir
    }

    pub(crate) fn health_dir(&self) -> &Path {
        &self.health_dir
    }

    pub(crate) fn workspace_dir(&self) -> Option<&Path> {
        self.settings.workspace_dir.as_deref()
    }

    pub(crate) fn workspace_text(&self) -> String {
        self.workspace_dir()
            .map(|path| path.display().to_string())
            .unwrap_or_default()
    }

    pub(crate) fn store_path_text(&self) -> String {
        self.store().path().display().to_string()
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.settings.strict
    }
}
