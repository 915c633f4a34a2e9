//! Sessions: a key that people use, and the transcript behind it.
//!
//! A key, once given, stays on its transcript until a compaction moves it to a successor, and a transcript has one key.
//! One that has lost it is listed by its id and gets a key again when it is imported again.

use super::Store;
use super::error::{Attempt, StoreError, StoreErrorKind};
use openclaw_transcript::{Tip, header_row};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// A session's transcript as the store keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Id of the transcript.
    pub id: String,
    /// Stable logical name; the id when no key points here.
    pub key: String,
    /// Token of this history; another token is another history.
    pub generation: String,
    /// The header line, exactly as imported or made.
    pub header: String,
    pub(crate) tip: Tip,
    pub(crate) append_parent: Option<String>,
    pub(crate) next_seq: i64,
    pub(crate) path_length: i64,
    /// Changes whenever the path changes otherwise than by growing at its end.
    pub(crate) path_revision: i64,
    pub(crate) path_tokens: i64,
    /// What the store's row was when it was read or written last.
    stored: Stamp,
    /// Messages on the active path.
    pub message_count: i64,
}

/// What tells whether a session is still the one that was read.
#[derive(Clone, Debug, Default, PartialEq)]
struct Stamp {
    generation: String,
    next_seq: i64,
    path_revision: i64,
}

/// A line of `sessions list`.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSummary {
    /// Stable logical name; `None` when no key points here.
    pub key: Option<String>,
    /// Id of the transcript.
    pub session_id: String,
    /// Entries stored, those off the active path included.
    pub entries: i64,
    /// Messages on the active path.
    pub messages: i64,
    /// Tokens of all entries on the active path.
    pub tokens: i64,
    /// Milliseconds since 1970.
    pub updated_at_ms: i64,
}

/// Leaves out transcripts whose import has not ended.
const VISIBLE: &str = "session_id NOT IN (SELECT session_id FROM imports)";

const COLUMNS: &str = "session_id, coalesce((SELECT min(k.session_key) FROM session_keys k \
                       WHERE k.session_id = sessions.session_id), session_id), generation, header, tip, \
                       append_parent, next_seq, path_length, message_count, path_revision, path_tokens";

/// Bytes a session key may have.
const MAX_KEY_BYTES: usize = 512;

/// Refuses a text that cannot be a session key.
pub(crate) fn check_session_key(key: &str) -> Result<(), StoreErrorKind> {
    let reason = if key.trim().is_empty() {
        "it is blank".to_owned()
    } else if let Some(control) = key.chars().find(|c| c.is_control()) {
        format!("it has the control character U+{:04X}", u32::from(control))
    } else if key.len() > MAX_KEY_BYTES {
        format!("it has {} bytes, the limit is {MAX_KEY_BYTES}", key.len())
    } else {
        return Ok(());
    };
    let shown = key.chars().map(|c| if c.is_control() { ' ' } else { c });
    Err(StoreErrorKind::BadKey {
        key: shown.take(60).collect(),
        reason,
    })
}

impl Session {
    fn read(row: &Row<'_>) -> rusqlite::Result<(Self, String)> {
        let tip: String = row.get(4)?;
        let session = Self {
            id: row.get(0)?,
            key: row.get(1)?,
            generation: row.get(2)?,
            header: row.get(3)?,
            tip: Tip::Empty,
            append_parent: row.get(5)?,
            next_seq: row.get(6)?,
            path_length: row.get(7)?,
            message_count: row.get(8)?,
            path_revision: row.get(9)?,
            path_tokens: row.get(10)?,
            stored: Stamp::default(),
        };
        Ok((session.stamped(), tip))
    }

    /// The same under another key.
    pub(super) fn with_key(self, key: String) -> Self {
        Self { key, ..self }
    }

    /// Makes it another history, which engines take up anew.
    pub(super) fn become_other(
        &mut self,
        connection: &Connection,
        generation: &str,
        attempt: &Attempt,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET generation = ?2 WHERE session_id = ?1";
        connection
            .execute(sql, [&self.id, generation])
            .map_err(|error| attempt.sql(error))?;
        self.generation = generation.to_owned();
        self.stored.generation = generation.to_owned();
        Ok(())
    }

    fn stamp(&self) -> Stamp {
        Stamp {
            generation: self.generation.clone(),
            next_seq: self.next_seq,
            path_revision: self.path_revision,
        }
    }

