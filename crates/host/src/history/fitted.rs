//! A history as the model that is asked takes it.
//!
//! A session's history grows at its end. What a model gets of it is kept up to a seam, a user's message that nothing later
//! can change the outcome before; only what stands behind the seam is replayed again.

use super::{Held, join};
use crate::tokens::Vocabulary;
use openclaw_interface::Role;
use openclaw_transcript::{
    Message, Piece, Policy, Replay, ReplayLead, Replayed, TurnLimit, replay_behind,
};
use std::sync::Arc;

/// What histories are replayed for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Manner {
    pub(crate) policy: Policy,
    pub(crate) limit: Option<TurnLimit>,
    /// How the configured heartbeat prompt begins.
    pub(crate) heartbeat_prompt: Option<String>,
    pub(crate) vocabulary: Vocabulary,
}

impl Manner {
    fn replay(&self, prelude: usize) -> Replay<'_> {
        Replay {
            policy: self.policy.clone(),
            prelude,
            is_over: true,
            heartbeat_prompt: self.heartbeat_prompt.as_deref(),
            ..Replay::default()
        }
    }

    /// The message that a piece of `given` stands for.
    fn held(&self, given: &[Held], piece: Piece, source: Option<usize>) -> Held {
        match piece {
            Piece::Keep(index) => self.counted(&given[index]),
            Piece::New { json, role } => Held {
                id: source
                    .map(|index| Arc::clone(&given[index].id))
                    .unwrap_or_default(),
                ..self.made(role, json)
            },
        }
    }

    fn counted(&self, held: &Held) -> Held {
        if self.vocabulary == Vocabulary::default() {
            return held.clone();
        }
        Held {
            tokens: super::small(self.vocabulary.message(&held.json)),
            ..held.clone()
        }
    }

    pub(crate) fn made(&self, role: Role, json: impl Into<Arc<str>>) -> Held {
        let json = json.into();
        Held {
            id: Arc::default(),
            role,
            tokens: super::small(self.vocabulary.message(&json)),
            json,
        }
    }

    /// The list that a replay of `given` describes.
    pub(super) fn apply(&self, given: &[Held], replayed: Replayed) -> Vec<Held> {
        let pieces = replayed.pieces.into_iter().zip(replayed.sources);
        pieces
            .map(|(piece, source)| self.held(given, piece, source.message))
            .collect()
    }
}

/// A history as the model that is asked takes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fitted {
    manner: Manner,
    /// The messages before the seam, as they were given and as they came out.
    given: Vec<Arc<str>>,
    settled: Vec<Fit>,
    lead: Arc<ReplayLead>,
    /// The messages behind the seam, as given.
    tail: Vec<Held>,
    /// What comes out of the whole.
    messages: Vec<Held>,
    /// Messages replayed so far.
    #[cfg(test)]
    pub(super) replayed: usize,
}

/// A message that came out, and whether it was carried over a reset.
#[derive(Clone, Debug)]
struct Fit {
    held: Held,
    is_prelude: bool,
}

impl Fitted {
    /// Nothing.
    pub(crate) fn new(manner: &Manner) -> Self {
        Self {
            lead: Arc::new(ReplayLead::new(&manner.policy)),
            manner: manner.clone(),
            ..Self::default()
        }
    }

    pub(crate) fn manner(&self) -> &Manner {
        &self.manner
    }

    /// The messages, oldest first: what an engine gets to choose from.
    pub(crate) fn messages(&self) -> &[Held] {
        &self.messages
    }

    /// Becomes what this history comes to.
    ///
    /// - `prelude`: how many of the first messages were carried over a reset.
    pub(crate) fn follow(&mut self, history: &[Held], prelude: usize) {
        let is_same = |(before, now): (&Arc<str>, &Held)| {
            Arc::ptr_eq(before, &now.json) || *before == now.json
        };
        let seam = self.given.len();
        let begins_so = seam <= history.len() && self.given.iter().zip(history).all(is_same);
        if begins_so && self.replay(&history[seam..], prelude) {
            return;
        }
        #[cfg(test)]
        let replayed = self.replayed;
        *self = Self::new(&self.manner);
        #[cfg(test)]
        {
            self.replayed = replayed;
        }
        self.replay(history, prelude);
    }

