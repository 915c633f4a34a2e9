//! What a child process is told and what it answers: plain data, one JSON document a line.

use openclaw_interface::Info;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

/// Characters told of an addition that is not the expected one, and how many of them before the difference.
const TOLD_CHARS: usize = 100;
const BEFORE_CHARS: usize = 30;

/// What a child does with an engine. Everything lies in `scratch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Script {
    /// The build directory, absolute.
    pub(super) directory: PathBuf,
    /// The plugin's settings.
    pub(super) settings: Value,
    /// Directory of the agent and of private copies.
    pub(super) scratch: PathBuf,
    /// What to do, in order; the first failure ends it.
    pub(super) steps: Vec<Step>,
}

/// One call. Turns have numbers from 1 and always the same messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "step")]
pub(super) enum Step {
    /// Makes an instance; one that is there goes without a goodbye.
    Create,
    /// `bootstrap`.
    Bootstrap,
    /// `maintain`.
    Maintain,
    /// `assemble` for this turn, with the history of all turns before it.
    Assemble {
        /// The turn.
        turn: u32,
        /// Its prompt, where another one than the turn's own.
        prompt: Option<String>,
    },
    /// `commitTurn` of this turn. Announced, because the child may be killed in it.
    Commit {
        /// The turn.
        turn: u32,
        /// Whether with other messages under the same key.
        other: bool,
    },
    /// `compact`, forced, within a small budget.
    Compact,
    /// `dispose`, and the instance goes.
    Dispose,
    /// Does nothing until the parent goes or kills this process.
    Hold,
}

/// What a child says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "says")]
pub(super) enum Reply {
    /// The library is loaded.
    Loaded {
        /// What the engine says of itself.
        info: Box<Info>,
        /// SHA-256 of the library.
        sha256: String,
    },
    /// The library cannot be loaded.
    Refused(Refusal),
    /// A commit is about to be handed to the engine.
    Begins,
    /// The next step is done.
    Done {
        /// What came of it.
        answer: Answer,
        /// How long the engine took.
        elapsed_us: u64,
    },
    /// The next step failed.
    Failed {
        /// The engine's words.
        reason: String,
    },
}

/// Why a library cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Short stable code, such as `load/contract`.
    pub code: String,
    /// The error with its causes.
    pub text: String,
    /// What to do next.
    pub help: String,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Answer {
    /// It ended.
    Ended,
    /// The engine has no such hook.
    Absent,
    /// The commit was answered `committed`.
    Committed,
    /// The commit was answered `duplicate`.
    Duplicate,
    /// What the model would get.
    Shown(Shown),
    /// The answer of `compact`.
    Compacted {
        /// Whether the engine did its work.
        ok: bool,
        /// Whether the context got smaller.
        compacted: bool,
        /// The engine's words.
        reason: Option<String>,
    },
}

/// An assembled answer, short enough to be compared and told. What it is made from is the same in every run, so equal
/// places mean equal messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    /// Places in the input, and new messages by size and hash.
    pub(super) messages: Vec<String>,
    /// The addition to the system prompt.
    pub(super) addition: Option<Addition>,
    /// Whether the unfinished turn's mark stands in a new message.
    pub(super) has_mark_in_messages: bool,
    /// Whether it stands in the addition.
    pub(super) has_mark_in_addition: bool,
}

/// An addition to the system prompt, as far as it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Addition {
    /// Its beginning, in one line.
    pub(super) start: String,
    /// Size and hash of all of it.
    pub(super) identity: String,
}

impl Step {
    /// A whole turn up to its commit, as the host goes about it: an engine is not bootstrapped for an empty history.
    pub(super) fn turn(turn: u32) -> Vec<Self> {
        let mut steps = Self::opening(turn);
        steps.push(Self::assemble(turn));
        steps
    }

    /// The same with its commit and its end.
    pub(super) fn whole_turn(turn: u32) -> Vec<Self> {
        let mut steps = Self::turn(turn);
        steps.extend([Self::commit(turn), Self::Dispose]);
        steps
    }

