//! A transcript row by row, in today's shape, and the few facts that are kept of each row.

use super::lines::TranscriptLines;
use super::preview::Preview;
use openclaw_transcript::{Fault, Line, LineReader, Migration, PathScan, Row};
use std::io;

/// Faults that are kept one by one; of more only the number.
pub(super) const MAX_FAULTS: usize = 100_000;

/// Reads a transcript as a stream. Memory: the line being read, and id and place of each row.
pub(super) struct Reading<'a> {
    lines: &'a mut dyn TranscriptLines,
    reader: LineReader,
    migration: Migration,
    scan: PathScan,
    /// Line of each row.
    line_numbers: Vec<u32>,
    bytes: Vec<u8>,
    found: Vec<Fault>,
    faults: Faults,
    path_faults: Faults,
    skipped_lines: usize,
    migrated_rows: usize,
}

/// Faults up to a bound, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) first: Vec<Fault>,
    pub(super) count: usize,
}

impl Faults {
    fn add(&mut self, fault: Fault) {
        self.count += 1;
        if self.first.len() < MAX_FAULTS {
            self.first.push(fault);
        }
    }
}

/// What reading told, apart from the rows.
pub(super) struct Facts {
    pub(super) entries: usize,
    pub(super) skipped_lines: usize,
    pub(super) migrated_rows: usize,
    pub(super) faults: Faults,
    pub(super) path_faults: Faults,
}

impl<'a> Reading<'a> {
    pub(super) fn new(lines: &'a mut dyn TranscriptLines, preview: &Preview) -> io::Result<Self> {
        lines.rewind()?;
        Ok(Self {
            lines,
            reader: LineReader::new(),
            migration: Migration::new(preview.header.as_ref(), &preview.seed()),
            scan: PathScan::new(),
            line_numbers: Vec::new(),
            bytes: Vec::new(),
            found: Vec::new(),
            faults: Faults::default(),
            path_faults: Faults::default(),
            skipped_lines: 0,
            migrated_rows: 0,
        })
    }

    /// The next row; `None` at the end.
    pub(super) fn next_row(&mut self) -> io::Result<Option<Row>> {
        while self.lines.next_line(&mut self.bytes)? {
            let line = self.reader.read(&self.bytes, &mut self.found);
            let row = match line {
                Line::Row(mut row) => {
                    self.migrated_rows +=
                        usize::from(self.migration.row(&mut row, &mut self.found));
                    self.place(&row);
                    Some(row)
                }
                Line::Unread(_) => {
                    self.skipped_lines += 1;
                    None
                }
                Line::Blank | Line::Header(_) => None,
            };
            self.keep_found();
            if row.is_some() {
                return Ok(row);
            }
        }
        // The store finds the path on its own: no need to have all ids twice.
        self.scan = PathScan::new();
        Ok(None)
    }

    fn place(&mut self, row: &Row) {
        let number = u32::try_from(row.line()).unwrap_or(u32::MAX);
        self.line_numbers.push(number);
        self.scan.push(&row.link());
        let line = |row: usize| self.line_numbers[row] as usize;
        for fault in self.scan.take_faults() {
            self.path_faults.add(fault.in_file(line));
        }
    }

    fn keep_found(&mut self) {
        for fault in self.found.drain(..) {
            self.faults.add(fault);
        }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }

    pub(super) fn bytes_total(&self) -> Option<u64> {
        self.lines.bytes_total()
    }

    pub(super) fn entries(&self) -> usize {
        self.line_numbers.len()
    }

    /// The facts, once the last row was read.
    pub(super) fn finish(mut self) -> Facts {
        std::mem::take(&mut self.reader).finish(&mut self.found);
        self.keep_found();
        Facts {
            entries: self.line_numbers.len(),
            skipped_lines: self.skipped_lines,
            migrated_rows: self.migrated_rows,
            faults: self.faults,
            path_faults: self.path_faults,
        }
    }
}
