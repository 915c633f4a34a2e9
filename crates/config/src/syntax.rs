//! From the text of a file to its value. Does no I/O and does not know the path.

use std::cell::RefCell;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::excerpt;
use crate::key_path::KeyPath;
use crate::spans;

/// Levels of arrays and objects a config file may nest; more would risk the stack.
pub const MAX_DEPTH: usize = 256;

/// The character some editors put before the first byte.
pub(crate) const BOM: char = '\u{feff}';

/// Why a text is not a config, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// What is wrong.
    pub reason: SyntaxReason,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in chars, counted from 1.
    pub column: usize,
    /// The line in question, cut short, with every value replaced by `…`.
    pub excerpt: String,
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyntaxReason {
    /// Not JSON5; the text says what was expected.
    Malformed(String),
    /// One object has the same key twice; readers disagree on which counts.
    DuplicateKey(KeyPath),
    /// Nested deeper than [`MAX_DEPTH`].
    TooDeep,
}

impl SyntaxFault {
    pub(crate) fn code(&self) -> &'static str {
        match self.reason {
            SyntaxReason::Malformed(_) => "config/syntax",
            SyntaxReason::DuplicateKey(_) => "config/duplicate-key",
            SyntaxReason::TooDeep => "config/too-deep",
        }
    }
}

impl fmt::Display for SyntaxFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            SyntaxReason::Malformed(what) => out.write_str(what)?,
            SyntaxReason::DuplicateKey(key) => write!(out, "`{key}` is given twice")?,
            SyntaxReason::TooDeep => write!(out, "nested deeper than {MAX_DEPTH} levels")?,
        }
        write!(out, " at line {}, column {}", self.line, self.column)?;
        if !self.excerpt.is_empty() {
            write!(out, ": `{}`", self.excerpt)?;
        }
        Ok(())
    }
}

impl std::error::Error for SyntaxFault {}

/// Reads `text` as JSON5, with or without a byte order mark.
///
/// Numbers keep their value where JSON has one; `Infinity` and `NaN` become null, integers beyond 64 bits become
/// the nearest float.
pub(crate) fn parse(text: &str) -> Result<Value, SyntaxFault> {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    if let Some(offset) = too_deep_at(body) {
        return Err(fault_at_offset(body, offset, SyntaxReason::TooDeep));
    }
    let document: Document = json5::from_str(body).map_err(|error| malformed(body, &error))?;
    match document.duplicate {
        None => Ok(document.value),
        Some(key) => {
            let offset = spans::second_occurrence(body, key.keys()).unwrap_or(0);
            Err(fault_at_offset(
                body,
                offset,
                SyntaxReason::DuplicateKey(key),
            ))
        }
    }
}

fn malformed(body: &str, error: &json5::Error) -> SyntaxFault {
    let what = match error.code() {
        Some(code) => code.to_string(),
        None => "a number or an escape sequence is not valid".to_owned(),
    };
    // For a text that ends too soon the reader names the outermost bracket, which is line 1 of nearly every file.
    let (what, position) = match what.strip_prefix("EOF") {
        Some(parsing) => (format!("the file ends while{parsing}"), None),
        None => (what, error.position()),
    };
    let position =
        position.unwrap_or_else(|| json5::Position::from_offset(body.trim_end().len(), body));
    fault(
        body,
        position.line + 1,
        position.column + 1,
        SyntaxReason::Malformed(what),
    )
}

fn fault_at_offset(body: &str, offset: usize, reason: SyntaxReason) -> SyntaxFault {
    let position = json5::Position::from_offset(offset, body);
    fault(body, position.line + 1, position.column + 1, reason)
}

fn fault(body: &str, line: usize, column: usize, reason: SyntaxReason) -> SyntaxFault {
    let text = body
        .split(['\n', '\u{2028}', '\u{2029}'])
        .nth(line - 1)
        .unwrap_or_default();
    SyntaxFault {
        reason,
        line,
        column,
        excerpt: excerpt::without_values(text, column),
    }
}

/// Byte offset of the bracket that exceeds [`MAX_DEPTH`]; looks past strings and comments, parses nothing.
fn too_deep_at(body: &str) -> Option<usize> {
    let bytes = body.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += body[at..].find(['\n', '\r', '\u{2028}', '\u{2029}'])?;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => at += 3 + body[at + 2..].find("*/")?,
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(at);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// A value and the first key in it that is given twice.
struct Document {
    value: Value,
    duplicate: Option<KeyPath>,
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let state = State::default();
        let value = Seed(&state).deserialize(source)?;
        Ok(Self {
            value,
            duplicate: state.duplicate.into_inner(),
        })
    }
}

#[derive(Default)]
struct State {
    path: RefCell<Vec<String>>,
    duplicate: RefCell<Option<KeyPath>>,
}

/// Builds a `Value` and notes a duplicate key, which `Value`'s own reader lets pass.
#[derive(Clone, Copy)]
struct Seed<'s>(&'s State);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON5 value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Number::from_i128(value).map_or_else(|| (value as f64).into(), Value::Number))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Number::from_u128(value).map_or_else(|| (value as f64).into(), Value::Number))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        self.0.path.borrow_mut().push("0".to_owned());
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
            if let Some(index) = self.0.path.borrow_mut().last_mut() {
                *index = items.len().to_string();
            }
        }
        self.0.path.borrow_mut().pop();
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            self.0.path.borrow_mut().push(key.clone());
            if members.contains_key(&key) {
                let path = || KeyPath::new(self.0.path.borrow().iter().cloned());
                self.0.duplicate.borrow_mut().get_or_insert_with(path);
            }
            let value = map.next_value_seed(self)?;
            self.0.path.borrow_mut().pop();
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}
