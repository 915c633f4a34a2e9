//! Changing a config file: lock, read again, edit, replace in one step.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::document::Config;
use crate::edit::{Edit, EditError, apply};
use crate::error::ConfigErrorKind;
use crate::lock::{Lock, LockError};

/// What a missing config file is taken for.
const NEW_FILE: &str = "{}\n";

/// How a write behaves.
#[derive(Debug, Clone, Copy)]
pub struct WriteOptions {
    /// Refuse every write, as `OPENCLAW_CONFIG_READONLY=1` asks.
    pub read_only: bool,
    /// How long to wait for another writer. Default 10 s.
    pub lock_wait: Duration,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            read_only: false,
            lock_wait: Duration::from_secs(10),
        }
    }
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// `false` when the file already said what was asked for; then nothing was written.
    pub changed: bool,
}

/// A config file was not written and is as it was.
#[derive(Debug, thiserror::Error)]
#[error("cannot write config {}", path.display())]
pub struct WriteError {
    /// The file, with symbolic links resolved.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub kind: WriteErrorKind,
}

/// Why a config file was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteErrorKind {
    /// The caller's environment forbids writes.
    #[error("config is read-only here")]
    ReadOnly,
    /// Another process kept the lock.
    #[error("another process kept {} for {waited_ms} ms", lock.display())]
    Busy {
        /// The lock file.
        lock: PathBuf,
        /// How long this one waited.
        waited_ms: u128,
    },
    /// The present file cannot be used, or the part to change lives in another file.
    #[error(transparent)]
    Config(ConfigErrorKind),
    /// The text could not be changed as planned.
    #[error(transparent)]
    Edit(Box<EditError>),
    /// The system refused a step.
    #[error("{step} failed")]
    Io {
        /// The step, such as `creating the lock file`.
        step: &'static str,
        /// What the system said.
        #[source]
        error: io::Error,
    },
}

impl WriteError {
    /// Short stable code of the kind, such as `config/read-only`.
    pub fn code(&self) -> &'static str {
        match &self.kind {
            WriteErrorKind::ReadOnly => "config/read-only",
            WriteErrorKind::Busy { .. } => "config/busy",
            WriteErrorKind::Config(kind) => kind.code(),
            WriteErrorKind::Edit(error) => error.code(),
            WriteErrorKind::Io { .. } => "config/write",
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match &self.kind {
            WriteErrorKind::ReadOnly => {
                "unset OPENCLAW_CONFIG_READONLY, or change the config where it is managed"
                    .to_owned()
            }
            WriteErrorKind::Busy { .. } => "wait for the other command and try again".to_owned(),
            WriteErrorKind::Config(kind) => kind.help(&self.path),
            WriteErrorKind::Edit(error) => error.help(),
            WriteErrorKind::Io { .. } => {
                let folder = folder_of(&self.path).display();
                format!("check that this user can create files in {folder}")
            }
        }
    }
}

/// Changes the config file at `path` as `plan` says.
///
/// Takes `<file>.lock`, reads the file, asks `plan` for the edits, and replaces the file in one step. `plan` sees the
/// state that is then changed, so two writers cannot undo each other; it must not call `edit_file` itself.
///
/// A symbolic link stays a link; its target is changed. The mode stays; a new file gets 0600. The former text is kept
/// in `<file>.bak`. A missing file is created only when there is something to write.
///
/// # Errors
///
/// A [`WriteError`] turned into `E`, or the error of `plan`. The file is then as it was. `Config` with `Included` when
/// an edit leads into a part that `$include` takes from another file.
pub fn edit_file<E: From<WriteError>>(
    path: &Path,
    options: WriteOptions,
    plan: impl FnOnce(&Config) -> Result<Vec<Edit>, E>,
) -> Result<Outcome, E> {
    let target = resolve_links(path).map_err(|error| WriteError {
        path: path.to_owned(),
        kind: io_kind("resolving the path", error),
    })?;
    let fail = |kind| WriteError {
        path: target.clone(),
        kind,
    };
    if options.read_only {
        return Err(fail(WriteErrorKind::ReadOnly).into());
    }
    // Before the lock, so that a config that cannot be used leaves no trace at all.
    Config::read(&target).map_err(|error| fail(WriteErrorKind::Config(error.kind)))?;

    create_folder(folder_of(&target))
        .map_err(|error| fail(io_kind("creating the directory", error)))?;
    let lock = with_suffix(&target, ".lock");
    let _lock = Lock::take(lock.clone(), options.lock_wait).map_err(|error| {
        fail(match error {
            LockError::Busy => WriteErrorKind::Busy {
                lock,
                waited_ms: options.lock_wait.as_millis(),
            },
            LockError::Io(error) => io_kind("creating the lock file", error),
        })
    })?;

    let config = Config::read(&target).map_err(|error| fail(WriteErrorKind::Config(error.kind)))?;
    let edits = plan(&config)?;
    for edit in &edits {
        let keys: Vec<&str> = edit.path().iter().map(String::as_str).collect();
        config
            .refuse_include(&keys)
            .map_err(|error| fail(WriteErrorKind::Config(error.kind)))?;
    }
    let before = config.text().unwrap_or(NEW_FILE);
    let after =
        apply(before, &edits).map_err(|error| fail(WriteErrorKind::Edit(Box::new(error))))?;
    if after == before {
        return Ok(Outcome { changed: false });
    }
    replace(&target, config.text(), &after).map_err(|(step, error)| fail(io_kind(step, error)))?;
    Ok(Outcome { changed: true })
}

/// Writes `after` to `target` and, where there was a file, its former text beside it.
fn replace(
    target: &Path,
    former: Option<&str>,
    after: &str,
) -> Result<(), (&'static str, io::Error)> {
    let metadata = match former {
        Some(_) => Some(fs::metadata(target).map_err(|error| ("reading the mode", error))?),
        None => None,
    };
    let fresh = beside(target, after, metadata.as_ref())
        .map_err(|error| ("writing a temporary file", error))?;
    if let Some(former) = former {
        beside(target, former, metadata.as_ref())
            .and_then(|backup| Ok(backup.persist(backup_of(target))?))
            .map_err(|error| ("keeping the former text", error))?;
    }
    fresh
        .persist(target)
        .map_err(|error| ("replacing the file", error.error))?;
    // The new file stands whether or not this succeeds; only a crash right now could lose it.
    if let Ok(folder) = File::open(folder_of(target)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A synced temporary file in the directory of `target`, 0600 until it has the mode and owner of `like`.
fn beside(
    target: &Path,
    text: &str,
    like: Option<&fs::Metadata>,
) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix(".openclaw-config-")
        .tempfile_in(folder_of(target))?;
    file.write_all(text.as_bytes())?;
    if let Some(like) = like {
        copy_access(file.as_file(), like)?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(unix)]
fn copy_access(file: &File, like: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut mode = like.mode() & 0o777;
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid())
        && fchown(file, Some(like.uid()), Some(like.gid())).is_err()
    {
        // Another owner or group: what the old ones were granted is not for the new ones.
        mode &= 0o700;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn copy_access(file: &File, like: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}

fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The file that `path` leads to; `path` itself when nothing is there.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => fs::canonicalize(path),
        Ok(_) | Err(_) => Ok(path.to_owned()),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// Where the former text of the file at `path` is kept.
pub(crate) fn backup_of(path: &Path) -> PathBuf {
    with_suffix(path, ".bak")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn io_kind(step: &'static str, error: io::Error) -> WriteErrorKind {
    WriteErrorKind::Io { step, error }
}

#[cfg(test)]
mod tests;
