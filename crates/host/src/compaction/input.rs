//! What a compaction starts from: the part of the active path that a model still sees.

use openclaw_transcript::{Message, Role, Row, RowKind, context, groups, is_runtime_carrier};
use serde::Deserialize;

use super::files::FileLists;

/// A row of the visible part of a path.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: Option<String>,
    pub(super) content: Content,
    /// Tokens of its message, 0 for silent rows and boundaries.
    pub(super) tokens: u64,
    /// Whether the path may be cut before it: never between a call and its results.
    pub(super) starts_group: bool,
}

/// What a row is to a compaction.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A message a model sees.
    Message(Message),
    /// A row no model sees.
    Silent,
    /// The last compaction or reset.
    Boundary,
}

impl Entry {
    pub(super) fn message(&self) -> Option<&Message> {
        if let Content::Message(message) = &self.content {
            Some(message)
        } else {
            None
        }
    }

    /// Whether a person, a tool of theirs or another branch speaks: a turn starts here.
    pub(super) fn starts_turn(&self) -> bool {
        self.message().is_some_and(|message| match message.role() {
            Role::User | Role::BashExecution | Role::BranchSummary => true,
            Role::Custom => !is_runtime_carrier(message),
            Role::Assistant | Role::ToolResult | Role::CompactionSummary | Role::Other => false,
        })
    }

    /// Whether the path may be cut before this row. A row without an id cannot be named as the first that stays.
    pub(super) fn may_be_first(&self) -> bool {
        let is_assistant = self
            .message()
            .is_some_and(|message| message.role() == Role::Assistant);
        self.id.is_some() && self.starts_group && (is_assistant || self.starts_turn())
    }
}

/// The summary that stands for what was compacted before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Previous {
    pub(super) summary: String,
    pub(super) tokens: u64,
    /// Files it tells of; none when a plugin wrote it, whose lists have their own meaning.
    pub(super) files: FileLists,
}

/// What tells one input from another of the same session: kept after an attempt without gain, so that the same is not
/// tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputKey {
    last: Option<String>,
    rows: usize,
    tokens: u64,
}

/// The part of a path that a model still sees, from the first kept row before the last boundary on.
#[derive(Clone, Debug)]
pub struct CompactionInput {
    pub(super) entries: Vec<Entry>,
    /// Where the first row stands on the path given.
    pub(super) offset: usize,
    pub(super) previous: Option<Previous>,
    /// Where the last boundary stands.
    pub(super) boundary: Option<usize>,
    /// No cut is before this row: what a reset kept is shown by the reset only, so it is folded whole.
    pub(super) floor: usize,
}

impl CompactionInput {
    /// Reads a path.
    ///
    /// - `path`: rows of the active path, root first. It may start at the first row the last compaction kept.
    /// - `tokens`: tokens of the message that the row at an index stands for, given its JSON. A store hands out its
    ///   stored count here; called once for each visible message.
    #[must_use]
    pub fn of_path(path: &[&Row], tokens: &dyn Fn(usize, &str) -> u64) -> Self {
        let boundary = path.iter().rposition(|row| {
            matches!(
                row.kind(),
                RowKind::Compaction { .. } | RowKind::Reset { .. }
            )
        });
        let mut visible: Vec<Option<Message>> = vec![None; path.len()];
        let mut costs = vec![0; path.len()];
        for message in context(path).messages {
            costs[message.row] = tokens(message.row, &message.json);
            visible[message.row] = Message::from_json(&message.json).ok();
        }
        let first = match boundary {
            Some(at) => visible[..at].iter().position(Option::is_some).unwrap_or(at),
            None => 0,
        };
        let previous = boundary.and_then(|at| previous(path[at], costs[at]));
        let mut entries: Vec<Entry> = (first..path.len())
            .map(|at| {
                let content = match visible[at].take() {
                    _ if boundary == Some(at) => Content::Boundary,
                    Some(message) => Content::Message(message),
                    None => Content::Silent,
                };
                Entry {
                    id: path[at].id().map(str::to_owned),
                    tokens: if matches!(content, Content::Message(_)) {
                        costs[at]
                    } else {
                        0
                    },
                    content,
                    starts_group: false,
                }
            })
            .collect();
        mark_groups(&mut entries);
        Self {
            entries,
            offset: first,
            previous,
            floor: boundary
                .filter(|at| matches!(path[*at].kind(), RowKind::Reset { .. }))
                .map_or(0, |at| at - first + 1),
            boundary: boundary.map(|at| at - first),
        }
    }

    /// Tokens of everything a model sees of the path, the earlier summary included.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let entries = self.entries.iter().map(|entry| entry.tokens);
        let summary = self.previous.as_ref().map_or(0, |previous| previous.tokens);
        entries.fold(summary, u64::saturating_add)
    }

    /// What tells this input from another of the same session.
    #[must_use]
    pub fn key(&self) -> InputKey {
        InputKey {
            last: self.entries.last().and_then(|entry| entry.id.clone()),
            rows: self.entries.len(),
            tokens: self.tokens(),
        }
    }

    /// Where the row with this id stands.
    pub(super) fn place_of(&self, id: &str) -> Option<usize> {
        self.entries
            .iter()
            .rposition(|entry| entry.id.as_deref() == Some(id))
    }
}

fn mark_groups(entries: &mut [Entry]) {
    let places: Vec<usize> = (0..entries.len())
        .filter(|at| entries[*at].message().is_some())
        .collect();
    let messages: Vec<Message> = entries
        .iter()
        .filter_map(|entry| entry.message().cloned())
        .collect();
    for group in groups(&messages) {
        entries[places[group.start]].starts_group = true;
    }
}

fn previous(row: &Row, tokens: u64) -> Option<Previous> {
    #[derive(Deserialize)]
    struct Details {
        #[serde(default)]
        details: FileLists,
    }

    let RowKind::Compaction {
        summary, from_hook, ..
    } = row.kind()
    else {
        return None;
    };
    let files = (!from_hook)
        .then(|| serde_json::from_str::<Details>(row.raw()).ok())
        .flatten();
    Some(Previous {
        summary: summary.clone(),
        tokens,
        files: files.map(|read| read.details).unwrap_or_default(),
    })
}
