//! A directory whose files can be reached, and nothing else.
//!
//! Every access starts at a handle of the directory, and the system is told to stay below it at each step of a path. So
//! `..`, links and a directory that is swapped for a link in mid-access lead nowhere; links that stay inside work,
//! except absolute ones. Hard links and mounts cannot be told apart from what lies here, and are followed.

use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

/// The directory. Clones share its handle.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// As given, absolute.
    root: PathBuf,
    /// Without links.
    real_root: PathBuf,
    dir: Arc<Dir>,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) name: String,
    pub(crate) is_dir: bool,
}

/// Why a file could not be reached. The texts are for the model as well.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum AccessError {
    #[error("{path} lies outside of {root}")]
    Outside { path: String, root: String },
    #[error("{path} does not exist")]
    NotFound { path: String },
    #[error("{path} is a directory")]
    Directory { path: String },
    #[error("{path} is no regular file")]
    NotAFile { path: String },
    #[error("{path} has {bytes} bytes, more than the {max_bytes} that are read at once")]
    TooLarge {
        path: String,
        bytes: u64,
        max_bytes: u64,
    },
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
}

impl Workspace {
    /// Opens the directory at an absolute path.
    ///
    /// # Errors
    ///
    /// When there is no directory that can be opened.
    pub fn open(root: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        Ok(Self {
            root: root.to_owned(),
            real_root: root.canonicalize()?,
            dir: Arc::new(dir),
        })
    }

    /// Its path, as it was opened.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path below the root that a path from elsewhere means; relative ones start at the root. Looks at no file.
    pub(crate) fn below(&self, path: &Path) -> Option<PathBuf> {
        let below = if path.is_absolute() {
            path.strip_prefix(&self.root)
                .or_else(|_| path.strip_prefix(&self.real_root))
                .ok()?
        } else {
            path
        };
        let is_root = below.components().all(|part| part == Component::CurDir);
        Some(if is_root {
            PathBuf::from(".")
        } else {
            below.to_owned()
        })
    }

    /// The bytes of a regular file of at most `max_bytes`.
    pub(crate) fn read(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>, AccessError> {
        let failed = |error| self.error(path, error);
        let file = self.open_file(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(AccessError::Directory { path: shown(path) });
        }
        if !metadata.is_file() {
            return Err(AccessError::NotAFile { path: shown(path) });
        }
        let mut bytes = Vec::new();
        // The file may grow meanwhile.
        file.take(max_bytes.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() as u64 > max_bytes {
            let bytes = metadata.len().max(bytes.len() as u64);
            return Err(AccessError::TooLarge {
                path: shown(path),
                bytes,
                max_bytes,
            });
        }
        Ok(bytes)
    }

    /// Opens without waiting: a pipe that nobody writes to would never open.
    fn open_file(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            let flags = rustix::fs::OFlags::NONBLOCK.bits();
            options.custom_flags(flags.cast_signed());
        }
        self.dir.open_with(path, &options)
    }

    /// Replaces or makes a file in one step, directories above it included. A link is followed, rights stay.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), AccessError> {
        self.write_file(path, bytes)
            .map_err(|error| self.error(path, error))?
    }

