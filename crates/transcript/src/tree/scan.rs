//! The scan behind [`active_path`](super::active_path), row by row.

use std::collections::HashMap;

use super::{ActivePath, Link, Node, PathFault, PathFaultKind};
use crate::row::Parent;

/// A row by its index. Half the size of `usize`: there is one of these for each row.
type Index = u32;

/// What an id stands for: a row of the tree for itself, an opaque row for its parent, a leaf marker for its target.
#[derive(Clone, Copy, Debug)]
enum Named {
    /// A place in the tree; `None` is before its root.
    At(Option<Index>),
    /// A leaf marker that was ignored.
    Nothing,
}

/// A row's place, once found.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    parent: Option<Index>,
    /// How many resets had been written when the last reset above this row was: later is higher.
    era: Index,
    /// Written aside, and no leaf row has led here yet.
    aside: bool,
    /// Without an id.
    flat: bool,
}

/// Finds the active path of a transcript that is read row by row; what [`active_path`](super::active_path) does for a
/// whole one. Keeps a row's id and place, nothing else of it.
#[derive(Debug, Default)]
pub struct PathScan {
    places: Vec<Place>,
    names: HashMap<Box<str>, (Index, Named)>,
    leaf: Option<Index>,
    append_parent: Option<Box<str>>,
    leaf_was_set: bool,
    eras: Index,
    faults: Vec<PathFault>,
}

impl PathScan {
    /// A scan before the first row.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next row.
    ///
    /// # Panics
    ///
    /// After 4,294,967,295 rows.
    pub fn push(&mut self, link: &Link) {
        let index = Index::try_from(self.places.len()).expect("a transcript has fewer rows");
        self.places.push(Place::default());
        let Some(id) = link.id.as_deref() else {
            self.flat(index, link);
            return;
        };
        if let Some(&(first, _)) = self.names.get(id) {
            let id = id.to_owned();
            let first = first as usize;
            self.fault(index, PathFaultKind::DuplicateId { id, first });
            return;
        }
        match &link.node {
            Node::Content | Node::Reset => self.content(index, link, id),
            // Without a parent it holds nothing together: a row that names it is as good as lost.
            Node::Opaque if !matches!(link.parent, Parent::Id(_)) => {}
            Node::Opaque => {
                let parent = self.parent(index, link);
                self.names.insert(id.into(), (index, Named::At(parent)));
            }
            Node::Leaf {
                target,
                append_parent,
            } => {
                self.marker(index, id, target.as_deref(), append_parent.as_deref());
            }
        }
    }

    /// The faults found so far, for a caller that keeps them itself.
    pub fn take_faults(&mut self) -> Vec<PathFault> {
        std::mem::take(&mut self.faults)
    }

    /// A row without an id. In front of the rows with ids it goes behind the row before it, as in a file without any;
    /// behind them nothing says where it belongs.
    fn flat(&mut self, index: Index, link: &Link) {
        self.place(index).flat = true;
        if self.leaf_was_set || !matches!(link.node, Node::Content | Node::Reset) {
            return;
        }
        self.eras += Index::from(link.node == Node::Reset);
        *self.place(index) = Place {
            parent: self.leaf,
            era: self.eras,
            aside: false,
            flat: true,
        };
        self.leaf = Some(index);
    }

    fn content(&mut self, index: Index, link: &Link, id: &str) {
        let parent = self.parent(index, link);
        let mut era = self.era_of(parent);
        if link.node == Node::Reset {
            self.eras += 1;
            era = self.eras;
        }
        *self.place(index) = Place {
            parent,
            era,
            aside: link.side,
            flat: false,
        };
        self.names
            .insert(id.into(), (index, Named::At(Some(index))));
        if !link.side {
            self.leaf = Some(index);
            self.append_parent = Some(id.into());
            self.leaf_was_set = true;
        }
    }