    fn stamped(mut self) -> Self {
        self.stored = self.stamp();
        self
    }

    /// Refuses to go on with a session that another process has changed since it was read.
    pub(super) fn check_unchanged(
        &self,
        connection: &Connection,
        attempt: &Attempt,
    ) -> Result<(), StoreError> {
        let found = connection
            .prepare_cached(
                "SELECT generation, next_seq, path_revision FROM sessions WHERE session_id = ?1",
            )
            .and_then(|mut statement| {
                statement
                    .query_row([&self.id], |row| {
                        Ok(Stamp {
                            generation: row.get(0)?,
                            next_seq: row.get(1)?,
                            path_revision: row.get(2)?,
                        })
                    })
                    .optional()
            })
            .map_err(|error| attempt.sql(error))?;
        if found.as_ref() == Some(&self.stored) {
            return Ok(());
        }
        Err(attempt.kind(StoreErrorKind::Changed(self.id.clone())))
    }

    /// Writes back what an append changed, unless another process was faster.
    pub(super) fn save(
        &mut self,
        connection: &Connection,
        now_ms: i64,
        attempt: &Attempt,
    ) -> Result<(), StoreError> {
        let tip =
            serde_json::to_string(&self.tip).map_err(|error| attempt.damaged(error.to_string()))?;
        let sql = "UPDATE sessions SET tip = ?2, append_parent = ?3, next_seq = ?4, path_length = ?5, \
                   message_count = ?6, updated_at_ms = ?7, path_revision = ?8, path_tokens = ?9 WHERE session_id = ?1";
        self.check_unchanged(connection, attempt)?;
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.execute(params![
                    self.id,
                    tip,
                    self.append_parent,
                    self.next_seq,
                    self.path_length,
                    self.message_count,
                    now_ms,
                    self.path_revision,
                    self.path_tokens,
                ])
            })
            .map_err(|error| attempt.sql(error))?;
        self.stored = self.stamp();
        Ok(())
    }
}

fn find(
    connection: &Connection,
    sql: &str,
    value: &str,
    attempt: &Attempt,
) -> Result<Option<Session>, StoreError> {
    let found = connection
        .query_row(sql, [value], Session::read)
        .optional()
        .map_err(|error| attempt.sql(error))?;
    let Some((mut session, tip)) = found else {
        return Ok(None);
    };
    session.tip = serde_json::from_str(&tip)
        .map_err(|error| attempt.damaged(format!("tip of a session: {error}")))?;
    Ok(Some(session))
}

/// The transcript behind a session key.
pub(super) fn by_key(
    connection: &Connection,
    key: &str,
    attempt: &Attempt,
) -> Result<Option<Session>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE session_id = \
                       (SELECT session_id FROM session_keys WHERE session_key = ?1)"
    );
    let found = find(connection, &sql, key, attempt)?;
    Ok(found.map(|session| Session {
        key: key.to_owned(),
        ..session
    }))
}

/// The key of a transcript.
pub(super) fn key_of(
    connection: &Connection,
    id: &str,
    attempt: &Attempt,
) -> Result<Option<String>, StoreError> {
    connection
        .query_row(
            "SELECT min(session_key) FROM session_keys WHERE session_id = ?1",
            [id],
            |row| row.get(0),
        )
        .map_err(|error| attempt.sql(error))
}

/// Puts a key on a transcript that has none. The key must not be that of another.
pub(super) fn bind(
    connection: &Connection,
    key: &str,
    id: &str,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    check_session_key(key).map_err(|kind| attempt.kind(kind))?;
    if let Some(other) = by_key(connection, key, attempt)? {
        return Err(attempt.kind(StoreErrorKind::KeyTaken {
            key: key.to_owned(),
            session_id: other.id,
        }));
    }
    let sql = |error| attempt.sql(error);
    connection
        .execute("INSERT INTO session_keys VALUES (?1, ?2)", [key, id])
        .map_err(sql)?;
    connection
        .execute(
            "UPDATE sessions SET session_key = ?1 WHERE session_id = ?2",
            [key, id],
        )
        .map_err(sql)?;
    Ok(())
}

/// The transcript with an id.
pub(super) fn by_id(
    connection: &Connection,
    id: &str,
    attempt: &Attempt,
) -> Result<Option<Session>, StoreError> {
    find(
        connection,
        &format!("SELECT {COLUMNS} FROM sessions WHERE session_id = ?1 AND {VISIBLE}"),
        id,
        attempt,
    )
}

