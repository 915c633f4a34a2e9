//! Why a plugin cannot be used.

use crate::inspect::InspectFault;
use crate::manifest::MANIFEST_FILE;
use crate::trust::TrustFault;
use openclaw_interface::EngineError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a plugin cannot be used: which one, where, and what is wrong.
#[derive(Debug, thiserror::Error)]
#[error("cannot load {} from {}", self.subject(), path.display())]
pub struct LoadError {
    /// Plugin id, where the manifest could be read.
    pub plugin: Option<String>,
    /// The directory or file at fault.
    pub path: PathBuf,
    /// What is wrong.
    #[source]
    pub kind: LoadErrorKind,
}

/// What is wrong with a plugin. The text of each kind is the reason alone.
#[derive(Debug, thiserror::Error)]
pub enum LoadErrorKind {
    /// Nothing is there.
    #[error("there is nothing at this path")]
    Missing,
    /// A file where a build directory was wanted.
    #[error("this is a file, not a build directory")]
    NotADirectory,
    /// The system refused to read.
    #[error("cannot read it")]
    Unreadable(#[source] io::Error),
    /// A directory without manifest.
    #[error("no {MANIFEST_FILE} in it ({})", names(.found))]
    NoManifest {
        /// Names that are there, at most a few.
        found: Vec<String>,
        /// Whether it is a crate.
        is_crate: bool,
    },
    /// The manifest is too large.
    #[error("{MANIFEST_FILE} has {bytes} bytes, the limit is {limit}")]
    ManifestTooLarge {
        /// Its size.
        bytes: u64,
        /// The largest size read.
        limit: u64,
    },
    /// The manifest is no JSON5.
    #[error("{MANIFEST_FILE} does not parse: {0}")]
    ManifestSyntax(String),
    /// The manifest lacks something or holds a wrong value.
    #[error("{MANIFEST_FILE}: `{field}` {problem}")]
    ManifestField {
        /// The key.
        field: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// No engine library lies beside the manifest.
    #[error("no engine library for `{id}` in it ({})", libraries(.found))]
    NoLibrary {
        /// The engine wanted.
        id: String,
        /// What the libraries that are there turned out to be.
        found: Vec<String>,
    },
    /// Several libraries say they are the engine.
    #[error("several libraries bring engine `{id}`: {}", .found.join(", "))]
    SeveralLibraries {
        /// The engine wanted.
        id: String,
        /// Their names.
        found: Vec<String>,
    },
    /// The library file was refused before it was opened.
    #[error(transparent)]
    Inspect(#[from] InspectFault),
    /// The library is larger than any engine.
    #[error("the library has {bytes} bytes, the limit is {limit}")]
    LibraryTooLarge {
        /// Its size.
        bytes: u64,
        /// The largest size read.
        limit: u64,
    },
    /// Somebody else may change the plugin, or it is not the one that was allowed.
    #[error(transparent)]
    Untrusted(#[from] TrustFault),
    /// The private copy could not be made.
    #[error("cannot make a private copy to load")]
    Copy(#[source] io::Error),
    /// The system's loader refused the library.
    #[error("the system cannot open the library: {0}")]
    Open(String),
    /// The types of the library are not those of this host.
    #[error("the library was built against another contract layout: {0}")]
    Layout(String),
    /// The engine's description of itself is not acceptable; all problems at once.
    #[error("the engine breaks the contract: {}", .0.join("; "))]
    Contract(Vec<String>),
    /// The engine failed to describe itself.
    #[error("the engine failed to describe itself: {0}")]
    Describe(EngineError),
    /// The settings are not what the manifest's schema wants; all problems at once.
    #[error("its settings are invalid: {}", .0.join("; "))]
    Settings(Vec<String>),
}

impl LoadErrorKind {
    pub(crate) fn at(self, path: &Path) -> LoadError {
        LoadError {
            plugin: None,
            path: path.to_owned(),
            kind: self,
        }
    }
}

impl LoadError {
    fn subject(&self) -> String {
        self.plugin
            .as_ref()
            .map_or_else(|| "a plugin".into(), |plugin| format!("plugin `{plugin}`"))
    }

    pub(crate) fn of_plugin(mut self, id: &str) -> Self {
        self.plugin = Some(id.to_owned());
        self
    }

    /// Short and stable name of the kind, as listed in `docs/faults.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match &self.kind {
            LoadErrorKind::Missing => "load/missing",
            LoadErrorKind::NotADirectory => "load/not-a-directory",
            LoadErrorKind::Unreadable(_) => "load/unreadable",
            LoadErrorKind::NoManifest { .. } => "load/no-manifest",
            LoadErrorKind::ManifestTooLarge { .. } => "load/manifest-too-large",
            LoadErrorKind::ManifestSyntax(_) => "load/manifest-syntax",
            LoadErrorKind::ManifestField { .. } => "load/manifest-field",
            LoadErrorKind::NoLibrary { .. } => "load/no-library",
            LoadErrorKind::SeveralLibraries { .. } => "load/several-libraries",
            LoadErrorKind::Inspect(fault) => fault.code(),
            LoadErrorKind::LibraryTooLarge { .. } => "load/library-too-large",
            LoadErrorKind::Untrusted(fault) => fault.code(),
            LoadErrorKind::Copy(_) => "load/copy",
            LoadErrorKind::Open(_) => "load/open",
            LoadErrorKind::Layout(_) => "load/layout",
            LoadErrorKind::Contract(_) => "load/contract",
            LoadErrorKind::Describe(_) => "load/describe",
            LoadErrorKind::Settings(_) => "load/settings",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        let path = self.path.display();
        match &self.kind {
            LoadErrorKind::Missing => "check the path; relative paths start at the current directory".into(),
            LoadErrorKind::NotADirectory => {
                "name the build directory that `openclaw plugins build <crate> --out <directory>` made".into()
            }
            LoadErrorKind::NoManifest { is_crate: true, .. } => format!(
                "this is a crate: run `openclaw plugins build {path} --out <directory>`, then link that directory"
            ),
            LoadErrorKind::NoManifest { .. } => format!(
                "a build directory holds {MANIFEST_FILE} and the engine's library; `openclaw plugins build <crate> --out \
                 <directory>` makes one"
            ),
            LoadErrorKind::ManifestTooLarge { .. }
            | LoadErrorKind::ManifestSyntax(_)
            | LoadErrorKind::ManifestField { .. } => {
                format!("mend {path}, or build the plugin again")
            }
            LoadErrorKind::NoLibrary { .. } => {
                "build the plugin again: `openclaw plugins build <crate> --out <directory>`".into()
            }
            LoadErrorKind::SeveralLibraries { .. } => "leave only one of them in the directory".into(),
            LoadErrorKind::Inspect(fault) => fault.help().into(),
            LoadErrorKind::LibraryTooLarge { .. } => {
                "move what the engine carries to files that it reads, and build it again".into()
            }
            LoadErrorKind::Untrusted(fault) => fault.help(&self.path),
            LoadErrorKind::Unreadable(_) | LoadErrorKind::Copy(_) => "check the permissions and the space on disk".into(),
            LoadErrorKind::Open(_) => {
                "build the engine on this system or an older one, and install the libraries it needs".into()
            }
            LoadErrorKind::Layout(_) => "rebuild the engine against the interface crate of this host".into(),
            LoadErrorKind::Contract(_) | LoadErrorKind::Describe(_) => "this is for the engine's author to mend".into(),
            LoadErrorKind::Settings(_) => {
                let id = self.plugin.as_deref().unwrap_or("<id>");
                format!("mend `plugins.entries.{id}.config` in openclaw.json")
            }
        }
    }
}

fn names(names: &[String]) -> String {
    if names.is_empty() {
        "it is empty".into()
    } else {
        format!("found: {}", names.join(", "))
    }
}

fn libraries(found: &[String]) -> String {
    if found.is_empty() {
        format!("there is no *{} file", std::env::consts::DLL_SUFFIX)
    } else {
        names(found)
    }
}
