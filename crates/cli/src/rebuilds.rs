//! Keeps a running host on the newest build of its engine.
//!
//! Two places are watched: the linked build directory, which is what gets loaded, and the places where cargo puts the library
//! that `plugins build` made it from. A plain `cargo build` so finds its way into the directory, and from there into the host.

use crate::built::Built;
use crate::context::Context;
use crate::engines::Engines;
use crate::error::{CliError, chain};
use crate::output::Talk;
use crate::probing;
use openclaw_host::{Host, Reloaded};
use openclaw_loader::{BuildDirectory, Watch, check_file, inspect};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long nothing must happen to a file before it counts as written.
const QUIET: Duration = Duration::from_millis(300);

/// Follows an engine's builds until it is dropped.
#[derive(Debug)]
pub(crate) struct Rebuilds {
    _watch: Watch,
}

/// What is followed.
struct Followed {
    context: Context,
    host: Arc<Host>,
    engine_id: String,
    directory: PathBuf,
}

impl Rebuilds {
    /// Follows the build directory of an engine. Each new build, taken or not, is told in one line on stderr.
    pub(crate) fn follow(
        context: &Context,
        host: Arc<Host>,
        engine_id: &str,
        directory: &Path,
    ) -> Result<Self, CliError> {
        let libraries = Built::read(directory).map(|built| built.cargo_libraries);
        let paths = std::iter::once(directory.to_owned()).chain(libraries.into_iter().flatten());
        let followed = Followed {
            context: context.clone(),
            host,
            engine_id: engine_id.to_owned(),
            directory: directory.to_owned(),
        };
        let changed = move |path: &Path| followed.changed(path);
        let watch = Watch::start(paths.collect(), QUIET, changed).map_err(|error| {
            CliError::caused(
                &error,
                "the chat works without it; start it again after each build of the engine",
            )
        })?;
        Ok(Self { _watch: watch })
    }
}

impl Followed {
    fn changed(&self, path: &Path) {
        if path != self.directory {
            // What is put into the directory is seen there.
            match bring_in(path, &self.directory, &self.engine_id) {
                Ok(()) => {}
                Err(error) => self.keeps_serving(&error.to_string(), error.help()),
            }
            return;
        }
        self.probe();
        match self.host.reload(&self.engine_id) {
            Ok(Reloaded::Unchanged { .. }) => {}
            Ok(Reloaded::Replaced { generation, sha256 }) => Talk.talk(&format!(
                "engine {} reloaded: build {generation}, library {}",
                self.engine_id,
                &sha256[..sha256.len().min(12)]
            )),
            Err(error) => self.keeps_serving(&chain(&error), Some(&error.help())),
        }
    }

    /// Tries the new build out, so that what it promises is known before it serves. What is wrong with the directory, the
    /// reload tells.
    fn probe(&self) {
        if let Ok(engines) = Engines::read(&self.context) {
            probing::ensure(&self.context, &engines);
        }
    }

    fn keeps_serving(&self, reason: &str, help: Option<&str>) {
        let next = help.map(|help| format!("; {help}")).unwrap_or_default();
        Talk.warning(&format!(
            "the new build of engine {} is not used, the one before goes on serving: {reason}{next}",
            self.engine_id
        ));
    }
}

/// Puts the newest library that cargo made for a build directory into it; false when it is there already, or when the
/// directory was not made by `plugins build`.
pub(crate) fn bring_newest(directory: &BuildDirectory) -> Result<bool, CliError> {
    let places = Built::read(&directory.path).map(|built| built.cargo_libraries);
    let written = |path: &PathBuf| path.metadata().and_then(|it| it.modified()).ok();
    let made = places.into_iter().flatten();
    let newest = made.filter_map(|path| Some((written(&path)?, path))).max();
    let Some((time, library)) = newest else {
        return Ok(false);
    };
    if written(&directory.library).is_some_and(|present| present >= time) {
        return Ok(false);
    }
    bring_in(&library, &directory.path, &directory.manifest.id)?;
    let now = BuildDirectory::read(&directory.path)?;
    Ok(now.sha256 != directory.sha256)
}

/// Puts a library that cargo made into the build directory, whole or not at all. One that is there already, one that is not
/// this engine's, and one that was deleted stay out.
fn bring_in(library: &Path, directory: &Path, engine_id: &str) -> Result<(), CliError> {
    let unreadable = |error| CliError::io("read", library, &error);
    if !library.exists() {
        return Ok(());
    }
    check_file(library)?;
    let bytes = fs::read(library).map_err(unreadable)?;
    let facts = inspect(&bytes).map_err(|fault| {
        CliError::new(format!("{}: {fault}", library.display()), "build it again")
    })?;
    if facts.note.engine_id != engine_id {
        return Ok(());
    }
    let present = BuildDirectory::read(directory)?;
    let target = &present.library;
    if fs::read(target).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    let failed = |error| CliError::io("write", target, &error);
    let mut staged = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    staged.write_all(&bytes).map_err(failed)?;
    let permissions = target.metadata().map_err(failed)?.permissions();
    staged
        .as_file()
        .set_permissions(permissions)
        .map_err(failed)?;
    staged.as_file().sync_all().map_err(failed)?;
    staged
        .persist(target)
        .map_err(|error| failed(error.error))?;
    Ok(())
}
