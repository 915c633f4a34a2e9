//! Putting a member or an item at the end of its container, and giving a member another value.

use serde_json::Value;

use super::container::Container;
use super::render;
use super::splice::{Splice, behind_comments, indent_at, is_blank, own_line_indent};
use super::style::{Style, string_quote};
use crate::spans::{self, Spans};

/// Inserts at the end of the last of `chain`, which leads there from the root.
pub(super) fn insert(
    body: &str,
    spans: &Spans<'_>,
    chain: &[Container<'_, '_>],
    key: Option<&str>,
    value: &Value,
) -> Vec<Splice> {
    let style = Style::at(body, spans, chain);
    let Some((container, parents)) = chain.split_last() else {
        return Vec::new();
    };
    match container.items.last() {
        None => first(body, &style, container, parents.last(), key, value),
        Some(last) => {
            let comma = spans.comma_after(last.end);
            let behind = comma.map_or(last.end, |comma| comma + 1);
            match own_line_indent(body, last.start) {
                Some(indent) => {
                    let item = render::item(&style, key, value, indent, false);
                    let place = behind_comments(body, behind);
                    let newline = style.newline;
                    match comma {
                        Some(_) => vec![at(place, format!("{newline}{indent}{item},"))],
                        None => vec![
                            at(last.end, ",".to_owned()),
                            at(place, format!("{newline}{indent}{item}")),
                        ],
                    }
                }
                None => {
                    let item = render::item(&style, key, value, indent_at(body, last.start), true);
                    let space = gap(body, spans, container, &style);
                    match comma {
                        Some(_) => vec![at(behind, format!("{space}{item},"))],
                        None => vec![at(behind, format!(",{space}{item}"))],
                    }
                }
            }
        }
    }
}

/// Replaces the value of member `key` of the last of `chain`; `None` if there is no such member.
pub(super) fn replace(
    body: &str,
    spans: &Spans<'_>,
    chain: &[Container<'_, '_>],
    key: &str,
    value: &Value,
) -> Option<Vec<Splice>> {
    let container = chain.last()?;
    let old = container.values[container.index_of(key)?];
    let range = spans::range(old);
    let mut style = Style::at(body, spans, chain);
    style.quote = string_quote(body, old).unwrap_or(style.quote);
    let indent = indent_at(body, range.start);
    let text = render::value(&style, value, indent, container.is_inline(body));
    Some(vec![(range, text)])
}

/// The first item of an empty container.
fn first(
    body: &str,
    style: &Style,
    container: &Container<'_, '_>,
    parent: Option<&Container<'_, '_>>,
    key: Option<&str>,
    value: &Value,
) -> Vec<Splice> {
    let inner = container.inner(body);
    let indent = indent_at(body, container.open);
    if is_blank(inner) && container.is_inline(body) {
        // Written out as if the whole container were new.
        let whole = match key {
            Some(key) => Value::Object([(key.to_owned(), value.clone())].into_iter().collect()),
            None => Value::Array(vec![value.clone()]),
        };
        let inline = parent.is_some_and(|parent| parent.is_inline(body));
        let text = render::value(style, &whole, indent, inline);
        return vec![(container.open..container.close + 1, text)];
    }
    match own_line_indent(body, container.close) {
        Some(closing) => {
            let indent = comment_indent(inner)
                .map_or_else(|| format!("{closing}{}", style.unit), str::to_owned);
            let item = render::item(style, key, value, &indent, false);
            let comma = if style.trailing_comma { "," } else { "" };
            let line = format!("{indent}{item}{comma}{}", style.newline);
            vec![at(container.close - closing.len(), line)]
        }
        None => {
            let item = render::item(style, key, value, indent, true);
            let place = container.open + 1 + inner.trim_end().len();
            vec![at(place, format!(" {item}"))]
        }
    }
}

/// Indentation of the last line of `inner` that holds a comment only.
fn comment_indent(inner: &str) -> Option<&str> {
    let lines = inner.split(['\n', '\r']).skip(1);
    let last = lines
        .filter(|line| line.trim_start().starts_with('/'))
        .last()?;
    Some(&last[..last.len() - last.trim_start().len()])
}

/// What stands between a comma and the next item on one line.
fn gap(
    body: &str,
    spans: &Spans<'_>,
    container: &Container<'_, '_>,
    style: &Style,
) -> &'static str {
    let example = match container.items.as_slice() {
        [first, second, ..] => spans
            .comma_after(first.end)
            .map(|comma| comma + 1 == second.start),
        _ => None,
    };
    let tight = example.unwrap_or_else(|| style.is_compact() && !body.contains(", "));
    if tight { "" } else { " " }
}

fn at(place: usize, text: String) -> Splice {
    (place..place, text)
}
