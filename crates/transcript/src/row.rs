//! One row: its exact text, its place in the tree, and what it says.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::fault::FaultKind;
use crate::json::Object;
use crate::message::Message;
use crate::tree::{Link, Node};

/// A line of a transcript other than the header.
///
/// Source: transcript format, "Rows".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    line: usize,
    raw: String,
    id: Option<String>,
    parent: Parent,
    timestamp: Option<String>,
    side: bool,
    kind: RowKind,
}

/// What a row says of the row before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Parent {
    /// There is no `parentId`.
    Absent,
    /// `parentId` is null: the row starts a tree.
    Null,
    /// The id of a row, a leaf marker, or of nothing in this transcript.
    Id(String),
}

/// What a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Something said.
    Message(Message),
    /// Another model from here on.
    ModelChange {
        /// Who offers the model.
        provider: String,
        /// The model.
        model_id: String,
    },
    /// Another thinking level from here on.
    ThinkingLevelChange {
        /// The level.
        level: String,
    },
    /// What stands before is summarised.
    Compaction {
        /// The summary.
        summary: String,
        /// The first row before this one that stays in context.
        first_kept_entry_id: Option<String>,
        /// Tokens of the context before; `None` when not known.
        tokens_before: Option<u64>,
        /// Estimated tokens after; `None` when not known.
        tokens_after: Option<u64>,
        /// Whether a plugin made the summary.
        from_hook: bool,
    },
    /// What stands before is put aside.
    Reset {
        /// `new`, `reset`, `idle`, `daily` or `cron-stale`.
        reason: String,
        /// The first row before this one that stays in context.
        first_kept_entry_id: Option<String>,
    },
    /// A branch that was left, in short.
    BranchSummary {
        /// The tip of the branch.
        from_id: String,
        /// The summary.
        summary: String,
    },
    /// A plugin's note that no model sees.
    Custom {
        /// Whose note.
        custom_type: String,
    },
    /// A plugin's message to the model.
    CustomMessage {
        /// Whose message.
        custom_type: String,
        /// Whether people see it too.
        display: bool,
    },
    /// A name for another row.
    Label {
        /// The row named.
        target_id: String,
        /// The name; `None` takes it away.
        label: Option<String>,
    },
    /// Facts on the session.
    SessionInfo {
        /// The session's name.
        name: Option<String>,
    },
    /// Moves the end of the active path.
    Leaf {
        /// The new end; `None` for an empty path.
        target: Option<String>,
        /// Where the next row goes, when not behind the end.
        append_parent: Option<String>,
    },
    /// Anything this version does not know, and rows that lack what their type needs.
    Opaque,
}

impl Row {
    /// Reads a row from its members; `raw` is kept as its text.
    pub(crate) fn read(
        line: usize,
        raw: &str,
        object: &Object<'_>,
        faults: &mut Vec<FaultKind>,
    ) -> Self {
        let kind = kind(object).unwrap_or_else(|fault| {
            faults.extend(fault);
            RowKind::Opaque
        });
        let parent = match object.get("parentId") {
            None => Parent::Absent,
            Some("null") => Parent::Null,
            Some(_) => object.filled("parentId").map_or_else(
                || {
                    faults.push(FaultKind::BadParent);
                    Parent::Absent
                },
                Parent::Id,
            ),
        };
        Self {
            line,
            raw: raw.to_owned(),
            id: object.filled("id"),
            parent,
            timestamp: object.filled("timestamp"),
            side: object
                .string("appendMode")
                .is_some_and(|mode| mode == "side"),
            kind,
        }
    }

    /// The line's number, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The line as written, without its line ending.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The row's id; never blank.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The row before it, as written.
    #[must_use]
    pub fn parent(&self) -> &Parent {
        &self.parent
    }

    /// When the row was written, as ISO 8601 text.
    #[must_use]
    pub fn timestamp(&self) -> Option<&str> {
        self.timestamp.as_deref()
    }

    /// Whether the row was written away from the active path (`appendMode: "side"`).
    #[must_use]
    pub fn side(&self) -> bool {
        self.side
    }

    /// What the row is.
    #[must_use]
    pub fn kind(&self) -> &RowKind {
        &self.kind
    }

    /// The message of a message row.
    #[must_use]
    pub fn message(&self) -> Option<&Message> {
        if let RowKind::Message(message) = &self.kind {
            Some(message)
        } else {
            None
        }
    }

