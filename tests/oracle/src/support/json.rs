//! JSON of captured files and of rows, in a form that can be compared.

use openclaw_transcript::{Line, parse_line};
use serde_json::Value;

/// Reads JSON; panics with the place it comes from.
pub(crate) fn parsed(place: &str, json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{place}: {error}"))
}

/// A member that has to be there: a missing one must not look like `null`.
pub(crate) fn field<'a>(object: &'a Value, name: &str) -> &'a Value {
    object
        .get(name)
        .unwrap_or_else(|| panic!("no member `{name}` in {object}"))
}

pub(crate) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    let value = field(object, name);
    value
        .as_str()
        .unwrap_or_else(|| panic!("`{name}` is no text but {value}"))
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no list but {value}"))
}

/// Entries as the lines of a transcript.
pub(crate) fn json_lines(entries: &[Value]) -> Vec<u8> {
    let lines = entries.iter().map(|entry| format!("{entry}\n"));
    lines.collect::<String>().into_bytes()
}

/// A line as the original holds it once loaded: content that may be a list of blocks is one.
pub(crate) fn loaded(line: &str) -> Value {
    let mut value = parsed("line", line);
    if let Line::Row(row) = parse_line(1, line.as_bytes(), &mut Vec::new())
        && let Some(message) = row
            .message()
            .and_then(|message| message.with_block_content())
    {
        value["message"] = parsed("message", &message);
    }
    value
}

/// A row with `<id7>` for each generated id `<16 hex>-7`, as the hash in front depends on where the file lay.
pub(crate) fn with_plain_ids(mut row: Value) -> Value {
    for name in ["id", "parentId", "firstKeptEntryId"] {
        if let Some(value) = row.get_mut(name)
            && let Some((hash, position)) = value.as_str().and_then(|id| id.split_once('-'))
            && hash.len() == 16
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            *value = Value::from(format!("<id{position}>"));
        }
    }
    row
}
