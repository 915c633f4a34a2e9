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
    /// The file may only be read, and somebody is writing it.
    #[error("it may only be read, and another process is writing it")]
    ReadOnly,
    /// Another process is writing it, for longer than is waited.
    #[error("another process is writing it")]
    Busy,
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
    /// Another process wrote the session since it was read.
    #[error("session `{0}` was changed by another process while it was being worked on")]
    Changed(String),
    /// A transcript with this id is there, with other entries from the first on.
    #[error("session id `{0}` is taken by another transcript")]
    SessionTaken(String),
    /// A transcript with this id is there, begins like this one and goes on differently.
    #[error(
        "the session `{session_id}` is there and has gone on differently: the file parts from it at line {line}"
    )]
    Forked {
        /// Id of both transcripts.
        session_id: String,
        /// The first line of the file that is not what is stored.
        line: usize,
    },
    /// The key is that of another transcript.
    #[error("session key `{key}` is taken by the session `{session_id}`")]
    KeyTaken {
        /// The key.
        key: String,
        /// Id of the transcript behind it.
        session_id: String,
    },
    /// The text cannot be a session key.
    #[error("`{key}` cannot be a session key: {reason}")]
    BadKey {
        /// The text, without control characters and shortened.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
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
            StoreErrorKind::ReadOnly => {
                "try again when the other process is done, or give yourself the right to write it"
            }
            StoreErrorKind::Busy => "try again; an import of a large transcript may be running",
            StoreErrorKind::Newer { .. } => "update openclaw; the file was left as it is",
            StoreErrorKind::Damaged(_) => {
                "move the file aside and keep it; sessions that were exported can be imported again"
            }
            StoreErrorKind::NoSession(_) => "`openclaw sessions list` shows the sessions there are",
            StoreErrorKind::Changed(_) => {
                "run it again; what the other process wrote is kept, and nothing of this was stored"
            }
            StoreErrorKind::SessionTaken(_) => {
                "give a copy of the file another id in its header; one without a header takes its id from its name"
            }
            StoreErrorKind::Forked { .. } => {
                "both are kept as they are; to have this one too, give a copy of the file another id in its header"
            }
            StoreErrorKind::KeyTaken { .. } => {
                "give another --session-key, or leave it out to use `agent:main:<id>`"
            }
            StoreErrorKind::BadKey { .. } => {
                "give a key such as `agent:main:work`: not blank, no control characters, at most 512 bytes"
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
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => {
                self.kind(StoreErrorKind::Damaged(error.to_string()))
            }
            Some(DatabaseBusy | DatabaseLocked) => self.kind(StoreErrorKind::Busy),
            _ => self.kind(StoreErrorKind::Sql(error)),
        }
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> StoreError {
        self.kind(StoreErrorKind::Damaged(what.into()))
    }
}
