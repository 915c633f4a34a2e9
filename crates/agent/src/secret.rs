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
