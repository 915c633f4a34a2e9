//! All captured transcripts.

use super::{Captured, Stored};

pub(crate) const IMPORT_BEFORE: &str = "openclaw-outputs/import/before";
pub(crate) const IMPORT_AFTER: &str = "openclaw-outputs/import/after";
pub(crate) const REAL: &str = "real-transcripts";

/// The folders with transcripts, and how many each has: without the number a lost file would go unnoticed.
const FOLDERS: [(&str, usize); 4] = [
    ("openclaw-outputs/transcripts", 7),
    (IMPORT_BEFORE, 3),
    (IMPORT_AFTER, 5),
    (REAL, 3),
];

/// A transcript as it was captured.
pub(crate) struct CapturedTranscript {
    /// Where it lies in the captured material.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

impl CapturedTranscript {
    /// The transcripts of every folder.
    pub(crate) fn all(captured: &Captured) -> Vec<Self> {
        let paths = FOLDERS.iter().flat_map(|&(folder, count)| {
            let paths = captured.files(folder, "jsonl");
            assert_eq!(paths.len(), count, "transcripts in {folder}: {paths:?}");
            paths
        });
        let read = |path: String| Self {
            bytes: captured.bytes(&path),
            path,
        };
        paths.map(read).collect()
    }

    /// The file's name without folder and extension.
    pub(crate) fn name(&self) -> &str {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        file.strip_suffix(".jsonl").unwrap_or(file)
    }

    pub(crate) fn is_in(&self, folder: &str) -> bool {
        self.path
            .rsplit_once('/')
            .is_some_and(|(at, _)| at == folder)
    }

    /// The lines without their line endings.
    pub(crate) fn lines(&self) -> Vec<&str> {
        let text = std::str::from_utf8(&self.bytes);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", self.path));
        text.split_terminator('\n').collect()
    }

    /// The transcript in a store of its own.
    pub(crate) fn stored(&self) -> Stored {
        Stored::new(self.name(), &self.bytes)
    }
}
