//! The current-turn fence: reads inside a turn see what stood before its user entry, or fail.

use super::error::{Attempt, StoreError};
use super::path::parsed;
use super::sessions::Session;
use openclaw_interface::Role;
use openclaw_interface::model::{Anchor, SessionTarget};
use rusqlite::{Connection, OptionalExtension};

/// Why a read inside a turn is refused. Its texts are what the engine gets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FenceViolation {
    /// The admission is not one of a user.
    #[error("current-turn transcript admission is not a user message: {0}")]
    NotAdmittedByUser(String),
    /// The reader or the admission names another store.
    #[error("current-turn transcript admission belongs to a different transcript store: {0}")]
    OtherStore(String),
    /// The reader names another session key.
    #[error("current-turn transcript admission belongs to a different session key: {0}")]
    OtherSessionKey(String),
    /// The entry left the active path.
    #[error("current-turn transcript admission is no longer a visible message: {0}")]
    NotVisible(String),
    /// The entry is not what and where it was.
    #[error("current-turn transcript admission identity changed: {0}")]
    Changed(String),
    /// What is stored there is no user message.
    #[error("current-turn transcript admission entry is not a user message: {0}")]
    NotAUserMessage(String),
    /// The cursor stands in the turn.
    #[error(
        "transcript cursor stands at message {position}, the current turn begins at {admitted}"
    )]
    CursorInTurn {
        /// The cursor's message position.
        position: i64,
        /// The admitted entry's.
        admitted: i64,
    },
}

/// An entry as the fence compares it.
struct Found {
    seq: i64,
    message_position: Option<i64>,
    parent_id: Option<String>,
    row: String,
}

/// Checks an admission inside the read's transaction. What a reader may see ends before
/// [`Anchor::active_message_position`].
pub(super) fn check(
    connection: &Connection,
    admission: &Anchor,
    session: &Session,
    reader: &SessionTarget,
    store_path: &str,
    attempt: &Attempt,
) -> Result<Result<(), FenceViolation>, StoreError> {
    let id = || admission.entry_id.clone();
    if admission.extra.get("role").and_then(|role| role.as_str()) != Some("user") {
        return Ok(Err(FenceViolation::NotAdmittedByUser(id())));
    }
    let is_other = |named: &Option<String>, own: &str| named.as_ref().is_some_and(|it| it != own);
    if admission.store_path != store_path || is_other(&reader.store_path, store_path) {
        return Ok(Err(FenceViolation::OtherStore(id())));
    }
    if is_other(&reader.session_key, &admission.session_key) {
        return Ok(Err(FenceViolation::OtherSessionKey(id())));
    }
    let found = find(connection, admission, attempt)?;
    let Some(found) = found.filter(|it| it.message_position.is_some()) else {
        return Ok(Err(FenceViolation::NotVisible(id())));
    };
    let is_same = session.generation == admission.generation
        && u64::try_from(found.seq) == Ok(admission.raw_seq)
        && found.parent_id == admission.effective_parent_id
        && found.message_position.and_then(|it| u64::try_from(it).ok())
            == Some(admission.active_message_position);
    if !is_same {
        return Ok(Err(FenceViolation::Changed(id())));
    }
    let row = parsed(found.seq, &found.row, attempt)?;
    if row.message().map(|message| message.role()) != Some(Role::User) {
        return Ok(Err(FenceViolation::NotAUserMessage(id())));
    }
    Ok(Ok(()))
}

/// The entry on the active path that has the admission's id.
fn find(
    connection: &Connection,
    admission: &Anchor,
    attempt: &Attempt,
) -> Result<Option<Found>, StoreError> {
    let sql = "SELECT a.seq, a.message_position, (SELECT p.entry_id FROM active_path b \
               JOIN entries p ON p.session_id = b.session_id AND p.seq = b.seq \
               WHERE b.session_id = a.session_id AND b.position = a.position - 1), e.row \
               FROM entries e INDEXED BY entries_by_id CROSS JOIN active_path a ON a.session_id = e.session_id AND a.seq = e.seq \
               WHERE e.session_id = ?1 AND e.entry_id = ?2";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement
                .query_row([&admission.session_id, &admission.entry_id], |row| {
                    Ok(Found {
                        seq: row.get(0)?,
                        message_position: row.get(1)?,
                        parent_id: row.get(2)?,
                        row: row.get(3)?,
                    })
                })
                .optional()
        })
        .map_err(|error| attempt.sql(error))
}
