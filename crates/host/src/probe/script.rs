//! What a child process is told and what it answers: plain data, one JSON document a line.

use openclaw_interface::Info;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

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
}

/// An assembled answer, short enough to be compared and told. What it is made from is the same in every run, so equal
/// places mean equal messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    /// Places in the input, and new messages by size and hash.
    pub(super) messages: Vec<String>,
    /// The addition to the system prompt by size, hash and beginning.
    pub(super) addition: Option<String>,
    /// Whether the unfinished turn's mark stands in a new message.
    pub(super) has_mark_in_messages: bool,
    /// Whether it stands in the addition.
    pub(super) has_mark_in_addition: bool,
}

impl Step {
    /// A whole turn up to its commit, as the host goes about it: an engine is not bootstrapped for an empty history.
    pub(super) fn turn(turn: u32) -> Vec<Self> {
        let mut steps = Self::opening(turn);
        steps.push(Self::assemble(turn));
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
        })
    }
}

impl Shown {
    /// How `other` differs, in words.
    pub(super) fn difference(&self, other: &Self) -> String {
        let place = self
            .messages
            .iter()
            .zip(&other.messages)
            .position(|(one, two)| one != two);
        let none = "nothing".to_owned();
        if let Some(place) = place {
            let (one, two) = (&self.messages[place], &other.messages[place]);
            return format!("expected {one} at place {place}, found {two}");
        }
        if self.messages.len() != other.messages.len() {
            let (one, two) = (self.messages.len(), other.messages.len());
            return format!("expected {one} messages, found {two}");
        }
        let addition = |shown: &Self| shown.addition.clone().unwrap_or_else(|| none.clone());
        format!(
            "expected as addition {}, found {}",
            addition(self),
            addition(other)
        )
    }
}
