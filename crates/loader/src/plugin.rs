//! A plugin that is loaded, and the one way to get there.

use crate::directory::BuildDirectory;
use crate::error::{LoadError, LoadErrorKind};
use crate::generation::Mapping;
use crate::libraries::Libraries;
use crate::library::{self, Image};
use crate::steps::Steps;
use crate::trust::Trust;
use crate::{settings, validate};
use openclaw_interface::hosting::EngineFactory;
use openclaw_interface::model::Info;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A plugin that passed every check that runs none of its code.
#[derive(Clone, Debug)]
pub struct Vetted {
    directory: BuildDirectory,
    settings: Map<String, Value>,
    is_changed_since_linked: bool,
}

impl Vetted {
    /// Reads, inspects and judges the build directory at `path` (absolute), and checks its settings.
    ///
    /// # Errors
    ///
    /// The first reason why it must not be loaded.
    pub fn read(path: &Path, settings: &Value, trust: &Trust) -> Result<Self, LoadError> {
        Self::of_directory(BuildDirectory::read(path)?, settings, trust)
    }

    /// Judges a build directory that was read already, and checks its settings.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn of_directory(
        directory: BuildDirectory,
        settings: &Value,
        trust: &Trust,
    ) -> Result<Self, LoadError> {
        directory.check_trust(trust)?;
        let id = &directory.manifest.id;
        settings::check_settings(&directory.manifest, settings)
            .map_err(|kind| kind.at(&directory.path).of_plugin(id))?;
        Ok(Self {
            settings: settings.as_object().cloned().unwrap_or_default(),
            is_changed_since_linked: trust.is_changed_since_linked(&directory.sha256),
            directory,
        })
    }

    /// Plugin id, and engine id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.directory.manifest.id
    }

    /// Whether the library is another one than was linked.
    #[must_use]
    pub fn is_changed_since_linked(&self) -> bool {
        self.is_changed_since_linked
    }

    /// Whether loading it would give what `plugin` is already: the same library with the same settings.
    #[must_use]
    pub fn is_same_as(&self, plugin: &Plugin) -> bool {
        self.directory.sha256 == plugin.sha256 && self.settings == plugin.settings
    }

    /// Opens the library from a private copy and checks what the engine says of itself.
    ///
    /// # Errors
    ///
    /// The library cannot be opened, or breaks the contract.
    pub fn load(self, libraries: &Libraries) -> Result<Plugin, LoadError> {
        let Self {
            directory,
            settings,
            is_changed_since_linked,
        } = self;
        let id = directory.manifest.id.clone();
        let wrong = |kind: LoadErrorKind| kind.at(&directory.library).of_plugin(&id);
        let name = directory
            .library
            .file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default();
        let image = Image {
            bytes: &directory.bytes,
            name: &name,
            is_unloadable: directory.facts.note.is_unloadable,
        };
        let mut steps = directory.steps.clone();
        let (factory, info, mapping) =
            library::open(&image, libraries, &mut steps).map_err(wrong)?;
        let problems = validate::problems(&info, &id);
        if !problems.is_empty() {
            return Err(wrong(LoadErrorKind::Contract(problems)));
        }
        tracing::info!(plugin = id, path = %directory.library.display(), "engine library loaded");
        Ok(Plugin {
            id,
            info,
            factory,
            settings,
            sha256: directory.sha256,
            library: directory.library,
            is_changed_since_linked,
            steps,
            mapping,
        })
    }
}

/// A loaded plugin: an engine that can be made. Its library stays mapped for as long as this, the factory or an instance
/// lives.
#[derive(Clone, Debug)]
pub struct Plugin {
    /// Plugin id, and engine id.
    pub id: String,
    /// What the engine says of itself.
    pub info: Info,
    /// Makes instances.
    pub factory: EngineFactory,
    /// The plugin's settings, checked.
    pub settings: Map<String, Value>,
    /// SHA-256 of the library, lower-case hex.
    pub sha256: String,
    /// Where the library came from.
    pub library: PathBuf,
    /// Whether the library is another one than was linked.
    pub is_changed_since_linked: bool,
    /// How long each step of the load took.
    pub steps: Steps,
    /// Goes last.
    mapping: Arc<Mapping>,
}

impl Plugin {
    /// Counts its library as replaced.
    pub fn retire(&self) {
        self.mapping.retire();
    }

    /// Keeps its library mapped until the process ends, whatever its author says: its engine failed, and what it left
    /// behind is unknown.
    pub fn keep_mapped(&self) {
        self.mapping.keep();
    }

    /// Whether its library stays mapped after the last use.
    #[must_use]
    pub fn is_kept_mapped(&self) -> bool {
        self.mapping.is_kept()
    }
}