    /// Replays what stands behind the seam. Answers whether the seam holds.
    fn replay(&mut self, behind: &[Held], prelude: usize) -> bool {
        let prelude = prelude.saturating_sub(self.given.len());
        let parsed = parsed(behind);
        #[cfg(test)]
        {
            self.replayed += parsed.len();
        }
        let replayed = replay_behind(&self.lead, &parsed, &self.manner.replay(prelude));
        if !self.given.is_empty() && !is_behind_a_seam(&parsed, &replayed) {
            return false;
        }
        let seam = seam(&parsed, &replayed);
        let sources = replayed.sources.clone();
        let messages = self.manner.apply(behind, replayed);
        let mut fits: Vec<Fit> = messages
            .into_iter()
            .zip(sources)
            .map(|(held, source)| Fit {
                held,
                is_prelude: source.is_prelude,
            })
            .collect();
        let mut tail = behind;
        if let Some(seam) = seam {
            Arc::make_mut(&mut self.lead).add(parsed[..seam.given].iter());
            let given = behind[..seam.given].iter();
            self.given.extend(given.map(|held| Arc::clone(&held.json)));
            self.settled.extend(fits.drain(..seam.out));
            tail = &behind[seam.given..];
        }
        self.tail = tail.to_vec();
        let all: Vec<&Fit> = self.settled.iter().chain(&fits).collect();
        self.messages = limited(&self.manner, &all);
        true
    }

    /// What comes out of the messages of the turn that goes on behind this history. A question that nobody answered
    /// before it stays a message of its own.
    pub(crate) fn behind(&self, turn: &[Held]) -> Vec<Held> {
        let given: Vec<Held> = self.tail.iter().chain(turn).cloned().collect();
        let policy = Policy {
            merge_users: false,
            merge_assistants: false,
            assistant_not_first: false,
            ..self.manner.policy.clone()
        };
        let replay = Replay {
            policy,
            is_over: false,
            ..self.manner.replay(0)
        };
        let replayed = replay_behind(&self.lead, &parsed(&given), &replay);
        let start = self.tail.len();
        let pieces = replayed.pieces.into_iter().zip(replayed.sources);
        pieces
            .filter(|(_, source)| source.message.is_some_and(|index| index >= start))
            .map(|(piece, source)| self.manner.held(&given, piece, source.message))
            .collect()
    }

    /// Bytes it takes in memory beside the history it was made from, about.
    pub(super) fn size_bytes(&self) -> usize {
        let settled = self.settled.iter().map(|fit| fit.held.size_bytes());
        settled.sum::<usize>() + self.lead.size_bytes()
    }
}

fn parsed(held: &[Held]) -> Vec<Message> {
    held.iter()
        .map(|held| Message::from_json(&held.json).expect("a held message was read before"))
        .collect()
}

/// Where a list can be cut: at a user's message, given and as it came out.
struct Seam {
    given: usize,
    out: usize,
}

/// The last message of a list that a seam can stand before; see [`replay_behind`].
fn seam(given: &[Message], replayed: &Replayed) -> Option<Seam> {
    if !replayed.mends.is_empty() {
        return None;
    }
    let role = |at: usize| role(given, &replayed.pieces[at]);
    let newest_answer = (0..replayed.pieces.len()).rfind(|at| role(*at) == Role::Assistant)?;
    let summary = given.iter().rposition(is_summary);
    (1..newest_answer).rev().find_map(|out| {
        let source = replayed.sources[out];
        let start = source.message.filter(|_| !source.is_joined)?;
        let is_seam = role(out) == Role::User
            && matches!(role(out - 1), Role::Assistant | Role::ToolResult)
            && summary.is_none_or(|summary| summary < start);
        is_seam.then_some(Seam { given: start, out })
    })
}

/// Whether what came out of a list can stand behind a seam.
fn is_behind_a_seam(given: &[Message], replayed: &Replayed) -> bool {
    let first = replayed.sources.first();
    let begins = first.is_some_and(|first| first.message == Some(0) && !first.is_joined);
    let role = |piece: &Piece| role(given, piece);
    replayed.mends.is_empty()
        && begins
        && role(&replayed.pieces[0]) == Role::User
        && replayed
            .pieces
            .iter()
            .any(|piece| role(piece) == Role::Assistant)
        && !given.iter().any(is_summary)
}

fn is_summary(message: &Message) -> bool {
    message.role() == Role::CompactionSummary
}

fn role(given: &[Message], piece: &Piece) -> Role {
    match piece {
        Piece::Keep(index) => given[*index].role(),
        Piece::New { role, .. } => *role,
    }
}

/// As many turns as the limit leaves.
fn limited(manner: &Manner, all: &[&Fit]) -> Vec<Held> {
    let roles = || {
        all.iter()
            .map(|fit| (fit.held.role, fit.is_prelude))
            .collect::<Vec<_>>()
    };
    let window = manner.limit.and_then(|limit| limit.window(&roles()));
    let (lead, start) = window.unwrap_or((0, 0));
    let kept = all[..lead].iter().chain(&all[start..]);
    let kept: Vec<Held> = kept.map(|fit| fit.held.clone()).collect();
    match window {
        Some(_) => join::joined(kept, manner),
        None => kept,
    }
}
