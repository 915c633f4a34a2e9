//! Why the store could not do what was asked.

use super::import::NoTranscript;
use crate::lane::LaneError;
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
    #[error("another process has it locked")]
    Busy,
    /// An older version made it, and it may not be brought up to date.
    #[error(
        "its schema is version {found}, which this program brings to version {known} before it reads it"
    )]
    Older {
        /// Version in the file.
        found: i64,
        /// The version this program reads.
        known: i64,
    },
    /// A newer version made it.
    #[error("its schema is version {found}, this program knows up to {known}")]
    Newer {
        /// Version in the file.
        found: i64,
        /// Newest version this program reads.
        known: i64,
    },
    /// There is no more space for it.
    #[error("there is no space left for it")]
    Full,
    /// Another program made it.
    #[error("it is another program's database")]
    Foreign,
    /// The file is not what it should be.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// Nothing has this name.
    #[error("there is no session `{0}`")]
    NoSession(String),
    /// Another process wrote the session since it was read.
    #[error("session `{0}` was changed by another process while it was being worked on")]
    Changed(String),
    /// The turn's row in the outbox is that of another engine.
    #[error("advancement key collision: turn `{key}` is meant for engine `{engine_id}`")]
    KeyCollision {
        /// The turn.
        key: String,
        /// The engine it is meant for.
        engine_id: String,
    },
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
    /// Another process imports the transcript with this id at this moment.
    #[error("another import of the session `{0}` is running")]
    ImportRunning(String),
    /// The session is at work.
    #[error(transparent)]
    Lane(LaneError),
    /// The lines to import cannot be read.
    #[error("the transcript cannot be read: {0}")]
    Transcript(io::Error),
    /// The lines to import are something else.
    #[error(transparent)]
    NoTranscript(NoTranscript),
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
            StoreErrorKind::Busy => {
                "end the process that has it open, or try again when it is done; OPENCLAW_STORE_WAIT_MS says how long to wait"
            }
            StoreErrorKind::Full => {
                "make space on the disk and try again; nothing of it was stored"
            }
            StoreErrorKind::Foreign => {
                "move it away, or choose another state directory; the file was left as it is"
            }
            StoreErrorKind::Older { .. } => {
                "give yourself the right to write the file and its directory, or read a copy of it"
            }
            StoreErrorKind::Newer { .. } => "update openclaw; the file was left as it is",
            StoreErrorKind::Damaged(_) => {
                "nothing was changed; `openclaw sessions repair` moves the file aside and saves what can be read of it"
            }
            StoreErrorKind::NoSession(_) => "`openclaw sessions list` shows the sessions there are",
            StoreErrorKind::Changed(_) => {
                "run it again; what the other process wrote is kept, and nothing of this was stored"
            }
            StoreErrorKind::KeyCollision { .. } => {
                "select that engine again, or send the message with a new turn id"
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
            StoreErrorKind::ImportRunning(_) => {
                "wait until it is done, then look at `openclaw sessions list`"
            }
            StoreErrorKind::Lane(_) => "try again when it is done",
            StoreErrorKind::Transcript(_) => {
                "check the file, and import it again; nothing of it was stored"
            }
            StoreErrorKind::NoTranscript(NoTranscript::Utf16) => {
                "make it UTF-8 first, for example with `iconv -f UTF-16 -t UTF-8`"
            }
            StoreErrorKind::NoTranscript(NoTranscript::Empty | NoTranscript::NoSessionRow) => {
                "give a session file in OpenClaw's JSONL format, or OpenClaw's own `openclaw-agent.sqlite`"
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
        use rusqlite::ErrorCode::{
            DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase,
        };
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => {
                self.kind(StoreErrorKind::Damaged(error.to_string()))
            }
            Some(DatabaseBusy | DatabaseLocked) => self.kind(StoreErrorKind::Busy),
            Some(DiskFull) => self.kind(StoreErrorKind::Full),
            _ => self.kind(StoreErrorKind::Sql(error)),
        }
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> StoreError {
        self.kind(StoreErrorKind::Damaged(what.into()))
    }
}