    /// Whether what stands before is put behind by this row: a compaction or a reset.
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        matches!(
            self.kind,
            RowKind::Compaction { .. } | RowKind::Reset { .. }
        )
    }

    /// The first row before a boundary that stays in context.
    #[must_use]
    pub fn first_kept_entry_id(&self) -> Option<&str> {
        match &self.kind {
            RowKind::Compaction {
                first_kept_entry_id,
                ..
            }
            | RowKind::Reset {
                first_kept_entry_id,
                ..
            } => first_kept_entry_id.as_deref(),
            _ => None,
        }
    }

    /// What the tree has to know of the row.
    #[must_use]
    pub fn link(&self) -> Link {
        let node = match &self.kind {
            RowKind::Reset { .. } => Node::Reset,
            RowKind::Leaf {
                target,
                append_parent,
            } => Node::Leaf {
                target: target.clone(),
                append_parent: append_parent.clone(),
            },
            RowKind::Opaque => Node::Opaque,
            RowKind::Message(_)
            | RowKind::ModelChange { .. }
            | RowKind::ThinkingLevelChange { .. }
            | RowKind::Compaction { .. }
            | RowKind::BranchSummary { .. }
            | RowKind::Custom { .. }
            | RowKind::CustomMessage { .. }
            | RowKind::Label { .. }
            | RowKind::SessionInfo { .. } => Node::Content,
        };
        Link {
            id: self.id.clone(),
            parent: self.parent.clone(),
            side: self.side,
            node,
        }
    }
}

/// The kind of a row. The error is the fault to report, or nothing for a type this version does not know.
fn kind(row: &Object<'_>) -> Result<RowKind, Option<FaultKind>> {
    let kind = row.string("type").ok_or(None)?;
    let wrong = |field| {
        Some(FaultKind::Incomplete {
            kind: kind.clone().into_owned(),
            field,
        })
    };
    let text = |field| {
        row.string(field)
            .map(Cow::into_owned)
            .ok_or_else(|| wrong(field))
    };
    let filled = |field| row.filled(field).ok_or_else(|| wrong(field));
    let text_or_null = |field| match row.get(field) {
        Some("null") => Ok(None),
        _ => text(field).map(Some),
    };
    let tokens = |field| {
        row.integer(field)
            .and_then(|tokens| u64::try_from(tokens).ok())
    };

    Ok(match kind.as_ref() {
        "message" => {
            let message = row.get("message").ok_or_else(|| wrong("message"))?;
            RowKind::Message(
                Message::read(message)
                    .map_err(FaultKind::UnreadableMessage)
                    .map_err(Some)?,
            )
        }
        "model_change" => RowKind::ModelChange {
            provider: filled("provider")?,
            model_id: filled("modelId")?,
        },
        "thinking_level_change" => RowKind::ThinkingLevelChange {
            level: filled("thinkingLevel")?,
        },
        "compaction" => RowKind::Compaction {
            summary: text("summary")?,
            first_kept_entry_id: row.filled("firstKeptEntryId"),
            tokens_before: tokens("tokensBefore"),
            tokens_after: tokens("tokensAfter"),
            from_hook: row.is_true("fromHook"),
        },
        "reset" => RowKind::Reset {
            reason: text("reason")?,
            first_kept_entry_id: row.filled("firstKeptEntryId"),
        },
        "branch_summary" => RowKind::BranchSummary {
            from_id: text("fromId")?,
            summary: text("summary")?,
        },
        "custom" => RowKind::Custom {
            custom_type: filled("customType")?,
        },
        "custom_message" => {
            let content = row.get("content").ok_or_else(|| wrong("content"))?;
            if !content.starts_with(['"', '[']) {
                return Err(wrong("content"));
            }
            RowKind::CustomMessage {
                custom_type: text("customType")?,
                display: row.is_true("display"),
            }
        }
        "label" => RowKind::Label {
            target_id: text("targetId")?,
            label: row.filled("label"),
        },
        "session_info" => RowKind::SessionInfo {
            name: row.filled("name"),
        },
        "leaf" => RowKind::Leaf {
            target: text_or_null("targetId")?,
            append_parent: row.filled("appendParentId"),
        },
        _ => return Err(None),
    })
}
