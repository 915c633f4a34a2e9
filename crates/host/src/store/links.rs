//! What the tree has to know of an entry, as columns beside its text.

use super::error::{Attempt, StoreError};
use openclaw_transcript::{Link, Node, Parent, Row, RowKind};
use rusqlite::Connection;

/// Sets the columns of the entry with a rowid.
pub(super) const UPDATE: &str = "UPDATE entries SET node = ?2, parent = ?3, parent_id = ?4, side = ?5, leaf_target = ?6, \
                                 leaf_append_parent = ?7 WHERE rowid = ?1";

/// The columns of one entry.
pub(super) struct Columns {
    pub(super) node: &'static str,
    pub(super) parent: &'static str,
    pub(super) parent_id: Option<String>,
    pub(super) side: bool,
    pub(super) leaf_target: Option<String>,
    pub(super) leaf_append_parent: Option<String>,
}

impl Columns {
    pub(super) fn of(row: &Row) -> Self {
        let link = row.link();
        let (parent, parent_id) = match link.parent {
            Parent::Absent => ("absent", None),
            Parent::Null => ("null", None),
            Parent::Id(id) => ("id", Some(id)),
        };
        let (node, leaf_target, leaf_append_parent) = match link.node {
            Node::Content if matches!(row.kind(), RowKind::Compaction { .. }) => {
                ("compaction", None, None)
            }
            Node::Content => ("content", None, None),
            Node::Reset => ("reset", None, None),
            Node::Leaf {
                target,
                append_parent,
            } => ("leaf", target, append_parent),
            Node::Opaque => ("opaque", None, None),
        };
        Self {
            node,
            parent,
            parent_id,
            side: link.side,
            leaf_target,
            leaf_append_parent,
        }
    }
}

/// An entry as the tree sees it.
pub(super) struct Linked {
    pub(super) seq: i64,
    pub(super) link: Link,
    pub(super) is_message: bool,
    pub(super) is_boundary: bool,
    pub(super) tokens: i64,
}

/// All entries of a session as the tree sees them, without reading a body.
pub(super) fn all(
    connection: &Connection,
    session_id: &str,
    attempt: &Attempt,
) -> Result<Vec<Linked>, StoreError> {
    let sql = "SELECT seq, entry_id, node, parent, parent_id, side, leaf_target, leaf_append_parent, is_message, tokens \
               FROM entries WHERE session_id = ?1 ORDER BY seq";
    let mut statement = connection
        .prepare_cached(sql)
        .map_err(|error| attempt.sql(error))?;
    statement
        .query_map([session_id], linked)
        .and_then(Iterator::collect)
        .map_err(|error| attempt.sql(error))
}

fn linked(row: &rusqlite::Row<'_>) -> rusqlite::Result<Linked> {
    let node: String = row.get(2)?;
    let parent: String = row.get(3)?;
    let parent = match (parent.as_str(), row.get(4)?) {
        ("null", _) => Parent::Null,
        ("id", Some(id)) => Parent::Id(id),
        _ => Parent::Absent,
    };
    let is_boundary = matches!(node.as_str(), "compaction" | "reset");
    let node = match node.as_str() {
        "content" | "compaction" => Node::Content,
        "reset" => Node::Reset,
        "leaf" => Node::Leaf {
            target: row.get(6)?,
            append_parent: row.get(7)?,
        },
        _ => Node::Opaque,
    };
    Ok(Linked {
        seq: row.get(0)?,
        link: Link {
            id: row.get(1)?,
            parent,
            side: row.get(5)?,
            node,
        },
        is_message: row.get(8)?,
        is_boundary,
        tokens: row.get(9)?,
    })
}
