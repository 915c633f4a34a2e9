//! `/exec host=… security=… ask=… node=…`.

use super::scan::{arguments, cut, find, name_with_colon, skip_space, word_end};

/// What `/exec` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecDirective {
    /// `host=`.
    pub host: Option<ExecOption<ExecHost>>,
    /// `security=`.
    pub security: Option<ExecOption<ExecSecurity>>,
    /// `ask=`.
    pub ask: Option<ExecOption<ExecAsk>>,
    /// `node=`.
    pub node: Option<String>,
}

/// A value as written, and what it means where it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecOption<T> {
    /// As written.
    pub raw: String,
    /// `None` for a word that is no value of this option.
    pub value: Option<T>,
}

/// Where commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ExecHost {
    Auto,
    Sandbox,
    Gateway,
    Node,
}

/// Which commands may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ExecSecurity {
    Deny,
    Allowlist,
    Full,
}

/// Which commands are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ExecAsk {
    Off,
    OnMiss,
    Always,
}

impl ExecDirective {
    /// Whether it names any option.
    #[must_use]
    pub fn has_options(&self) -> bool {
        *self != Self::default()
    }

    fn set(&mut self, key: &str, raw: &str) -> bool {
        let word = raw.to_lowercase();
        match key {
            "host" => {
                let value = match word.as_str() {
                    "auto" => Some(ExecHost::Auto),
                    "sandbox" => Some(ExecHost::Sandbox),
                    "gateway" => Some(ExecHost::Gateway),
                    "node" => Some(ExecHost::Node),
                    _ => None,
                };
                self.host = Some(option(raw, value));
            }
            "security" => {
                let value = match word.as_str() {
                    "deny" => Some(ExecSecurity::Deny),
                    "allowlist" => Some(ExecSecurity::Allowlist),
                    "full" => Some(ExecSecurity::Full),
                    _ => None,
                };
                self.security = Some(option(raw, value));
            }
            "ask" => {
                let value = match word.as_str() {
                    "off" => Some(ExecAsk::Off),
                    "on-miss" => Some(ExecAsk::OnMiss),
                    "always" => Some(ExecAsk::Always),
                    _ => None,
                };
                self.ask = Some(option(raw, value));
            }
            "node" => self.node = Some(raw.to_owned()),
            _ => return false,
        }
        true
    }
}

fn option<T>(raw: &str, value: Option<T>) -> ExecOption<T> {
    ExecOption {
        raw: raw.to_owned(),
        value,
    }
}

pub(super) fn take(text: &mut String) -> Option<ExecDirective> {
    let name = find(text, &["exec"])?;
    let mut found = ExecDirective::default();
    let mut end = name_with_colon(text, name.end);
    let mut at = arguments(text, name.end);
    while at < text.len() {
        let token_end = word_end(text, at);
        let token = &text[at..token_end];
        let Some((key, value)) = token
            .split_once(['=', ':'])
            .filter(|(_, value)| !value.is_empty())
        else {
            break;
        };
        if !found.set(&key.to_lowercase(), value) {
            break;
        }
        end = token_end;
        at = skip_space(text, token_end);
    }
    cut(text, name.start..end);
    Some(found)
}
