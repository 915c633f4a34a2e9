//! What one more row does to a path, as far as the row alone says.

use super::{Link, Node, Tip};
use crate::row::Parent;

/// What one more row does to a path.
///
/// Holds when no earlier row has the row's id. [`Branch`](Growth::Branch) and [`Move`](Growth::Move) hold when the row
/// they name is on the path and no reset stands behind it there; for an emptied path, when no reset stands on it.
/// Otherwise only [`active_path`](super::active_path) tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth<'a> {
    /// Nothing: the path and where the next row goes stay.
    Nothing,
    /// The row is the new end.
    Extend,
    /// What stands behind the row named is left, and the row is the new end.
    Branch {
        /// The row that stays the last before it.
        behind: &'a str,
    },
    /// The path ends at the row named, and the next row goes there; `None` empties it.
    Move {
        /// The new end.
        to: Option<&'a str>,
    },
    /// Only all rows together tell.
    Unknown,
}

/// What appending this link does to the path that ends at `tip`.
///
/// Source: transcript format, "Active path".
#[must_use]
pub fn growth<'a>(tip: &Tip, link: &'a Link) -> Growth<'a> {
    match &link.node {
        Node::Opaque => Growth::Nothing,
        Node::Leaf { .. } | Node::Content | Node::Reset if link.id.is_none() => {
            without_id(tip, link)
        }
        Node::Leaf {
            target,
            append_parent: None,
        } if *tip != Tip::Flat => Growth::Move {
            to: target.as_deref(),
        },
        Node::Leaf { .. } => Growth::Unknown,
        Node::Content | Node::Reset if link.side => Growth::Nothing,
        Node::Content | Node::Reset => match (tip, &link.parent) {
            (Tip::Empty, Parent::Absent | Parent::Null) | (Tip::At(_), Parent::Absent) => {
                Growth::Extend
            }
            (Tip::At(leaf), Parent::Id(parent)) if leaf == parent => Growth::Extend,
            (Tip::At(_), Parent::Id(parent)) => Growth::Branch { behind: parent },
            (Tip::Empty, Parent::Id(_)) | (Tip::At(_), Parent::Null) | (Tip::Flat, _) => {
                Growth::Unknown
            }
        },
    }
}

/// Behind rows with ids nothing says where a row without one belongs.
fn without_id<'a>(tip: &Tip, link: &Link) -> Growth<'a> {
    match (tip, &link.node) {
        (Tip::At(_), _) | (_, Node::Leaf { .. }) => Growth::Nothing,
        (Tip::Empty | Tip::Flat, _) => Growth::Unknown,
    }
}
