//! A provider's key, kept out of everything that is shown.

use std::fmt;

/// The key of a provider. `Debug` hides it; there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key; `None` when it is empty, which many local servers are happy with.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Option<Self> {
        Some(key.into()).filter(|key| !key.is_empty()).map(Self)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether the key can stand in a header: printable ASCII.
    pub(crate) fn is_sendable(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Whether the key is long enough that it does not stand in a text by chance.
    pub(crate) fn is_telling(&self) -> bool {
        self.0.len() >= SHORTEST_HIDDEN_BYTES
    }

    /// The text with each copy of the key replaced.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        text.replace(&self.0, "***")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

/// A header to send with each request. `Debug` shows its name only.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    name: String,
    value: String,
}

/// Shorter texts stand in messages by chance.
const SHORTEST_HIDDEN_BYTES: usize = 6;

impl Header {
    /// Takes a header as configured; whether it can be sent is checked when the client is made.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.value
    }

    /// The text with each copy of the value, and of each word of it, replaced.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        let words = self.value.split_whitespace();
        std::iter::once(self.value.trim())
            .chain(words)
            .filter(|word| word.len() >= SHORTEST_HIDDEN_BYTES && *word != "Bearer")
            .fold(text.to_owned(), |text, word| text.replace(word, "***"))
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Header({}: ***)", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_key() {
        let key = ApiKey::new("made-up-key").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(***)");
        assert_eq!(key.hide_in("wrong key made-up-key!"), "wrong key ***!");
    }

    #[test]
    fn debug_hides_the_value_of_a_header() {
        let header = Header::new("x-key", "Bearer made-up-token");
        assert_eq!(format!("{header:?}"), "Header(x-key: ***)");
        assert_eq!(header.hide_in("Bearer of made-up-token"), "Bearer of ***");
        assert_eq!(Header::new("x-team", "a").hide_in("a cat"), "a cat");
    }

    #[test]
    fn an_empty_key_is_no_key() {
        assert_eq!(ApiKey::new(""), None);
    }

    #[test]
    fn a_key_with_a_line_break_cannot_be_sent() {
        assert!(ApiKey::new("made-up").unwrap().is_sendable());
        for key in ["made-up\n", "made up", "schlüssel"] {
            assert!(!ApiKey::new(key).unwrap().is_sendable(), "{key:?}");
        }
    }
}
