//! The way to one value in a config file.

use std::fmt;

/// Keys from the root to one value, shown as `plugins.entries.window.config`.
///
/// An index of an array is a decimal number in the same list; a key that would be misread in the dotted form
/// is shown in brackets: `plugins.entries["a.b"]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// The path of `keys`, outermost first.
    pub fn new<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self(keys.into_iter().map(Into::into).collect())
    }

    /// The path one level further down.
    pub fn child(&self, key: impl Into<String>) -> Self {
        let mut keys = self.0.clone();
        keys.push(key.into());
        Self(keys)
    }

    /// The keys, outermost first.
    pub fn keys(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("the root");
        }
        for (index, key) in self.0.iter().enumerate() {
            let plain = !key.is_empty()
                && key
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
            match (plain, index) {
                (true, 0) => out.write_str(key)?,
                (true, _) => write!(out, ".{key}")?,
                (false, _) => write!(out, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_dots_are_shown_in_brackets() {
        let check = |keys: &[&str], shown: &str| {
            assert_eq!(KeyPath::new(keys.iter().copied()).to_string(), shown);
        };
        check(&[], "the root");
        check(&["plugins", "entries", "eng-2"], "plugins.entries.eng-2");
        check(&["plugins", "a.b", ""], "plugins[\"a.b\"][\"\"]");
    }
}
