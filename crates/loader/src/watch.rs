//! Tells when files or directories have changed, however that was done: written in place, renamed over, deleted and made
//! again, or reached through a link that now leads elsewhere.
//!
//! Knows nothing of libraries: whoever is told reads the content and decides.

#[cfg(test)]
mod tests;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How many links on the way to a path are followed.
const LINK_LIMIT: usize = 40;

/// How often the quiet time is waited for before a path that never rests is reported all the same.
const PATIENCE: u32 = 20;

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watch {
    // Dropping it ends the thread: its channel closes.
    _watcher: Arc<Mutex<RecommendedWatcher>>,
}

/// Why nothing can be watched.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch {}", path.display())]
pub struct WatchError {
    /// What was to be watched.
    pub path: PathBuf,
    /// Why not.
    #[source]
    pub error: notify::Error,
}

impl Watch {
    /// Watches `paths` (absolute; files or directories, there already or not) and hands each that changed to `changed`, on
    /// a thread of its own, once nothing has happened to it for `quiet`.
    ///
    /// A linker that writes in pieces is reported once, when it is done; a path that never rests after a while.
    ///
    /// # Errors
    ///
    /// The system gives no watches, or a directory may not be read.
    pub fn start(
        paths: Vec<PathBuf>,
        quiet: Duration,
        changed: impl FnMut(&Path) + Send + 'static,
    ) -> Result<Self, WatchError> {
        let first = paths.first().cloned().unwrap_or_default();
        let (sender, events) = channel();
        let watcher = notify::recommended_watcher(move |event| {
            // The other end is gone when nobody watches any more.
            let _ = sender.send(event);
        })
        .map_err(|error| WatchError { path: first, error })?;
        let watcher = Arc::new(Mutex::new(watcher));
        let mut watched = Watched {
            watcher: Arc::downgrade(&watcher),
            directories: BTreeSet::new(),
            paths: Vec::new(),
        };
        watched.renew(&paths)?;
        std::thread::Builder::new()
            .name("openclaw-watch".into())
            .spawn(move || watched.run(&paths, &events, quiet, changed))
            .map_err(|error| WatchError {
                path: PathBuf::new(),
                error: notify::Error::io(error),
            })?;
        Ok(Self { _watcher: watcher })
    }
}

/// What is watched at the moment.
struct Watched {
    watcher: Weak<Mutex<RecommendedWatcher>>,
    /// Directories the system watches.
    directories: BTreeSet<PathBuf>,
    /// For each path: the names on the way to it whose change is its change.
    paths: Vec<BTreeSet<PathBuf>>,
}

impl Watched {
    fn run(
        mut self,
        paths: &[PathBuf],
        events: &Receiver<notify::Result<Event>>,
        quiet: Duration,
        mut changed: impl FnMut(&Path),
    ) {
        while let Ok(event) = events.recv() {
            let mut touched = self.touched_by(&event);
            if touched.is_empty() {
                continue;
            }
            self.settle(events, quiet, &mut touched);
            // Ahead of the report: what happens from here on is seen again, what happened before is what will be read.
            if let Err(error) = self.renew(paths) {
                tracing::warn!(path = %error.path.display(), reason = %error.error, "a change may be missed");
            }
            for index in touched {
                changed(&paths[index]);
            }
        }
    }

    /// Waits until nothing has happened for `quiet`.
    fn settle(
        &self,
        events: &Receiver<notify::Result<Event>>,
        quiet: Duration,
        touched: &mut BTreeSet<usize>,
    ) {
        let end = Instant::now() + quiet * PATIENCE;
        let mut rest = quiet;
        loop {
            let asked = Instant::now();
            match events.recv_timeout(rest.min(end.saturating_duration_since(asked))) {
                Ok(event) => {
                    let more = self.touched_by(&event);
                    rest = match more.is_empty() {
                        true => rest.saturating_sub(asked.elapsed()),
                        false => quiet,
                    };
                    touched.extend(more);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Which paths an event is about. An event that tells nothing, such as an overflow, is about all of them.
    fn touched_by(&self, event: &notify::Result<Event>) -> BTreeSet<usize> {
        let all = || (0..self.paths.len()).collect();
        let Ok(event) = event else { return all() };
        if event.need_rescan() {
            return all();
        }
        if !is_change(&event.kind) {
            return BTreeSet::new();
        }
        let is_about =
            |names: &BTreeSet<PathBuf>| event.paths.iter().any(|path| concerns(path, names));
        let about = self.paths.iter().enumerate();
        about
            .filter(|(_, names)| is_about(names))
            .map(|(index, _)| index)
            .collect()
    }

    /// Watches what the paths lead to now.
    fn renew(&mut self, paths: &[PathBuf]) -> Result<(), WatchError> {
        let Some(watcher) = self.watcher.upgrade() else {
            return Ok(());
        };
        let mut watcher = watcher.lock();
        self.paths = paths.iter().map(|path| names_of(path)).collect();
        let names = self.paths.iter().flatten();
        let directories: BTreeSet<PathBuf> = names.flat_map(|name| directories_of(name)).collect();
        for gone in self.directories.difference(&directories) {
            // What was deleted is not watched any more anyway.
            let _ = watcher.unwatch(gone);
        }
        // Also those that were watched: another directory may have their name by now.
        for directory in &directories {
            watcher
                .watch(directory, RecursiveMode::NonRecursive)
                .map_err(|error| WatchError {
                    path: directory.clone(),
                    error,
                })?;
        }
        self.directories = directories;
        Ok(())
    }
}

/// Whether something may be different afterwards. Reading is no change: whoever is told of one reads.
fn is_change(kind: &EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    }
}

/// Whether what happened to `path` is below one of the names, or is a directory on the way to it.
fn concerns(path: &Path, names: &BTreeSet<PathBuf>) -> bool {
    names
        .iter()
        .any(|name| path.starts_with(name) || name.starts_with(path))
}

/// The names that decide what is at `path`: itself, each link on the way, and what they lead to.
fn names_of(path: &Path) -> BTreeSet<PathBuf> {
    let mut names = BTreeSet::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if names.len() > LINK_LIMIT || names.contains(&path) {
            continue;
        }
        for ancestor in path.ancestors() {
            let Ok(target) = ancestor.read_link() else {
                continue;
            };
            let target = ancestor.parent().unwrap_or(ancestor).join(target);
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            open.push(target.join(rest));
            names.insert(ancestor.to_owned());
        }
        names.insert(path);
    }
    // Events come under the name a directory was watched by; the real one is always among them.
    names.extend(path.canonicalize());
    names
}

/// The directories in which a change of `name` shows: itself where it is one, and the nearest one above it that is there.
fn directories_of(name: &Path) -> Vec<PathBuf> {
    let own = name.is_dir().then(|| name.to_owned());
    let above = name.ancestors().skip(1).find(|path| path.is_dir());
    own.into_iter().chain(above.map(Path::to_owned)).collect()
}
