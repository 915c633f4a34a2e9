//! New rows as lines, without their line ending.

use crate::header::CURRENT_VERSION;
use crate::json;

/// A header line of the current version.
///
/// - `timestamp`: ISO 8601 with milliseconds, in UTC.
#[must_use]
pub fn header_row(id: &str, timestamp: &str, cwd: &str) -> String {
    json::object([
        ("type", "\"session\""),
        ("version", CURRENT_VERSION.to_string().as_str()),
        ("id", &json::quote(id)),
        ("timestamp", &json::quote(timestamp)),
        ("cwd", &json::quote(cwd)),
    ])
}

/// A message row.
///
/// - `parent`: the row before; `None` starts a tree.
/// - `message_json`: a JSON object, taken over as it is. Only line breaks between its members become spaces.
#[must_use]
pub fn message_row(id: &str, parent: Option<&str>, timestamp: &str, message_json: &str) -> String {
    row(
        "message",
        id,
        parent,
        timestamp,
        &[("message", message_json)],
    )
}

/// A row that changes the model.
#[must_use]
pub fn model_change_row(
    id: &str,
    parent: Option<&str>,
    timestamp: &str,
    provider: &str,
    model_id: &str,
) -> String {
    let fields = [
        ("provider", &*json::quote(provider)),
        ("modelId", &json::quote(model_id)),
    ];
    row("model_change", id, parent, timestamp, &fields)
}

/// A row with a plugin's note that no model sees.
///
/// - `data_json`: any JSON value.
#[must_use]
pub fn custom_row(
    id: &str,
    parent: Option<&str>,
    timestamp: &str,
    custom_type: &str,
    data_json: &str,
) -> String {
    row(
        "custom",
        id,
        parent,
        timestamp,
        &[
            ("customType", &json::quote(custom_type)),
            ("data", data_json),
        ],
    )
}

/// What a compaction row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewCompaction<'a> {
    /// The summary.
    pub summary: &'a str,
    /// The first row before the compaction that stays in context; `None` keeps none.
    pub first_kept_entry_id: Option<&'a str>,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Estimated tokens after; `None` when not known.
    pub tokens_after: Option<u64>,
    /// Whatever the engine wants to keep beside it, as JSON.
    pub details_json: Option<&'a str>,
    /// Whether a plugin made the summary.
    pub from_hook: bool,
}

/// A compaction row.
#[must_use]
pub fn compaction_row(
    id: &str,
    parent: Option<&str>,
    timestamp: &str,
    compaction: &NewCompaction<'_>,
) -> String {
    let summary = json::quote(compaction.summary);
    let first_kept = compaction.first_kept_entry_id.map(json::quote);
    let tokens_before = compaction.tokens_before.to_string();
    let tokens_after = compaction.tokens_after.map(|tokens| tokens.to_string());

    let mut fields = vec![("summary", summary.as_str())];
    fields.extend(first_kept.as_deref().map(|id| ("firstKeptEntryId", id)));
    fields.push(("tokensBefore", &tokens_before));
    fields.extend(
        tokens_after
            .as_deref()
            .map(|tokens| ("tokensAfter", tokens)),
    );
    fields.extend(compaction.details_json.map(|details| ("details", details)));
    fields.push((
        "fromHook",
        if compaction.from_hook {
            "true"
        } else {
            "false"
        },
    ));
    row("compaction", id, parent, timestamp, &fields)
}

/// A reset row.
///
/// - `reason`: `new`, `reset`, `idle`, `daily` or `cron-stale`.
#[must_use]
pub fn reset_row(
    id: &str,
    parent: Option<&str>,
    timestamp: &str,
    reason: &str,
    first_kept_entry_id: Option<&str>,
) -> String {
    let (reason, first_kept) = (json::quote(reason), first_kept_entry_id.map(json::quote));
    let mut fields = vec![("reason", reason.as_str())];
    fields.extend(first_kept.as_deref().map(|id| ("firstKeptEntryId", id)));
    row("reset", id, parent, timestamp, &fields)
}

