//! Why a plugin is not trusted.

use std::path::PathBuf;

/// Why a plugin is not trusted. The path at fault stands in the error around it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustFault {
    /// Everybody may write it.
    #[error("blocked: everybody may write it (mode {mode:04o})")]
    WorldWritable {
        /// Its permission bits.
        mode: u32,
    },
    /// Everybody may put another directory in its place.
    #[error(
        "blocked: everybody may write {} (mode {mode:04o}, not sticky), and so put another directory in its place",
        parent.display()
    )]
    WritableParent {
        /// A directory above it.
        parent: PathBuf,
        /// Permission bits of that directory.
        mode: u32,
    },
    /// It belongs to neither this user nor root.
    #[error("blocked: it belongs to user {owner}, this host runs as user {own}")]
    ForeignOwner {
        /// The owner.
        owner: u32,
        /// The user of this process.
        own: u32,
    },
    /// The user of this process cannot be told.
    #[error("blocked: cannot tell the user of this process, because no temporary file can be made")]
    UnknownUser,
    /// The manifest or library lies elsewhere.
    #[error("blocked: it leads out of the build directory, to {}", to.display())]
    LeavesDirectory {
        /// Where it leads.
        to: PathBuf,
    },
    /// The library is a link, be it to a file beside it.
    #[error("blocked: it is a link to {}", to.display())]
    IsLink {
        /// Where it leads.
        to: PathBuf,
    },
    /// The same file has another name, through which it can be changed.
    #[error(
        "blocked: the file has {names} names (hard links), and may be changed through any of them"
    )]
    HardLinks {
        /// How many.
        names: u64,
    },
    /// Not the file that was installed.
    #[error("blocked: its SHA-256 is {found}, the copy that was installed had {installed}")]
    Changed {
        /// That of the file.
        found: String,
        /// That of the installed one.
        installed: String,
    },
    /// Not on the operator's list.
    #[error("blocked: its SHA-256 {sha256} is not in `plugins.allowedLibraries` of native.json5")]
    NotAllowed {
        /// That of the file.
        sha256: String,
    },
}

impl TrustFault {
    /// Short and stable name of the kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "load/changed",
            Self::NotAllowed { .. } => "load/not-allowed",
            Self::WorldWritable { .. }
            | Self::WritableParent { .. }
            | Self::ForeignOwner { .. }
            | Self::UnknownUser
            | Self::LeavesDirectory { .. }
            | Self::IsLink { .. }
            | Self::HardLinks { .. } => "load/untrusted",
        }
    }

    /// What to do next about the file at `path`.
    pub(crate) fn help(&self, path: &std::path::Path) -> String {
        let path = path.display();
        match self {
            Self::WorldWritable { .. } => {
                format!("take the right away: `chmod o-w {path}`, and look at what is in it")
            }
            Self::WritableParent { parent, .. } => format!(
                "take the right away: `chmod o-w {}`, or move the plugin to a directory of your own",
                parent.display()
            ),
            Self::ForeignOwner { .. } => {
                "install a copy of your own, or give it to the user of this host with `chown`"
                    .into()
            }
            Self::UnknownUser => "let this host write to the directory for temporary files".into(),
            Self::LeavesDirectory { .. } | Self::IsLink { .. } => {
                format!("put the file itself at {path}, or link the directory it is in")
            }
            Self::HardLinks { .. } => {
                format!("make it a file of its own: `cp {path} {path}.new && mv {path}.new {path}`")
            }
            Self::Changed { .. } => {
                "install the plugin again if the change is yours; otherwise find out who changed it"
                    .into()
            }
            Self::NotAllowed { .. } => {
                "add the hash to `plugins.allowedLibraries` in native.json5 if you trust this build"
                    .into()
            }
        }
    }
}
