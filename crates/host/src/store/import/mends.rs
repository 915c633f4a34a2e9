//! What a model's context of a stored transcript will need mending.

use crate::store::Store;
use crate::store::error::StoreError;
use crate::store::sessions::Session;
use openclaw_transcript::{Mend, Message, Row, RowKind, context, pair, parse_row};

/// Raw text and number of the rows that are looked at. No context is that large.
const MAX_BYTES: usize = 32 * 1024 * 1024;
const MAX_ROWS: usize = 50_000;

impl Store {
    /// What has to be repaired each time the transcript goes to a model; `None` when there is more of it than any model
    /// can take.
    pub(super) fn mends_of(&self, session: &Session) -> Result<Option<Vec<Mend>>, StoreError> {
        let attempt = self.attempt("read");
        let sql = "SELECT a.seq, e.row FROM active_path a \
                   JOIN entries e ON e.session_id = a.session_id AND e.seq = a.seq \
                   WHERE a.session_id = ?1 ORDER BY a.position";
        let mut statement = self
            .connection
            .prepare(sql)
            .map_err(|error| attempt.sql(error))?;
        let mut stored = statement
            .query([&session.id])
            .map_err(|error| attempt.sql(error))?;
        let (mut rows, mut bytes, mut is_whole) = (Vec::new(), 0, true);
        while let Some(stored) = stored.next().map_err(|error| attempt.sql(error))? {
            let seq: i64 = stored.get(0).map_err(|error| attempt.sql(error))?;
            let text = stored.get_ref(1).and_then(|text| Ok(text.as_str()?));
            let text = text.map_err(|error| attempt.sql(error))?;
            let Some(row) = parse_row(usize::try_from(seq).unwrap_or(0), text) else {
                return Err(attempt.damaged(format!("entry {seq} of a session cannot be read")));
            };
            // Of what stands before a boundary only the kept rows go to a model.
            is_whole = is_whole || kept_at(&row).is_some_and(|id| first_kept(&rows, id).is_some());
            bytes += text.len();
            rows.push(row);
            if bytes > MAX_BYTES || rows.len() > MAX_ROWS {
                is_whole &= drop_unneeded(&mut rows);
                bytes = rows.iter().map(|row| row.raw().len()).sum();
                if bytes > MAX_BYTES || rows.len() > MAX_ROWS {
                    rows.clear();
                    (bytes, is_whole) = (0, false);
                }
            }
        }
        let rows: Vec<&Row> = rows.iter().collect();
        Ok(is_whole.then(|| mends(&rows)))
    }
}

/// The id a boundary keeps from; `None` for other rows.
fn kept_at(row: &Row) -> Option<Option<&str>> {
    match row.kind() {
        RowKind::Compaction {
            first_kept_entry_id,
            ..
        }
        | RowKind::Reset {
            first_kept_entry_id,
            ..
        } => Some(first_kept_entry_id.as_deref()),
        _ => None,
    }
}

/// Where the rows that are kept begin; `None` when the first of them is not among these.
fn first_kept(rows: &[Row], id: Option<&str>) -> Option<usize> {
    match id {
        None => Some(rows.len()),
        Some(id) => rows.iter().position(|row| row.id() == Some(id)),
    }
}

/// Drops what stands before the last boundary and is not kept; whether what is left is all that is needed.
fn drop_unneeded(rows: &mut Vec<Row>) -> bool {
    let boundary = rows.iter().rposition(|row| kept_at(row).is_some());
    let Some((boundary, id)) = boundary.and_then(|at| Some((at, kept_at(&rows[at])?))) else {
        return true;
    };
    let kept = first_kept(&rows[..boundary], id);
    rows.drain(..kept.unwrap_or(boundary));
    kept.is_some()
}

/// What [`pair`] has to do to the context of a path.
fn mends(path: &[&Row]) -> Vec<Mend> {
    let context = context(path);
    let messages: Vec<Message> = context
        .messages
        .iter()
        .filter_map(|message| Message::from_json(&message.json).ok())
        .collect();
    pair(&messages).mends
}