/// A row that moves the leaf to `target`; `None` empties the path.
#[must_use]
pub fn leaf_row(id: &str, parent: Option<&str>, timestamp: &str, target: Option<&str>) -> String {
    row(
        "leaf",
        id,
        parent,
        timestamp,
        &[("targetId", &id_or_null(target))],
    )
}

fn row(
    kind: &str,
    id: &str,
    parent: Option<&str>,
    timestamp: &str,
    fields: &[(&str, &str)],
) -> String {
    let head = [
        ("type", &*json::quote(kind)),
        ("id", &json::quote(id)),
        ("parentId", &id_or_null(parent)),
        ("timestamp", &json::quote(timestamp)),
    ];
    // In JSON a raw line break can only stand between tokens.
    json::object(head.into_iter().chain(fields.iter().copied())).replace(['\n', '\r'], " ")
}

fn id_or_null(id: Option<&str>) -> String {
    id.map_or_else(|| "null".to_owned(), json::quote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Line, Parent, RowKind, parse_line};

    #[track_caller]
    fn reread(line: &str) -> crate::Row {
        let mut faults = Vec::new();
        let Line::Row(row) = parse_line(1, line.as_bytes(), &mut faults) else {
            panic!("not a row: {line}")
        };
        assert_eq!(faults, []);
        assert_eq!(row.raw(), line);
        row
    }

    #[test]
    fn a_message_is_taken_over_byte_for_byte() {
        let message = r#"{"role":"user","content":"a\nb \"c\"","n":0.10}"#;
        let row = reread(&message_row(
            "i\"d",
            Some("p"),
            "2026-05-01T10:00:00.000Z",
            message,
        ));
        assert_eq!(row.id(), Some("i\"d"));
        assert_eq!(row.parent(), &Parent::Id("p".into()));
        assert_eq!(row.message().unwrap().json(), message);
    }

    #[test]
    fn a_message_over_several_lines_becomes_one_line() {
        let row = reread(&message_row(
            "a",
            None,
            "",
            "{\n  \"role\": \"user\",\r\n  \"content\": \"x\"\n}\n",
        ));
        assert_eq!(
            row.message().unwrap().json(),
            r#"{   "role": "user",    "content": "x" }"#
        );
    }

    #[test]
    fn written_rows_are_read_back() {
        let compaction = NewCompaction {
            summary: "s",
            first_kept_entry_id: Some("a"),
            tokens_before: 9,
            tokens_after: None,
            details_json: Some("{}"),
            from_hook: true,
        };
        assert_eq!(
            reread(&compaction_row("k", Some("a"), "", &compaction)).kind(),
            &RowKind::Compaction {
                summary: "s".into(),
                first_kept_entry_id: Some("a".into()),
                tokens_before: Some(9),
                tokens_after: None,
                from_hook: true,
            }
        );
        let reset = reread(&reset_row("r", None, "", "new", None));
        assert_eq!(
            reset.kind(),
            &RowKind::Reset {
                reason: "new".into(),
                first_kept_entry_id: None
            }
        );
        let leaf = reread(&leaf_row("l", None, "", None));
        assert_eq!(
            leaf.kind(),
            &RowKind::Leaf {
                target: None,
                append_parent: None
            }
        );
        let custom = reread(&custom_row("c", None, "", "t", "[1]"));
        assert_eq!(
            custom.kind(),
            &RowKind::Custom {
                custom_type: "t".into()
            }
        );
        let model = reread(&model_change_row("m", None, "", "p", "m1"));
        assert_eq!(
            model.kind(),
            &RowKind::ModelChange {
                provider: "p".into(),
                model_id: "m1".into()
            }
        );
    }

    #[test]
    fn a_written_header_has_the_current_version() {
        let Line::Header(header) =
            parse_line(1, header_row("s", "t", "/ws").as_bytes(), &mut Vec::new())
        else {
            panic!("not a header")
        };
        let read = (
            header.version(),
            header.id(),
            header.timestamp(),
            header.cwd(),
        );
        assert_eq!(read, (4, Some("s"), Some("t"), Some("/ws")));
    }
}
