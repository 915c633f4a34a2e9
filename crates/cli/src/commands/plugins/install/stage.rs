//! Where a copy grows before it is put into place: a fresh directory beside the target, dropped with all in it on failure.
//!
//! The one place that creates files for an installation. Names come from strangers: each is judged before anything is
//! made, every file is new, and nothing but directories and regular files exists.

use openclaw_loader::MANIFEST_FILE;
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How much may be unpacked or copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) file_bytes: u64,
    pub(super) total_bytes: u64,
    pub(super) entries: usize,
}

/// Those of the original.
pub(super) const LIMITS: Limits = Limits {
    file_bytes: 256 << 20,
    total_bytes: 512 << 20,
    entries: 50_000,
};

/// Why something is not unpacked or copied.
#[derive(Debug)]
pub(super) struct Refused(pub(super) String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// A directory that grows.
#[derive(Debug)]
pub(super) struct Stage {
    root: TempDir,
    limits: Limits,
    /// Lower-case names so far, and whether each is a directory: some file systems know no case.
    names: HashMap<String, (String, bool)>,
    bytes: u64,
    entries: usize,
}

impl Stage {
    /// An empty one in `extensions_dir`, which is made when it is missing.
    pub(super) fn new(extensions_dir: &Path, limits: Limits) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(extensions_dir)?;
        let root = tempfile::Builder::new()
            .prefix(".openclaw-install-stage-")
            .tempdir_in(extensions_dir)?;
        fs::create_dir(root.path().join("new"))?;
        Ok(Self {
            root,
            limits,
            names: HashMap::new(),
            bytes: 0,
            entries: 0,
        })
    }

    /// A directory of this name, with those it lies in.
    pub(super) fn directory(&mut self, name: &str) -> Result<(), Refused> {
        self.count(name)?;
        let parts = parts(name)?;
        self.directories(&parts, name)
    }

    /// A file of this name with what `content` holds; executable when the source was.
    pub(super) fn file(
        &mut self,
        name: &str,
        is_executable: bool,
        content: &mut dyn Read,
    ) -> Result<(), Refused> {
        self.count(name)?;
        let parts = parts(name)?;
        let Some((_, above)) = parts.split_last() else {
            return Err(Refused(format!("{name:?} is no name of a file")));
        };
        self.directories(above, name)?;
        let joined = parts.join("/");
        let known = self.names.insert(joined.to_lowercase(), (joined, false));
        if let Some((other, _)) = known {
            return Err(Refused(format!("{name:?} is there twice, as {other:?}")));
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            let mode = if is_executable { 0o755 } else { 0o644 };
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        }
        let mut file = options.open(self.content().join(parts.iter().collect::<PathBuf>()))?;
        let room = self
            .limits
            .file_bytes
            .min(self.limits.total_bytes - self.bytes);
        // One byte more than there is room for tells a file that ends from one that does not.
        let copied = io::copy(&mut content.take(room + 1), &mut file)
            .map_err(|error| Refused(format!("{name:?} cannot be unpacked: {error}")))?;
        if copied > room {
            let limit = if room == self.limits.file_bytes {
                format!("{name:?} is larger than {room} bytes")
            } else {
                format!("it holds more than {} bytes", self.limits.total_bytes)
            };
            return Err(Refused(limit));
        }
        self.bytes += copied;
        file.sync_all()?;
        Ok(())
    }

    fn count(&mut self, name: &str) -> Result<(), Refused> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            let limit = self.limits.entries;
            return Err(Refused(format!(
                "it has more than {limit} entries ({name:?})"
            )));
        }
        Ok(())
    }

    fn directories(&mut self, parts: &[&str], name: &str) -> Result<(), Refused> {
        for end in 1..=parts.len() {
            let joined = parts[..end].join("/");
            match self.names.get(&joined.to_lowercase()) {
                Some((other, true)) if *other == joined => continue,
                Some((other, _)) => {
                    return Err(Refused(format!("{name:?} is there twice, as {other:?}")));
                }
                None => {}
            }
            fs::create_dir(
                self.content()
                    .join(parts[..end].iter().collect::<PathBuf>()),
            )?;
            self.names.insert(joined.to_lowercase(), (joined, true));
        }
        Ok(())
    }

    fn content(&self) -> PathBuf {
        self.root.path().join("new")
    }

    /// The directory with the plugin: the top, or the only directory there.
    pub(super) fn plugin_dir(&self) -> Result<PathBuf, Refused> {
        let top = self.content();
        if top.join(MANIFEST_FILE).exists() {
            return Ok(top);
        }
        let mut names: Vec<&str> = self
            .names
            .values()
            .map(|(name, _)| name.as_str())
            .filter(|name| !name.contains('/'))
            .collect();
        names.sort_unstable();
        match names.as_slice() {
            [] => Err(Refused("it is empty".into())),
            [only] if top.join(only).is_dir() => Ok(top.join(only)),
            names => Err(Refused(format!(
                "there is no {MANIFEST_FILE} at its top and not exactly one directory: {}",
                names.iter().take(5).copied().collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// Puts `directory` of this stage where `target` is to be, in one step. What was there is moved aside first, and
    /// comes back when that step fails or is undone.
    pub(super) fn place(self, directory: &Path, target: &Path) -> io::Result<Placed> {
        #[cfg(unix)]
        fs::set_permissions(
            directory,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )?;
        let aside = self.root.path().join("old");
        let former = match fs::rename(target, &aside) {
            Ok(()) => Some(aside),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let placed = Placed {
            stage: self.root,
            former,
            target: target.to_owned(),
        };
        match fs::rename(directory, target) {
            Ok(()) => Ok(placed),
            Err(error) => {
                placed.bring_back()?;
                Err(error)
            }
        }
    }
}

/// A directory that was put into place. What it replaced is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Placed {
    stage: TempDir,
    former: Option<PathBuf>,
    target: PathBuf,
}

impl Placed {
    /// Takes the directory out again and brings back what was there.
    pub(super) fn undo(self) -> io::Result<()> {
        fs::rename(&self.target, self.stage.path().join("undone"))?;
        self.bring_back()
    }

    fn bring_back(self) -> io::Result<()> {
        let Some(former) = &self.former else {
            return Ok(());
        };
        fs::rename(former, &self.target).map_err(|error| {
            // Better in a wrong place than nowhere.
            let kept = self.stage.keep().join("old");
            io::Error::other(format!("{error}; the former copy is in {}", kept.display()))
        })
    }
}

/// The parts of a name below the stage. Nothing that leads elsewhere on any system is a name.
fn parts(name: &str) -> Result<Vec<&str>, Refused> {
    let wrong = |why: &str| Err(Refused(format!("the name {name:?} {why}")));
    if name.starts_with('/') {
        return wrong("is absolute");
    }
    if name.contains('\\') {
        return wrong("holds a backslash");
    }
    if name.contains('\0') {
        return wrong("holds a NUL");
    }
    let is_drive =
        name.as_bytes().get(1) == Some(&b':') && name.as_bytes()[0].is_ascii_alphabetic();
    if is_drive {
        return wrong("names a drive");
    }
    let parts: Vec<&str> = name
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.contains(&"..") {
        return wrong("leads out of the archive");
    }
    Ok(parts)
}

#[cfg(test)]
mod tests;
