//! Bytes to a transcript, line by line.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::fault::{Fault, FaultKind};
use crate::header::Header;
use crate::json::{self, Object};
use crate::row::{Row, RowKind};
use crate::scan;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Bytes a line may have, its line ending not counted: 32 MiB, eight times what OpenClaw's own store takes.
pub const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// What could be read of a transcript, and what could not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The `session` line; `None` when the file has none that can be read.
    pub header: Option<Header>,
    /// All other lines that are JSON objects, in order.
    pub rows: Vec<Row>,
    /// Lines that are not, in order.
    pub unread: Vec<Unread>,
    /// What was skipped or repaired, by line.
    pub faults: Vec<Fault>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The line, from 1.
    pub line: usize,
    /// Its bytes, without the line ending.
    pub bytes: Vec<u8>,
}

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// White space only.
    Blank,
    /// A `session` line.
    Header(Header),
    /// Any other JSON object.
    Row(Row),
    /// Something that is not a JSON object; the fault says why.
    Unread(Unread),
}

/// Reads a whole transcript.
///
/// Never fails. Lines end in LF or CR LF, the last one may end with the input. A byte order mark and NUL bytes around
/// a line are skipped with a fault, and so are blank lines. A line that is not UTF-8, not JSON, no object, too deep or
/// longer than [`MAX_LINE_BYTES`] becomes [`Unread`] with a fault, and reading goes on.
#[must_use]
pub fn parse(bytes: &[u8]) -> Transcript {
    let mut transcript = Transcript::default();
    let mut reader = LineReader::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match reader.read(line, &mut transcript.faults) {
            Line::Blank => {}
            Line::Header(header) => transcript.header = Some(header),
            Line::Row(row) => transcript.rows.push(row),
            Line::Unread(unread) => transcript.unread.push(unread),
        }
    }
    reader.finish(&mut transcript.faults);
    transcript
}

/// Reads a transcript as a stream, one line at a time; what [`parse`] does for a whole one.
#[derive(Debug, Default)]
pub struct LineReader {
    line: usize,
    version: Option<u32>,
    after_content: bool,
    carriage_return_seen: bool,
    blank_seen: bool,
    flat_seen: bool,
    /// A row with an id was the end of the path.
    ids_seen: bool,
}

impl LineReader {
    /// A reader before the first line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next line and adds what was wrong with it to `faults`.
    ///
    /// `bytes` is the line *with* its line ending: only so a cut-off last line can be told from a bad one. Of a line that
    /// is too long its first `MAX_LINE_BYTES + 1` bytes are enough. At most one [`Line::Header`] is returned; further
    /// ones are rows.
    pub fn read(&mut self, bytes: &[u8], faults: &mut Vec<Fault>) -> Line {
        self.line += 1;
        let mut found = Vec::new();
        let line = self.classify(bytes, &mut found);
        faults.extend(found.into_iter().map(|kind| Fault {
            line: self.line,
            kind,
        }));
        line
    }

    /// Ends the stream; says so when there was no header.
    pub fn finish(self, faults: &mut Vec<Fault>) {
        if self.version.is_none() && self.after_content {
            faults.push(Fault {
                line: 0,
                kind: FaultKind::NoHeader,
            });
        }
    }

    fn classify(&mut self, bytes: &[u8], found: &mut Vec<FaultKind>) -> Line {
        let (mut bytes, ending) = split_ending(bytes);
        if ending == Ending::CrLf && !self.carriage_return_seen {
            self.carriage_return_seen = true;
            found.push(FaultKind::CarriageReturn);
        }
        if self.line == 1
            && let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK)
        {
            found.push(FaultKind::ByteOrderMark);
            bytes = rest;
        }
        let line = read_line(self.line, bytes, ending == Ending::None, found);
        let line = self.placed(line, found);
        self.after_content |= !matches!(line, Line::Blank);
        line
    }

    /// Judges a line by what came before it.
    fn placed(&mut self, line: Line, found: &mut Vec<FaultKind>) -> Line {
        match line {
            Line::Header(header) if self.version.is_some() => {
                found.push(FaultKind::SecondHeader);
                Line::Row(demoted(self.line, &header))
            }
            Line::Header(header) => {
                if self.after_content {
                    found.push(FaultKind::HeaderNotFirst);
                }
                self.version = Some(header.version());
                Line::Header(header)
            }
            Line::Row(row) => {
                self.look_for_id(&row, found);
                Line::Row(row)
            }
            Line::Blank => {
                // A line of NUL bytes was reported as that.
                let is_nul = |kind: &FaultKind| matches!(kind, FaultKind::NulBytes { .. });
                if !self.blank_seen && !found.iter().any(is_nul) {
                    self.blank_seen = true;
                    found.push(FaultKind::BlankLine);
                }
                line
            }
            Line::Unread(_) => line,
        }
    }

    /// Reports a row that lacks the id which its version asks for.
    fn look_for_id(&mut self, row: &Row, found: &mut Vec<FaultKind>) {
        if *row.kind() == RowKind::Opaque {
            return;
        }
        if row.id().is_some() {
            self.ids_seen |= !row.side();
        } else if self.version.is_none_or(|version| version < 2) {
            // These rows get ids.
        } else if self.ids_seen {
            found.push(FaultKind::MissingId);
        } else if !self.flat_seen {
            self.flat_seen = true;
            found.push(FaultKind::FlatRows);
        }
    }
}

