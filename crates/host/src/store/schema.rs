//! The tables, and how older files get them.

use super::error::{Attempt, StoreError, StoreErrorKind};
use rusqlite::{Connection, TransactionBehavior};

/// Migrations in order; the file's `user_version` counts those it has.
const MIGRATIONS: [&str; 2] = [
    "
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
",
    // Transcripts whose import has not ended: nobody sees them, and what a dead import left is swept.
    "
    CREATE TABLE imports (
        session_id TEXT PRIMARY KEY,
        started_at_ms INTEGER NOT NULL
    ) STRICT;
",
];

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

/// The same for a connection that will only read. It gets what an older file lacks, in its own memory.
pub(super) fn check_to_read(connection: &Connection, attempt: &Attempt) -> Result<(), StoreError> {
    match check(connection, attempt)? {
        0 => Err(attempt.kind(StoreErrorKind::Foreign)),
        1 => connection
            .execute_batch("CREATE TEMP TABLE imports (session_id TEXT PRIMARY KEY)")
            .map_err(|error| attempt.sql(error)),
        _ => Ok(()),
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
        transaction.execute_batch(migration).map_err(sql)?;
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