    fn parent(&mut self, index: Index, link: &Link) -> Option<Index> {
        let (found, mut fault) = match &link.parent {
            Parent::Absent => return self.leaf,
            Parent::Null if link.side || self.leaf.is_none() => (None, None),
            // Behind a row without an id there is no other parent to write.
            Parent::Null if self.is_flat(self.leaf) => (self.leaf, None),
            Parent::Null => (self.leaf, Some(PathFaultKind::BrokenChain)),
            Parent::Id(parent) => match self.names.get(parent.as_str()) {
                Some((_, Named::At(Some(row))))
                    if self.places[*row as usize].aside && !link.side =>
                {
                    (
                        self.leaf,
                        Some(PathFaultKind::SideParent {
                            parent: parent.clone(),
                        }),
                    )
                }
                Some((_, Named::At(row))) => (*row, None),
                Some((_, Named::Nothing)) => (self.leaf, None),
                None => (
                    self.leaf,
                    Some(PathFaultKind::UnknownParent {
                        parent: parent.clone(),
                    }),
                ),
            },
        };
        // What is written aside may copy rows from before a reset together with the reset.
        let behind = !link.side && self.era_of(found) < self.current_era();
        let parent = if behind { self.leaf } else { found };
        if behind {
            fault = Some(PathFaultKind::BehindReset);
        }
        if let Some(kind) = fault {
            self.fault(index, kind);
        }
        parent
    }

    fn marker(
        &mut self,
        index: Index,
        id: &str,
        target: Option<&str>,
        append_parent: Option<&str>,
    ) {
        let found = match target.map(|target| (target, self.names.get(target))) {
            None => Ok(None),
            Some((_, Some((_, Named::At(row))))) => Ok(*row),
            Some((target, Some((_, Named::Nothing)) | None)) => {
                Err(PathFaultKind::UnknownLeafTarget {
                    target: target.to_owned(),
                })
            }
        };
        let found = found.and_then(|row| {
            let behind = self.era_of(row) < self.current_era();
            if behind {
                Err(PathFaultKind::LeafBehindReset)
            } else {
                Ok(row)
            }
        });
        match found {
            Ok(row) => {
                self.adopt(row);
                self.leaf = row;
                self.append_parent = append_parent
                    .filter(|id| self.names.contains_key(*id))
                    .or(target)
                    .map(Into::into);
                self.leaf_was_set = true;
                self.names.insert(id.into(), (index, Named::At(row)));
            }
            Err(kind) => {
                self.fault(index, kind);
                self.names.insert(id.into(), (index, Named::Nothing));
            }
        }
    }

    /// Makes a row and what it hangs on part of the path. Each row is adopted once, so the sum is linear.
    fn adopt(&mut self, mut row: Option<Index>) {
        while let Some(aside) = row.filter(|row| self.places[*row as usize].aside) {
            let place = self.place(aside);
            place.aside = false;
            row = place.parent;
        }
    }

    fn place(&mut self, row: Index) -> &mut Place {
        &mut self.places[row as usize]
    }

    fn is_flat(&self, row: Option<Index>) -> bool {
        row.is_some_and(|row| self.places[row as usize].flat)
    }

    fn era_of(&self, row: Option<Index>) -> Index {
        row.map_or(0, |row| self.places[row as usize].era)
    }

    fn current_era(&self) -> Index {
        self.era_of(self.leaf)
    }

    fn fault(&mut self, row: Index, kind: PathFaultKind) {
        let row = row as usize;
        self.faults.push(PathFault { row, kind });
    }

    /// The path, once every row was taken.
    #[must_use]
    pub fn finish(self) -> ActivePath {
        let up = |row: &Index| self.places[*row as usize].parent;
        let mut rows: Vec<usize> = std::iter::successors(self.leaf, up)
            .map(|row| row as usize)
            .collect();
        rows.reverse();
        ActivePath {
            rows,
            leaf: self
                .leaf
                .filter(|_| self.leaf_was_set)
                .map(|row| row as usize),
            append_parent: self.append_parent.map(String::from),
            faults: self.faults,
        }
    }
}
