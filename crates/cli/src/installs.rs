//! What was installed, from where, and with which library: `<state dir>/native/installs.json`.
//!
//! Written at each installation, whole or not at all. It never decides whether a linked plugin is used; a copy that has
//! changed since is refused.

use crate::error::CliError;
use openclaw_config::same_id;
use openclaw_loader::{BuildDirectory, Provenance};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "installs.json";
/// Held while the file is read and written again.
const LOCK_NAME: &str = "installs.lock";

/// The record, by plugin id.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Installs(BTreeMap<String, Install>);

/// One installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Install {
    /// Build directory: as the config names it, or the copy.
    pub(crate) path: PathBuf,
    /// SHA-256 of the library, lower-case hex.
    sha256: String,
    /// RFC 3339, UTC.
    installed_at: String,
    /// Whether it is used where it was built.
    pub(crate) linked: bool,
    /// What it was installed from.
    #[serde(flatten)]
    pub(crate) source: Source,
}

/// What a plugin was installed from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Source {
    /// The word of the original's records.
    #[serde(rename = "source", default)]
    pub(crate) kind: SourceKind,
    /// The directory or archive; none for a package of a registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source_path: Option<PathBuf>,
    /// What a package manager is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spec: Option<String>,
}

/// The kinds of sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SourceKind {
    /// A directory.
    #[default]
    Path,
    /// A `.zip`, `.tgz`, `.tar.gz` or `.tar`.
    Archive,
    /// A package, fetched by the user's own npm.
    Npm,
}

impl SourceKind {
    /// The word in records and messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Archive => "archive",
            Self::Npm => "npm",
        }
    }
}

impl Installs {
    /// Reads the record; a missing file is an empty one.
    pub(crate) fn read(native_dir: &Path) -> Result<Self, CliError> {
        let path = native_dir.join(FILE_NAME);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(CliError::io("read", &path, &error)),
        };
        serde_json::from_slice(&text).map_err(|error| {
            CliError::new(
                format!("the record of installations {} cannot be read: {error}", path.display()),
                "remove the file and install the plugins again: it only tells whether they have changed since",
            )
        })
    }

    /// The record of one plugin as a document; null when there is none.
    pub(crate) fn document(&self, id: &str) -> serde_json::Value {
        let record = self.0.get(id);
        record
            .and_then(|record| serde_json::to_value(record).ok())
            .unwrap_or_default()
    }

    /// How the plugin in a directory came there. A record of another directory says nothing of this one.
    pub(crate) fn provenance(&self, plugin: &BuildDirectory) -> Provenance {
        let record = self.0.get(&plugin.manifest.id);
        match record.filter(|record| record.path == plugin.path) {
            Some(record) if record.linked => Provenance::Linked {
                sha256: Some(record.sha256.clone()),
            },
            Some(record) => Provenance::Copied {
                sha256: record.sha256.clone(),
            },
            None => Provenance::default(),
        }
    }

    /// The record of a plugin and the spelling of its id there. Ids match without regard to case.
    pub(crate) fn get(&self, id: &str) -> Option<(&str, &Install)> {
        let mut records = self.0.iter();
        let found = records.find(|(key, _)| same_id(key, id));
        found.map(|(key, install)| (key.as_str(), install))
    }

    /// The plugin that came from this spec of a package manager.
    pub(crate) fn of_spec(&self, spec: &str) -> Option<(&str, &Install)> {
        let mut records = self.0.iter();
        let found = records.find(|(_, install)| install.source.spec.as_deref() == Some(spec));
        found.map(|(key, install)| (key.as_str(), install))
    }

    /// The ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Directories of the copies.
    pub(crate) fn copies(&self) -> impl Iterator<Item = &Path> {
        let copies = self.0.values().filter(|install| !install.linked);
        copies.map(|install| install.path.as_path())
    }

    /// Records that a build directory was installed now. A record that cannot be read is replaced.
    pub(crate) fn record(
        native_dir: &Path,
        plugin: &BuildDirectory,
        linked: bool,
        source: Source,
        now: jiff::Timestamp,
    ) -> Result<(), CliError> {
        let install = Install {
            path: plugin.path.clone(),
            sha256: plugin.sha256.clone(),
            installed_at: format!("{now:.0}"),
            linked,
            source,
        };
        let id = plugin.manifest.id.clone();
        Self::change(native_dir, Self::read(native_dir).is_err(), |installs| {
            installs.0.insert(id, install);
        })
    }

    /// Forgets a plugin.
    pub(crate) fn forget(native_dir: &Path, id: &str) -> Result<(), CliError> {
        Self::change(native_dir, false, |installs| {
            installs.0.retain(|key, _| !same_id(key, id));
        })
    }

    /// Changes the record, alone; `anew` gives up one that cannot be read.
    fn change(
        native_dir: &Path,
        anew: bool,
        change: impl FnOnce(&mut Self),
    ) -> Result<(), CliError> {
        let path = native_dir.join(FILE_NAME);
        let failed = |error: io::Error| CliError::io("write", &path, &error);
        let _alone = lock(native_dir).map_err(failed)?;
        let mut installs = match Self::read(native_dir) {
            Err(_) if anew => Self::default(),
            read => read?,
        };
        change(&mut installs);
        installs.write(native_dir, &path).map_err(failed)
    }

    fn write(&self, native_dir: &Path, path: &Path) -> io::Result<()> {
        let mut staged = tempfile::NamedTempFile::new_in(native_dir)?;
        serde_json::to_writer_pretty(&mut staged, self)?;
        staged.write_all(b"\n")?;
        staged.as_file().sync_all()?;
        staged.persist(path).map(drop).map_err(|error| error.error)
    }
}

/// Alone with the record until the file is dropped.
fn lock(native_dir: &Path) -> io::Result<File> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(native_dir)?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let file = options.open(native_dir.join(LOCK_NAME))?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_one_object_by_plugin_id() {
        let text = r#"{"e": {"path": "/p", "sha256": "ab", "installedAt": "2026-05-01T10:00:00Z", "linked": true, "later": 1}}"#;
        let installs: Installs = serde_json::from_str(text).expect("it is read");
        assert_eq!(installs.0["e"].path, Path::new("/p"));
        let native_dir = tempfile::tempdir().expect("a temporary directory can be made");
        let path = native_dir.path().join(FILE_NAME);
        installs
            .write(native_dir.path(), &path)
            .expect("it can be written");
        let again = Installs::read(native_dir.path()).expect("it is read again");
        assert_eq!(again, installs);
    }

    #[test]
    fn record_that_is_missing_is_empty_and_one_that_is_broken_is_named() {
        let native_dir = tempfile::tempdir().expect("a temporary directory can be made");
        let read = || Installs::read(native_dir.path());
        assert_eq!(read().expect("there is none"), Installs::default());
        fs::write(native_dir.path().join(FILE_NAME), "{").expect("a file can be written");
        let error = read().expect_err("it is broken");
        assert!(error.to_string().contains(FILE_NAME), "{error}");
        assert!(error.help().is_some_and(|help| help.contains("again")));
    }
}
