//! `/model [ref][@profile] [--runtime R] [-s|-a|-g]`, and `/alias` of a configured model.

use super::scan::{arguments, cut, find, name_with_colon, skip_space, word_end};

/// Which model is asked for; nothing named asks which one serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelDirective {
    /// `provider/model`, an alias, or a word such as `list`.
    pub model: Option<String>,
    /// Credentials to use, behind an `@`.
    pub profile: Option<String>,
    /// `--runtime`.
    pub runtime: Option<String>,
    /// For whom.
    pub scope: Option<ModelScope>,
    /// Whether a second, other scope follows; it stays in the text.
    pub scope_conflict: bool,
    /// Whether the message named the alias itself.
    pub by_alias: bool,
}

/// For whom a model is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ModelScope {
    Session,
    Agent,
    Global,
}

fn scope(token: &str) -> Option<ModelScope> {
    Some(match token {
        "-s" | "--session" => ModelScope::Session,
        "-a" | "--agent" => ModelScope::Agent,
        "-g" | "--global" => ModelScope::Global,
        _ => return None,
    })
}

pub(super) fn take(text: &mut String, aliases: &[&str]) -> Option<ModelDirective> {
    let Some(name) = find(text, &["model"]) else {
        return take_alias(text, aliases);
    };
    let mut found = ModelDirective::default();
    let mut end = name_with_colon(text, name.end);
    let at = arguments(text, name.end);
    if at < text.len()
        && !text[at..].starts_with('-')
        && runtime_value(&text[at..word_end(text, at)]).is_none()
    {
        let (model, after) = value(text, at, true)?;
        end = after;
        if text[after..].starts_with('@') {
            let (profile, after) = value(text, after + 1, false)?;
            found.profile = Some(profile);
            end = after;
        }
        found.model = Some(model);
    }
    end = options(text, end.max(at.min(text.len())), end, &mut found);
    cut(text, name.start..end);
    Some(found)
}

/// Reads options from `at` on; returns the end of the last one, or `end`.
fn options(text: &str, mut at: usize, mut end: usize, found: &mut ModelDirective) -> usize {
    loop {
        at = skip_space(text, at);
        let token_end = word_end(text, at);
        let token = &text[at..token_end];
        if let Some(scope) = scope(token) {
            if found.scope.is_some() {
                found.scope_conflict = found.scope != Some(scope);
                return end;
            }
            found.scope = Some(scope);
            end = token_end;
        } else if found.runtime.is_some() {
            return end;
        } else if let Some(runtime) = runtime_value(token) {
            found.runtime = Some(runtime.to_owned());
            end = token_end;
        } else if token == "--runtime" {
            let value_at = skip_space(text, token_end);
            if value_at == text.len() {
                return end;
            }
            end = word_end(text, value_at);
            found.runtime = Some(text[value_at..end].to_owned());
        } else {
            return end;
        }
        at = end;
    }
}

fn runtime_value(token: &str) -> Option<&str> {
    ["runtime=", "harness=", "--runtime="]
        .iter()
        .find_map(|name| token.strip_prefix(name))
        .filter(|value| !value.is_empty())
}

/// A value at `at` and its end: a word, up to an `@` where a profile may follow, or a quoted JSON text.
fn value(text: &str, at: usize, before_profile: bool) -> Option<(String, usize)> {
    if text[at..].starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<String>();
        let value = values.next()?.ok()?;
        return Some((value, at + values.byte_offset()));
    }
    let mut end = word_end(text, at);
    if before_profile && let Some(length) = text[at..end].find('@') {
        end = at + length;
    }
    (end > at).then(|| (text[at..end].to_owned(), end))
}

fn take_alias(text: &mut String, aliases: &[&str]) -> Option<ModelDirective> {
    let first = aliases
        .iter()
        .filter_map(|alias| Some((find(text, &[alias])?, *alias)));
    let (name, alias) = first.min_by_key(|(name, _)| name.start)?;
    let end = name_with_colon(text, name.end);
    cut(text, name.start..end);
    Some(ModelDirective {
        model: Some(alias.to_owned()),
        by_alias: true,
        ..ModelDirective::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, left: &str, expected: Option<ModelDirective>) {
        let mut text = message.to_owned();
        assert_eq!(take(&mut text, &[]), expected, "{message}");
        assert_eq!(text, left, "{message}");
    }

    #[test]
    fn options_stand_in_either_order_and_alone() {
        let found = |model: Option<&str>, runtime: Option<&str>, scope| ModelDirective {
            model: model.map(str::to_owned),
            runtime: runtime.map(str::to_owned),
            scope,
            ..ModelDirective::default()
        };
        let agent = Some(ModelScope::Agent);
        check(
            "/model m -a harness=codex go",
            "go",
            Some(found(Some("m"), Some("codex"), agent)),
        );
        check(
            "/model runtime=codex --agent",
            "",
            Some(found(None, Some("codex"), agent)),
        );
        check(
            "/model m --runtime",
            "--runtime",
            Some(found(Some("m"), None, None)),
        );
        check("/model", "", Some(ModelDirective::default()));
    }

    #[test]
    fn broken_quotes_are_no_directive() {
        check("/model \"m", "/model \"m", None);
        check("/model m@\"p", "/model m@\"p", None);
    }
}
