//! Cutting and inserting, and looking at the line around a place.

use std::ops::Range;

/// Bytes to cut and the text to put there.
pub(super) type Splice = (Range<usize>, String);

/// Carries out `splices`; they must not overlap, those at one place keep their order.
pub(super) fn splice(body: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(body.len() + 64);
    let mut at = 0;
    for (range, text) in splices {
        out.push_str(&body[at..range.start]);
        out.push_str(&text);
        at = range.end;
    }
    out.push_str(&body[at..]);
    out
}

/// White space at the start of the line on which `offset` stands.
pub(super) fn indent_at(body: &str, offset: usize) -> &str {
    let line = &body[line_start(body, offset)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The indentation before `offset`, if nothing else stands before it on its line and the line is not the first.
pub(super) fn own_line_indent(body: &str, offset: usize) -> Option<&str> {
    let start = line_start(body, offset);
    let before = &body[start..offset];
    (start > 0 && before.chars().all(|c| matches!(c, ' ' | '\t'))).then_some(before)
}

/// Where the comments that follow `from` on its line end; `from` when there are none.
pub(super) fn behind_comments(body: &str, from: usize) -> usize {
    let mut end = from;
    loop {
        let rest = body[end..].trim_start_matches([' ', '\t']);
        let start = body.len() - rest.len();
        if rest.starts_with("//") {
            return start
                + rest
                    .find(['\n', '\r', '\u{2028}', '\u{2029}'])
                    .unwrap_or(rest.len());
        }
        match rest.strip_prefix("/*").and_then(|inner| inner.find("*/")) {
            Some(length) => end = start + length + "/**/".len(),
            None => return end,
        }
    }
}

/// End of the line break that follows `from`, if only spaces stand between.
pub(super) fn behind_line_break(body: &str, from: usize) -> Option<usize> {
    let rest = body[from..].trim_start_matches([' ', '\t']);
    let start = body.len() - rest.len();
    let length = match rest.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    Some(start + length)
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn line_start(body: &str, offset: usize) -> usize {
    body[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1)
}
