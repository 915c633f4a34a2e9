//! One config file: its text, its value, and typed views of its parts.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::compaction::Compaction;
use crate::error::{ConfigError, ConfigErrorKind, KeyFault};
use crate::history::HistorySettings;
use crate::key_path::KeyPath;
use crate::models::{AgentDefaults, Models};
use crate::plugins::Plugins;
use crate::prompt::PromptSettings;
use crate::section::{Faults, Section, wrong_type};
use crate::spans;
use crate::syntax::{self, BOM};
use crate::tools::ToolPolicy;

/// A config file that parsed, or one that does not exist yet.
///
/// The root is always an object. Placeholders such as `${VAR}` are kept as they stand.
#[derive(Clone)]
pub struct Config {
    path: PathBuf,
    text: Option<String>,
    root: Map<String, Value>,
}

impl Config {
    /// Reads the file at `path`, following symbolic links. A file that does not exist is an empty config.
    ///
    /// # Errors
    ///
    /// Everything but a missing file: no permission, a directory, a pipe or device, an empty file, no UTF-8, no JSON5, a key given
    /// twice, nested too deep, a root that is not an object. A link that leads nowhere is an error too.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let refuse = |kind| Err(ConfigError::new(path, kind));
        match read_regular(path) {
            Ok(bytes) if bytes.is_empty() => refuse(ConfigErrorKind::Empty),
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Self::from_text(path, text),
                Err(error) => refuse(ConfigErrorKind::NotUtf8 {
                    offset: error.utf8_error().valid_up_to(),
                }),
            },
            // A link that leads nowhere is not found either, but it is there.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && fs::symlink_metadata(path).is_err() =>
            {
                Ok(Self {
                    path: path.to_owned(),
                    text: None,
                    root: Map::new(),
                })
            }
            Err(error) => refuse(read_failure(path, error)),
        }
    }

    /// Reads `text` as if it stood in the file at `path`; touches no file.
    ///
    /// # Errors
    ///
    /// Those of [`Config::read`] that concern the text.
    pub fn from_text(path: &Path, text: String) -> Result<Self, ConfigError> {
        let refuse = |kind| ConfigError::new(path, kind);
        let root = match syntax::parse(&text) {
            Ok(Value::Object(root)) => root,
            Ok(other) => {
                let faults = Faults::default();
                faults.add(KeyPath::default(), wrong_type("an object", &other));
                return Err(refuse(ConfigErrorKind::Invalid(faults.into_vec())));
            }
            Err(fault) => return Err(refuse(ConfigErrorKind::Syntax(fault))),
        };
        Ok(Self {
            path: path.to_owned(),
            text: Some(text),
            root,
        })
    }

    /// The path it was read from, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        self.text.is_none()
    }

    /// The text as it stands in the file, byte order mark included; `None` for a missing file.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The whole content.
    pub fn root(&self) -> &Map<String, Value> {
        &self.root
    }

    /// The value at `keys`, outermost first; only objects are stepped through.
    pub fn get(&self, keys: &[&str]) -> Option<&Value> {
        let (first, rest) = keys.split_first()?;
        let mut value = self.root.get(*first)?;
        for key in rest {
            value = value.get(*key)?;
        }
        Some(value)
    }

    /// Line (from 1) of the value at `keys`, or of its nearest parent that exists.
    pub fn line_of(&self, keys: &KeyPath) -> Option<usize> {
        let text = self.text.as_deref()?;
        spans::line_of(text.strip_prefix(BOM).unwrap_or(text), keys.keys())
    }

    /// The `plugins` part.
    ///
    /// # Errors
    ///
    /// `Invalid` with every unknown key and every value of a wrong type, `Included` when the part, or the whole
    /// config, is taken from another file.
    pub fn plugins(&self) -> Result<Plugins, ConfigError> {
        self.refuse_include(&["plugins"])?;
        self.strict_view(Plugins::of)
    }

    /// The providers under `models.providers`. Keys this host does not use are passed over.
    ///
    /// # Errors
    ///
    /// `Invalid` with every value of a wrong type, `Included` as for [`Config::plugins`]. Variables are looked up later,
    /// by [`crate::Provider::resolve`], so that a missing one concerns its provider only.
    pub fn models(&self) -> Result<Models, ConfigError> {
        self.refuse_include(&["models", "providers"])?;
        self.strict_view(Models::of)
    }

    /// The settings under `agents.defaults` that a turn needs.
    ///
    /// # Errors
    ///
    /// As for [`Config::models`].
    pub fn agent_defaults(&self) -> Result<AgentDefaults, ConfigError> {
        self.refuse_include(&["agents", "defaults"])?;
        self.strict_view(AgentDefaults::of)
    }

    /// What `tools` lets an agent have.
    ///
    /// # Errors
    ///
    /// As for [`Config::models`].
    pub fn tool_policy(&self) -> Result<ToolPolicy, ConfigError> {
        self.refuse_include(&["tools", "exec"])?;
        self.strict_view(ToolPolicy::of)
    }

    /// What a system prompt is made with.
    ///
    /// # Errors
    ///
    /// As for [`Config::models`].
    pub fn prompt_settings(&self) -> Result<PromptSettings, ConfigError> {
        self.refuse_include(&["agents", "defaults"])?;
        self.strict_view(PromptSettings::of)
    }

    /// How much of a history a model is shown.
    ///
    /// # Errors
    ///
    /// As for [`Config::models`].
    pub fn history_settings(&self) -> Result<HistorySettings, ConfigError> {
        self.refuse_include(&["agents", "defaults"])?;
        self.strict_view(HistorySettings::of)
    }

    /// How sessions are compacted.
    ///
    /// # Errors
    ///
    /// As for [`Config::models`].
    pub fn compaction(&self) -> Result<Compaction, ConfigError> {
        self.refuse_include(&["agents", "defaults", "compaction"])?;
        self.strict_view(Compaction::of)
    }

    /// Refuses when an object on the way to `keys`, or the value there, is `$include`d from another file.
    pub(crate) fn refuse_include(&self, keys: &[&str]) -> Result<(), ConfigError> {
        let mut object = &self.root;
        let mut key_path = KeyPath::default();
        let mut keys = keys.iter();
        loop {
            if let Some(include) = object.get("$include") {
                let name = include
                    .as_str()
                    .or_else(|| include.get(0).and_then(Value::as_str))
                    .unwrap_or_default();
                let folder = self.path.parent().unwrap_or(Path::new(""));
                let kind = ConfigErrorKind::Included {
                    key: key_path,
                    // Collecting the components drops the `.` of `./plugins.json5`.
                    file: folder.join(name).components().collect(),
                };
                return Err(ConfigError::new(&self.path, kind));
            }
            let Some(key) = keys.next() else {
                return Ok(());
            };
            match object.get(*key).and_then(Value::as_object) {
                Some(next) => object = next,
                None => return Ok(()),
            }
            key_path = key_path.child(*key);
        }
    }

    /// What `read` makes of the root, and what did not fit, in the order of the file.
    pub(crate) fn view<T>(&self, read: impl FnOnce(&Section<'_, '_>) -> T) -> (T, Vec<KeyFault>) {
        let faults = Faults::default();
        let view = read(&Section::root(&self.root, &faults));
        let mut faults = faults.into_vec();
        for fault in &mut faults {
            fault.line = self.line_of(&fault.key);
        }
        faults.sort_by_key(|fault| fault.line);
        (view, faults)
    }

    fn strict_view<T>(&self, read: impl FnOnce(&Section<'_, '_>) -> T) -> Result<T, ConfigError> {
        let (view, faults) = self.view(read);
        if faults.is_empty() {
            Ok(view)
        } else {
            let kind = ConfigErrorKind::Invalid(faults);
            Err(ConfigError::new(&self.path, kind))
        }
    }
}

impl fmt::Debug for Config {
    /// Shows where it came from and nothing of what is in it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Config")
            .field("path", &self.path)
            .field("missing", &self.is_missing())
            .finish_non_exhaustive()
    }
}

/// Opens regular files only: opening a pipe would wait for a writer.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() {
        fs::read(path)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

fn read_failure(path: &Path, error: io::Error) -> ConfigErrorKind {
    match error.kind() {
        _ if path.is_dir() => ConfigErrorKind::Directory,
        _ if path.exists() && !path.is_file() => ConfigErrorKind::NotAFile,
        io::ErrorKind::PermissionDenied => ConfigErrorKind::PermissionDenied,
        _ => ConfigErrorKind::Io(error),
    }
}

#[cfg(test)]
mod tests;
