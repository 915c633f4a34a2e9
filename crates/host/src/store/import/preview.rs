//! What has to be known of a transcript before its first row is stored.

use super::lines::TranscriptLines;
use openclaw_transcript::{
    Header, IdSeed, Line, LineReader, RowKind, header_row, stable_hash, todays_header,
};
use std::io;

/// Why lines are no transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTranscript {
    /// Nothing but white space.
    #[error("the transcript is empty")]
    Empty,
    /// Two bytes a character.
    #[error("the transcript is UTF-16")]
    Utf16,
    /// Neither a header nor a row of a known type.
    #[error("this is no transcript: not one of its lines is a session row")]
    NoSessionRow,
}

/// Why lines cannot be imported.
#[derive(Debug)]
pub(super) enum Refusal {
    Unreadable(io::Error),
    NoTranscript(NoTranscript),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// The header, and the first row where there is none.
#[derive(Debug)]
pub(super) struct Preview {
    pub(super) header: Option<Header>,
    first_row: String,
}

impl Preview {
    /// Reads up to the header: one line of a sound transcript, all of one that has none.
    pub(super) fn of(lines: &mut dyn TranscriptLines) -> Result<Self, Refusal> {
        lines.rewind()?;
        let mut reader = LineReader::new();
        let (mut bytes, mut faults) = (Vec::new(), Vec::new());
        let mut first_row = None;
        let (mut is_first, mut is_empty, mut is_known) = (true, true, false);
        while lines.next_line(&mut bytes)? {
            if std::mem::take(&mut is_first) && is_utf16(&bytes) {
                return Err(Refusal::NoTranscript(NoTranscript::Utf16));
            }
            faults.clear();
            match reader.read(&bytes, &mut faults) {
                Line::Header(header) => {
                    return Ok(Self {
                        header: Some(header),
                        first_row: first_row.unwrap_or_default(),
                    });
                }
                Line::Row(row) => {
                    is_known |= *row.kind() != RowKind::Opaque;
                    first_row.get_or_insert_with(|| row.raw().to_owned());
                    is_empty = false;
                }
                Line::Unread(_) => is_empty = false,
                Line::Blank => {}
            }
        }
        match first_row {
            Some(first_row) if is_known => Ok(Self {
                header: None,
                first_row,
            }),
            _ if is_empty => Err(Refusal::NoTranscript(NoTranscript::Empty)),
            _ => Err(Refusal::NoTranscript(NoTranscript::NoSessionRow)),
        }
    }

    pub(super) fn version(&self) -> u32 {
        self.header.as_ref().map_or(1, Header::version)
    }

    /// The header to store.
    pub(super) fn stored_header(&self, session_id: &str, timestamp: &str) -> String {
        match &self.header {
            Some(header) => todays_header(header.clone()).raw().to_owned(),
            None => header_row(session_id, timestamp, ""),
        }
    }

    /// What stays the same of a transcript, whatever its file is called and however it grows: its header's id, or else
    /// the text of its first row.
    pub(super) fn seed(&self) -> IdSeed<'_> {
        match self.header.as_ref().and_then(Header::id) {
            Some(id) => IdSeed {
                source: "",
                session_id: id,
            },
            None => IdSeed {
                source: &self.first_row,
                session_id: "",
            },
        }
    }

    /// The transcript's id: that of its header, else made from the name given.
    pub(super) fn session_id(&self, name: &str) -> String {
        let of_header = self.header.as_ref().and_then(Header::id);
        match of_header.filter(|id| is_session_id(id)) {
            Some(id) => id.to_owned(),
            None if is_session_id(name) => name.to_owned(),
            None => made_id(name, &self.first_row),
        }
    }
}

/// Whether the text begins as UTF-16 does: with its byte order mark, or with two letters of two bytes each.
fn is_utf16(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'{', 0, b'"', 0, ..] | [0, b'{', 0, b'"', ..]
    )
}

/// An id for a name that cannot be one. Of different names what is left may be equal, so a hash tells them apart.
fn made_id(name: &str, first_row: &str) -> String {
    let hash = stable_hash(&[name, first_row]);
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let cleaned: String = name.chars().map(word).take(100).collect();
    match cleaned.trim_matches('-') {
        "" => format!("{hash:016x}"),
        cleaned => format!("{cleaned}-{hash:016x}"),
    }
}

pub(super) fn is_session_id(id: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.len() <= 128
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(is_word)
}
