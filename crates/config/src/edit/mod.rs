//! Edits that leave every other byte alone. Pure: text in, text out.
//!
//! Each edit finds its place in the text, cuts or inserts there, and follows the layout around it: indentation, line
//! ends, quotes, trailing commas. Strict JSON stays strict JSON. The result is read again before it is returned.

mod container;
mod insert;
mod plan;
mod remove;
mod render;
mod splice;
mod style;

use serde_json::Value;

use crate::key_path::KeyPath;
use crate::spans::{self, Spans};
use crate::syntax::{self, BOM, SyntaxFault};
use container::Container;
use plan::Change;
use splice::{Splice, splice};

/// One change to a config. Paths are keys of objects, outermost first, and never empty.
///
/// Keys are matched exactly; see [`crate::Plugins::entry`] for the spelling of a plugin id.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Gives the key this value; missing parents are created. Nothing happens when it already has it.
    ///
    /// Comments inside a replaced object or list go with it, so set single keys where you can.
    Set {
        /// The key.
        path: Vec<String>,
        /// Its new value.
        value: Value,
    },
    /// Removes the key; nothing happens when it is missing.
    Remove {
        /// The key.
        path: Vec<String>,
    },
    /// Removes the key if its value is `{}` or `[]`; undoes the parents that `Set` created.
    RemoveIfEmpty {
        /// The key.
        path: Vec<String>,
    },
    /// Appends to a list unless an equal item is there; a missing list is created.
    AppendUnique {
        /// The key of the list.
        path: Vec<String>,
        /// The item.
        value: Value,
    },
    /// Removes every equal item from a list; nothing happens when there is none.
    RemoveFrom {
        /// The key of the list.
        path: Vec<String>,
        /// The item.
        value: Value,
    },
}

/// A text was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot edit `{key}`")]
pub struct EditError {
    /// The key the edit was for.
    pub key: KeyPath,
    /// Why.
    #[source]
    pub kind: EditErrorKind,
}

/// Why a text was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditErrorKind {
    /// The text is no config to begin with.
    #[error(transparent)]
    Syntax(SyntaxFault),
    /// The edit names no key.
    #[error("no key is named")]
    EmptyPath,
    /// A value on the way is not what the edit needs.
    #[error("`{at}` must be {wanted}")]
    WrongType {
        /// The value in the way.
        at: KeyPath,
        /// The wanted type, with article.
        wanted: &'static str,
    },
    /// Valid JSON5 in a form whose place cannot be found, such as an escape in a bare key.
    #[error("the text uses a form that cannot be edited at line {line}, column {column}")]
    Unsupported {
        /// Line, from 1.
        line: usize,
        /// Column in chars, from 1.
        column: usize,
    },
    /// The new text would not mean what was asked for.
    #[error("the new text would not mean what was asked for")]
    Mismatch,
}

impl Edit {
    /// [`Edit::Set`].
    pub fn set<K: Into<String>>(
        path: impl IntoIterator<Item = K>,
        value: impl Into<Value>,
    ) -> Self {
        let (path, value) = (owned(path), value.into());
        Self::Set { path, value }
    }

    /// [`Edit::Remove`].
    pub fn remove<K: Into<String>>(path: impl IntoIterator<Item = K>) -> Self {
        Self::Remove { path: owned(path) }
    }

    /// [`Edit::RemoveIfEmpty`].
    pub fn remove_if_empty<K: Into<String>>(path: impl IntoIterator<Item = K>) -> Self {
        Self::RemoveIfEmpty { path: owned(path) }
    }

    /// [`Edit::AppendUnique`].
    pub fn append_unique<K: Into<String>>(
        path: impl IntoIterator<Item = K>,
        value: impl Into<Value>,
    ) -> Self {
        let (path, value) = (owned(path), value.into());
        Self::AppendUnique { path, value }
    }

    /// [`Edit::RemoveFrom`].
    pub fn remove_from<K: Into<String>>(
        path: impl IntoIterator<Item = K>,
        value: impl Into<Value>,
    ) -> Self {
        let (path, value) = (owned(path), value.into());
        Self::RemoveFrom { path, value }
    }

