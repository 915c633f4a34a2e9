//! Writing a value as text in a given style.

use serde_json::Value;

use super::style::Style;

/// `key: value`, or the value alone.
pub(super) fn item(
    style: &Style,
    key: Option<&str>,
    value: &Value,
    indent: &str,
    inline: bool,
) -> String {
    let value = self::value(style, value, indent, inline);
    match key {
        Some(key) => format!("{}{}{value}", self::key(style, key), style.colon),
        None => value,
    }
}

/// `value`, whose first line starts on a line with `indent`; on one line when `inline`.
pub(super) fn value(style: &Style, value: &Value, indent: &str, inline: bool) -> String {
    match value {
        Value::String(text) => string(text, style.quote),
        Value::Array(items) => {
            let scalars = items
                .iter()
                .all(|item| !item.is_array() && !item.is_object());
            let items = items.iter().map(|item| (None, item));
            row(
                style,
                ('[', ']'),
                items.collect(),
                indent,
                inline || scalars,
            )
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| (Some(key.as_str()), value));
            row(style, ('{', '}'), members.collect(), indent, inline)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn row(
    style: &Style,
    (open, close): (char, char),
    items: Vec<(Option<&str>, &Value)>,
    indent: &str,
    inline: bool,
) -> String {
    if items.is_empty() {
        return format!("{open}{close}");
    }
    let inner = format!("{indent}{}", style.unit);
    let texts: Vec<String> = items
        .into_iter()
        .map(|(key, value)| item(style, key, value, &inner, inline))
        .collect();
    if inline {
        let comma = if style.is_compact() { "," } else { ", " };
        let pad = if open == '{' { style.pad } else { "" };
        return format!("{open}{pad}{}{pad}{close}", texts.join(comma));
    }
    let newline = style.newline;
    let last = if style.trailing_comma { "," } else { "" };
    let lines = texts.join(&format!(",{newline}{inner}"));
    format!("{open}{newline}{inner}{lines}{last}{newline}{indent}{close}")
}

fn key(style: &Style, key: &str) -> String {
    match style.key_quote {
        Some(quote) => string(key, quote),
        None if is_bare(key) => key.to_owned(),
        None => string(key, style.quote),
    }
}

fn is_bare(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'))
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
}

fn string(text: &str, quote: char) -> String {
    // The JSON form is right but for the quotes.
    let json = Value::from(text).to_string();
    if quote == '"' {
        return json;
    }
    let inner = &json[1..json.len() - 1];
    format!("'{}'", inner.replace("\\\"", "\"").replace('\'', "\\'"))
}
