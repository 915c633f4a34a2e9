//! Visible messages behind a cursor: what an engine reads to catch up. A page costs what is in it.
//!
//! Source: transcript semantics, "Reading history".

#[cfg(test)]
mod tests;

use super::Store;
use super::cursor::Cursor;
use super::error::{Attempt, StoreError, StoreErrorKind};
use super::fence::{self, FenceViolation};
use super::path::parsed;
use super::sessions::{self, Session};
use openclaw_interface::model::{Anchor, service::DeltaRequest};
use openclaw_transcript::Row;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

const MESSAGES: Limit = Limit {
    field: "maxMessages",
    default: 1000,
    max: 10_000,
};
const BYTES: Limit = Limit {
    field: "maxBytes",
    default: 1_000_000,
    max: 67_108_864,
};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum DeltaError {
    /// The read would see, or no longer knows, the current turn.
    #[error(transparent)]
    Fence(FenceViolation),
    /// A limit is out of range.
    #[error("{field} must be 1 to {max}, not {found}")]
    OutOfRange {
        /// The limit.
        field: &'static str,
        /// What was asked for.
        found: u64,
        /// The most that may be asked for.
        max: u64,
    },
    /// The store of another agent is asked for.
    #[error("agent `{asked}` is not the agent of this host, `{own}`")]
    OtherAgent {
        /// The agent asked for.
        asked: String,
        /// The agent there is.
        own: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

struct Limit {
    field: &'static str,
    default: u64,
    max: u64,
}

impl Limit {
    fn of(&self, asked: Option<u64>) -> Result<u64, DeltaError> {
        let found = asked.unwrap_or(self.default);
        if (1..=self.max).contains(&found) {
            return Ok(found);
        }
        Err(DeltaError::OutOfRange {
            field: self.field,
            found,
            max: self.max,
        })
    }
}

/// The answer; the same JSON as [`Delta`](openclaw_interface::model::service::Delta), with messages as stored.
#[derive(Debug, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
enum Answer {
    Page {
        entries: Vec<Entry>,
        cursor: String,
        has_more: bool,
        serialized_bytes: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        required_bytes: Option<u64>,
    },
    Reset {
        cursor: String,
        reason: &'static str,
    },
    Missing,
    Unavailable {
        reason: &'static str,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    entry_id: String,
    parent_id: Option<String>,
    seq: i64,
    message: Box<RawValue>,
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
}

/// A read that may begin.
struct Read<'a> {
    session: Session,
    /// Before the first message, for resets.
    start: Cursor,
    fence: Option<&'a Anchor>,
    max_messages: u64,
    max_bytes: u64,
}

impl Store {
    /// The next visible messages of a session behind a cursor, as JSON text of a
    /// [`Delta`](openclaw_interface::model::service::Delta).
    ///
    /// # Errors
    ///
    /// A limit is out of range, the store is that of another agent, or it cannot be read.
    pub fn delta(&self, agent_id: &str, request: &DeltaRequest) -> Result<String, DeltaError> {
        self.fenced_delta(agent_id, request, None)
    }

    /// [`Store::delta`] that sees only what stands before the admission of a turn, in the admission's session.
    pub(crate) fn fenced_delta(
        &self,
        agent_id: &str,
        request: &DeltaRequest,
        admission: Option<&Anchor>,
    ) -> Result<String, DeltaError> {
        let attempt = self.attempt("read");
        let answer = match self.answer(agent_id, request, admission, &attempt) {
            Err(DeltaError::Store(error)) if matches!(error.kind, StoreErrorKind::Busy) => {
                Answer::Unavailable {
                    reason: "store_locked",
                }
            }
            answer => answer?,
        };
        serde_json::to_string(&answer)
            .map_err(|error| DeltaError::Store(attempt.damaged(error.to_string())))
    }

    fn answer(
        &self,
        agent_id: &str,
        request: &DeltaRequest,
        admission: Option<&Anchor>,
        attempt: &Attempt,
    ) -> Result<Answer, DeltaError> {
        let max_messages = MESSAGES.of(request.max_messages)?;
        let max_bytes = BYTES.of(request.max_bytes)?;
        let target = &request.session_target;
        if let Some(asked) = target.agent_id.as_ref().filter(|asked| *asked != agent_id) {
            return Err(DeltaError::OtherAgent {
                asked: asked.clone(),
                own: agent_id.to_owned(),
            });
        }
        // One look at the store: between two, another process could change what the first has checked.
        let snapshot = self
            .connection
            .unchecked_transaction()
            .map_err(|error| DeltaError::Store(attempt.sql(error)))?;
        let Some(session) = target_session(&snapshot, request, attempt)? else {
            return Ok(Answer::Missing);
        };
        let start = Cursor::start(agent_id, &session.id, &session.generation);
        let fence = admission.filter(|admission| admission.session_id == session.id);
        let read = Read {
            session,
            start,
            fence,
            max_messages,
            max_bytes,
        };
        let cursor = match read.cursor(request.cursor.as_deref()) {
            Ok(cursor) => cursor,
            Err(reason) => return Ok(read.reset(reason)),
        };
        if let Some(admission) = fence {
            let path = self.path.display().to_string();
            fence::check(&snapshot, admission, &read.session, target, &path, attempt)
                .map_err(DeltaError::Store)?
                .map_err(DeltaError::Fence)?;
            if cursor.last_message_position >= read.end() {
                return Err(DeltaError::Fence(FenceViolation::CursorInTurn {
                    position: cursor.last_message_position,
                    admitted: read.end(),
                }));
            }
        }
        if !cursor.is_start() {
            match message_position(&snapshot, &read.session, cursor.last_event_seq, attempt)? {
                None => return Ok(read.reset("anchor_missing")),
                Some(found) if found != Some(cursor.last_message_position) => {
                    return Ok(read.reset("anchor_moved"));
                }
                Some(_) => {}
            }
        }
        self.page(&snapshot, &read, cursor, attempt)
            .map_err(DeltaError::Store)
    }

    fn page(
        &self,
        connection: &Connection,
        read: &Read<'_>,
        mut cursor: Cursor,
        attempt: &Attempt,
    ) -> Result<Answer, StoreError> {
        let sql = |error| attempt.sql(error);
        let mut statement = connection
            .prepare_cached(
                "SELECT a.seq, a.message_position, e.row, (SELECT p.entry_id FROM active_path b \
                 JOIN entries p ON p.session_id = b.session_id AND p.seq = b.seq \
                 WHERE b.session_id = a.session_id AND b.position = a.position - 1) \
                 FROM active_path a JOIN entries e ON e.session_id = a.session_id AND e.seq = a.seq \
                 WHERE a.session_id = ?1 AND a.message_position > ?2 AND a.message_position < ?3 \
                 ORDER BY a.message_position LIMIT ?4",
            )
            .map_err(sql)?;
        let limit = i64::try_from(read.max_messages).unwrap_or(i64::MAX);
        let mut rows = statement
            .query(params![
                read.session.id,
                cursor.last_message_position,
                read.end(),
                limit
            ])
            .map_err(sql)?;
        let (mut entries, mut serialized_bytes, mut required_bytes) = (Vec::new(), 0, None);
        let mut consumed = 0_u64;
        while let Some(row) = rows.next().map_err(sql)? {
            let text = row
                .get_ref(2)
                .and_then(|text| Ok(text.as_str()?))
                .map_err(sql)?;
            // A stored line and its end, as the original counts.
            let size = text.len() as u64 + 1;
            if serialized_bytes + size > read.max_bytes {
                required_bytes = (consumed == 0).then_some(size);
                break;
            }
            let (seq, position) = (row.get(0).map_err(sql)?, row.get(1).map_err(sql)?);
            let parent_id = row.get(3).map_err(sql)?;
            entries.extend(entry(&parsed(seq, text, attempt)?, parent_id, position));
            cursor = cursor.behind(seq, position);
            serialized_bytes += size;
            consumed += 1;
        }
        self.rows_read.set(self.rows_read.get() + consumed);
        Ok(Answer::Page {
            entries,
            has_more: cursor.last_message_position + 1 < read.end(),
            cursor: cursor.text(),
            serialized_bytes,
            required_bytes,
        })
    }
}

impl Read<'_> {
    /// The cursor asked for, or why it leads nowhere.
    fn cursor(&self, text: Option<&str>) -> Result<Cursor, &'static str> {
        let Some(text) = text else {
            return Ok(self.start.clone());
        };
        let cursor = Cursor::read(text).ok_or("invalid_cursor")?;
        let own = (&self.start.agent_id, &self.start.session_id);
        if (&cursor.agent_id, &cursor.session_id) != own {
            return Err("scope_mismatch");
        }
        if cursor.generation != self.start.generation {
            return Err("generation_mismatch");
        }
        Ok(cursor)
    }

    /// The first message position that may not be seen.
    fn end(&self) -> i64 {
        let admitted = self.fence.map(|it| it.active_message_position);
        admitted
            .and_then(|position| i64::try_from(position).ok())
            .unwrap_or(self.session.message_count)
    }

    fn reset(&self, reason: &'static str) -> Answer {
        Answer::Reset {
            cursor: self.start.text(),
            reason,
        }
    }
}

