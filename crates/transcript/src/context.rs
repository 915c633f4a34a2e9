//! Rows of the active path to the messages a model may see.

mod made;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use openclaw_interface::Role;

use crate::json::Object;
use crate::message::{Content, Message};
use crate::row::{Row, RowKind};

/// What a path says to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The messages, oldest first. Pairs are as stored: [`pair`](crate::pair) comes later.
    pub messages: Vec<ContextMessage>,
    /// The thinking level in force; `off` when none was chosen.
    pub thinking_level: String,
    /// The model in force; `None` when the path names none.
    pub model: Option<ModelRef>,
}

/// A message and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextMessage {
    /// The row, as an index into the rows given.
    pub row: usize,
    /// Who speaks.
    pub role: Role,
    /// The JSON text: that of the row for a message row, made from the row's fields for all others. Assistant messages
    /// before the boundary lose `providerReplay`.
    pub json: Arc<str>,
    /// Whether the message was carried over a reset; such messages are no user turns.
    pub prelude: bool,
}

/// A model as rows name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRef {
    /// Who offers the model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
}

/// Builds the context of a path.
///
/// - `path`: the rows of the active path, root first.
///
/// The last compaction or reset is the boundary. Before it only the rows from its `firstKeptEntryId` on count; a
/// compaction puts its summary in front of them, a reset keeps of them what user and assistant said, from the first
/// user message on. Messages with `excludeFromContext` are left out.
///
/// Source: legacy engine, "From transcript rows to messages".
#[must_use]
pub fn context(path: &[&Row]) -> Context {
    let boundary = path.iter().rposition(|row| row.is_boundary());
    let mut messages = Vec::new();
    if let Some(at) = boundary {
        messages.extend(made::from_row(at, path[at]));
        let kept = first_kept(path, at)..at;
        let kept = kept.filter_map(|row| from_row(row, path[row]).map(without_checkpoint));
        if matches!(path[at].kind(), RowKind::Reset { .. }) {
            messages.extend(
                kept.filter(is_said)
                    .skip_while(|message| message.role != Role::User)
                    .map(as_prelude),
            );
        } else {
            messages.extend(kept);
        }
    }
    let after = boundary.map_or(0, |at| at + 1);
    messages.extend((after..path.len()).filter_map(|row| from_row(row, path[row])));
    let (thinking_level, model) = state(path);
    Context {
        messages,
        thinking_level,
        model,
    }
}

/// What rows add to the context of the path they are appended to; `None` when a boundary is among them, which changes
/// what stands before. [`ContextMessage::row`] counts from the first of them.
#[must_use]
pub fn appended(rows: &[&Row]) -> Option<Vec<ContextMessage>> {
    if rows.iter().any(|row| row.is_boundary()) {
        return None;
    }
    let messages = rows.iter().enumerate();
    Some(
        messages
            .filter_map(|(index, row)| from_row(index, row))
            .collect(),
    )
}

/// The first row of a path that its context's messages come from: what stands before says nothing any more.
#[must_use]
pub fn context_start(path: &[&Row]) -> usize {
    let boundary = path.iter().rposition(|row| row.is_boundary());
    boundary.map_or(0, |at| first_kept(path, at))
}

/// All messages of a path as its cursor counts them: every message row, over boundaries, excluded ones too.
///
/// Source: transcript semantics, "Projection".
#[must_use]
pub fn visible(path: &[&Row]) -> Vec<ContextMessage> {
    let messages = path
        .iter()
        .enumerate()
        .filter_map(|(row, entry)| Some((row, entry.message()?)));
    messages
        .map(|(row, message)| stored(row, message))
        .collect()
}

/// The first row before the boundary that stays; the boundary itself when none does.
fn first_kept(path: &[&Row], boundary: usize) -> usize {
    let Some(first) = path[boundary].first_kept_entry_id() else {
        return boundary;
    };
    path[..boundary]
        .iter()
        .position(|row| row.id() == Some(first))
        .unwrap_or(boundary)
}

fn from_row(index: usize, row: &Row) -> Option<ContextMessage> {
    match row.message() {
        Some(message) => (!message.excluded()).then(|| stored(index, message)),
        // An older boundary among the kept rows is a part of what the newer one tells.
        None if row.is_boundary() => None,
        None => made::from_row(index, row),
    }
}

fn stored(row: usize, message: &Message) -> ContextMessage {
    ContextMessage {
        row,
        role: message.role(),
        json: message.shared_json(),
        prelude: false,
    }
}

fn without_checkpoint(message: ContextMessage) -> ContextMessage {
    if message.role != Role::Assistant || !message.json.contains("providerReplay") {
        return message;
    }
    let without = Object::read(&message.json).ok().and_then(|mut object| {
        object
            .remove("providerReplay")
            .then(|| object.write().into())
    });
    ContextMessage {
        json: without.unwrap_or_else(|| Arc::clone(&message.json)),
        ..message
    }
}

/// Whether a person said this, or a model without calling tools.
fn is_said(message: &ContextMessage) -> bool {
    let has_text = || {
        let object = Object::read(&message.json).ok();
        let content = object.and_then(|object| Content::read(object.get("content")).ok());
        content.is_some_and(|content| {
            content.has_text() && !content.blocks().iter().any(crate::message::is_call)
        })
    };
    matches!(message.role, Role::User | Role::Assistant) && has_text()
}

fn as_prelude(message: ContextMessage) -> ContextMessage {
    ContextMessage {
        prelude: true,
        ..message
    }
}

fn state(path: &[&Row]) -> (String, Option<ModelRef>) {
    let level = path.iter().rev().find_map(|row| {
        let RowKind::ThinkingLevelChange { level } = row.kind() else {
            return None;
        };
        Some(level.clone())
    });
    let model = path.iter().rev().find_map(|row| {
        if let RowKind::ModelChange { provider, model_id } = row.kind() {
            return Some(ModelRef {
                provider: Some(provider.clone()),
                model: Some(model_id.clone()),
            });
        }
        let object = row
            .message()
            .filter(|message| message.role() == Role::Assistant)?
            .object();
        Some(ModelRef {
            provider: object.filled("provider"),
            model: object.filled("model"),
        })
    });
    (level.unwrap_or_else(|| "off".to_owned()), model)
}
