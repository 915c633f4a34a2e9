//! What comes of replacing an engine while turns run.

use openclaw_interface::EngineError;
use openclaw_loader::LoadError;
use std::io;
use std::path::PathBuf;

/// What a reload did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reloaded {
    /// Library and settings are those that serve already; nothing was opened.
    Unchanged {
        /// The build that serves.
        generation: u64,
    },
    /// A new build serves from the next turn on. Turns that run now end with the old one.
    Replaced {
        /// The build that serves, counted from 1 for each engine in this process.
        generation: u64,
        /// SHA-256 of its library, lower-case hex.
        sha256: String,
    },
}

/// Why an engine was not replaced. Whatever served before still does.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// No plugin brings the engine.
    #[error("context engine `{0}` is not registered")]
    NotRegistered(String),
    /// It is no plugin.
    #[error("the built-in engine is a part of this program")]
    BuiltIn,
    /// The new build was refused.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The build directory holds another engine than before.
    #[error("{} holds engine `{found}` now, no longer `{wanted}`", directory.display())]
    OtherEngine {
        /// The directory.
        directory: PathBuf,
        /// The engine that was to be reloaded.
        wanted: String,
        /// What is there.
        found: String,
    },
    /// The new build could not be tried out.
    #[error("cannot make a directory to try the new build in")]
    Scratch(#[source] io::Error),
    /// The new build was loaded, and failed when it was tried out.
    #[error("the new build of engine `{engine_id}` does not work: {operation} failed")]
    Trial {
        /// The engine.
        engine_id: String,
        /// `factory` or `dispose`.
        operation: &'static str,
        /// How.
        #[source]
        error: EngineError,
    },
    /// Too many replaced libraries are still mapped.
    #[error("{mapped} replaced libraries are still mapped in this process, the limit is {limit}")]
    Budget {
        /// How many.
        mapped: u64,
        /// The limit.
        limit: u64,
    },
}

impl ReloadError {
    /// Short and stable name of the kind, as listed in `docs/faults.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotRegistered(_) => "reload/not-registered",
            Self::BuiltIn => "reload/built-in",
            Self::Load(error) => error.code(),
            Self::OtherEngine { .. } => "reload/other-engine",
            Self::Scratch(_) => "reload/scratch",
            Self::Trial { .. } => "reload/trial",
            Self::Budget { .. } => "reload/budget",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotRegistered(_) => {
                "link it with `openclaw plugins install -l <build directory>` and start again".into()
            }
            Self::BuiltIn => "reload an engine that a plugin brings".into(),
            Self::Load(error) => error.help(),
            Self::OtherEngine { wanted, .. } => {
                format!("build `{wanted}` there again, or link the other engine under its own id")
            }
            Self::Scratch(_) => "check the permissions and the space on disk below native/run".into(),
            Self::Trial { .. } => {
                "mend the engine and build it again; the old build goes on serving".into()
            }
            Self::Budget { .. } => {
                "start this process again; or raise `reload.leakedGenerations` in native.json5; or, if it is true of the \
                 engine, export it as `unloadable`"
                    .into()
            }
        }
    }
}
