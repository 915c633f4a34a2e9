//! What an import is given: a transcript, or OpenClaw's own store. Told apart by content.

use crate::args::ImportArgs;
use crate::error::{CliError, chain};
use openclaw_host::{
    FileLines, OpenClawSession, OpenClawStore, OpenClawStoreError, Store, StoreError,
};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

pub(super) enum Source {
    Transcript {
        path: PathBuf,
        name: String,
        lines: FileLines<BufReader<File>>,
    },
    OpenClaw {
        path: PathBuf,
        store: OpenClawStore,
    },
}

impl Source {
    /// Opens a file. Never waits: only regular files are opened.
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let unreadable = |error: io::Error| CliError::io("read the transcript", path, &error);
        let refused = |what: &str| {
            Err(CliError::new(
                format!("{} {what}", path.display()),
                "give a session file in OpenClaw's JSONL format, or its `openclaw-agent.sqlite`",
            ))
        };
        let metadata = fs::metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            return refused("is a directory");
        }
        if !metadata.is_file() {
            return refused("is no regular file");
        }
        if OpenClawStore::is_database(path).map_err(unreadable)? {
            return Self::openclaw(path);
        }
        let file = File::open(path).map_err(unreadable)?;
        let lines = FileLines::new(BufReader::with_capacity(1 << 16, file)).map_err(unreadable)?;
        let stem = path.file_stem().unwrap_or_default();
        Ok(Self::Transcript {
            path: path.to_owned(),
            name: stem.to_string_lossy().into_owned(),
            lines,
        })
    }

    pub(super) fn openclaw(path: &Path) -> Result<Self, CliError> {
        if !path.exists() {
            return Err(CliError::new(
                format!("OpenClaw has no store at {}", path.display()),
                "name the file, or leave out --openclaw and import session files in JSONL",
            ));
        }
        Ok(Self::OpenClaw {
            path: path.to_owned(),
            store: OpenClawStore::open(path).map_err(of_openclaw)?,
        })
    }

    /// Refuses what cannot be imported, and what does not go with the arguments.
    pub(super) fn check(&mut self, store: &Store, args: &ImportArgs) -> Result<(), CliError> {
        match self {
            Self::Transcript { path, lines, .. } => store
                .check_transcript(lines)
                .map_err(|error| of_transcript(path, &error)),
            Self::OpenClaw { path, store } => {
                if args.session_key.is_some() {
                    return Err(CliError::new(
                        format!(
                            "{} is a store, whose sessions keep their keys",
                            path.display()
                        ),
                        "leave out --session-key; --session chooses some of its sessions",
                    ));
                }
                chosen(store, &args.sessions).map(drop)
            }
        }
    }
}

/// The sessions asked for, by key or id; all of them when none is.
pub(super) fn chosen(
    store: &OpenClawStore,
    asked: &[String],
) -> Result<Vec<OpenClawSession>, CliError> {
    if asked.is_empty() {
        return store.sessions().map_err(of_openclaw);
    }
    let (mut chosen, mut known) = (Vec::new(), HashSet::new());
    for name in asked {
        let named = store.sessions_named(name).map_err(of_openclaw)?;
        if named.is_empty() {
            let all = store.sessions().map_err(of_openclaw)?;
            let keys: Vec<&str> = all
                .iter()
                .filter_map(|session| session.key.as_deref())
                .take(20)
                .collect();
            return Err(CliError::new(
                format!("OpenClaw's store has no session `{name}`"),
                format!(
                    "it has {} sessions, among them: {}",
                    all.len(),
                    keys.join(", ")
                ),
            ));
        }
        chosen.extend(
            named
                .into_iter()
                .filter(|session| known.insert(session.id.clone())),
        );
    }
    Ok(chosen)
}

fn of_openclaw(error: OpenClawStoreError) -> CliError {
    CliError::caused(&error, error.help())
}

fn of_transcript(path: &Path, error: &StoreError) -> CliError {
    let cause = chain(&error.kind);
    CliError::new(format!("{}: {cause}", path.display()), error.help())
}
