//! Messages made from rows that hold none.

use openclaw_interface::Role;

use super::ContextMessage;
use crate::json::{self, Object};
use crate::row::{Row, RowKind};
use crate::time;

/// The message a row stands for; `None` for message rows and for rows no model sees.
pub(super) fn from_row(index: usize, row: &Row) -> Option<ContextMessage> {
    let (role, fields): (_, &[&str]) = match row.kind() {
        RowKind::Compaction { .. } => (Role::CompactionSummary, &["summary", "tokensBefore"]),
        RowKind::BranchSummary { summary, .. } if !summary.is_empty() => {
            (Role::BranchSummary, &["summary", "fromId"])
        }
        RowKind::CustomMessage { .. } => (
            Role::Custom,
            &["customType", "content", "display", "details"],
        ),
        RowKind::BranchSummary { .. }
        | RowKind::Message(_)
        | RowKind::ModelChange { .. }
        | RowKind::ThinkingLevelChange { .. }
        | RowKind::Reset { .. }
        | RowKind::Custom { .. }
        | RowKind::Label { .. }
        | RowKind::SessionInfo { .. }
        | RowKind::Leaf { .. }
        | RowKind::Opaque => return None,
    };
    let text = crate::scan::readable(row.raw().trim())?;
    let object = Object::read(&text).ok()?;
    let role_name = json::quote(role.name());
    let timestamp = row
        .timestamp()
        .and_then(time::epoch_ms)
        .map(|ms| ms.to_string());

    let mut members = vec![("role", role_name.as_str())];
    members.extend(
        fields
            .iter()
            .filter_map(|field| Some((*field, object.get(field)?))),
    );
    members.extend(timestamp.as_deref().map(|ms| ("timestamp", ms)));
    Some(ContextMessage {
        row: index,
        role,
        json: json::object(members).into(),
        prelude: false,
    })
}
