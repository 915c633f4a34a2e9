//! The arguments of a call, with errors that tell the model what to send.

use serde_json::{Map, Value};

use super::{ToolFailure, fail};

/// Arguments that are an object.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    tool: &'a str,
    fields: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    pub(super) fn of(tool: &'a str, arguments: &'a Value) -> Result<Self, ToolFailure> {
        match arguments {
            Value::Object(fields) => Ok(Self { tool, fields }),
            _ => fail(format!(
                "{tool}: the arguments are no JSON object; send the whole call again"
            )),
        }
    }

    /// Arguments inside arguments, such as an entry of a list.
    pub(super) fn nested(&self, value: &'a Value, name: &str) -> Result<Self, ToolFailure> {
        match value {
            Value::Object(fields) => Ok(Self {
                tool: self.tool,
                fields,
            }),
            _ => self.wrong(name, "an object"),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a str, ToolFailure> {
        match self.optional_text(name)? {
            Some(text) => Ok(text),
            None => self.refuse(format!("`{name}` is missing; give it as a string")),
        }
    }

    /// A text that may be empty but has to be there, such as the path of a file.
    pub(super) fn filled(&self, name: &str) -> Result<&'a str, ToolFailure> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            self.refuse(format!("`{name}` is empty"))
        } else {
            Ok(text)
        }
    }

    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, ToolFailure> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => self.wrong(name, "a string"),
        }
    }

    pub(super) fn optional_number(&self, name: &str) -> Result<Option<u64>, ToolFailure> {
        let number = match self.fields.get(name) {
            None | Some(Value::Null) => return Ok(None),
            // Some models write each number as a text.
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(number) => number.as_u64(),
        };
        number.map_or_else(
            || self.wrong(name, "a whole number from 0 on"),
            |number| Ok(Some(number)),
        )
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, ToolFailure> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => self.wrong(name, "true or false"),
        }
    }

    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], ToolFailure> {
        match self.fields.get(name) {
            Some(Value::Array(list)) if !list.is_empty() => Ok(list),
            Some(Value::Array(_)) => self.refuse(format!("`{name}` is empty")),
            None | Some(Value::Null) => {
                self.refuse(format!("`{name}` is missing; give it as a list"))
            }
            Some(_) => self.wrong(name, "a list"),
        }
    }

    pub(super) fn refuse<T>(&self, why: impl AsRef<str>) -> Result<T, ToolFailure> {
        fail(format!("{}: {}", self.tool, why.as_ref()))
    }

    fn wrong<T>(&self, name: &str, expected: &str) -> Result<T, ToolFailure> {
        self.refuse(format!("`{name}` has to be {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_name_the_field_and_what_it_has_to_be() {
        let value = json!({"n": -1, "s": 1, "e": " ", "l": [], "t": "7"});
        let arguments = Arguments::of("read", &value).unwrap();
        let check = |outcome: Result<(), ToolFailure>, text: &str| assert_eq!(outcome, fail(text));
        check(
            arguments.text("path").map(drop),
            "read: `path` is missing; give it as a string",
        );
        check(
            arguments.text("s").map(drop),
            "read: `s` has to be a string",
        );
        check(arguments.filled("e").map(drop), "read: `e` is empty");
        check(arguments.list("l").map(drop), "read: `l` is empty");
        check(arguments.list("s").map(drop), "read: `s` has to be a list");
        check(
            arguments.flag("s").map(drop),
            "read: `s` has to be true or false",
        );
        check(
            arguments.optional_number("n").map(drop),
            "read: `n` has to be a whole number from 0 on",
        );
        assert_eq!(arguments.optional_number("t"), Ok(Some(7)));
        assert_eq!(arguments.optional_number("none"), Ok(None));
    }
}
