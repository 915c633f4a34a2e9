//! Rows of old versions in today's shape.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::fault::{Fault, FaultKind};
use crate::header::Header;
use crate::json::{self, Object};
use crate::parse::{Line, Transcript, parse_line};
use crate::row::{Parent, Row, RowKind};
use crate::scan;

/// The version since which rows look as they do today.
const ROWS_VERSION: u32 = 3;

/// What generated ids are made from, so that a second import gives the same ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdSeed<'a> {
    /// Any text that stays the same, wherever the transcript lies and however it grows.
    pub source: &'a str,
    /// The session's id.
    pub session_id: &'a str,
}

/// A migrated transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The transcript; lines that did not have to change are as they were.
    pub transcript: Transcript,
    /// Rows whose text changed, as indices into its rows.
    pub changed: Vec<usize>,
}

/// Brings rows of versions 1 and 2 into today's shape.
///
/// - Version 1: rows of known types get an id and hang on the row before; `firstKeptEntryIndex` becomes the
///   `firstKeptEntryId` of a row up to this one. Ids are `<16 hex>-<position in base 36>`, counted over all readable lines from the header.
/// - Versions 1 and 2: the role `hookMessage` becomes `custom`, with the custom type `hook` if it has none. The header
///   says version 3.
/// - Version 3 and later: nothing changes. A transcript without a header counts as version 1.
///
/// Ids and parents that are there are kept. Members of changed rows keep their order and text.
///
/// Source: transcript format, "Old versions".
#[must_use]
pub fn migrate(transcript: Transcript, seed: &IdSeed<'_>) -> Migrated {
    let Transcript {
        header,
        mut rows,
        unread,
        mut faults,
    } = transcript;
    let mut migration = Migration::new(header.as_ref(), seed);
    let mut changed = Vec::new();
    for (index, row) in rows.iter_mut().enumerate() {
        if migration.row(row, &mut faults) {
            changed.push(index);
        }
    }
    Migrated {
        transcript: Transcript {
            header: header.map(todays_header),
            rows,
            unread,
            faults,
        },
        changed,
    }
}

/// A header in today's shape; see [`migrate`].
#[must_use]
pub fn todays_header(header: Header) -> Header {
    if header.version() < ROWS_VERSION {
        with_rows_version(header)
    } else {
        header
    }
}

/// Migrates rows as they are read, one after the other; what [`migrate`] does for a whole transcript.
#[derive(Debug)]
pub struct Migration {
    is_old: bool,
    chain: Option<Chain>,
}

impl Migration {
    /// A migration before the first row.
    #[must_use]
    pub fn new(header: Option<&Header>, seed: &IdSeed<'_>) -> Self {
        let version = header.map_or(1, Header::version);
        Self {
            is_old: version < ROWS_VERSION,
            chain: (version < 2).then(|| Chain::new(header.is_some(), seed)),
        }
    }

    /// Brings the next row into today's shape; whether it was changed.
    pub fn row(&mut self, row: &mut Row, faults: &mut Vec<Fault>) -> bool {
        if !self.is_old {
            return false;
        }
        let mut edits = Vec::new();
        edits.extend(todays_message(row));
        if let Some(chain) = &mut self.chain {
            chain.link(row, &mut edits, faults);
        }
        if !edits.is_empty() {
            *row = edited(row, &edits);
        }
        !edits.is_empty()
    }
}

