//! Taking a member or an item out of its container.
//!
//! A comment behind it on the same line goes with it; comments on other lines stay.

use super::container::Container;
use super::splice::{Splice, behind_comments, behind_line_break, is_blank, own_line_indent};
use crate::spans::Spans;

/// Removes item `index`, with the comma that is then one too many.
pub(super) fn remove(
    body: &str,
    spans: &Spans<'_>,
    container: &Container<'_, '_>,
    index: usize,
) -> Vec<Splice> {
    let item = container.items[index].clone();
    let comma = spans.comma_after(item.end);
    let end = comma.map_or(item.end, |comma| comma + 1);
    let comma_before = spans.comma_before(item.start);

    let before = &body[container.open + 1..item.start];
    if container.items.len() == 1 && is_blank(before) && is_blank(&body[end..container.close]) {
        return vec![cut(container.open + 1, container.close)];
    }

    let lines =
        own_line_indent(body, item.start).zip(behind_line_break(body, behind_comments(body, end)));
    if let Some((indent, line_end)) = lines {
        let mut splices = vec![cut(item.start - indent.len(), line_end)];
        if let (None, Some(before)) = (comma, comma_before) {
            splices.push(cut(before, before + 1));
        }
        return splices;
    }

    match (comma, comma_before) {
        (Some(comma), before) => {
            let gap = &body[comma + 1..spans.token_from(comma + 1).unwrap_or(comma + 1)];
            let next_on_line =
                index + 1 < container.items.len() && is_blank(gap) && !gap.contains(['\n', '\r']);
            if next_on_line {
                return vec![cut(item.start, comma + 1 + gap.len())];
            }
            match before {
                Some(before) if is_blank(&body[before + 1..item.start]) => {
                    vec![cut(before + 1, comma + 1)]
                }
                Some(_) | None => vec![cut(item.start, comma + 1)],
            }
        }
        (None, Some(before)) if is_blank(&body[before + 1..item.start]) => {
            vec![cut(before, item.end)]
        }
        (None, Some(before)) => vec![cut(before, before + 1), cut(item.start, item.end)],
        (None, None) => vec![cut(item.start, item.end)],
    }
}

fn cut(start: usize, end: usize) -> Splice {
    (start..end, String::new())
}
