//! The scan behind [`active_path`](super::active_path).

use std::collections::HashMap;

use super::{ActivePath, Link, Node, PathFault, PathFaultKind};
use crate::row::Parent;

/// What an id stands for: a row of the tree for itself, an opaque row for its parent, a leaf marker for its target.
#[derive(Clone, Copy)]
enum Named {
    /// A place in the tree; `None` is before its root.
    At(Option<usize>),
    /// A leaf marker that was ignored.
    Nothing,
}

/// A row's place, once found.
#[derive(Clone, Copy, Default)]
struct Place {
    parent: Option<usize>,
    /// How many resets had been written when the last reset above this row was: later is higher.
    era: usize,
    /// Written aside, and no leaf row has led here yet.
    aside: bool,
}

pub(super) struct Scan<'a> {
    links: &'a [Link],
    places: Vec<Place>,
    names: HashMap<&'a str, (usize, Named)>,
    leaf: Option<usize>,
    append_parent: Option<&'a str>,
    leaf_was_set: bool,
    eras: usize,
    faults: Vec<PathFault>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(links: &'a [Link]) -> Self {
        Self {
            links,
            places: vec![Place::default(); links.len()],
            names: HashMap::with_capacity(links.len()),
            leaf: None,
            append_parent: None,
            leaf_was_set: false,
            eras: 0,
            faults: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> ActivePath {
        for (index, link) in self.links.iter().enumerate() {
            let Some(id) = link.id.as_deref() else {
                self.flat(index, link);
                continue;
            };
            if let Some(&(first, _)) = self.names.get(id) {
                self.fault(
                    index,
                    PathFaultKind::DuplicateId {
                        id: id.to_owned(),
                        first,
                    },
                );
                continue;
            }
            match &link.node {
                Node::Content | Node::Reset => self.content(index, link, id),
                // Without a parent it holds nothing together: a row that names it is as good as lost.
                Node::Opaque if !matches!(link.parent, Parent::Id(_)) => {}
                Node::Opaque => {
                    let parent = self.parent(index, link);
                    self.names.insert(id, (index, Named::At(parent)));
                }
                Node::Leaf {
                    target,
                    append_parent,
                } => {
                    self.marker(index, id, target.as_deref(), append_parent.as_deref());
                }
            }
        }
        self.finish()
    }

    /// A row without an id. In front of the rows with ids it goes behind the row before it, as in a file without any;
    /// behind them nothing says where it belongs.
    fn flat(&mut self, index: usize, link: &Link) {
        if self.leaf_was_set || !matches!(link.node, Node::Content | Node::Reset) {
            return;
        }
        self.eras += usize::from(link.node == Node::Reset);
        self.places[index] = Place {
            parent: self.leaf,
            era: self.eras,
            aside: false,
        };
        self.leaf = Some(index);
    }

    fn content(&mut self, index: usize, link: &'a Link, id: &'a str) {
        let parent = self.parent(index, link);
        let mut era = self.era_of(parent);
        if link.node == Node::Reset {
            self.eras += 1;
            era = self.eras;
        }
        self.places[index] = Place {
            parent,
            era,
            aside: link.side,
        };
        self.names.insert(id, (index, Named::At(Some(index))));
        if !link.side {
            self.leaf = Some(index);
            self.append_parent = Some(id);
            self.leaf_was_set = true;
        }
    }

    fn parent(&mut self, index: usize, link: &'a Link) -> Option<usize> {
        let (found, mut fault) = match &link.parent {
            Parent::Absent => return self.leaf,
            Parent::Null if link.side || self.leaf.is_none() => (None, None),
            // Behind a row without an id there is no other parent to write.
            Parent::Null if self.is_flat(self.leaf) => (self.leaf, None),
            Parent::Null => (self.leaf, Some(PathFaultKind::BrokenChain)),
            Parent::Id(parent) => match self.names.get(parent.as_str()) {
                Some((_, Named::At(Some(row)))) if self.places[*row].aside && !link.side => (
                    self.leaf,
                    Some(PathFaultKind::SideParent {
                        parent: parent.clone(),
                    }),
                ),
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
        index: usize,
        id: &'a str,
        target: Option<&'a str>,
        append_parent: Option<&'a str>,
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
                    .filter(|id| self.names.contains_key(id))
                    .or(target);
                self.leaf_was_set = true;
                self.names.insert(id, (index, Named::At(row)));
            }
            Err(kind) => {
                self.fault(index, kind);
                self.names.insert(id, (index, Named::Nothing));
            }
        }
    }

    /// Makes a row and what it hangs on part of the path. Each row is adopted once, so the sum is linear.
    fn adopt(&mut self, mut row: Option<usize>) {
        while let Some(aside) = row.filter(|row| self.places[*row].aside) {
            self.places[aside].aside = false;
            row = self.places[aside].parent;
        }
    }

    fn is_flat(&self, row: Option<usize>) -> bool {
        row.is_some_and(|row| self.links[row].id.is_none())
    }

    fn era_of(&self, row: Option<usize>) -> usize {
        row.map_or(0, |row| self.places[row].era)
    }

    fn current_era(&self) -> usize {
        self.era_of(self.leaf)
    }

    fn fault(&mut self, row: usize, kind: PathFaultKind) {
        self.faults.push(PathFault { row, kind });
    }

    fn finish(self) -> ActivePath {
        let mut rows: Vec<usize> =
            std::iter::successors(self.leaf, |row| self.places[*row].parent).collect();
        rows.reverse();
        ActivePath {
            rows,
            leaf: self.leaf.filter(|_| self.leaf_was_set),
            append_parent: self.append_parent.map(str::to_owned),
            faults: self.faults,
        }
    }
}
