//! Entries of a transcript and the active path through them.

use super::Store;
use super::error::{Attempt, StoreError};
use super::sessions::Session;
use crate::history::Held;
use crate::tokens::TokenCounter;
use openclaw_transcript::{PathScan, Row, Tip, extends, parse_row};
use rusqlite::{Connection, params};

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

/// Appends one row to a transcript, extends the path or finds it again, and returns the row's position.
///
/// The caller's transaction makes it all or nothing; `session` is changed only in memory until
/// [`Session::save`].
pub(super) fn append(
    connection: &Connection,
    session: &mut Session,
    row: &Row,
    attempt: &Attempt,
) -> Result<i64, StoreError> {
    let seq = insert(connection, session, row, tokens_of(row), attempt)?;
    if extends(&session.tip, &row.link()) && !is_known(connection, session, row, seq, attempt)? {
        let message_position = row.message().map(|_| session.message_count);
        add_to_path(connection, session, seq, message_position, attempt)?;
        if let Some(id) = row.id() {
            session.tip = Tip::At(id.to_owned());
            session.append_parent = Some(id.to_owned());
        }
        Ok(seq)
    } else {
        rebuild_path(connection, session, attempt)?;
        Ok(seq)
    }
}

/// Tokens of a row's message, 0 for other rows.
pub(super) fn tokens_of(row: &Row) -> u64 {
    row.message()
        .map_or(0, |message| TokenCounter.message(message.json()))
}

/// Stores one row without looking at the path.
pub(super) fn insert(
    connection: &Connection,
    session: &mut Session,
    row: &Row,
    tokens: u64,
    attempt: &Attempt,
) -> Result<i64, StoreError> {
    let seq = session.next_seq;
    let message = row.message();
    let sql = "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, \
               (SELECT ?7 WHERE NOT EXISTS (SELECT 1 FROM entries WHERE session_id = ?1 AND idempotency_key = ?7)))";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement.execute(params![
                session.id,
                seq,
                row.id(),
                row.raw(),
                i64::try_from(tokens).unwrap_or(i64::MAX),
                message.is_some(),
                message.and_then(|message| message.idempotency_key())
            ])
        })
        .map_err(|error| attempt.sql(error))?;
    session.next_seq += 1;
    Ok(seq)
}

/// Whether an earlier row has this row's id.
fn is_known(
    connection: &Connection,
    session: &Session,
    row: &Row,
    seq: i64,
    attempt: &Attempt,
) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "SELECT 1 FROM entries WHERE session_id = ?1 AND entry_id = ?2 AND seq < ?3",
        )
        .and_then(|mut statement| statement.exists(params![session.id, row.id(), seq]))
        .map_err(|error| attempt.sql(error))
}

fn add_to_path(
    connection: &Connection,
    session: &mut Session,
    seq: i64,
    message_position: Option<i64>,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT INTO active_path VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut statement| {
            statement.execute(params![
                session.id,
                session.path_length,
                seq,
                message_position
            ])
        })
        .map_err(|error| attempt.sql(error))?;
    session.path_length += 1;
    session.message_count += i64::from(message_position.is_some());
    Ok(())
}

/// Finds the active path from all rows, as after a branch or an import.
pub(super) fn rebuild_path(
    connection: &Connection,
    session: &mut Session,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let (mut scan, mut places) = (PathScan::new(), Vec::new());
    each_row(connection, &session.id, attempt, |seq, row| {
        scan.push(&row.link());
        places.push((seq, row.message().is_some()));
    })?;
    let path = scan.finish();
    connection
        .execute(
            "DELETE FROM active_path WHERE session_id = ?1",
            [&session.id],
        )
        .map_err(|error| attempt.sql(error))?;
    (session.path_length, session.message_count) = (0, 0);
    for &index in &path.rows {
        let (seq, is_message) = places[index];
        let message_position = is_message.then_some(session.message_count);
        add_to_path(connection, session, seq, message_position, attempt)?;
    }
    session.tip = match path.leaf {
        Some(leaf) => {
            id_of(connection, session, places[leaf].0, attempt)?.map_or(Tip::Flat, Tip::At)
        }
        None if path.rows.is_empty() => Tip::Empty,
        None => Tip::Flat,
    };
    session.append_parent = path.append_parent;
    Ok(())
}

fn id_of(
    connection: &Connection,
    session: &Session,
    seq: i64,
    attempt: &Attempt,
) -> Result<Option<String>, StoreError> {
    connection
        .prepare_cached("SELECT entry_id FROM entries WHERE session_id = ?1 AND seq = ?2")
        .and_then(|mut statement| statement.query_row(params![session.id, seq], |row| row.get(0)))
        .map_err(|error| attempt.sql(error))
}

fn each_row(
    connection: &Connection,
    session_id: &str,
    attempt: &Attempt,
    mut each: impl FnMut(i64, Row),
) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT seq, row FROM entries WHERE session_id = ?1 ORDER BY seq")
        .map_err(|error| attempt.sql(error))?;
    let mut rows = statement
        .query([session_id])
        .map_err(|error| attempt.sql(error))?;
    while let Some(row) = rows.next().map_err(|error| attempt.sql(error))? {
        let seq = row.get(0).map_err(|error| attempt.sql(error))?;
        let text = row.get_ref(1).and_then(|text| Ok(text.as_str()?));
        each(
            seq,
            parsed(seq, text.map_err(|error| attempt.sql(error))?, attempt)?,
        );
    }
    Ok(())
}

