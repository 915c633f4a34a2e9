//! Turns whose entries were written again: what names the old ones names the new ones.

use super::super::error::{Attempt, StoreError};
use super::super::path::PathEntry;
use super::super::sessions::Session;
use openclaw_interface::model::{Anchor, CommitParams};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// Where entries went.
#[derive(Debug, Default)]
pub(super) struct Moved {
    ids: HashMap<String, String>,
    seqs: HashMap<i64, i64>,
}

impl Moved {
    pub(super) fn add(&mut self, old: &PathEntry, seq: i64, id: Option<&str>) {
        self.seqs.insert(old.seq, seq);
        if let Some((old, new)) = old.row.id().zip(id) {
            self.ids.insert(old.to_owned(), new.to_owned());
        }
    }

    fn seq(&self, seq: i64) -> i64 {
        self.seqs.get(&seq).copied().unwrap_or(seq)
    }

    fn anchor(&self, anchor: &mut Anchor) {
        if let Some(id) = self.ids.get(&anchor.entry_id) {
            anchor.entry_id.clone_from(id);
        }
        if let Some(id) = anchor
            .effective_parent_id
            .as_ref()
            .and_then(|id| self.ids.get(id))
        {
            anchor.effective_parent_id = Some(id.clone());
        }
        let seq = i64::try_from(anchor.raw_seq).map(|seq| self.seq(seq));
        if let Some(seq) = seq.ok().and_then(|seq| u64::try_from(seq).ok()) {
            anchor.raw_seq = seq;
        }
    }

    /// The facts of a commit with its anchors moved; `None` for facts that cannot be read.
    fn facts(&self, facts: &str) -> Option<String> {
        let mut commit: CommitParams = serde_json::from_str(facts).ok()?;
        self.anchor(&mut commit.admission);
        self.anchor(&mut commit.terminal);
        serde_json::to_string(&commit).ok()
    }
}

/// Brings turns and outbox up to date. A row of the outbox whose facts cannot be read is blocked and says so.
pub(super) fn follow(
    connection: &Connection,
    session: &Session,
    moved: &Moved,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let sql = |error| attempt.sql(error);
    let Some(first) = moved.seqs.keys().min() else {
        return Ok(());
    };
    // Turns follow one another, so only the last one that began before can reach in.
    let mut turns = connection
        .prepare_cached(
            "SELECT turn_id, admission_seq, terminal_seq, commit_facts FROM turns WHERE session_id = ?1 \
             AND admission_seq >= coalesce((SELECT max(admission_seq) FROM turns WHERE session_id = ?1 AND admission_seq < ?2), 0)",
        )
        .map_err(sql)?;
    let turns: Vec<(String, i64, Option<i64>, Option<String>)> = turns
        .query_map(params![session.id, first], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .and_then(Iterator::collect)
        .map_err(sql)?;
    for (turn_id, admission, terminal, facts) in turns {
        connection
            .prepare_cached("UPDATE turns SET admission_seq = ?2, terminal_seq = ?3, commit_facts = ?4 WHERE turn_id = ?1")
            .and_then(|mut statement| {
                statement.execute(params![
                    turn_id,
                    moved.seq(admission),
                    terminal.map(|seq| moved.seq(seq)),
                    facts.as_deref().and_then(|facts| moved.facts(facts)).or(facts),
                ])
            })
            .map_err(sql)?;
        follow_outbox(connection, &turn_id, moved, attempt)?;
    }
    Ok(())
}

fn follow_outbox(
    connection: &Connection,
    turn_id: &str,
    moved: &Moved,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let sql = |error| attempt.sql(error);
    let mut rows = connection
        .prepare_cached("SELECT rowid, facts FROM outbox WHERE advancement_key = ?1")
        .map_err(sql)?;
    let rows: Vec<(i64, String)> = rows
        .query_map([turn_id], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .map_err(sql)?;
    for (rowid, facts) in rows {
        match moved.facts(&facts) {
            Some(facts) => connection.execute(
                "UPDATE outbox SET facts = ?2 WHERE rowid = ?1",
                params![rowid, facts],
            ),
            None => connection.execute(
                "UPDATE outbox SET state = 'blocked', \
                 last_error = 'its entries were rewritten and it cannot be read' WHERE rowid = ?1",
                [rowid],
            ),
        }
        .map_err(sql)?;
    }
    Ok(())
}
