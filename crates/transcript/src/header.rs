//! The first line of a transcript.

use crate::fault::FaultKind;
use crate::json::Object;

/// The version new transcripts are written in, and the newest this crate knows.
pub const CURRENT_VERSION: u32 = 4;

/// The `session` line.
///
/// Source: transcript format, "Header".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    raw: String,
    version: u32,
    id: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    parent_session: Option<String>,
}

impl Header {
    /// Reads a `session` line. `text` is what is read, `raw` what is kept.
    pub(crate) fn read(raw: &str, object: &Object<'_>) -> (Self, Option<FaultKind>) {
        let (version, fault) = version(object.get("version"));
        let header = Self {
            raw: raw.to_owned(),
            version,
            id: object.filled("id"),
            timestamp: object.filled("timestamp"),
            cwd: object.filled("cwd"),
            parent_session: object.filled("parentSession"),
        };
        (header, fault)
    }

    /// The line as written, without its line ending.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The format version; 1 when the line has none. May be newer than [`CURRENT_VERSION`].
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The session id.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// When the session began, as ISO 8601 text.
    #[must_use]
    pub fn timestamp(&self) -> Option<&str> {
        self.timestamp.as_deref()
    }

    /// The working directory of the session.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// The session this one was split off from.
    #[must_use]
    pub fn parent_session(&self) -> Option<&str> {
        self.parent_session.as_deref()
    }
}

fn version(field: Option<&str>) -> (u32, Option<FaultKind>) {
    let Some(raw) = field else {
        return (1, None);
    };
    let text = raw.trim_matches('"');
    match text.parse::<u32>() {
        Ok(version) if version > 0 && raw != text => (
            version,
            Some(FaultKind::VersionIsText {
                text: text.to_owned(),
                version,
            }),
        ),
        Ok(found) if found > CURRENT_VERSION => (
            found,
            Some(FaultKind::NewerVersion {
                found,
                known: CURRENT_VERSION,
            }),
        ),
        Ok(version) if version > 0 => (version, None),
        _ => (
            1,
            Some(FaultKind::BadVersion {
                found: raw.chars().take(40).collect(),
            }),
        ),
    }
}