/// Adds an empty transcript and puts the key on it, which must not be that of another.
pub(super) fn create(
    connection: &Connection,
    new: (&str, &str, &str, &str),
    now_ms: i64,
    attempt: &Attempt,
) -> Result<Session, StoreError> {
    let session = add(connection, new, now_ms, attempt)?;
    bind(connection, &session.key, &session.id, attempt)?;
    Ok(session)
}

/// Adds an empty transcript without putting its key on it.
pub(super) fn add(
    connection: &Connection,
    (key, id, header, generation): (&str, &str, &str, &str),
    now_ms: i64,
    attempt: &Attempt,
) -> Result<Session, StoreError> {
    let session = Session {
        id: id.to_owned(),
        key: key.to_owned(),
        generation: generation.to_owned(),
        header: header.to_owned(),
        tip: Tip::Empty,
        append_parent: None,
        next_seq: 1,
        path_length: 0,
        path_revision: 0,
        path_tokens: 0,
        message_count: 0,
        stored: Stamp::default(),
    }
    .stamped();
    connection
        .execute(
            "INSERT INTO sessions (session_id, session_key, header, generation, tip, append_parent, next_seq, \
             path_length, message_count, created_at_ms, updated_at_ms) \
             VALUES (?1, ?2, ?3, ?4, '\"Empty\"', NULL, 1, 0, 0, ?5, ?5)",
            params![id, key, header, generation, now_ms],
        )
        .map_err(|error| attempt.sql(error))?;
    Ok(session)
}

impl Store {
    /// The transcript behind a session key.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn session(&self, key: &str) -> Result<Option<Session>, StoreError> {
        by_key(&self.connection, key, &self.attempt("read"))
    }

    /// The transcript with an id.
    pub(crate) fn session_with_id(&self, id: &str) -> Result<Option<Session>, StoreError> {
        by_id(&self.connection, id, &self.attempt("read"))
    }

    /// The transcript behind a session key, or with that id.
    ///
    /// # Errors
    ///
    /// There is none, or the store cannot be read.
    pub fn session_named(&self, name: &str) -> Result<Session, StoreError> {
        let attempt = self.attempt("find a session in");
        let found = match by_key(&self.connection, name, &attempt)? {
            Some(session) => Some(session),
            None => by_id(&self.connection, name, &attempt)?,
        };
        found.ok_or_else(|| attempt.kind(StoreErrorKind::NoSession(name.to_owned())))
    }

    /// The transcript behind a session key; a new one with the current header version when there is none.
    pub(crate) fn session_or_new(&mut self, key: &str, cwd: &str) -> Result<Session, StoreError> {
        if let Some(session) = self.session(key)? {
            return Ok(session);
        }
        let ambient = self.ambient.clone();
        let (id, generation) = (ambient.new_id(), ambient.new_id());
        let header = header_row(&id, &ambient.timestamp(), cwd);
        self.transaction("start a session in", |transaction, attempt| {
            // Another process may have been faster.
            if let Some(session) = by_key(transaction, key, attempt)? {
                return Ok(session);
            }
            let new = (key, id.as_str(), header.as_str(), generation.as_str());
            create(transaction, new, ambient.now_ms(), attempt)
        })
    }

    /// All sessions, those without a key among them, the one used last first.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, StoreError> {
        let sql = format!(
            "SELECT k.session_key, s.session_id, s.next_seq - 1, s.message_count, s.path_tokens, s.updated_at_ms \
             FROM sessions s LEFT JOIN session_keys k USING (session_id) \
             WHERE s.{VISIBLE} ORDER BY s.updated_at_ms DESC, 1"
        );
        let read = |row: &Row<'_>| {
            Ok(SessionSummary {
                key: row.get(0)?,
                session_id: row.get(1)?,
                entries: row.get(2)?,
                messages: row.get(3)?,
                tokens: row.get(4)?,
                updated_at_ms: row.get(5)?,
            })
        };
        let mut statement = self
            .connection
            .prepare(&sql)
            .map_err(|error| self.attempt("list").sql(error))?;
        statement
            .query_map([], read)
            .and_then(Iterator::collect)
            .map_err(|error| self.attempt("list").sql(error))
    }
}
