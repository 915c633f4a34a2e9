//! The engines this process can make. A library is opened at its first use, once.

use crate::ambient::Ambient;
use crate::guard::Guarded;
use crate::legacy::{LEGACY_ID, Legacy};
use crate::quarantine::{Quarantine, QuarantineRecord};
use crate::services::Services;
use openclaw_interface::EngineError;
use openclaw_interface::hosting::EngineFactory;
use openclaw_interface::model::{CreateContext, Info};
use openclaw_loader::{LoadError, Plugin, Vetted};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where a plugin is, and what it is told.
#[derive(Clone, Debug)]
pub struct PluginSource {
    /// Plugin id, and engine id.
    pub id: String,
    /// Its build directory, absolute.
    pub directory: PathBuf,
    /// Its settings, not checked yet.
    pub settings: Value,
}

/// An engine that can be made.
pub(crate) enum Registered {
    BuiltIn(EngineFactory),
    Plugin(Arc<Plugin>),
}

pub(crate) struct Registry {
    built_in: EngineFactory,
    sources: Vec<PluginSource>,
    private_dir: PathBuf,
    loaded: Mutex<HashMap<String, Arc<Plugin>>>,
    quarantine: Arc<Quarantine>,
    ambient: Ambient,
}

impl Registry {
    pub(crate) fn new(
        sources: Vec<PluginSource>,
        private_dir: PathBuf,
        quarantine: Arc<Quarantine>,
        ambient: Ambient,
    ) -> Self {
        let (built_in, _) = EngineFactory::built_in::<Legacy>()
            .unwrap_or_else(|error| unreachable!("the built-in engine describes itself: {error}"));
        Self {
            built_in,
            sources,
            private_dir,
            loaded: Mutex::default(),
            quarantine,
            ambient,
        }
    }

    pub(crate) fn quarantine(&self) -> &Quarantine {
        &self.quarantine
    }

    /// Finds an engine and loads its library. A failure sets the engine aside.
    pub(crate) fn find(&self, engine_id: &str) -> Result<Registered, Box<QuarantineRecord>> {
        if engine_id == LEGACY_ID {
            return Ok(Registered::BuiltIn(self.built_in.clone()));
        }
        if let Some(record) = self.quarantine.record(engine_id) {
            return Err(Box::new(record));
        }
        let mut loaded = self.loaded.lock();
        if let Some(plugin) = loaded.get(engine_id) {
            return Ok(Registered::Plugin(Arc::clone(plugin)));
        }
        let Some(source) = self.sources.iter().find(|source| source.id == engine_id) else {
            let reason = format!("context engine \"{engine_id}\" is not registered");
            return Err(self.set_aside(engine_id, "resolve", EngineError::failed(reason), None));
        };
        let plugin = Vetted::read(&source.directory, &source.settings)
            .and_then(|vetted| vetted.load(&self.private_dir))
            .map_err(|error| {
                self.set_aside(
                    engine_id,
                    "load",
                    EngineError::failed(one_line(&error)),
                    None,
                )
            })?;
        let plugin = Arc::new(plugin);
        loaded.insert(engine_id.to_owned(), Arc::clone(&plugin));
        Ok(Registered::Plugin(plugin))
    }

    /// Makes an instance. A failure sets the engine aside.
    pub(crate) fn make(
        &self,
        registered: &Registered,
        context: &CreateContext,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<Guarded, Box<QuarantineRecord>> {
        let id = registered.id();
        let services = Services::new(id, Arc::clone(cancelled));
        let mut context = context.clone();
        context.settings = registered.settings();
        let made = registered.factory().create(&context, services);
        let sha256 = registered.sha256();
        let instance =
            made.map_err(|error| self.set_aside(id, "factory", error, sha256.clone()))?;
        let identity = (id.to_owned(), registered.version(), sha256);
        Ok(Guarded::new(
            identity,
            instance,
            Arc::clone(&self.quarantine),
            self.ambient.clone(),
        ))
    }

    fn set_aside(
        &self,
        engine_id: &str,
        operation: &str,
        error: EngineError,
        library_sha256: Option<String>,
    ) -> Box<QuarantineRecord> {
        Box::new(self.quarantine.set_aside(QuarantineRecord {
            engine_id: engine_id.to_owned(),
            operation: operation.to_owned(),
            reason: error.message,
            location: error.location,
            library_sha256,
            failed_at_ms: self.ambient.now_ms(),
        }))
    }
}

impl Registered {
    fn id(&self) -> &str {
        match self {
            Self::BuiltIn(_) => LEGACY_ID,
            Self::Plugin(plugin) => &plugin.id,
        }
    }

    fn factory(&self) -> &EngineFactory {
        match self {
            Self::BuiltIn(factory) => factory,
            Self::Plugin(plugin) => &plugin.factory,
        }
    }

    /// What the engine says of itself; `None` for the built-in engine, of which nothing has to be known.
    pub(crate) fn info(&self) -> Option<&Info> {
        self.plugin().map(|plugin| &plugin.info)
    }

    /// The plugin that brings it; `None` for the built-in engine.
    pub(crate) fn plugin(&self) -> Option<&Plugin> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Plugin(plugin) => Some(plugin),
        }
    }

    fn version(&self) -> Option<String> {
        self.info().and_then(|info| info.version.clone())
    }

    fn sha256(&self) -> Option<String> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Plugin(plugin) => Some(plugin.sha256.clone()),
        }
    }

    fn settings(&self) -> serde_json::Map<String, Value> {
        match self {
            Self::BuiltIn(_) => serde_json::Map::new(),
            Self::Plugin(plugin) => plugin.settings.clone(),
        }
    }
}

/// An error with its causes, joined.
pub(crate) fn one_line(error: &LoadError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
