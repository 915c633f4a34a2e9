//! How the text around a place is written, so that what is added looks like it.

use jsonc_parser::ast::{ObjectPropName, Value};

use super::container::Container;
use super::splice::{indent_at, own_line_indent};
use crate::spans::{self, Spans};

/// How to write something new at one place.
pub(super) struct Style {
    pub(super) newline: &'static str,
    /// One level of indentation.
    pub(super) unit: String,
    /// Quote of string values, and of keys that need one.
    pub(super) quote: char,
    /// Quote of keys; `None` for bare keys.
    pub(super) key_quote: Option<char>,
    /// From key to value: `:` and spaces.
    pub(super) colon: String,
    /// What stands inside the braces of an object on one line.
    pub(super) pad: &'static str,
    /// Whether a last item on its own line gets a comma.
    pub(super) trailing_comma: bool,
}

impl Style {
    /// The style inside the last of `chain`, which leads there from the root; the nearest example counts.
    pub(super) fn at(body: &str, spans: &Spans<'_>, chain: &[Container<'_, '_>]) -> Self {
        let nearest = || chain.iter().rev();
        let key_quote = nearest()
            .find_map(|c| c.members.last())
            .map_or(Some('"'), |member| match &member.name {
                ObjectPropName::String(name) => quote_at(body, name.range.start),
                ObjectPropName::Word(_) => None,
            });
        let quote = nearest()
            .find_map(|c| {
                c.values
                    .iter()
                    .rev()
                    .find_map(|value| string_quote(body, value))
            })
            .or(key_quote)
            .unwrap_or_else(|| common_quote(body));
        let colon = nearest()
            .find_map(|c| colon(body, c))
            .unwrap_or_else(|| ": ".to_owned());
        Self {
            pad: nearest()
                .find_map(|c| pad(body, c))
                .unwrap_or(if colon == ":" { "" } else { " " }),
            newline: newline(body),
            unit: unit(body, chain),
            quote,
            key_quote,
            colon,
            trailing_comma: nearest()
                .find_map(|c| trailing_comma(body, spans, c))
                .unwrap_or(false),
        }
    }

    /// Whether text on one line goes without spaces.
    pub(super) fn is_compact(&self) -> bool {
        self.colon == ":" && self.pad.is_empty()
    }
}

/// The quote of a string value.
pub(super) fn string_quote(body: &str, value: &Value<'_>) -> Option<char> {
    match value {
        Value::StringLit(text) => quote_at(body, text.range.start),
        _ => None,
    }
}

fn quote_at(body: &str, offset: usize) -> Option<char> {
    body[offset..]
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\''))
}

fn common_quote(body: &str) -> char {
    if body.matches('\'').count() > body.matches('"').count() {
        '\''
    } else {
        '"'
    }
}

fn newline(body: &str) -> &'static str {
    match body.find(['\n', '\r']).map(|at| &body[at..]) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        Some(_) | None => "\n",
    }
}

/// One level of indentation: what the nearest indented item has more than its container.
fn unit(body: &str, chain: &[Container<'_, '_>]) -> String {
    chain
        .iter()
        .rev()
        .find_map(|container| {
            let item = container.items.last()?;
            let inner = own_line_indent(body, item.start)?;
            let unit = inner.strip_prefix(indent_at(body, container.open))?;
            (!unit.is_empty()).then(|| unit.to_owned())
        })
        .unwrap_or_else(|| "  ".to_owned())
}

/// From key to value in the last member, unless comments or line breaks stand there.
fn colon(body: &str, container: &Container<'_, '_>) -> Option<String> {
    let member = container.members.last()?;
    let between = &body[spans::name_range(member).end..spans::range(&member.value).start];
    let plain = between.chars().all(|c| matches!(c, ' ' | '\t' | ':'));
    plain.then(|| between.to_owned())
}

/// What stands behind the opening brace of an object on one line.
fn pad(body: &str, container: &Container<'_, '_>) -> Option<&'static str> {
    let first = container
        .members
        .first()
        .map(|m| spans::name_range(m).start)?;
    let tight = first == container.open + 1;
    container
        .is_inline(body)
        .then_some(if tight { "" } else { " " })
}

/// Whether the last item has a comma behind it; `None` where the last item shares its line with the bracket.
fn trailing_comma(body: &str, spans: &Spans<'_>, container: &Container<'_, '_>) -> Option<bool> {
    let last = container.items.last()?;
    own_line_indent(body, container.close)?;
    let comma = spans.comma_after(last.end);
    Some(comma.is_some())
}
