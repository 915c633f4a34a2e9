//! A row written again at another place of the tree.

use std::borrow::Cow;

use openclaw_interface::Role;

use crate::json::{self, Object};
use crate::message::Message;
use crate::row::{Row, RowKind};
use crate::scan;

/// Where a copy of a row goes.
#[derive(Clone, Copy)]
pub struct Copy<'a> {
    /// The copy's id.
    pub id: &'a str,
    /// The row before it; `None` starts a tree.
    pub parent: Option<&'a str>,
    /// The message it has instead of its own.
    pub message: Option<&'a Message>,
    /// The new id of a row that was copied before; references follow it.
    pub moved: &'a dyn Fn(&str) -> Option<&'a str>,
}

/// The row as a line, written aside: it joins the path when a leaf row leads to it.
///
/// Members keep their order and text. References of compactions, resets and labels to copied rows follow them; an
/// assistant message loses `providerReplay`, which holds for its old place only. `None` for a row whose text is no
/// JSON object.
///
/// Source: transcript semantics, "Rewriting".
#[must_use]
pub fn copied_row(row: &Row, copy: &Copy<'_>) -> Option<String> {
    let text = scan::readable(row.raw().trim())?;
    let mut object = Object::read(&text).ok()?;
    let id = json::quote(copy.id);
    let parent = copy.parent.map_or_else(|| "null".to_owned(), json::quote);
    object.set("id", &id);
    object.set("parentId", &parent);
    object.set("appendMode", "\"side\"");
    let reference = match row.kind() {
        RowKind::Label { target_id, .. } => Some(("targetId", target_id.as_str())),
        _ => row
            .first_kept_entry_id()
            .map(|first| ("firstKeptEntryId", first)),
    };
    let moved = reference.and_then(|(field, id)| Some((field, json::quote((copy.moved)(id)?))));
    if let Some((field, id)) = &moved {
        object.set(field, id);
    }
    let message = match (copy.message, row.message()) {
        (Some(new), _) => Some(Cow::Borrowed(new.json())),
        (None, Some(own)) if own.role() == Role::Assistant => {
            without_checkpoint(own.json()).map(Cow::Owned)
        }
        (None, _) => None,
    };
    if let Some(message) = &message {
        object.set("message", message);
    }
    // In JSON a raw line break can only stand between tokens.
    Some(object.write().replace(['\n', '\r'], " "))
}

/// An assistant message without what its provider needs to replay it; `None` when it has nothing of the kind.
pub(crate) fn without_checkpoint(message_json: &str) -> Option<String> {
    if !message_json.contains("providerReplay") {
        return None;
    }
    let mut object = Object::read(message_json).ok()?;
    object.remove("providerReplay").then(|| object.write())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_row;

    #[track_caller]
    fn check(line: &str, message: Option<&str>, expected: &str) {
        let row = parse_row(1, line).unwrap();
        let message = message.map(|json| Message::from_json(json).unwrap());
        let copy = Copy {
            id: "new",
            parent: Some("p"),
            message: message.as_ref(),
            moved: &|id| (id == "old").then_some("moved"),
        };
        assert_eq!(copied_row(&row, &copy).unwrap(), expected);
    }

    #[test]
    fn a_copy_keeps_what_it_does_not_have_to_change() {
        check(
            r#"{ "type":"message", "n":0.10, "id":"a", "parentId":null, "message":{ "role":"user","content":"x" } }"#,
            None,
            r#"{"type":"message","n":0.10,"id":"new","parentId":"p","message":{ "role":"user","content":"x" },"appendMode":"side"}"#,
        );
        check(
            r#"{"type":"message","id":"a","message":{"role":"user","content":"x"}}"#,
            Some(r#"{"role":"user","content":"y"}"#),
            r#"{"type":"message","id":"new","message":{"role":"user","content":"y"},"parentId":"p","appendMode":"side"}"#,
        );
    }

    #[test]
    fn references_to_copied_rows_follow_them() {
        for (line, field) in [
            (
                r#"{"type":"compaction","id":"a","summary":"s","firstKeptEntryId":"old"}"#,
                "firstKeptEntryId",
            ),
            (
                r#"{"type":"reset","id":"a","reason":"new","firstKeptEntryId":"old"}"#,
                "firstKeptEntryId",
            ),
            (
                r#"{"type":"label","id":"a","label":"l","targetId":"old"}"#,
                "targetId",
            ),
        ] {
            let row = parse_row(1, line).unwrap();
            let copy = |old: &'static str| Copy {
                id: "new",
                parent: None,
                message: None,
                moved: if old == "old" {
                    &|id| (id == "old").then_some("moved")
                } else {
                    &|_| None
                },
            };
            let text = copied_row(&row, &copy("old")).unwrap();
            assert!(text.contains(&format!(r#""{field}":"moved""#)), "{text}");
            let text = copied_row(&row, &copy("none")).unwrap();
            assert!(text.contains(&format!(r#""{field}":"old""#)), "{text}");
            assert!(text.contains(r#""parentId":null"#), "{text}");
        }
    }

    #[test]
    fn a_copied_assistant_message_loses_its_checkpoint() {
        check(
            r#"{"type":"message","id":"a","message":{"role":"assistant","providerReplay":{"x":1},"content":[]}}"#,
            None,
            r#"{"type":"message","id":"new","message":{"role":"assistant","content":[]},"parentId":"p","appendMode":"side"}"#,
        );
    }
}