    /// The key it is for.
    pub fn path(&self) -> &[String] {
        match self {
            Self::Set { path, .. }
            | Self::Remove { path }
            | Self::RemoveIfEmpty { path }
            | Self::AppendUnique { path, .. }
            | Self::RemoveFrom { path, .. } => path,
        }
    }
}

impl EditError {
    /// Short stable code of the kind, such as `config/edit-mismatch`.
    pub fn code(&self) -> &'static str {
        match &self.kind {
            EditErrorKind::Syntax(fault) => fault.code(),
            EditErrorKind::EmptyPath => "config/edit-no-key",
            EditErrorKind::WrongType { .. } => "config/edit-wrong-type",
            EditErrorKind::Unsupported { .. } => "config/edit-unsupported",
            EditErrorKind::Mismatch => "config/edit-mismatch",
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match &self.kind {
            EditErrorKind::Syntax(fault) => format!("correct line {} of the file", fault.line),
            EditErrorKind::EmptyPath => "name a key".to_owned(),
            EditErrorKind::WrongType { at, wanted } => {
                format!("make `{at}` {wanted}, or remove it")
            }
            EditErrorKind::Unsupported { line, .. } => {
                format!("write line {line} in plain JSON, or make the change by hand")
            }
            EditErrorKind::Mismatch => "make the change by hand".to_owned(),
        }
    }
}

/// Applies `edits` to `text` in order and returns the new text; equal to `text` when there is nothing to do.
///
/// # Errors
///
/// `text` is no config, a value on the way has another type, or the result, read again, is not what was planned.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    let (bom, body) = match text.strip_prefix(BOM) {
        Some(body) => (&text[..BOM.len_utf8()], body),
        None => ("", text),
    };
    let fail = |edit: Option<&Edit>, kind| EditError {
        key: KeyPath::new(edit.map_or(&[][..], Edit::path)),
        kind,
    };
    let mut intended =
        syntax::parse(body).map_err(|fault| fail(edits.first(), EditErrorKind::Syntax(fault)))?;
    let mut current = body.to_owned();
    for edit in edits {
        for change in plan::changes(&mut intended, edit).map_err(|kind| fail(Some(edit), kind))? {
            current = carry_out(&current, &change).map_err(|kind| fail(Some(edit), kind))?;
        }
    }
    if syntax::parse(&current).as_ref() != Ok(&intended) {
        return Err(fail(edits.last(), EditErrorKind::Mismatch));
    }
    Ok(format!("{bom}{current}"))
}

/// Changes the text as planned.
fn carry_out(body: &str, change: &Change) -> Result<String, EditErrorKind> {
    let spans = Spans::of(body).map_err(|place| EditErrorKind::Unsupported {
        line: place.line,
        column: place.column,
    })?;
    let mut chain = vec![&spans.root];
    for key in change.container() {
        let inner = chain.last().and_then(|value| spans::member(value, key));
        chain.push(&inner.ok_or(EditErrorKind::Mismatch)?.value);
    }
    let containers: Option<Vec<Container<'_, '_>>> = chain.into_iter().map(Container::of).collect();
    let containers = containers.ok_or(EditErrorKind::Mismatch)?;
    let splices: Vec<Splice> = match change {
        Change::Insert { key, value, .. } => {
            insert::insert(body, &spans, &containers, key.as_deref(), value)
        }
        Change::Replace { key, value, .. } => {
            insert::replace(body, &spans, &containers, key, value).ok_or(EditErrorKind::Mismatch)?
        }
        Change::RemoveMember { key, .. } => containers
            .last()
            .and_then(|container| Some((container, container.index_of(key)?)))
            .map(|(container, index)| remove::remove(body, &spans, container, index))
            .ok_or(EditErrorKind::Mismatch)?,
        Change::RemoveItem { index, .. } => containers
            .last()
            .map(|container| remove::remove(body, &spans, container, *index))
            .ok_or(EditErrorKind::Mismatch)?,
    };
    Ok(splice(body, splices))
}

fn owned<K: Into<String>>(path: impl IntoIterator<Item = K>) -> Vec<String> {
    path.into_iter().map(Into::into).collect()
}

#[cfg(test)]
mod tests;
