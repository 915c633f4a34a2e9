//! The tables, and how older files get them.

#[cfg(test)]
mod tests;

use super::error::{Attempt, StoreError, StoreErrorKind};
use super::links;
use super::path::parsed;
use rusqlite::{Connection, TransactionBehavior, params};

/// One version of the schema from the one before.
type Migration = fn(&Connection, &Attempt) -> Result<(), StoreError>;

/// Migrations in order; the file's `user_version` counts those it has.
const MIGRATIONS: [Migration; 3] = [first, links_in_columns, imports];

const FIRST: &str = "
    CREATE TABLE sessions (
        session_id TEXT PRIMARY KEY,
        session_key TEXT NOT NULL,
        header TEXT NOT NULL,
        generation TEXT NOT NULL,
        tip TEXT NOT NULL,
        append_parent TEXT,
        next_seq INTEGER NOT NULL,
        path_length INTEGER NOT NULL,
        message_count INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE session_keys (
        session_key TEXT PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions
    ) STRICT;
    CREATE TABLE entries (
        session_id TEXT NOT NULL REFERENCES sessions,
        seq INTEGER NOT NULL,
        entry_id TEXT,
        row TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        is_message INTEGER NOT NULL,
        idempotency_key TEXT,
        PRIMARY KEY (session_id, seq)
    ) STRICT;
    CREATE INDEX entries_by_id ON entries (session_id, entry_id);
    CREATE UNIQUE INDEX entries_by_idempotency_key ON entries (session_id, idempotency_key)
        WHERE idempotency_key IS NOT NULL;
    CREATE TABLE active_path (
        session_id TEXT NOT NULL REFERENCES sessions,
        position INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        message_position INTEGER,
        PRIMARY KEY (session_id, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX active_path_by_seq ON active_path (session_id, seq);
    CREATE TABLE outbox (
        advancement_key TEXT PRIMARY KEY,
        engine_id TEXT NOT NULL,
        session_id TEXT NOT NULL REFERENCES sessions,
        state TEXT NOT NULL CHECK (state IN ('admitted', 'ready', 'blocked')),
        facts TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        last_error TEXT,
        created_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX outbox_by_session ON outbox (session_id, engine_id);
    CREATE TABLE turns (
        turn_id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions,
        admission_seq INTEGER NOT NULL,
        terminal_seq INTEGER,
        commit_facts TEXT,
        started_at_ms INTEGER NOT NULL,
        record TEXT
    ) STRICT;
    CREATE INDEX turns_by_session ON turns (session_id, admission_seq);
";

fn first(connection: &Connection, attempt: &Attempt) -> Result<(), StoreError> {
    connection
        .execute_batch(FIRST)
        .map_err(|error| attempt.sql(error))
}

/// What the tree has to know of a row stands in columns of its own, so that a path can be found without reading a body.
const LINKS: &str = "
    ALTER TABLE sessions ADD COLUMN path_revision INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN path_tokens INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE entries ADD COLUMN node TEXT NOT NULL DEFAULT 'opaque'
        CHECK (node IN ('content', 'compaction', 'reset', 'leaf', 'opaque'));
    ALTER TABLE entries ADD COLUMN parent TEXT NOT NULL DEFAULT 'absent' CHECK (parent IN ('absent', 'null', 'id'));
    ALTER TABLE entries ADD COLUMN parent_id TEXT;
    ALTER TABLE entries ADD COLUMN side INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE entries ADD COLUMN leaf_target TEXT;
    ALTER TABLE entries ADD COLUMN leaf_append_parent TEXT;
    ALTER TABLE active_path ADD COLUMN is_boundary INTEGER NOT NULL DEFAULT 0;
    -- Unique, so that SQLite knows that it leads to one row and does not look through the path instead.
    DROP INDEX active_path_by_seq;
    CREATE UNIQUE INDEX active_path_by_seq ON active_path (session_id, seq);
";
const AFTER_LINKS: &str = "
    UPDATE active_path SET is_boundary = 1 WHERE EXISTS (SELECT 1 FROM entries e
        WHERE e.session_id = active_path.session_id AND e.seq = active_path.seq AND e.node IN ('compaction', 'reset'));
    CREATE INDEX active_path_boundaries ON active_path (session_id, position) WHERE is_boundary;
    CREATE INDEX active_path_messages ON active_path (session_id, message_position)
        WHERE message_position IS NOT NULL;
    CREATE INDEX outbox_by_engine ON outbox (engine_id, state, session_id);
    UPDATE sessions SET path_tokens = (SELECT coalesce(sum(e.tokens), 0) FROM active_path a JOIN entries e
        ON e.session_id = a.session_id AND e.seq = a.seq WHERE a.session_id = sessions.session_id);
";
/// Rows read at a time, so that a large store fits into memory.
const BATCH: i64 = 1000;

fn links_in_columns(connection: &Connection, attempt: &Attempt) -> Result<(), StoreError> {
    let sql = |error| attempt.sql(error);
    connection.execute_batch(LINKS).map_err(sql)?;
    let mut next = connection
        .prepare("SELECT rowid, seq, row FROM entries WHERE rowid > ?1 ORDER BY rowid LIMIT ?2")
        .map_err(sql)?;
    let mut update = connection.prepare(links::UPDATE).map_err(sql)?;
    let mut last = i64::MIN;
    loop {
        let batch: Vec<(i64, i64, String)> = next
            .query_map([last, BATCH], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .and_then(Iterator::collect)
            .map_err(sql)?;
        let Some((rowid, ..)) = batch.last() else {
            break;
        };
        last = *rowid;
        for (rowid, seq, text) in &batch {
            let row = parsed(*seq, text, attempt)?;
            let link = links::Columns::of(&row);
            update
                .execute(params![
                    rowid,
                    link.node,
                    link.parent,
                    link.parent_id,
                    link.side,
                    link.leaf_target,
                    link.leaf_append_parent
                ])
                .map_err(sql)?;
        }
    }
    connection.execute_batch(AFTER_LINKS).map_err(sql)
}

/// Transcripts whose import has not ended: nobody sees them, and what a dead import left is swept.
const IMPORTS: &str = "
    CREATE TABLE imports (
        session_id TEXT PRIMARY KEY,
        started_at_ms INTEGER NOT NULL
    ) STRICT;
";

fn imports(connection: &Connection, attempt: &Attempt) -> Result<(), StoreError> {
    connection
        .execute_batch(IMPORTS)
        .map_err(|error| attempt.sql(error))
}

const NEWEST: i64 = MIGRATIONS.len() as i64;

/// Refuses a file that a newer version made.
pub(super) fn check(connection: &Connection, attempt: &Attempt) -> Result<i64, StoreError> {
    let found: i64 = connection
        .query_row("SELECT user_version FROM pragma_user_version", [], |row| {
            row.get(0)
        })
        .map_err(|error| attempt.sql(error))?;
    if found > NEWEST {
        return Err(attempt.kind(StoreErrorKind::Newer {
            found,
            known: NEWEST,
        }));
    }
    Ok(found)
}

/// Refuses a file that has not the newest schema: reading brings nothing up to date.
pub(super) fn check_to_read(connection: &Connection, attempt: &Attempt) -> Result<(), StoreError> {
    match check(connection, attempt)? {
        0 => Err(attempt.kind(StoreErrorKind::Foreign)),
        NEWEST => Ok(()),
        found => Err(attempt.kind(StoreErrorKind::Older {
            found,
            known: NEWEST,
        })),
    }
}

/// Brings a file to the newest schema.
pub(super) fn prepare(connection: &mut Connection, attempt: &Attempt) -> Result<(), StoreError> {
    let sql = |error| attempt.sql(error);
    let found = check(connection, attempt)?;
    if found == 0 {
        refuse_foreign(connection, attempt)?;
    }
    // WAL with FULL: an acknowledged turn survives a power cut, not just a killed process.
    let mode: String = connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .map_err(sql)?;
    if mode != "wal" {
        connection
            .pragma_update(None, "journal_mode", "wal")
            .map_err(sql)?;
    }
    connection
        .pragma_update(None, "synchronous", "full")
        .map_err(sql)?;
    connection
        .pragma_update(None, "foreign_keys", true)
        .map_err(sql)?;
    if found == NEWEST {
        return Ok(());
    }
    // Another process may be making the tables at this moment: look again once it is our turn.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sql)?;
    let found = check(&transaction, attempt)?;
    for (index, migration) in MIGRATIONS
        .iter()
        .enumerate()
        .skip(usize::try_from(found).unwrap_or(0))
    {
        migration(&transaction, attempt)?;
        transaction
            .pragma_update(None, "user_version", index as i64 + 1)
            .map_err(sql)?;
    }
    transaction.commit().map_err(sql)
}

/// Refuses a database that has tables and no version: another program made it.
fn refuse_foreign(connection: &Connection, attempt: &Attempt) -> Result<(), StoreError> {
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .map_err(|error| attempt.sql(error))?;
    // The version may have been written between the two looks, by another process that made the tables.
    if tables > 0 && check(connection, attempt)? == 0 {
        return Err(attempt.kind(StoreErrorKind::Foreign));
    }
    Ok(())
}
