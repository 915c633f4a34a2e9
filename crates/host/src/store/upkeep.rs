//! Keeps the active path beside the entries: what a row changes is changed, the rest stays.

#[cfg(test)]
mod tests;

use super::error::{Attempt, StoreError};
use super::links::{self, Linked};
use super::sessions::Session;
use openclaw_transcript::{Growth, Link, Row, Tip, active_path, growth};
use rusqlite::{Connection, OptionalExtension, params};

/// A row as the path keeps it.
pub(super) struct Step {
    seq: i64,
    is_message: bool,
    is_boundary: bool,
    tokens: i64,
}

impl Step {
    pub(super) fn of(seq: i64, row: &Row, tokens: u64) -> Self {
        Self {
            seq,
            is_message: row.message().is_some(),
            is_boundary: row.is_boundary(),
            tokens: i64::try_from(tokens).unwrap_or(i64::MAX),
        }
    }

    fn stored(row: &Linked) -> Self {
        Self {
            seq: row.seq,
            is_message: row.is_message,
            is_boundary: row.is_boundary,
            tokens: row.tokens,
        }
    }
}

/// Brings the path up to date after a row was stored.
pub(super) fn grow(
    connection: &Connection,
    session: &mut Session,
    link: &Link,
    step: &Step,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let tip = session.tip.clone();
    let growth = growth(&tip, link);
    if growth == Growth::Nothing {
        return Ok(());
    }
    if is_taken(connection, session, link, step.seq, attempt)? {
        return rebuild(connection, session, attempt);
    }
    let (end, grows, append_parent) = match growth {
        Growth::Nothing => return Ok(()),
        Growth::Extend => (Some(session.path_length), true, link.id.clone()),
        Growth::Branch { behind } => (
            end_at(connection, session, Some(behind), attempt)?,
            true,
            link.id.clone(),
        ),
        Growth::Move { to } => (
            end_at(connection, session, to, attempt)?,
            false,
            to.map(str::to_owned),
        ),
        Growth::Unknown => (None, false, None),
    };
    let Some(end) = end else {
        return rebuild(connection, session, attempt);
    };
    truncate(connection, session, end, attempt)?;
    if grows {
        push(connection, session, step, attempt)?;
    }
    session.tip = append_parent.clone().map_or(Tip::Empty, Tip::At);
    session.append_parent = append_parent;
    Ok(())
}

/// Whether an earlier row has the row's id.
fn is_taken(
    connection: &Connection,
    session: &Session,
    link: &Link,
    seq: i64,
    attempt: &Attempt,
) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "SELECT 1 FROM entries INDEXED BY entries_by_id \
             WHERE session_id = ?1 AND entry_id = ?2 AND seq < ?3",
        )
        .and_then(|mut statement| statement.exists(params![session.id, link.id, seq]))
        .map_err(|error| attempt.sql(error))
}

/// How long the path is that ends at a row of it; `None` when the row is not on it or a reset stands behind.
fn end_at(
    connection: &Connection,
    session: &Session,
    entry_id: Option<&str>,
    attempt: &Attempt,
) -> Result<Option<i64>, StoreError> {
    let sql = |error| attempt.sql(error);
    let end = match entry_id {
        None => Some(0),
        Some(id) => connection
            .prepare_cached(
                "SELECT a.position + 1 FROM entries e INDEXED BY entries_by_id \
                 CROSS JOIN active_path a ON a.session_id = e.session_id AND a.seq = e.seq \
                 WHERE e.session_id = ?1 AND e.entry_id = ?2",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([&session.id, id], |row| row.get(0))
                    .optional()
            })
            .map_err(sql)?,
    };
    let Some(end) = end else {
        return Ok(None);
    };
    let is_behind_reset = connection
        .prepare_cached(
            "SELECT 1 FROM active_path a INDEXED BY active_path_boundaries \
             CROSS JOIN entries e ON e.session_id = a.session_id AND e.seq = a.seq \
             WHERE a.session_id = ?1 AND a.is_boundary AND a.position >= ?2 AND e.node = 'reset'",
        )
        .and_then(|mut statement| statement.exists(params![session.id, end]))
        .map_err(sql)?;
    Ok((!is_behind_reset).then_some(end))
}

/// Takes the path's rows from a position on off it.
fn truncate(
    connection: &Connection,
    session: &mut Session,
    end: i64,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    if end >= session.path_length {
        return Ok(());
    }
    let sql = |error| attempt.sql(error);
    let (messages, tokens): (i64, i64) = connection
        .prepare_cached(
            "SELECT count(a.message_position), sum(e.tokens) FROM active_path a \
             JOIN entries e ON e.session_id = a.session_id AND e.seq = a.seq \
             WHERE a.session_id = ?1 AND a.position >= ?2",
        )
        .and_then(|mut statement| {
            statement.query_row(params![session.id, end], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
        })
        .map_err(sql)?;
    connection
        .prepare_cached("DELETE FROM active_path WHERE session_id = ?1 AND position >= ?2")
        .and_then(|mut statement| statement.execute(params![session.id, end]))
        .map_err(sql)?;
    session.path_length = end;
    session.message_count -= messages;
    session.path_tokens -= tokens;
    session.path_revision += 1;
    Ok(())
}

/// Puts rows in the place of those from a position on: what a leaf row does that leads to a branch written aside.
pub(super) fn replace_end(
    connection: &Connection,
    session: &mut Session,
    first: i64,
    steps: &[Step],
    leaf: Option<String>,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    truncate(connection, session, first, attempt)?;
    for step in steps {
        push(connection, session, step, attempt)?;
    }
    session.tip = leaf.clone().map_or(Tip::Empty, Tip::At);
    session.append_parent = leaf;
    Ok(())
}

/// Puts a row behind the path.
fn push(
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
    session.path_tokens += step.tokens;
    Ok(())
}

/// Finds the active path from the links of all rows, as after an import. What is there already stays.
pub(super) fn rebuild(
    connection: &Connection,
    session: &mut Session,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let rows = links::all(connection, &session.id, attempt)?;
    let (links, steps): (Vec<Link>, Vec<Step>) = rows
        .into_iter()
        .map(|row| {
            let step = Step::stored(&row);
            (row.link, step)
        })
        .unzip();
    let path = active_path(&links);
    let found = path.rows.iter().map(|&index| &steps[index]);
    let stays = seqs(connection, session, attempt)?
        .iter()
        .zip(found.clone())
        .take_while(|(seq, step)| **seq == step.seq)
        .count();
    let end = i64::try_from(stays).unwrap_or(i64::MAX);
    truncate(connection, session, end, attempt)?;
    for step in found.skip(stays) {
        push(connection, session, step, attempt)?;
    }
    session.tip = path.tip(&links);
    session.append_parent = path.append_parent;
    Ok(())
}

/// The path as positions among all rows.
fn seqs(
    connection: &Connection,
    session: &Session,
    attempt: &Attempt,
) -> Result<Vec<i64>, StoreError> {
    connection
        .prepare_cached("SELECT seq FROM active_path WHERE session_id = ?1 ORDER BY position")
        .and_then(|mut statement| {
            statement
                .query_map([&session.id], |row| row.get(0))?
                .collect()
        })
        .map_err(|error| attempt.sql(error))
}
