//! A plugin that is loaded, and the one way to get there.

use crate::directory::BuildDirectory;
use crate::error::{LoadError, LoadErrorKind};
use crate::{library, settings, validate};
use openclaw_interface::hosting::EngineFactory;
use openclaw_interface::model::Info;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A plugin that passed every check that runs none of its code.
#[derive(Clone, Debug)]
pub struct Vetted {
    directory: BuildDirectory,
    settings: Map<String, Value>,
}

impl Vetted {
    /// Reads, inspects and judges the build directory at `path` (absolute), and checks its settings.
    ///
    /// # Errors
    ///
    /// The first reason why it must not be loaded.
    pub fn read(path: &Path, settings: &Value) -> Result<Self, LoadError> {
        Self::of_directory(BuildDirectory::read(path)?, settings)
    }

    /// Judges a build directory that was read already, and checks its settings.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn of_directory(directory: BuildDirectory, settings: &Value) -> Result<Self, LoadError> {
        directory.check_trust()?;
        let id = &directory.manifest.id;
        settings::check_settings(&directory.manifest, settings)
            .map_err(|kind| kind.at(&directory.path).of_plugin(id))?;
        Ok(Self {
            settings: settings.as_object().cloned().unwrap_or_default(),
            directory,
        })
    }

    /// Opens the library from a private copy below `private_dir` and checks what the engine says of itself.
    ///
    /// # Errors
    ///
    /// The library cannot be opened, or breaks the contract.
    pub fn load(self, private_dir: &Path) -> Result<Plugin, LoadError> {
        let Self {
            directory,
            settings,
        } = self;
        let id = directory.manifest.id.clone();
        let wrong = |kind: LoadErrorKind| kind.at(&directory.library).of_plugin(&id);
        let name = directory
            .library
            .file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default();
        let (factory, info) = library::open(&directory.bytes, &name, private_dir).map_err(wrong)?;
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
            sha256: directory.sha256(),
            library: directory.library,
        })
    }
}

/// A loaded plugin: an engine that can be made.
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
}

/// SHA-256 of `bytes`, lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
