//! A JSON object as its members in order, each value as raw text: enough to look in, and to edit without touching the
//! rest. Reads one level only, so depth costs nothing.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in the order written.
#[derive(Clone)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Object<'a> {
    /// Reads the members; the text must be a JSON object.
    pub(crate) fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The raw text of a member; of several with one key the last, as everywhere else in OpenClaw.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.0
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }

    /// A member that is a string.
    pub(crate) fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).and_then(string)
    }

    /// A member that is a string with more than white space in it.
    pub(crate) fn filled(&self, key: &str) -> Option<String> {
        self.string(key)
            .filter(|text| !text.trim().is_empty())
            .map(Cow::into_owned)
    }

    /// Whether a member is literally `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some("true")
    }

    /// A member that is a number, rounded down to whole units.
    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        let text = self.get(key)?;
        text.parse().ok().or_else(|| {
            let number: f64 = serde_json::from_str(text).ok()?;
            #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
            Some(number.floor() as i64)
        })
    }

    /// The members as written: name and raw text.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// Sets a member, in place or at the end.
    pub(crate) fn set(&mut self, key: &'a str, value: &'a str) {
        match self.0.iter_mut().rev().find(|(name, _)| name == key) {
            Some(member) => member.1 = value,
            None => self.0.push((Cow::Borrowed(key), value)),
        }
    }

    /// The object as compact JSON with a member set; the object itself stays as it is.
    pub(crate) fn with(&self, key: &str, value: &str) -> String {
        let at = self.0.iter().rposition(|(name, _)| name == key);
        let members = self.0.iter().enumerate().map(|(index, (name, raw))| {
            let raw = if Some(index) == at { value } else { raw };
            (name.as_ref(), raw)
        });
        object(members.chain(at.is_none().then_some((key, value))))
    }

    /// Removes a member; whether there was one.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(name, _)| name != key);
        self.0.len() < before
    }

    /// The object as compact JSON; values keep their text.
    pub(crate) fn write(&self) -> String {
        object(self.0.iter().map(|(key, value)| (key.as_ref(), *value)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(map.size_hint().unwrap_or(8));
                while let Some(Text(key)) = map.next_key()? {
                    members.push((key, map.next_value::<&RawValue>()?.get()));
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A string that borrows from the input where it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Chars;

        impl<'de> Visitor<'de> for Chars {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Chars)
    }
}

/// Why a text is not JSON, and where: a line is known by its own number, so only the byte counts.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at line 1 column ") {
        Some((what, column)) => format!("{what} at byte {column}"),
        None => text,
    }
}

/// The value of a raw JSON string.
pub(crate) fn string(raw: &str) -> Option<Cow<'_, str>> {
    raw.starts_with('"')
        .then(|| serde_json::from_str::<Text<'_>>(raw).ok())?
        .map(|text| text.0)
}

/// The elements of a raw JSON array.
pub(crate) fn array(raw: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = raw
        .starts_with('[')
        .then(|| serde_json::from_str(raw).ok())??;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// A text as a JSON string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Members as a compact JSON object.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::from("{");
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&quote(key));
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_leaves_all_other_members_as_written() {
        let text = r#"{ "n" : 0.0123456789012345678, "a\"b": [1, 2], "n2":1e999 }"#;
        let mut object = Object::read(text).unwrap();
        object.set("new", "true");
        object.set("n2", "2");
        assert_eq!(
            object.write(),
            r#"{"n":0.0123456789012345678,"a\"b":[1, 2],"n2":2,"new":true}"#
        );
        assert!(object.remove("n"));
        assert!(!object.remove("n"));
    }

    #[test]
    fn the_last_of_equal_keys_wins() {
        let object = Object::read(r#"{"a":1,"a":"two"}"#).unwrap();
        assert_eq!(object.string("a").as_deref(), Some("two"));
    }

    #[test]
    fn integers_are_read_from_any_number() {
        let object = Object::read(r#"{"a":12,"b":1.9,"c":1e300,"d":"4","e":null}"#).unwrap();
        let read = ["a", "b", "c", "d", "e"].map(|key| object.integer(key));
        assert_eq!(read, [Some(12), Some(1), Some(i64::MAX), None, None]);
    }
}
