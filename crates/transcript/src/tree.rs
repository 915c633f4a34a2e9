//! Which rows are the conversation: the path from the root to the leaf.

mod growth;
mod scan;
#[cfg(test)]
mod tests;

pub use growth::{Growth, growth};
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, FaultKind};
use crate::row::{Parent, Row};

/// What the tree has to know of a row; small enough to be kept apart from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The row's id.
    pub id: Option<String>,
    /// The row before it, as written.
    pub parent: Parent,
    /// Whether it was written away from the active path.
    pub side: bool,
    /// Its part in the tree.
    pub node: Node,
}

/// The part a row plays in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Node {
    /// A row of a known type: becomes the leaf.
    Content,
    /// The same, and nothing later leads behind it.
    Reset,
    /// Moves the leaf.
    Leaf {
        /// The new leaf; `None` for an empty path.
        target: Option<String>,
        /// Where the next row goes, when not behind the target.
        append_parent: Option<String>,
    },
    /// Holds a chain together, but is no part of the path.
    Opaque,
}

/// The conversation in a list of links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivePath {
    /// Root to leaf, as indices into the list.
    pub rows: Vec<usize>,
    /// The last row of the path; `None` for an empty path and for a file without ids.
    pub leaf: Option<usize>,
    /// The id the next row should name as its parent.
    pub append_parent: Option<String>,
    /// Links that were not followed as written.
    pub faults: Vec<PathFault>,
}

/// A link that was not followed as written. Has no text of its own: [`PathFault::in_file`] says it by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFault {
    /// The row, as an index into the list.
    pub row: usize,
    /// What was wrong.
    pub kind: PathFaultKind,
}

/// The kinds of [`PathFault`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFaultKind {
    /// An id that an earlier row has.
    #[error("id `{id}` is taken by line {first}; left off the path")]
    DuplicateId {
        /// The id.
        id: String,
        /// The row that has it: an index into the list in a [`PathFault`], a line in a [`Fault`].
        first: usize,
    },
    /// A parent that no earlier row is.
    #[error("no row before has the parent id `{parent}`; put behind the row before")]
    UnknownParent {
        /// The id looked for.
        parent: String,
    },
    /// A root in the middle of a conversation that nothing had emptied.
    #[error("starts a new tree in the middle; put behind the row before")]
    BrokenChain,
    /// A parent that was written aside and never became part of the path.
    #[error("parent `{parent}` was written aside; put behind the row before")]
    SideParent {
        /// The parent's id.
        parent: String,
    },
    /// A row that hangs on something before the last reset.
    #[error("hangs behind the last reset; put behind the row before")]
    BehindReset,
    /// A leaf row that leads behind the last reset.
    #[error("leads behind the last reset; ignored")]
    LeafBehindReset,
    /// A leaf row whose target does not exist.
    #[error("no row before has the id `{target}`; ignored")]
    UnknownLeafTarget {
        /// The id looked for.
        target: String,
    },
}

/// Where a path ends: all a store has to keep to know whether the next row extends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tip {
    /// Nothing is on the path.
    Empty,
    /// The id of the leaf.
    At(String),
    /// A row without an id.
    Flat,
}

impl PathFault {
    /// The fault by line, given the rows the links were made from.
    #[must_use]
    pub fn in_file(self, rows: &[Row]) -> Fault {
        let line = |row: usize| rows.get(row).map_or(0, Row::line);
        let kind = match self.kind {
            PathFaultKind::DuplicateId { id, first } => PathFaultKind::DuplicateId {
                id,
                first: line(first),
            },
            kind @ (PathFaultKind::UnknownParent { .. }
            | PathFaultKind::BrokenChain
            | PathFaultKind::SideParent { .. }
            | PathFaultKind::BehindReset
            | PathFaultKind::LeafBehindReset
            | PathFaultKind::UnknownLeafTarget { .. }) => kind,
        };
        Fault {
            line: line(self.row),
            kind: FaultKind::Path(kind),
        }
    }
}

impl ActivePath {
    /// Where this path ends, given the links it was made from.
    #[must_use]
    pub fn tip(&self, links: &[Link]) -> Tip {
        match self.leaf.and_then(|leaf| links.get(leaf)?.id.clone()) {
            Some(id) => Tip::At(id),
            None if self.rows.is_empty() => Tip::Empty,
            None => Tip::Flat,
        }
    }
}

/// Finds the active path.
///
/// Scans in file order and keeps a leaf. A row of a known type becomes the leaf unless it was written aside; a leaf
/// row moves it. A parent counts only when it stands before: so no cycle can form, and a row whose parent is missing
/// goes behind the current leaf with a fault. A null parent does the same in the middle of a conversation, unless a
/// leaf row had emptied the path. Of rows with one id the first counts. Without any id the path is all rows; when rows
/// with ids follow, those before them stay on the path, each behind the one before.
///
/// Takes time linear in the number of links.
///
/// Source: transcript format, "Active path"; cases F-3, F-4, F-12.
#[must_use]
pub fn active_path(links: &[Link]) -> ActivePath {
    scan::Scan::new(links).run()
}
