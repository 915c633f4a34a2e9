//! An object or a list as a row of items between two brackets.

use std::ops::Range;

use jsonc_parser::ast::{ObjectProp, Value};

use crate::spans;

/// An object or a list, with byte offsets into the text.
pub(super) struct Container<'v, 'a> {
    /// The opening bracket.
    pub(super) open: usize,
    /// The closing bracket.
    pub(super) close: usize,
    /// Members from name to value, or items.
    pub(super) items: Vec<Range<usize>>,
    /// The values of the members or items.
    pub(super) values: Vec<&'v Value<'a>>,
    /// The members of an object; empty for a list.
    pub(super) members: Vec<&'v ObjectProp<'a>>,
}

impl<'v, 'a> Container<'v, 'a> {
    /// `None` for a value that is neither object nor list.
    pub(super) fn of(value: &'v Value<'a>) -> Option<Self> {
        let whole = spans::range(value);
        let (items, values, members) = match value {
            Value::Object(object) => (
                object
                    .properties
                    .iter()
                    .map(|p| spans::name_range(p).start..spans::range(&p.value).end)
                    .collect(),
                object.properties.iter().map(|p| &p.value).collect(),
                object.properties.iter().collect(),
            ),
            Value::Array(array) => (
                array.elements.iter().map(spans::range).collect(),
                array.elements.iter().collect(),
                Vec::new(),
            ),
            Value::StringLit(_)
            | Value::NumberLit(_)
            | Value::BooleanLit(_)
            | Value::NullKeyword(_) => return None,
        };
        Some(Self {
            open: whole.start,
            close: whole.end - 1,
            items,
            values,
            members,
        })
    }

    /// What stands between the brackets.
    pub(super) fn inner<'t>(&self, body: &'t str) -> &'t str {
        &body[self.open + 1..self.close]
    }

    /// Whether it stands on one line.
    pub(super) fn is_inline(&self, body: &str) -> bool {
        !self.inner(body).contains(['\n', '\r'])
    }

    pub(super) fn index_of(&self, key: &str) -> Option<usize> {
        self.members
            .iter()
            .position(|member| member.name.as_str() == key)
    }
}