/// Reads a row back that was read before, from its [`Row::raw`] text, as a store does that keeps rows apart.
///
/// Gives the row [`parse`] gave, a further `session` line among them; its faults were reported then. `None` for a text
/// that was no row.
#[must_use]
pub fn parse_row(number: usize, raw: &str) -> Option<Row> {
    match read_line(number, raw.as_bytes(), false, &mut Vec::new()) {
        Line::Row(row) => Some(row),
        Line::Header(header) => Some(demoted(number, &header)),
        Line::Blank | Line::Unread(_) => None,
    }
}

/// Reads one line by itself.
///
/// `number` is the line's number from 1; `bytes` may leave out the line ending. Faults that need the lines around are not
/// found: [`LineReader`] finds them.
pub fn parse_line(number: usize, bytes: &[u8], faults: &mut Vec<Fault>) -> Line {
    let mut found = Vec::new();
    let (bytes, _) = split_ending(bytes);
    let line = read_line(number, bytes, false, &mut found);
    faults.extend(found.into_iter().map(|kind| Fault { line: number, kind }));
    line
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    None,
    Lf,
    CrLf,
}

fn split_ending(bytes: &[u8]) -> (&[u8], Ending) {
    match bytes {
        [line @ .., b'\r', b'\n'] => (line, Ending::CrLf),
        [line @ .., b'\n'] => (line, Ending::Lf),
        line => (line, Ending::None),
    }
}

/// Reads a line without its ending. `open` when the input ends with it.
fn read_line(number: usize, line: &[u8], open: bool, found: &mut Vec<FaultKind>) -> Line {
    if line.len() > MAX_LINE_BYTES {
        found.push(FaultKind::TooLong);
        return Line::Unread(Unread {
            line: number,
            bytes: line.to_owned(),
        });
    }
    let bytes = without_nul(line, found);
    if bytes.trim_ascii().is_empty() {
        return Line::Blank;
    }
    read_object(number, bytes, open, found).unwrap_or_else(|fault| {
        found.push(fault);
        Line::Unread(Unread {
            line: number,
            bytes: line.to_owned(),
        })
    })
}

fn without_nul<'a>(line: &'a [u8], found: &mut Vec<FaultKind>) -> &'a [u8] {
    let start = line.iter().take_while(|byte| **byte == 0).count();
    let end = line[start..]
        .iter()
        .rev()
        .take_while(|byte| **byte == 0)
        .count();
    if start + end > 0 {
        found.push(FaultKind::NulBytes { count: start + end });
    }
    &line[start..line.len() - end]
}

fn read_object(
    number: usize,
    bytes: &[u8],
    open: bool,
    found: &mut Vec<FaultKind>,
) -> Result<Line, FaultKind> {
    let truncated = FaultKind::TruncatedLastLine { bytes: bytes.len() };
    let raw = match std::str::from_utf8(bytes) {
        Ok(raw) => raw,
        Err(error) if open && error.error_len().is_none() => return Err(truncated),
        Err(error) => {
            return Err(FaultKind::InvalidUtf8 {
                valid_bytes: error.valid_up_to(),
            });
        }
    };
    let text = scan::readable(raw.trim()).ok_or(FaultKind::TooDeep)?;
    let object = match Object::read(&text) {
        Ok(object) => object,
        Err(error) if error.is_data() => return Err(FaultKind::NotAnObject),
        Err(error) if open && error.is_eof() => return Err(truncated),
        Err(error) => {
            return Err(FaultKind::NotJson {
                reason: json::reason(&error),
            });
        }
    };
    if matches!(text, Cow::Owned(_)) {
        found.push(FaultKind::LoneSurrogate);
    }
    if object.string("type").is_some_and(|kind| kind == "session") {
        let (header, fault) = Header::read(raw, &object);
        found.extend(fault);
        return Ok(Line::Header(header));
    }
    Ok(Line::Row(Row::read(number, raw, &object, found)))
}

/// A further header as a row that nothing hangs on.
fn demoted(number: usize, header: &Header) -> Row {
    let text = scan::readable(header.raw().trim()).expect("the line was read before");
    let object = Object::read(&text).expect("the line was read before");
    Row::read(number, header.raw(), &object, &mut Vec::new())
}
