//! The host of one agent.

use crate::ambient::Ambient;
use crate::background::Background;
use crate::compaction::{ByteLatch, CompactionPolicy};
use crate::history::Histories;
use crate::lane::{Lane, LaneError, Lanes};
use crate::model::{Candidates, Model, Tools};
use crate::probe::ProbeCache;
use crate::quarantine::Quarantine;
use crate::registry::{PluginSource, Registry};
use crate::reload::{ReloadError, Reloaded};
use crate::sent::Sent;
use crate::services::Transcripts;
use crate::slot::Slot;
use crate::store::{Store, StoreError};
use crate::turn::{
    self, CompactOutcome, CompactRequest, Recommit, TurnError, TurnEvent, TurnOutcome, TurnRequest,
};
use openclaw_loader::Census;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
    /// How long the first turns after a reload wait for those that still run on the old build. Past it they run on the
    /// old one as well: two builds never have instances at the same time.
    pub handover_wait: Duration,
    /// Libraries that may stay mapped after a reload has replaced them. Past it a reload is refused.
    pub leaked_generations: u64,
    /// When and how sessions are compacted.
    pub compaction: CompactionPolicy,
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
///
/// Its end cancels maintenance that runs behind replies and waits for it, 10 s at most.
pub struct Host {
    /// First, so that what runs behind replies ends ahead of everything else.
    background: Background,
    settings: HostSettings,
    agent_dir: PathBuf,
    health_dir: PathBuf,
    transcripts: Transcripts,
    registry: Registry,
    probes: ProbeCache,
    lanes: Lanes,
    histories: Histories,
    /// Sessions that stayed large after a compaction, by id.
    byte_latches: Mutex<HashMap<String, ByteLatch>>,
    sent: Sent,
}

/// What the histories of all sessions together may take in memory.
const HISTORY_LIMIT_BYTES: usize = 256 * 1024 * 1024;

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
            &settings.native_dir.join("run"),
            (settings.leaked_generations, settings.handover_wait),
            quarantine,
            settings.ambient.clone(),
        );
        let probes = ProbeCache::new(&settings.native_dir);
        let agent_dir = HostSettings::agent_dir(&settings.native_dir, &settings.agent_id);
        let transcripts = Transcripts {
            agent_id: settings.agent_id.clone(),
            store: Arc::new(Mutex::new(store)),
        };
        let lanes = Lanes::new(agent_dir.join("locks"), settings.lane_wait);
        Ok(Self {
            background: Background::default(),
            settings,
            agent_dir,
            health_dir,
            transcripts,
            registry,
            probes,
            lanes,
            histories: Histories::new(HISTORY_LIMIT_BYTES),
            byte_latches: Mutex::default(),
            sent: Sent::default(),
        })
    }

    /// Runs one turn. One at a time per session.
    ///
    /// - `models`: the model to ask and those to ask in its place; `&mut model` where there is one.
    /// - `on_event`: hears the reply piece by piece, and of requests that are made again.
    ///
    /// # Errors
    ///
    /// No model answered, the store failed, the turn was cancelled, the engine needs what a host has not, or strict mode
    /// forbids a substitution.
    pub fn turn<'m>(
        &self,
        request: TurnRequest,
        models: impl Into<Candidates<'m>>,
        tools: &mut dyn Tools,
        on_event: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<TurnOutcome, TurnError> {
        turn::run(self, request, models.into(), tools, on_event)
    }

    /// Makes the context of a session smaller, because a person asked for it.
    ///
    /// - `model`: writes the summary where the engine leaves that to the host.
    ///
    /// # Errors
    ///
    /// There is no such session, the engine failed, or it named a successor that cannot be one.
    pub fn compact(
        &self,
        request: &CompactRequest,
        model: &mut dyn Model,
    ) -> Result<CompactOutcome, TurnError> {
        turn::compact(self, request, model)
    }

    /// Waits until nothing runs behind replies any more, at most this long. Answers whether that is so.
    pub fn settle(&self, wait: Duration) -> bool {
        self.background.settle(wait)
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

    /// Replaces an engine by what lies in its build directory now. Turns that run end with the old build; later ones get
    /// the new one, once no instance of the old is left. It starts without the quarantine of the old. Whatever the two have
    /// to tell each other goes through files of the engine. May be called at any time, from any thread; waits for no turn.
    ///
    /// # Errors
    ///
    /// The new build is refused or does not work, or too many old ones are still mapped. The old one goes on serving.
    pub fn reload(&self, engine_id: &str) -> Result<Reloaded, ReloadError> {
        self.registry
            .reload(engine_id, &turn::create_context(self), &self.transcripts)
    }

    /// Where the plugin of an engine lies; `None` for the built-in engine and for one that no plugin brings.
    #[must_use]
    pub fn plugin_directory(&self, engine_id: &str) -> Option<&Path> {
        let source = self.settings.plugins.iter();
        let mut source = source.filter(|source| source.id == engine_id);
        source.next().map(|source| source.directory.as_path())
    }

    /// What became of the libraries this host has opened.
    #[must_use]
    pub fn generations(&self) -> Census {
        self.registry.census()
    }

    /// The store, for as long as one operation takes.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.transcripts.store.lock()
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

    pub(crate) fn background(&self) -> &Background {
        &self.background
    }

    /// The session if nobody runs a turn in it.
    pub(crate) fn try_enter(&self, session_key: &str) -> Result<Option<Lane>, LaneError> {
        self.lanes.try_enter(session_key)
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn transcripts(&self) -> &Transcripts {
        &self.transcripts
    }

    pub(crate) fn histories(&self) -> &Histories {
        &self.histories
    }

    pub(crate) fn sent(&self) -> &Sent {
        &self.sent
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

    pub(crate) fn byte_latches(&self) -> &Mutex<HashMap<String, ByteLatch>> {
        &self.byte_latches
    }

    pub(crate) fn compaction(&self) -> &CompactionPolicy {
        &self.settings.compaction
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.settings.strict
    }
}
