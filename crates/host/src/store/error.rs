//! Why the store could not do what was asked.

use std::io;
use std::path::{Path, PathBuf};

/// Why the store could not do what was asked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempted} the session store {}", path.display())]
pub struct StoreError {
    /// What was attempted.
    pub attempted: &'static str,
    /// The store's file.
    pub path: PathBuf,
    /// What is wrong.
    #[source]
    pub kind: StoreErrorKind,
}

/// What is wrong with a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreErrorKind {
    /// Another process is the writer.
    #[error("another openclaw process is using it")]
    Locked,
    /// A newer version made it.
    #[error("its schema is version {found}, this program knows up to {known}")]
    Newer {
        /// Version in the file.
        found: i64,
        /// Newest version this program reads.
        known: i64,
    },
    /// The file is not what it should be.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// Nothing has this name.
    #[error("there is no session `{0}`")]
    NoSession(String),
    /// A transcript with this id is there, with other entries.
    #[error("session id `{0}` is taken by another transcript")]
    SessionTaken(String),
    /// The system refused.
    #[error(transparent)]
    Io(io::Error),
    /// SQLite refused.
    #[error(transparent)]
    Sql(rusqlite::Error),
}

impl StoreError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match &self.kind {
            StoreErrorKind::Locked => "wait for the other process to finish, or stop it",
            StoreErrorKind::Newer { .. } => "update openclaw; the file was left as it is",
            StoreErrorKind::Damaged(_) => {
                "move the file aside and keep it; sessions that were exported can be imported again"
            }
            StoreErrorKind::NoSession(_) => "`openclaw sessions list` shows the sessions there are",
            StoreErrorKind::SessionTaken(_) => {
                "give the transcript another id in its header, or leave it out"
            }
            StoreErrorKind::Io(_) | StoreErrorKind::Sql(_) => {
                "check the permissions and the space on disk"
            }
        }
    }
}

/// What is being attempted, for errors.
pub(crate) struct Attempt {
    what: &'static str,
    path: PathBuf,
}

impl Attempt {
    pub(crate) fn new(what: &'static str, path: &Path) -> Self {
        Self {
            what,
            path: path.to_owned(),
        }
    }

    pub(crate) fn kind(&self, kind: StoreErrorKind) -> StoreError {
        StoreError {
            attempted: self.what,
            path: self.path.clone(),
            kind,
        }
    }

    pub(crate) fn io(&self, error: io::Error) -> StoreError {
        self.kind(StoreErrorKind::Io(error))
    }

    pub(crate) fn sql(&self, error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => {
                self.kind(StoreErrorKind::Damaged(error.to_string()))
            }
            _ => self.kind(StoreErrorKind::Sql(error)),
        }
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> StoreError {
        self.kind(StoreErrorKind::Damaged(what.into()))
    }
}