/// A stored row. What was stored was read before, so it reads again.
fn parsed(seq: i64, text: &str, attempt: &Attempt) -> Result<Row, StoreError> {
    let line = usize::try_from(seq).unwrap_or(usize::MAX);
    parse_row(line, text)
        .ok_or_else(|| attempt.damaged(format!("entry {seq} of a session cannot be read")))
}

impl Store {
    /// The active path of a session, root first.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn path_of(&self, session: &Session) -> Result<Vec<PathEntry>, StoreError> {
        let attempt = self.attempt("read");
        let sql = "SELECT a.seq, e.row, e.tokens, a.message_position FROM active_path a \
                   JOIN entries e ON e.session_id = a.session_id AND e.seq = a.seq \
                   WHERE a.session_id = ?1 ORDER BY a.position";
        let mut statement = self
            .connection
            .prepare_cached(sql)
            .map_err(|error| attempt.sql(error))?;
        let rows = statement
            .query_map([&session.id], |row| {
                Ok((
                    row.get(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, i64>(2)?,
                    row.get(3)?,
                ))
            })
            .map_err(|error| attempt.sql(error))?;
        rows.map(|row| {
            let (seq, text, tokens, message_position) = row.map_err(|error| attempt.sql(error))?;
            let row = parsed(seq, &text, &attempt)?;
            Ok(PathEntry {
                seq,
                row,
                tokens: u64::try_from(tokens).unwrap_or(0),
                message_position,
            })
        })
        .collect()
    }

    /// The messages of the active path between two positions, both included.
    pub(crate) fn messages_between(
        &self,
        session: &Session,
        first_seq: i64,
        last_seq: i64,
    ) -> Result<Vec<Held>, StoreError> {
        let attempt = self.attempt("read");
        let sql = "SELECT a.seq, e.row, e.tokens FROM active_path a \
                   JOIN entries e ON e.session_id = a.session_id AND e.seq = a.seq \
                   WHERE a.session_id = ?1 AND a.seq BETWEEN ?2 AND ?3 AND a.message_position IS NOT NULL \
                   ORDER BY a.position";
        let mut statement = self
            .connection
            .prepare_cached(sql)
            .map_err(|error| attempt.sql(error))?;
        let rows = statement
            .query_map(params![session.id, first_seq, last_seq], |row| {
                Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
            })
            .map_err(|error| attempt.sql(error))?;
        let mut messages = Vec::new();
        for row in rows {
            let (seq, text, tokens) = row.map_err(|error| attempt.sql(error))?;
            let row = parsed(seq, &text, &attempt)?;
            if let Some(message) = row.message() {
                messages.push(Held {
                    id: row.id().unwrap_or_default().to_owned(),
                    role: message.role(),
                    tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
                    json: message.shared_json(),
                });
            }
        }
        Ok(messages)
    }

    /// Hands every stored line of a session to `each`, header first, exactly as it came in.
    ///
    /// # Errors
    ///
    /// The store cannot be read; or what `each` answers.
    pub fn export<E: From<StoreError>>(
        &self,
        session: &Session,
        mut each: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let attempt = self.attempt("export from");
        each(&session.header)?;
        let sql = "SELECT row FROM entries WHERE session_id = ?1 ORDER BY seq";
        let mut statement = self
            .connection
            .prepare(sql)
            .map_err(|error| attempt.sql(error))?;
        let mut rows = statement
            .query([&session.id])
            .map_err(|error| attempt.sql(error))?;
        while let Some(row) = rows.next().map_err(|error| attempt.sql(error))? {
            each(
                row.get_ref(0)
                    .and_then(|text| Ok(text.as_str()?))
                    .map_err(|error| attempt.sql(error))?,
            )?;
        }
        Ok(())
    }

    /// Appends rows made by this program in one transaction. `session` is brought up to date.
    pub(crate) fn append_rows(
        &mut self,
        session: &mut Session,
        rows: &[String],
    ) -> Result<Vec<i64>, StoreError> {
        let now_ms = self.ambient.now_ms();
        let mut changed = session.clone();
        let seqs = self.transaction("append to", |transaction, attempt| {
            let seqs = append_texts(transaction, &mut changed, rows, attempt)?;
            changed.save(transaction, now_ms, attempt)?;
            Ok(seqs)
        })?;
        *session = changed;
        Ok(seqs)
    }
}

/// Appends rows made by this program, inside the caller's transaction.
pub(super) fn append_texts(
    connection: &Connection,
    session: &mut Session,
    rows: &[String],
    attempt: &Attempt,
) -> Result<Vec<i64>, StoreError> {
    rows.iter()
        .map(|text| {
            let row = parsed(session.next_seq, text, attempt)?;
            append(connection, session, &row, attempt)
        })
        .collect()
}
