//! The engines this process can make. A library is opened at its first use, and replaced on demand.

use crate::ambient::Ambient;
use crate::desk::Desk;
use crate::guard::{Guarded, try_out};
use crate::handover::Handover;
use crate::legacy::{LEGACY_ID, Legacy};
use crate::quarantine::{Quarantine, QuarantineRecord};
use crate::reload::{ReloadError, Reloaded};
use crate::services::{Services, Transcripts};
use openclaw_interface::EngineError;
use openclaw_interface::hosting::{EngineFactory, EngineInstance};
use openclaw_interface::model::{CreateContext, Info};
use openclaw_loader::{Census, Libraries, LoadError, Plugin, Trust, Vetted};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Where a plugin is, and what it is told.
#[derive(Clone, Debug)]
pub struct PluginSource {
    /// Plugin id, and engine id.
    pub id: String,
    /// Its build directory, absolute.
    pub directory: PathBuf,
    /// Its settings, not checked yet.
    pub settings: Value,
    /// Which library may be loaded from there.
    pub trust: Trust,
}

/// A build of a plugin's engine, as one load made it.
pub(crate) struct Generation {
    /// Counted from 1 for each engine in this process.
    pub(crate) number: u64,
    pub(crate) plugin: Plugin,
}

/// Makes an instance. An engine that fails to be made stays mapped: what it left behind is unknown.
pub(crate) fn create(
    plugin: &Plugin,
    context: &CreateContext,
    services: Services,
) -> Result<EngineInstance, EngineError> {
    let context = CreateContext {
        settings: plugin.settings.clone(),
        ..context.clone()
    };
    let made = plugin.factory.create(&context, services);
    made.inspect_err(|_| plugin.keep_mapped())
}

/// An engine that can be made.
pub(crate) enum Registered {
    BuiltIn(EngineFactory),
    Plugin(Arc<Generation>),
}

pub(crate) struct Registry {
    built_in: EngineFactory,
    sources: Vec<PluginSource>,
    libraries: Libraries,
    loaded: Mutex<HashMap<String, Arc<Generation>>>,
    /// Held for the length of a reload: one at a time.
    reloading: Mutex<()>,
    handover: Arc<Handover>,
    leak_limit: u64,
    quarantine: Arc<Quarantine>,
    ambient: Ambient,
}

impl Registry {
    /// - `private_dir`: where private copies of libraries are made.
    /// - `limits`: replaced libraries that may stay mapped, and how long a new build waits for the old one.
    pub(crate) fn new(
        sources: Vec<PluginSource>,
        private_dir: &Path,
        (leak_limit, handover_wait): (u64, Duration),
        quarantine: Arc<Quarantine>,
        ambient: Ambient,
    ) -> Self {
        let (built_in, _) = EngineFactory::built_in::<Legacy>()
            .unwrap_or_else(|error| unreachable!("the built-in engine describes itself: {error}"));
        Self {
            built_in,
            sources,
            libraries: Libraries::below(private_dir),
            loaded: Mutex::default(),
            reloading: Mutex::default(),
            handover: Handover::new(handover_wait),
            leak_limit,
            quarantine,
            ambient,
        }
    }

    /// What became of the libraries opened so far.
    pub(crate) fn census(&self) -> Census {
        self.libraries.census()
    }

    /// Why an engine is set aside, in the build that this host runs.
    pub(crate) fn set_aside_record(&self, engine_id: &str) -> Option<QuarantineRecord> {
        let generation = self.loaded.lock().get(engine_id).map(|it| it.number);
        self.quarantine.record(engine_id, generation)
    }

    /// Finds an engine and loads its library. A failure sets the engine aside.
    pub(crate) fn find(&self, engine_id: &str) -> Result<Registered, Box<QuarantineRecord>> {
        if engine_id == LEGACY_ID {
            return Ok(Registered::BuiltIn(self.built_in.clone()));
        }
        let mut loaded = self.loaded.lock();
        let current = loaded.get(engine_id);
        let generation = current.map(|current| current.number);
        if let Some(record) = self.quarantine.record(engine_id, generation) {
            return Err(Box::new(record));
        }
        if let Some(current) = current {
            return Ok(Registered::Plugin(Arc::clone(current)));
        }
        let Some(source) = self.source(engine_id) else {
            let reason = format!("context engine \"{engine_id}\" is not registered");
            return Err(self.set_aside(engine_id, "resolve", EngineError::failed(reason), None));
        };
        let plugin = vet(source)
            .and_then(|vetted| vetted.load(&self.libraries))
            .map_err(|error| {
                let error = EngineError::failed(one_line(&error));
                self.set_aside(engine_id, "load", error, None)
            })?;
        let generation = Arc::new(self.generation(plugin));
        loaded.insert(engine_id.to_owned(), Arc::clone(&generation));
        Ok(Registered::Plugin(generation))
    }