    fn write_file(&self, path: &Path, bytes: &[u8]) -> io::Result<Result<(), AccessError>> {
        let target = match self.dir.canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            target => target?,
        };
        let old = match self.dir.metadata(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            old => Some(old?),
        };
        match &old {
            Some(old) if old.is_dir() => {
                return Ok(Err(AccessError::Directory { path: shown(path) }));
            }
            Some(old) if !old.is_file() => {
                return Ok(Err(AccessError::NotAFile { path: shown(path) }));
            }
            _ => {}
        }
        let folder = target
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            self.dir.create_dir_all(folder)?;
        }
        let beside = folder.unwrap_or(Path::new(".")).join(fresh_name());
        let written = self.write_beside(&beside, bytes, old.map(|old| old.permissions()));
        let moved = written.and_then(|()| self.dir.rename(&beside, &self.dir, &target));
        if moved.is_err() {
            // It may not be there at all.
            let _ = self.dir.remove_file(&beside);
        }
        moved.map(Ok)
    }

    fn write_beside(
        &self,
        path: &Path,
        bytes: &[u8],
        permissions: Option<cap_std::fs::Permissions>,
    ) -> io::Result<()> {
        let mut file = self
            .dir
            .open_with(path, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(bytes)?;
        permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), AccessError> {
        self.dir
            .remove_file(path)
            .map_err(|error| self.error(path, error))
    }

    /// Whether anything is there, a link to nowhere included.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.dir.symlink_metadata(path).is_ok()
    }

    /// The names in a directory, in no order; at most `limit`.
    pub(crate) fn names(&self, path: &Path, limit: usize) -> Result<Vec<Name>, AccessError> {
        let failed = |error| self.error(path, error);
        let entries = self.dir.read_dir(path).map_err(failed)?;
        entries
            .take(limit)
            .map(|entry| {
                let entry = entry.map_err(failed)?;
                Ok(Name {
                    name: entry.file_name().to_string_lossy().into_owned(),
                    is_dir: entry.file_type().is_ok_and(|kind| kind.is_dir()),
                })
            })
            .collect()
    }

    /// The real path of a directory below the root.
    pub(crate) fn real_dir(&self, path: &Path) -> Result<PathBuf, AccessError> {
        let failed = |error| self.error(path, error);
        let below = self.dir.canonicalize(path).map_err(failed)?;
        if !self.dir.metadata(&below).map_err(failed)?.is_dir() {
            return Err(self.error(path, io::ErrorKind::NotADirectory.into()));
        }
        Ok(self.real_root.join(below))
    }

    fn error(&self, path: &Path, error: io::Error) -> AccessError {
        let path = shown(path);
        match error.kind() {
            io::ErrorKind::NotFound => AccessError::NotFound { path },
            io::ErrorKind::IsADirectory => AccessError::Directory { path },
            // Without a number of the system: a step would have led out.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => self.outside(path),
            _ => AccessError::Io {
                path,
                source: error,
            },
        }
    }

    pub(crate) fn outside(&self, path: String) -> AccessError {
        AccessError::Outside {
            path,
            root: self.root.display().to_string(),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn fresh_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!(
        ".openclaw-{}-{}.tmp",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("ws")).unwrap();
        fs::write(home.path().join("outside"), "made-up").unwrap();
        let workspace = Workspace::open(&home.path().join("ws")).unwrap();
        (home, workspace)
    }

    #[test]
    fn a_file_is_written_and_read_back() {
        let (_home, workspace) = workspace();
        let path = Path::new("a/b/c.txt");
        for text in ["one", "two"] {
            workspace.write(path, text.as_bytes()).unwrap();
            assert_eq!(workspace.read(path, 3).unwrap(), text.as_bytes());
        }
        assert!(matches!(
            workspace.read(path, 2),
            Err(AccessError::TooLarge { bytes: 3, .. })
        ));
        let names = workspace.names(Path::new("a/b"), 10).unwrap();
        assert_eq!(
            names,
            [Name {
                name: "c.txt".to_owned(),
                is_dir: false
            }]
        );
        assert!(matches!(
            workspace.read(Path::new("a"), 9),
            Err(AccessError::Directory { .. })
        ));
        assert!(matches!(
            workspace.write(Path::new("a"), b""),
            Err(AccessError::Directory { .. })
        ));
        workspace.remove(path).unwrap();
        assert!(matches!(
            workspace.read(path, 9),
            Err(AccessError::NotFound { .. })
        ));
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        let (home, workspace) = workspace();
        fs::create_dir(home.path().join("ws/a")).unwrap();
        for path in ["../outside", "a/../../outside", "a/../../ws2/x"] {
            let path = Path::new(path);
            assert!(
                matches!(workspace.read(path, 99), Err(AccessError::Outside { .. })),
                "{path:?}"
            );
            assert!(
                matches!(
                    workspace.write(path, b"x"),
                    Err(AccessError::Outside { .. })
                ),
                "{path:?}"
            );
            assert!(
                matches!(workspace.remove(path), Err(AccessError::Outside { .. })),
                "{path:?}"
            );
        }
        assert_eq!(workspace.below(&home.path().join("outside")), None);
        assert_eq!(workspace.below(&home.path().join("ws/x")), Some("x".into()));
        assert_eq!(workspace.below(&home.path().join("ws")), Some(".".into()));
        assert_eq!(
            fs::read_to_string(home.path().join("outside")).unwrap(),
            "made-up"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_work_inside_and_lead_nowhere_outside() {
        use std::os::unix::fs::symlink;
        let (home, workspace) = workspace();
        let ws = home.path().join("ws");
        fs::create_dir(ws.join("dir")).unwrap();
        symlink("../../outside", ws.join("dir/out")).unwrap();
        symlink(home.path(), ws.join("home")).unwrap();
        symlink("dir", ws.join("inside")).unwrap();
        for path in ["dir/out", "home/outside", "inside/out"] {
            let path = Path::new(path);
            assert!(
                matches!(workspace.read(path, 99), Err(AccessError::Outside { .. })),
                "{path:?}"
            );
        }
        for path in ["dir/out", "home/new"] {
            let path = Path::new(path);
            assert!(
                matches!(
                    workspace.write(path, b"x"),
                    Err(AccessError::Outside { .. })
                ),
                "{path:?}"
            );
        }
        assert!(!home.path().join("new").exists());
        workspace.write(Path::new("inside/file"), b"x").unwrap();
        assert_eq!(fs::read(ws.join("dir/file")).unwrap(), b"x");
        symlink("dir/file", ws.join("link")).unwrap();
        workspace.write(Path::new("link"), b"y").unwrap();
        assert_eq!(fs::read(ws.join("dir/file")).unwrap(), b"y");
        assert!(fs::symlink_metadata(ws.join("link")).unwrap().is_symlink());
    }

    /// A directory that becomes a link while it is used.
    #[cfg(unix)]
    #[test]
    fn a_directory_swapped_for_a_link_leads_nowhere() {
        use std::os::unix::fs::symlink;
        use std::sync::atomic::AtomicBool;
        let (home, workspace) = workspace();
        let ws = home.path().join("ws");
        fs::create_dir(ws.join("real")).unwrap();
        fs::write(ws.join("real/outside"), "inside").unwrap();
        symlink(home.path(), ws.join("bad")).unwrap();
        symlink("real", ws.join("good")).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    fs::rename(ws.join("good"), ws.join("door")).unwrap();
                    fs::rename(ws.join("bad"), ws.join("good")).unwrap();
                    fs::rename(ws.join("door"), ws.join("bad")).unwrap();
                }
            });
            let mut read = 0;
            for _ in 0..3_000 {
                match workspace.read(Path::new("good/outside"), 99) {
                    Ok(bytes) => {
                        assert_eq!(bytes, b"inside");
                        read += 1;
                    }
                    Err(
                        AccessError::Outside { .. }
                        | AccessError::NotFound { .. }
                        | AccessError::Io { .. },
                    ) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            stop.store(true, Ordering::Relaxed);
            assert!(read > 0, "the file was never reached");
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_file_and_nobody_waits_for_it() {
        let (home, workspace) = workspace();
        let made = std::process::Command::new("mkfifo")
            .arg(home.path().join("ws/pipe"))
            .status();
        assert!(made.unwrap().success());
        for outcome in [
            workspace.read(Path::new("pipe"), 9).err(),
            workspace.write(Path::new("pipe"), b"x").err(),
        ] {
            assert!(
                matches!(outcome, Some(AccessError::NotAFile { .. })),
                "{outcome:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn rights_stay_when_a_file_is_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let (home, workspace) = workspace();
        let path = home.path().join("ws/run.sh");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        workspace.write(Path::new("run.sh"), b"new").unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o750
        );
        assert_eq!(fs::read_dir(home.path().join("ws")).unwrap().count(), 1);
    }
}