/// The session a request names: by its id, else by its key.
fn target_session(
    connection: &Connection,
    request: &DeltaRequest,
    attempt: &Attempt,
) -> Result<Option<Session>, DeltaError> {
    let target = &request.session_target;
    let found = match (&target.session_id, &target.session_key) {
        (Some(id), _) => sessions::by_id(connection, id, attempt),
        (None, Some(key)) => sessions::by_key(connection, key, attempt),
        (None, None) => Ok(None),
    };
    found.map_err(DeltaError::Store)
}

/// An active entry's place among the messages; the outer `None` when it is not active.
fn message_position(
    connection: &Connection,
    session: &Session,
    seq: i64,
    attempt: &Attempt,
) -> Result<Option<Option<i64>>, DeltaError> {
    use rusqlite::OptionalExtension;
    connection
        .prepare_cached(
            "SELECT message_position FROM active_path WHERE session_id = ?1 AND seq = ?2",
        )
        .and_then(|mut statement| {
            statement
                .query_row(params![session.id, seq], |row| row.get(0))
                .optional()
        })
        .map_err(|error| DeltaError::Store(attempt.sql(error)))
}

/// A message as readers get it; `None` for one without an id, which a cursor passes by.
fn entry(row: &Row, parent_id: Option<String>, position: i64) -> Option<Entry> {
    #[derive(Deserialize)]
    struct Spoken<'a> {
        #[serde(borrow)]
        role: Cow<'a, str>,
    }
    let message = row.message()?;
    let role = serde_json::from_str::<Spoken<'_>>(message.json())
        .ok()?
        .role;
    Some(Entry {
        entry_id: row.id()?.to_owned(),
        parent_id,
        seq: position + 1,
        role: role.into_owned(),
        message: RawValue::from_string(message.json().to_owned()).ok()?,
        created_at: row.timestamp().map(str::to_owned),
        idempotency_key: message.idempotency_key().map(str::to_owned),
    })
}