    /// Makes an instance. A failure sets the engine aside.
    pub(crate) fn make(
        &self,
        registered: &Registered,
        context: &CreateContext,
        cancelled: &Arc<AtomicBool>,
        transcripts: &Transcripts,
    ) -> Result<Guarded, Box<QuarantineRecord>> {
        let id = registered.id();
        let desk = Arc::new(Desk::default());
        let services = Services::new(
            id,
            Arc::clone(cancelled),
            Arc::clone(&desk),
            transcripts.clone(),
        );
        let (instance, ticket) = match registered {
            Registered::BuiltIn(factory) => (factory.create(context, services), None),
            Registered::Plugin(wanted) => {
                let ticket = self.handover.enter(wanted);
                let generation = &ticket.generation;
                // Another build than wanted may have failed meanwhile.
                if let Some(record) = self.quarantine.record(id, Some(generation.number)) {
                    return Err(Box::new(record));
                }
                (create(&generation.plugin, context, services), Some(ticket))
            }
        };
        let instance = instance.map_err(|error| {
            let generation = ticket.as_ref().map(|ticket| &*ticket.generation);
            self.set_aside(id, "factory", error, generation)
        })?;
        Ok(Guarded::new(
            id,
            ticket,
            instance,
            Arc::clone(cancelled),
            desk,
            Arc::clone(&self.quarantine),
            self.ambient.clone(),
        ))
    }

    /// Replaces an engine by what lies in its build directory now. The new build is made and tried out before anybody uses
    /// it; whatever fails, the old one goes on.
    pub(crate) fn reload(
        &self,
        engine_id: &str,
        context: &CreateContext,
        transcripts: &Transcripts,
    ) -> Result<Reloaded, ReloadError> {
        let _one_at_a_time = self.reloading.lock();
        let source = match self.source(engine_id) {
            _ if engine_id == LEGACY_ID => return Err(ReloadError::BuiltIn),
            None => return Err(ReloadError::NotRegistered(engine_id.to_owned())),
            Some(source) => source,
        };
        let vetted = vet(source)?;
        if vetted.id() != engine_id {
            return Err(ReloadError::OtherEngine {
                directory: source.directory.clone(),
                wanted: engine_id.to_owned(),
                found: vetted.id().to_owned(),
            });
        }
        let old = self.loaded.lock().get(engine_id).cloned();
        if let Some(old) = old.filter(|old| vetted.is_same_as(&old.plugin)) {
            return Ok(Reloaded::Unchanged {
                generation: old.number,
            });
        }
        self.check_budget()?;
        let plugin = vetted.load(&self.libraries)?;
        // Not in the agent's directory: instances of the old build may be at work there.
        let scratch = self.libraries.scratch().map_err(ReloadError::Scratch)?;
        let context = CreateContext {
            agent_dir: Some(scratch.path().to_owned()),
            ..context.clone()
        };
        let services = Services::new(
            engine_id,
            Arc::default(),
            Arc::default(),
            transcripts.clone(),
        );
        let tried = try_out(&plugin, &context, services);
        tried.map_err(|(operation, error)| ReloadError::Trial {
            engine_id: engine_id.to_owned(),
            operation,
            error,
        })?;
        Ok(self.replace(engine_id, plugin))
    }

    fn replace(&self, engine_id: &str, plugin: Plugin) -> Reloaded {
        let mut loaded = self.loaded.lock();
        let new = Arc::new(self.generation(plugin));
        let (generation, sha256) = (new.number, new.plugin.sha256.clone());
        let old = loaded.insert(engine_id.to_owned(), new);
        self.quarantine.renew(engine_id);
        drop(loaded);
        tracing::info!(engine = engine_id, generation, "engine reloaded");
        // The last use of the old one may end here, and its library go.
        if let Some(old) = old {
            old.plugin.retire();
        }
        Reloaded::Replaced { generation, sha256 }
    }

    /// What is still mapped and serves no new call counts, whether calls in flight use it or nobody does.
    fn check_budget(&self) -> Result<(), ReloadError> {
        let census = self.libraries.census();
        let mapped = census.leaked + census.retired;
        let limit = self.leak_limit;
        if mapped < limit {
            Ok(())
        } else {
            Err(ReloadError::Budget { mapped, limit })
        }
    }

    fn source(&self, engine_id: &str) -> Option<&PluginSource> {
        self.sources.iter().find(|source| source.id == engine_id)
    }

    fn generation(&self, plugin: Plugin) -> Generation {
        let settings = Value::Object(plugin.settings.clone());
        let fingerprint = format!("{} {settings}", plugin.sha256);
        Generation {
            number: self.quarantine.generation_of(&plugin.id, fingerprint),
            plugin,
        }
    }

    fn set_aside(
        &self,
        engine_id: &str,
        operation: &str,
        error: EngineError,
        generation: Option<&Generation>,
    ) -> Box<QuarantineRecord> {
        Box::new(self.quarantine.set_aside(QuarantineRecord {
            engine_id: engine_id.to_owned(),
            operation: operation.to_owned(),
            reason: error.message,
            location: error.location,
            library_sha256: generation.map(|it| it.plugin.sha256.clone()),
            generation: generation.map(|it| it.number),
            failed_at_ms: self.ambient.now_ms(),
        }))
    }
}

fn vet(source: &PluginSource) -> Result<Vetted, LoadError> {
    Vetted::read(&source.directory, &source.settings, &source.trust)
}

impl Registered {
    fn id(&self) -> &str {
        match self {
            Self::BuiltIn(_) => LEGACY_ID,
            Self::Plugin(generation) => &generation.plugin.id,
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
            Self::Plugin(generation) => Some(&generation.plugin),
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
