//! Directives with one level, and the words for each level.

use super::scan::{arguments, cut, find, name_with_colon};

/// A directive with one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leveled<L> {
    /// The word that was taken for a level, as written; `None` when there was none.
    pub raw: Option<String>,
    /// The level; `None` asks for the present one, or the word is not a level.
    pub level: Option<L>,
    /// Whether the word asks for the default.
    pub clear: bool,
}

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<L> {
    Level(L),
    Clear,
    /// A word of the directive that sets nothing.
    Ask,
}

/// The levels of a directive.
pub(super) trait Level: Copy {
    /// What a word says, lower case; `None` for any other word.
    fn word(word: &str) -> Option<Word<Self>>;
}

/// How much the model may think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Thinking {
    Off,
    Minimal,
    Low,
    Medium,
    High,
    ExtraHigh,
    /// As much as the model sees fit.
    Adaptive,
    Max,
    Ultra,
}

/// How much is said about tools at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Verbose {
    Off,
    On,
    Full,
}

/// How much is said about plugins at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Trace {
    Off,
    On,
    Raw,
}

/// Whether the provider's faster service is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Fast {
    Off,
    On,
    Auto,
}

/// Whether reasoning is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Reasoning {
    Off,
    On,
    /// While it comes.
    Stream,
}

/// How far commands may go without being approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Elevated {
    Off,
    On,
    Ask,
    Full,
}

fn clears(word: &str) -> bool {
    matches!(
        word,
        "default" | "inherit" | "inherited" | "clear" | "reset" | "unpin"
    )
}

impl Level for Thinking {
    fn word(word: &str) -> Option<Word<Self>> {
        if clears(word) {
            return Some(Word::Clear);
        }
        let plain: String = word
            .chars()
            .filter(|char| !matches!(char, '-' | '_'))
            .collect();
        Some(Word::Level(match plain.as_str() {
            "off" | "none" => Self::Off,
            "minimal" | "min" | "think" => Self::Minimal,
            "low" | "on" | "enable" | "enabled" | "thinkhard" => Self::Low,
            "medium" | "mid" | "med" | "thinkharder" | "harder" => Self::Medium,
            "high" | "ultrathink" | "thinkhardest" | "highest" => Self::High,
            "xhigh" | "extrahigh" => Self::ExtraHigh,
            "adaptive" | "auto" => Self::Adaptive,
            "max" => Self::Max,
            "ultra" => Self::Ultra,
            _ => return None,
        }))
    }
}

impl Level for Verbose {
    fn word(word: &str) -> Option<Word<Self>> {
        Some(Word::Level(match word {
            "off" | "false" | "no" | "0" => Self::Off,
            "on" | "minimal" | "true" | "yes" | "1" => Self::On,
            "full" | "all" | "everything" => Self::Full,
            _ => return None,
        }))
    }
}

impl Level for Trace {
    fn word(word: &str) -> Option<Word<Self>> {
        Some(Word::Level(match word {
            "off" | "false" | "no" | "0" => Self::Off,
            "on" | "true" | "yes" | "1" => Self::On,
            "raw" | "unfiltered" => Self::Raw,
            _ => return None,
        }))
    }
}

impl Level for Fast {
    fn word(word: &str) -> Option<Word<Self>> {
        if clears(word) {
            return Some(Word::Clear);
        }
        Some(Word::Level(match word {
            "off" | "false" | "no" | "0" | "disable" | "disabled" => Self::Off,
            "on" | "true" | "yes" | "1" | "enable" | "enabled" => Self::On,
            "auto" => Self::Auto,
            "status" => return Some(Word::Ask),
            _ => return None,
        }))
    }
}

impl Level for Reasoning {
    fn word(word: &str) -> Option<Word<Self>> {
        Some(Word::Level(match word {
            "off" | "hide" | "hidden" | "disable" | "disabled" | "false" | "no" | "0" => Self::Off,
            "on" | "show" | "visible" | "enable" | "enabled" | "true" | "yes" | "1" => Self::On,
            "stream" | "streaming" | "draft" | "live" => Self::Stream,
            _ => return None,
        }))
    }
}

impl Level for Elevated {
    fn word(word: &str) -> Option<Word<Self>> {
        Some(Word::Level(match word {
            "off" | "false" | "no" | "0" => Self::Off,
            "on" | "true" | "yes" | "1" => Self::On,
            "ask" | "prompt" | "approval" | "approve" => Self::Ask,
            "full" | "auto" | "auto-approve" | "autoapprove" => Self::Full,
            _ => return None,
        }))
    }
}

/// Takes the first directive with one of these names out of the text.
pub(super) fn take_level<L: Level>(text: &mut String, names: &[&str]) -> Option<Leveled<L>> {
    let name = find(text, names)?;
    let from = arguments(text, name.end);
    let is_token = |char: char| char.is_ascii_alphabetic() || char == '-';
    let length = text[from..]
        .find(|char| !is_token(char))
        .unwrap_or(text.len() - from);
    let token = &text[from..from + length];
    let word = L::word(&token.to_lowercase());
    let nothing_follows = text[from + length..].trim().is_empty();
    let is_taken = !token.is_empty() && (word.is_some() || nothing_follows);
    let found = Leveled {
        raw: is_taken.then(|| token.to_owned()),
        level: match word {
            Some(Word::Level(level)) => Some(level),
            Some(Word::Clear | Word::Ask) | None => None,
        },
        clear: matches!(word, Some(Word::Clear)),
    };
    let end = if is_taken {
        from + length
    } else {
        name_with_colon(text, name.end)
    };
    cut(text, name.start..end);
    Some(found)
}
