//! Commands that run at once although they stand inside a message.

use super::scan::{cut, find, name_with_colon};

/// A command that needs no model and no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Shortcut {
    Help,
    Commands,
    Whoami,
}

const NAMES: [(&str, Shortcut); 4] = [
    ("help", Shortcut::Help),
    ("commands", Shortcut::Commands),
    ("whoami", Shortcut::Whoami),
    ("id", Shortcut::Whoami),
];

/// The first shortcut of a message, and the message without it.
///
/// Source: commands and directives, "Inline shortcuts". Whether the sender may is the caller's to ask.
#[must_use]
pub fn take_shortcut(message: &str) -> Option<(Shortcut, String)> {
    let found = NAMES
        .iter()
        .filter_map(|(name, shortcut)| Some((find(message, &[name])?, *shortcut)));
    let (span, shortcut) = found.min_by_key(|(span, _)| span.start)?;
    let mut text = message.to_owned();
    cut(&mut text, span);
    Some((shortcut, text))
}

/// The message without any `/status`; `None` when there is none.
#[must_use]
pub fn take_status(message: &str) -> Option<String> {
    let mut text = message.to_owned();
    let mut found = false;
    while take_first_status(&mut text) {
        found = true;
    }
    found.then_some(text)
}

pub(super) fn take_first_status(text: &mut String) -> bool {
    let Some(name) = find(text, &["status"]) else {
        return false;
    };
    let end = name_with_colon(text, name.end);
    cut(text, name.start..end);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_shortcut_counts() {
        let check = |message: &str, expected: Option<(Shortcut, &str)>| {
            let expected = expected.map(|(shortcut, text)| (shortcut, text.to_owned()));
            assert_eq!(take_shortcut(message), expected, "{message}");
        };
        check("hey /help and /id", Some((Shortcut::Help, "hey and /id")));
        check("/ID", Some((Shortcut::Whoami, "")));
        check("/usage now", None);
    }

    #[test]
    fn every_status_goes() {
        assert_eq!(take_status("/status a /STATUS: b").as_deref(), Some("a b"));
        assert_eq!(take_status("a/status"), None);
    }
}
