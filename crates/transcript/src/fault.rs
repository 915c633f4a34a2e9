//! What was wrong with a line, as data.

use crate::message::MessageError;
use crate::parse::MAX_LINE_BYTES;
use crate::scan::MAX_DEPTH;
use crate::tree::PathFaultKind;

/// Something in a transcript that was skipped or repaired while reading.
///
/// Reading goes on after every fault. `Display` says what was done and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", place(*.line))]
pub struct Fault {
    /// The line, from 1; 0 for the whole file.
    pub line: usize,
    /// What was found there.
    pub kind: FaultKind,
}

fn place(line: usize) -> String {
    if line == 0 {
        String::new()
    } else {
        format!("line {line}: ")
    }
}

/// The kinds of [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The file has no readable `session` line.
    #[error("no readable session header; rows are read as version 1")]
    NoHeader,
    /// The header stands behind rows.
    #[error("session header behind other lines; used all the same, and first in an export")]
    HeaderNotFirst,
    /// A further `session` line.
    #[error("second session header; kept as a line, not used")]
    SecondHeader,
    /// The header version is a text.
    #[error("header version is the text \"{text}\"; read as {version}")]
    VersionIsText {
        /// The text.
        text: String,
        /// The version it was read as.
        version: u32,
    },
    /// The header version is not a version.
    #[error("header version {found} is not a positive whole number; read as 1")]
    BadVersion {
        /// The JSON of the field, shortened.
        found: String,
    },
    /// The header version is newer than this crate.
    #[error("header version {found} is newer than {known}; read as far as possible")]
    NewerVersion {
        /// The version found.
        found: u32,
        /// The newest version this crate knows.
        known: u32,
    },
    /// The file starts with a UTF-8 byte order mark.
    #[error("byte order mark skipped")]
    ByteOrderMark,
    /// Lines end in CR LF; reported once, for the first of them.
    #[error("ends in CR LF; the CR is dropped here and on later lines")]
    CarriageReturn,
    /// A line of white space only; reported once, for the first of them.
    #[error("blank; left out here and on later lines")]
    BlankLine,
    /// NUL bytes around the line, as a crash leaves them.
    #[error("{count} NUL bytes around the line skipped")]
    NulBytes {
        /// How many bytes.
        count: usize,
    },
    /// The line is not UTF-8.
    #[error("skipped: not UTF-8 after {valid_bytes} bytes")]
    InvalidUtf8 {
        /// Bytes of the line that are valid.
        valid_bytes: usize,
    },
    /// The last line ends in the middle.
    #[error("skipped: the file ends here, after {bytes} bytes")]
    TruncatedLastLine {
        /// Bytes of the line.
        bytes: usize,
    },
    /// The line is not JSON.
    #[error("skipped: not JSON: {reason}")]
    NotJson {
        /// The parser's words.
        reason: String,
    },
    /// The line is JSON, but no object.
    #[error("skipped: not a JSON object")]
    NotAnObject,
    /// The line is too long.
    #[error("skipped: longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// The line nests too deep.
    #[error("skipped: nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Escapes of half a surrogate pair.
    #[error("half surrogate escapes read as U+FFFD")]
    LoneSurrogate,
    /// A row of a known type lacks what the type needs.
    #[error("`{kind}` row kept but not interpreted: `{field}` is missing or of the wrong type")]
    Incomplete {
        /// The row's `type`.
        kind: String,
        /// The first field that is wrong.
        field: &'static str,
    },
    /// A message row whose message cannot be read.
    #[error("message row kept but not interpreted: {0}")]
    UnreadableMessage(MessageError),
    /// A row without an id behind rows with ids.
    #[error("row has no id; it is kept, and no path leads over it")]
    MissingId,
    /// Rows without ids in front of those with ids, or no row has one; reported once, for the first of them.
    #[error("row has no id; it and those like it are read in order, each behind the one before")]
    FlatRows,
    /// A link to another row that was not followed as written.
    #[error(transparent)]
    Path(PathFaultKind),
    /// A `parentId` that is neither text nor null.
    #[error("`parentId` is neither text nor null; read as missing")]
    BadParent,
    /// A `firstKeptEntryIndex` that names no row.
    #[error("`firstKeptEntryIndex` names no row; dropped")]
    UnknownKeptIndex,
}

impl FaultKind {
    /// Whether the line's content is lost to the reader; its bytes are in [`Unread`](crate::Unread).
    #[must_use]
    pub fn skips_line(&self) -> bool {
        match self {
            Self::InvalidUtf8 { .. }
            | Self::TruncatedLastLine { .. }
            | Self::NotJson { .. }
            | Self::NotAnObject
            | Self::TooLong
            | Self::TooDeep => true,
            Self::NoHeader
            | Self::HeaderNotFirst
            | Self::SecondHeader
            | Self::VersionIsText { .. }
            | Self::BadVersion { .. }
            | Self::NewerVersion { .. }
            | Self::ByteOrderMark
            | Self::CarriageReturn
            | Self::NulBytes { .. }
            | Self::LoneSurrogate
            | Self::Incomplete { .. }
            | Self::UnreadableMessage(_)
            | Self::BlankLine
            | Self::MissingId
            | Self::FlatRows
            | Self::Path(_)
            | Self::BadParent
            | Self::UnknownKeptIndex => false,
        }
    }
}
