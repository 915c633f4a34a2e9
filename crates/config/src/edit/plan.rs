//! What an edit means for the value: the single changes the text needs, and the value that is then intended.

use serde_json::{Map, Value};

use super::{Edit, EditErrorKind};
use crate::key_path::KeyPath;

/// One change of the text. `container` leads to an existing object or list.
pub(super) enum Change {
    /// Put a new member (with a key) or item (without) at the end.
    Insert {
        container: Vec<String>,
        key: Option<String>,
        value: Value,
    },
    /// Give an existing member another value.
    Replace {
        container: Vec<String>,
        key: String,
        value: Value,
    },
    /// Take a member out of an object.
    RemoveMember { container: Vec<String>, key: String },
    /// Take an item out of a list.
    RemoveItem {
        container: Vec<String>,
        index: usize,
    },
}

impl Change {
    pub(super) fn container(&self) -> &[String] {
        match self {
            Self::Insert { container, .. }
            | Self::Replace { container, .. }
            | Self::RemoveMember { container, .. }
            | Self::RemoveItem { container, .. } => container,
        }
    }
}

/// Applies `edit` to `root` and returns the changes that bring the text there. They hold when carried out in order.
pub(super) fn changes(root: &mut Value, edit: &Edit) -> Result<Vec<Change>, EditErrorKind> {
    let path = edit.path();
    let (last, parents) = path.split_last().ok_or(EditErrorKind::EmptyPath)?;
    match edit {
        Edit::Set { value, .. } => set(root, path, value),
        Edit::Remove { .. } => Ok(match find(root, parents)? {
            Some(object) if object.contains_key(last) => vec![take(object, parents, last)],
            Some(_) | None => Vec::new(),
        }),
        Edit::RemoveIfEmpty { .. } => Ok(match find(root, parents)? {
            Some(object) if object.get(last).is_some_and(is_empty) => {
                vec![take(object, parents, last)]
            }
            Some(_) | None => Vec::new(),
        }),
        Edit::AppendUnique { value, .. } => match list(root, path)? {
            Some(items) if items.contains(value) => Ok(Vec::new()),
            Some(items) => {
                items.push(value.clone());
                Ok(vec![Change::Insert {
                    container: path.to_vec(),
                    key: None,
                    value: value.clone(),
                }])
            }
            None => set(root, path, &Value::Array(vec![value.clone()])),
        },
        Edit::RemoveFrom { value, .. } => {
            let mut changes = Vec::new();
            if let Some(items) = list(root, path)? {
                while let Some(index) = items.iter().position(|item| item == value) {
                    items.remove(index);
                    changes.push(Change::RemoveItem {
                        container: path.to_vec(),
                        index,
                    });
                }
            }
            Ok(changes)
        }
    }
}

fn set(root: &mut Value, path: &[String], value: &Value) -> Result<Vec<Change>, EditErrorKind> {
    let mut object = as_object(root, &[])?;
    for (depth, key) in path.iter().enumerate() {
        let container = path[..depth].to_vec();
        let is_last = depth + 1 == path.len();
        if is_last && object.get(key) == Some(value) {
            return Ok(Vec::new());
        }
        if is_last && object.contains_key(key) {
            object.insert(key.clone(), value.clone());
            return Ok(vec![Change::Replace {
                container,
                key: key.clone(),
                value: value.clone(),
            }]);
        }
        if !object.contains_key(key) {
            let missing = path[depth + 1..].iter().rev();
            let nested = missing.fold(value.clone(), |inner, key| {
                Value::Object(Map::from_iter([(key.clone(), inner)]))
            });
            object.insert(key.clone(), nested.clone());
            return Ok(vec![Change::Insert {
                container,
                key: Some(key.clone()),
                value: nested,
            }]);
        }
        object = match object.get_mut(key) {
            Some(next) => as_object(next, &path[..=depth])?,
            None => return Ok(Vec::new()),
        };
    }
    Ok(Vec::new())
}

/// The object at `path`; `None` when it or a parent is missing.
fn find<'v>(
    root: &'v mut Value,
    path: &[String],
) -> Result<Option<&'v mut Map<String, Value>>, EditErrorKind> {
    let mut object = as_object(root, &[])?;
    for (depth, key) in path.iter().enumerate() {
        object = match object.get_mut(key) {
            Some(next) => as_object(next, &path[..=depth])?,
            None => return Ok(None),
        };
    }
    Ok(Some(object))
}

/// The list at `path`; `None` when it or a parent is missing.
fn list<'v>(
    root: &'v mut Value,
    path: &[String],
) -> Result<Option<&'v mut Vec<Value>>, EditErrorKind> {
    let (last, parents) = path.split_last().ok_or(EditErrorKind::EmptyPath)?;
    match find(root, parents)?.and_then(|object| object.get_mut(last)) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(_) => Err(EditErrorKind::WrongType {
            at: KeyPath::new(path),
            wanted: "a list",
        }),
    }
}

fn as_object<'v>(
    value: &'v mut Value,
    at: &[String],
) -> Result<&'v mut Map<String, Value>, EditErrorKind> {
    value
        .as_object_mut()
        .ok_or_else(|| EditErrorKind::WrongType {
            at: KeyPath::new(at),
            wanted: "an object",
        })
}

fn take(object: &mut Map<String, Value>, container: &[String], key: &str) -> Change {
    object.shift_remove(key);
    Change::RemoveMember {
        container: container.to_vec(),
        key: key.to_owned(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
