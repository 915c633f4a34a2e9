//! `${VAR}` in values, and values that must not be shown.

use std::ffi::OsString;
use std::fmt;

/// A value that never appears in `Debug`, `Display` or an error.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps `value`.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("…")
    }
}

/// A string as it stands in the file: literal text with `${VAR}` in it.
///
/// Names are capitals, digits and `_`, not starting with a digit; anything else after `$` is literal, and `$${VAR}`
/// stands for the literal `${VAR}`. The literal may itself be a secret, so `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Template(String);

/// A variable that a value in the file asks for is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("environment variable `{variable}` is not set")]
pub struct PlaceholderError {
    /// Name of the variable, without `${}`.
    pub variable: String,
}

impl PlaceholderError {
    /// Short stable code: `config/variable`.
    pub fn code(&self) -> &'static str {
        "config/variable"
    }

    /// What to do next.
    pub fn help(&self) -> String {
        format!("set {} in the environment of this command", self.variable)
    }
}

impl Template {
    /// Keeps `text` as it is; nothing is looked up.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text with every `${VAR}` replaced by what `env` says.
    ///
    /// # Errors
    ///
    /// A variable that is missing, blank or not UTF-8; the first one is named.
    pub fn resolve(
        &self,
        env: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Secret, PlaceholderError> {
        let mut resolved = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some(dollar) = rest.find('$') {
            resolved.push_str(&rest[..dollar]);
            let tail = &rest[dollar..];
            if let Some(name) = tail.strip_prefix('$').and_then(placeholder) {
                let value = env(name)
                    .and_then(|value| value.into_string().ok())
                    .filter(|value| !value.trim().is_empty())
                    .ok_or_else(|| PlaceholderError {
                        variable: name.to_owned(),
                    })?;
                resolved.push_str(&value);
                rest = &tail[name.len() + "${}".len()..];
            } else if let Some(name) = tail.strip_prefix("$$").and_then(placeholder) {
                let end = name.len() + "$${}".len();
                resolved.push_str(&tail[1..end]);
                rest = &tail[end..];
            } else {
                resolved.push('$');
                rest = &tail[1..];
            }
        }
        resolved.push_str(rest);
        Ok(Secret(resolved))
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Template(…)")
    }
}

/// The name in `{NAME}` at the start of `text`.
fn placeholder(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('{')?.split_once('}')?;
    let valid = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    valid.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<OsString> {
        match name {
            "ACME_TOKEN" => Some("t0p".into()),
            "BLANK" => Some(" ".into()),
            _ => None,
        }
    }

    #[test]
    fn placeholders_resolve_and_other_dollars_stay() {
        let check = |text: &str, resolved: &str| {
            assert_eq!(
                Template::new(text).resolve(&env).unwrap().expose(),
                resolved
            );
        };
        check("Bearer ${ACME_TOKEN}!", "Bearer t0p!");
        check("${ACME_TOKEN}${ACME_TOKEN}", "t0pt0p");
        check("$${ACME_TOKEN}", "${ACME_TOKEN}");
        check("$5 ${lower} ${} $", "$5 ${lower} ${} $");
        check("", "");
    }

    #[test]
    fn missing_or_blank_variable_is_named() {
        for name in ["MISSING", "BLANK"] {
            let error = Template::new(format!("${{{name}}}"))
                .resolve(&env)
                .unwrap_err();
            assert_eq!(error.variable, name);
        }
    }

    /// Case C-2.
    #[test]
    fn secrets_never_show() {
        let secret = Template::new("${ACME_TOKEN}").resolve(&env).unwrap();
        let shown = format!("{secret} {secret:?} {:?}", Template::new("t0p"));
        assert!(!shown.contains("t0p"), "{shown}");
    }
}
