//! Entries of a transcript: stored once, never changed.

use super::Store;
use super::error::{Attempt, StoreError};
use super::links;
use super::path::parsed;
use super::sessions::Session;
use super::upkeep::{self, Step};
use crate::tokens::TokenCounter;
use openclaw_transcript::Row;
use rusqlite::{Connection, params};

/// Appends one row to a transcript, brings the path up to date, and returns the row's position.
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
    let step = Step::of(seq, row, tokens);
    upkeep::grow(connection, session, &row.link(), &step, attempt)?;
    Ok(seq)
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
                i64::try_from(tokens).unwrap_or(i64::MAX),
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
    session.check_unchanged(connection, attempt)?;
    rows.iter()
        .map(|text| {
            let row = parsed(session.next_seq, text, attempt)?;
            append(connection, session, &row, attempt)
        })
        .collect()
}
