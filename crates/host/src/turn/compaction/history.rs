//! The history before a turn in which the host has compacted.

use crate::history::History;
use crate::store::{PathEntry, Session, Store, StoreError};
use openclaw_transcript::RowKind;

/// What a summary behind `position` leaves of the history before it; `None` when there is no summary behind it.
pub(in crate::turn) fn folded_before(
    store: &Store,
    session: &Session,
    position: i64,
) -> Result<Option<History>, StoreError> {
    let start = store.context_start(session, session.path_length)?;
    let mut path = store.path_between(session, start..session.path_length)?;
    let is_boundary = |entry: &PathEntry| matches!(entry.row.kind(), RowKind::Compaction { .. });
    let before = usize::try_from(position - start).unwrap_or(0);
    let Some(boundary) = path.iter().rposition(is_boundary) else {
        return Ok(None);
    };
    if boundary < before {
        return Ok(None);
    }
    let boundary = path.swap_remove(boundary);
    path.truncate(before);
    path.push(boundary);
    Ok(Some(History::of_path(&path)))
}
