//! Where each value stands in the text. Used for line numbers and for edits; values come from `syntax`.

use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// A parsed text with the byte range of everything in it.
pub(crate) struct Spans<'a> {
    pub(crate) root: Value<'a>,
    tokens: Vec<TokenAndRange<'a>>,
}

/// The text is valid JSON5 but uses something whose place cannot be found, such as an escape in a bare key.
pub(crate) struct Unsupported {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl<'a> Spans<'a> {
    /// Finds the places in `body`, which has no byte order mark and was accepted by `syntax::parse`.
    pub(crate) fn of(body: &'a str) -> Result<Self, Unsupported> {
        let collect = CollectOptions {
            tokens: true,
            ..CollectOptions::default()
        };
        let options = ParseOptions {
            allow_missing_commas: false,
            ..ParseOptions::default()
        };
        let parsed = parse_to_ast(body, &collect, &options).map_err(|error| Unsupported {
            line: error.line_display(),
            column: error.column_display(),
        })?;
        match (parsed.value, parsed.tokens) {
            (Some(root), Some(tokens)) => Ok(Self { root, tokens }),
            _ => Err(Unsupported { line: 1, column: 1 }),
        }
    }

    /// Start of the comma that directly follows `offset`, if the next token is one.
    pub(crate) fn comma_after(&self, offset: usize) -> Option<usize> {
        let next = self.tokens.partition_point(|t| t.range.start < offset);
        let token = self.tokens.get(next)?;
        matches!(token.token, Token::Comma).then_some(token.range.start)
    }

    /// Start of the comma that directly precedes `offset`, if the token before is one.
    pub(crate) fn comma_before(&self, offset: usize) -> Option<usize> {
        let next = self.tokens.partition_point(|t| t.range.start < offset);
        let token = self.tokens.get(next.checked_sub(1)?)?;
        matches!(token.token, Token::Comma).then_some(token.range.start)
    }

    /// Start of the first token at or behind `offset`.
    pub(crate) fn token_from(&self, offset: usize) -> Option<usize> {
        let next = self.tokens.partition_point(|t| t.range.start < offset);
        self.tokens.get(next).map(|token| token.range.start)
    }
}

/// The member of `value` called `key`, if `value` is an object that has it.
pub(crate) fn member<'v, 'a>(value: &'v Value<'a>, key: &str) -> Option<&'v ObjectProp<'a>> {
    let object = value.as_object()?;
    object.properties.iter().find(|p| p.name.as_str() == key)
}

/// Byte range of a member's name, quotes included.
pub(crate) fn name_range(member: &ObjectProp<'_>) -> std::ops::Range<usize> {
    let range = match &member.name {
        ObjectPropName::String(name) => name.range,
        ObjectPropName::Word(name) => name.range,
    };
    range.start..range.end
}

/// Byte range of a value, quotes and brackets included.
pub(crate) fn range(value: &Value<'_>) -> std::ops::Range<usize> {
    let range = value.range();
    range.start..range.end
}

/// Offset of the second member named by `keys`, or of its parent when the place cannot be found exactly.
pub(crate) fn second_occurrence(body: &str, keys: &[String]) -> Option<usize> {
    let spans = Spans::of(body).ok()?;
    let (last, parents) = keys.split_last()?;
    let mut value = &spans.root;
    for key in parents {
        value = step(value, key)?;
    }
    let mut found = value
        .as_object()?
        .properties
        .iter()
        .filter(|p| p.name.as_str() == last);
    found.nth(1).map(|p| name_range(p).start)
}

/// Line (from 1) where the value at `keys` starts, or where its nearest existing parent does.
pub(crate) fn line_of(body: &str, keys: &[String]) -> Option<usize> {
    let spans = Spans::of(body).ok()?;
    let mut value = &spans.root;
    let mut start = range(value).start;
    for key in keys {
        start = match member(value, key) {
            Some(member) => name_range(member).start,
            None => match step(value, key) {
                Some(item) => range(item).start,
                None => break,
            },
        };
        match step(value, key) {
            Some(next) => value = next,
            None => break,
        }
    }
    Some(json5::Position::from_offset(start, body).line + 1)
}

fn step<'v, 'a>(value: &'v Value<'a>, key: &str) -> Option<&'v Value<'a>> {
    match value {
        Value::Object(_) => member(value, key).map(|member| &member.value),
        Value::Array(items) => items.elements.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}