    /// The beginning of a turn, before `assemble`.
    pub(super) fn opening(turn: u32) -> Vec<Self> {
        match turn {
            ..=1 => vec![Self::Create],
            _ => vec![Self::Create, Self::Bootstrap, Self::Maintain],
        }
    }

    pub(super) fn assemble(turn: u32) -> Self {
        Self::Assemble { turn, prompt: None }
    }

    pub(super) fn commit(turn: u32) -> Self {
        Self::Commit { turn, other: false }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create => f.write_str("making an instance"),
            Self::Bootstrap => f.write_str("bootstrap"),
            Self::Maintain => f.write_str("maintain"),
            Self::Assemble { turn, .. } => write!(f, "assemble of turn {turn}"),
            Self::Commit { turn, .. } => write!(f, "commitTurn of turn {turn}"),
            Self::Compact => f.write_str("compact"),
            Self::Dispose => f.write_str("dispose"),
            Self::Hold => f.write_str("waiting"),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "nothing",
            Self::Absent => "that it has no such hook",
            Self::Committed => "`committed`",
            Self::Duplicate => "`duplicate`",
            Self::Shown(_) => "messages",
            Self::Compacted { .. } => "a compaction",
        })
    }
}

impl Shown {
    /// How `other` differs, in words.
    pub(super) fn difference(&self, other: &Self) -> String {
        let mut pairs = self.messages.iter().zip(&other.messages);
        if let Some(place) = pairs.position(|(one, two)| one != two) {
            let (one, two) = (&self.messages[place], &other.messages[place]);
            return format!("expected {one} at place {place}, found {two}");
        }
        if self.messages.len() != other.messages.len() {
            let (one, two) = (self.messages.len(), other.messages.len());
            return format!("expected {one} messages, found {two}");
        }
        let (one, two) = (self.addition.as_ref(), other.addition.as_ref());
        let start = |addition: Option<&Addition>| addition.map_or("", |it| &it.start).to_owned();
        let same = start(one)
            .chars()
            .zip(start(two).chars())
            .take_while(|(one, two)| one == two)
            .count();
        format!(
            "expected in the system prompt addition {}, found {}",
            told(one, same),
            told(two, same)
        )
    }
}

/// An addition from a little before its character `from` on.
fn told(addition: Option<&Addition>, from: usize) -> String {
    let Some(Addition { start, identity }) = addition else {
        return "nothing".to_owned();
    };
    let from = from.saturating_sub(BEFORE_CHARS);
    let part: String = start.chars().skip(from).take(TOLD_CHARS).collect();
    let dots = if from > 0 { "…" } else { "" };
    format!("`{dots}{part}` ({identity})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_told_where_it_is() {
        let shown = |messages: &[&str], addition: Option<String>| Shown {
            messages: messages.iter().map(|it| (*it).to_owned()).collect(),
            addition: addition.map(|start| Addition {
                identity: format!("{} bytes", start.len()),
                start,
            }),
            ..Shown::default()
        };
        let check = |one: &Shown, two: &Shown, expected: &str| {
            assert_eq!(one.difference(two), expected);
        };
        check(
            &shown(&["a", "b"], None),
            &shown(&["a", "c"], None),
            "expected b at place 1, found c",
        );
        check(
            &shown(&["a"], None),
            &shown(&[], None),
            "expected 1 messages, found 0",
        );
        check(
            &shown(&[], Some(format!("{}one", "x".repeat(100)))),
            &shown(&[], Some(format!("{}two", "x".repeat(100)))),
            &format!(
                "expected in the system prompt addition `…{0}one` (103 bytes), found `…{0}two` (103 bytes)",
                "x".repeat(BEFORE_CHARS)
            ),
        );
        check(
            &shown(&[], None),
            &shown(&[], Some("note".into())),
            "expected in the system prompt addition nothing, found `note` (4 bytes)",
        );
    }
}
