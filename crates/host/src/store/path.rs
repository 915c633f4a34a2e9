//! Reading the active path by position, so that a read costs what it asks for.

use super::Store;
use super::error::{Attempt, StoreError};
use super::sessions::Session;
use crate::history::Held;
use openclaw_transcript::{Row, parse_row};
use rusqlite::{Connection, OptionalExtension, params};
use std::ops::Range;

/// An entry on the active path.
#[derive(Clone, Debug)]
pub struct PathEntry {
    /// Position among all rows, header 0.
    pub seq: i64,
    /// The row.
    pub row: Row,
    /// Tokens of its message, 0 for other rows.
    pub tokens: u64,
    /// Position among the messages of the path, from 0.
    pub message_position: Option<i64>,
}

impl PathEntry {
    /// The entry's message; `None` for other rows.
    pub(crate) fn held(&self) -> Option<Held> {
        let message = self.row.message()?;
        Some(Held {
            id: self.row.id().unwrap_or_default().into(),
            role: message.role(),
            tokens: u32::try_from(self.tokens).unwrap_or(u32::MAX),
            json: message.shared_json(),
        })
    }
}

/// A stored row. What was stored was read before, so it reads again.
pub(super) fn parsed(seq: i64, text: &str, attempt: &Attempt) -> Result<Row, StoreError> {
    let line = usize::try_from(seq).unwrap_or(usize::MAX);
    parse_row(line, text)
        .ok_or_else(|| attempt.damaged(format!("entry {seq} of a session cannot be read")))
}

/// The entries at some positions of a session's active path.
pub(super) fn between(
    connection: &Connection,
    session: &Session,
    positions: Range<i64>,
    attempt: &Attempt,
) -> Result<Vec<PathEntry>, StoreError> {
    let sql = "SELECT a.seq, e.row, e.tokens, a.message_position FROM active_path a \
               JOIN entries e ON e.session_id = a.session_id AND e.seq = a.seq \
               WHERE a.session_id = ?1 AND a.position >= ?2 AND a.position < ?3 ORDER BY a.position";
    let mut statement = connection
        .prepare_cached(sql)
        .map_err(|error| attempt.sql(error))?;
    let mut rows = statement
        .query(params![session.id, positions.start, positions.end])
        .map_err(|error| attempt.sql(error))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(|error| attempt.sql(error))? {
        entries.push(path_entry(row, attempt)?);
    }
    Ok(entries)
}

fn path_entry(row: &rusqlite::Row<'_>, attempt: &Attempt) -> Result<PathEntry, StoreError> {
    let sql = |error| attempt.sql(error);
    let seq = row.get(0).map_err(sql)?;
    let text = row
        .get_ref(1)
        .and_then(|text| Ok(text.as_str()?))
        .map_err(sql)?;
    let tokens: i64 = row.get(2).map_err(sql)?;
    Ok(PathEntry {
        seq,
        row: parsed(seq, text, attempt)?,
        tokens: u64::try_from(tokens).unwrap_or(0),
        message_position: row.get(3).map_err(sql)?,
    })
}

impl Store {
    /// The active path of a session, root first.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn path_of(&self, session: &Session) -> Result<Vec<PathEntry>, StoreError> {
        self.path_between(session, 0..session.path_length)
    }

    /// The messages of the active path between two places of the transcript, both included; none when one of them is
    /// not on the path.
    pub(crate) fn messages_between(
        &self,
        session: &Session,
        first_seq: i64,
        last_seq: i64,
    ) -> Result<Vec<Held>, StoreError> {
        let first = self.position_of(session, first_seq)?;
        let last = self.position_of(session, last_seq)?;
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(Vec::new());
        };
        let entries = self.path_between(session, first..last + 1)?;
        Ok(entries.iter().filter_map(PathEntry::held).collect())
    }

    /// Bytes of the rows that a model may still see.
    pub(crate) fn visible_bytes(&self, session: &Session) -> Result<u64, StoreError> {
        let start = self.context_start(session, session.path_length)?;
        let bytes: i64 = self
            .connection
            .prepare_cached(
                "SELECT coalesce(sum(length(CAST(e.row AS BLOB))), 0) FROM active_path a \
                 JOIN entries e ON e.session_id = a.session_id AND e.seq = a.seq \
                 WHERE a.session_id = ?1 AND a.position >= ?2",
            )
            .and_then(|mut statement| {
                statement.query_row(params![session.id, start], |row| row.get(0))
            })
            .map_err(|error| self.attempt("read").sql(error))?;
        Ok(u64::try_from(bytes).unwrap_or(0))
    }

    /// The entries at some positions of the active path.
    pub(crate) fn path_between(
        &self,
        session: &Session,
        positions: Range<i64>,
    ) -> Result<Vec<PathEntry>, StoreError> {
        let entries = between(&self.connection, session, positions, &self.attempt("read"))?;
        let read = self.rows_read.get() + entries.len() as u64;
        self.rows_read.set(read);
        Ok(entries)
    }

    /// Where on the active path an entry stands; `None` when it is not on it.
    pub(crate) fn position_of(
        &self,
        session: &Session,
        seq: i64,
    ) -> Result<Option<i64>, StoreError> {
        self.connection
            .prepare_cached("SELECT position FROM active_path WHERE session_id = ?1 AND seq = ?2")
            .and_then(|mut statement| {
                statement
                    .query_row(params![session.id, seq], |row| row.get(0))
                    .optional()
            })
            .map_err(|error| self.attempt("read").sql(error))
    }

    /// The first position before `end` that a model may still see: that of the last boundary, or of the first row the
    /// boundary keeps.
    pub(crate) fn context_start(&self, session: &Session, end: i64) -> Result<i64, StoreError> {
        let attempt = self.attempt("read");
        let boundary: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT position FROM active_path INDEXED BY active_path_boundaries \
                 WHERE session_id = ?1 AND is_boundary AND position < ?2 \
                 ORDER BY position DESC LIMIT 1",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![session.id, end], |row| row.get(0))
                    .optional()
            })
            .map_err(|error| attempt.sql(error))?;
        let Some(boundary) = boundary else {
            return Ok(0);
        };
        let row = self.path_between(session, boundary..boundary + 1)?;
        let Some(first) = row.first().and_then(|it| it.row.first_kept_entry_id()) else {
            return Ok(boundary);
        };
        let kept: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT min(a.position) FROM entries e INDEXED BY entries_by_id CROSS JOIN active_path a ON a.session_id = e.session_id AND a.seq = e.seq \
                 WHERE e.session_id = ?1 AND e.entry_id = ?2 AND a.position < ?3",
            )
            .and_then(|mut statement| {
                statement.query_row(params![session.id, first, boundary], |row| row.get(0))
            })
            .map_err(|error| attempt.sql(error))?;
        Ok(kept.unwrap_or(boundary))
    }
}