/// A member's new JSON; `None` removes it.
type MemberEdit = (&'static str, Option<String>);

/// The one chain that a version 1 transcript is.
#[derive(Debug)]
struct Chain {
    hash: u64,
    header_lines: usize,
    /// Rows so far.
    count: usize,
    /// Ids of rows that came with one or have none, by row; all others were made.
    odd_ids: HashMap<usize, Option<String>>,
    before: Option<String>,
}

impl Chain {
    fn new(has_header: bool, seed: &IdSeed<'_>) -> Self {
        Self {
            hash: stable_hash(&[seed.source, seed.session_id]),
            header_lines: usize::from(has_header),
            count: 0,
            odd_ids: HashMap::new(),
            before: None,
        }
    }

    fn made_id(&self, index: usize) -> String {
        format!("{:016x}-{}", self.hash, base_36(self.header_lines + index))
    }

    /// The id of one of the rows so far.
    fn id(&self, index: usize) -> Option<String> {
        if index >= self.count {
            return None;
        }
        match self.odd_ids.get(&index) {
            Some(id) => id.clone(),
            None => Some(self.made_id(index)),
        }
    }

    fn link(&mut self, row: &Row, edits: &mut Vec<MemberEdit>, faults: &mut Vec<Fault>) {
        let index = self.count;
        self.count += 1;
        let is_opaque = *row.kind() == RowKind::Opaque;
        if row.id().is_some() || is_opaque {
            self.odd_ids.insert(index, row.id().map(str::to_owned));
        }
        let Some(id) = self.id(index) else {
            return;
        };
        if !is_opaque {
            if row.id().is_none() {
                edits.push(("id", Some(json::quote(&id))));
            }
            if *row.parent() == Parent::Absent {
                let before = self.before.as_deref();
                let parent = before.map_or("null".to_owned(), json::quote);
                edits.push(("parentId", Some(parent)));
            }
            self.keep_by_id(row, edits, faults);
        }
        self.before = Some(id);
    }

    fn keep_by_id(&self, row: &Row, edits: &mut Vec<MemberEdit>, faults: &mut Vec<Fault>) {
        const BY_INDEX: &str = "firstKeptEntryIndex";
        if !matches!(row.kind(), RowKind::Compaction { .. }) || !row.raw().contains(BY_INDEX) {
            return;
        }
        let Some(kept) = with_object(row, |object| {
            object.get(BY_INDEX).map(|_| object.integer(BY_INDEX))
        }) else {
            return;
        };
        edits.push((BY_INDEX, None));
        let kept = kept.and_then(|line| usize::try_from(line).ok());
        let kept = kept.and_then(|line| self.id(line.checked_sub(self.header_lines)?));
        match kept {
            Some(id) => edits.push(("firstKeptEntryId", Some(json::quote(&id)))),
            None => faults.push(Fault {
                line: row.line(),
                kind: FaultKind::UnknownKeptIndex,
            }),
        }
    }
}

/// The message under today's role name, where it has the old one.
fn todays_message(row: &Row) -> Option<MemberEdit> {
    let mut message = row.message()?.object();
    if message.string("role")? != "hookMessage" {
        return None;
    }
    message.set("role", "\"custom\"");
    if message.filled("customType").is_none() {
        message.set("customType", "\"hook\"");
    }
    Some(("message", Some(message.write())))
}

fn edited(row: &Row, edits: &[MemberEdit]) -> Row {
    let text = scan::readable(row.raw().trim()).unwrap_or_default();
    let Ok(mut object) = Object::read(&text) else {
        return row.clone();
    };
    for (key, value) in edits {
        match value {
            Some(value) => object.set(key, value),
            None => _ = object.remove(key),
        }
    }
    // Adding members to a row keeps it a row.
    match parse_line(row.line(), object.write().as_bytes(), &mut Vec::new()) {
        Line::Row(row) => row,
        Line::Blank | Line::Header(_) | Line::Unread(_) => row.clone(),
    }
}

fn with_object<T>(row: &Row, f: impl FnOnce(Object<'_>) -> Option<T>) -> Option<T> {
    let text = scan::readable(row.raw().trim())?;
    f(Object::read(&text).ok()?)
}

fn with_rows_version(header: Header) -> Header {
    let text = scan::readable(header.raw().trim()).and_then(|text| {
        let mut object = Object::read(&text).ok()?;
        object.set("version", "3");
        Some(object.write())
    });
    match text.map(|text| parse_line(1, text.as_bytes(), &mut Vec::new())) {
        Some(Line::Header(header)) => header,
        Some(Line::Blank | Line::Row(_) | Line::Unread(_)) | None => header,
    }
}

/// FNV-1a over texts and their borders: stable over platforms and releases, as ids have to be. No guard against malice.
#[must_use]
pub fn stable_hash(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xFF]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

fn base_36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(
            b"0123456789abcdefghijklmnopqrstuvwxyz"[number % 36],
        ));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}
