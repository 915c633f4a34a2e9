//! Entries of a transcript and the active path through them.

use super::Store;
use super::error::{Attempt, StoreError};
use super::links::{self, Linked};
use super::path::parsed;
use super::sessions::Session;
use crate::tokens::TokenCounter;
use openclaw_transcript::{Link, Row, Tip, active_path, extends};
use rusqlite::{Connection, params};

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
    let tokens = tokens_of(row);
    let seq = insert(connection, session, row, tokens, attempt)?;
    if extends(&session.tip, &row.link()) && !is_known(connection, session, row, seq, attempt)? {
        let step = Step {
            seq,
            is_message: row.message().is_some(),
            is_boundary: row.is_boundary(),
            tokens: stored(tokens),
        };
        add_to_path(connection, session, &step, attempt)?;
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

/// A token count as SQLite keeps it.
fn stored(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
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
    let link = links::Columns::of(row);
    let sql = "INSERT INTO entries (session_id, seq, entry_id, row, tokens, is_message, idempotency_key, \
               node, parent, parent_id, side, leaf_target, leaf_append_parent) VALUES (?1, ?2, ?3, ?4, ?5, ?6, \
               (SELECT ?7 WHERE NOT EXISTS (SELECT 1 FROM entries WHERE session_id = ?1 AND idempotency_key = ?7)), \
               ?8, ?9, ?10, ?11, ?12, ?13)";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement.execute(params![
                session.id,
                seq,
                row.id(),
                row.raw(),
                stored(tokens),
                message.is_some(),
                message.and_then(|message| message.idempotency_key()),
                link.node,
                link.parent,
                link.parent_id,
                link.side,
                link.leaf_target,
                link.leaf_append_parent
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

/// A row as the path keeps it.
struct Step {
    seq: i64,
    is_message: bool,
    is_boundary: bool,
    tokens: i64,
}

impl Step {
    fn of(row: &Linked) -> Self {
        Self {
            seq: row.seq,
            is_message: row.is_message,
            is_boundary: row.is_boundary,
            tokens: row.tokens,
        }
    }
}

fn add_to_path(
    connection: &Connection,
    session: &mut Session,
    step: &Step,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT INTO active_path VALUES (?1, ?2, ?3, ?4, ?5)")
        .and_then(|mut statement| {
            statement.execute(params![
                session.id,
                session.path_length,
                step.seq,
                step.is_message.then_some(session.message_count),
                step.is_boundary
            ])
        })
        .map_err(|error| attempt.sql(error))?;
    session.path_length += 1;
    session.message_count += i64::from(step.is_message);
    session.path_tokens = session.path_tokens.saturating_add(step.tokens);
    Ok(())
}

/// Finds the active path from the links of all rows, as after a branch or an import.
pub(super) fn rebuild_path(
    connection: &Connection,
    session: &mut Session,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let rows = links::all(connection, &session.id, attempt)?;
    let links: Vec<Link> = rows.iter().map(|row| row.link.clone()).collect();
    let path = active_path(&links);
    connection
        .execute(
            "DELETE FROM active_path WHERE session_id = ?1",
            [&session.id],
        )
        .map_err(|error| attempt.sql(error))?;
    (
        session.path_length,
        session.message_count,
        session.path_tokens,
    ) = (0, 0, 0);
    session.path_revision += 1;
    for &index in &path.rows {
        add_to_path(connection, session, &Step::of(&rows[index]), attempt)?;
    }
    session.tip = path.tip(&links);
    session.append_parent = path.append_parent;
    Ok(())
}

impl Store {
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
