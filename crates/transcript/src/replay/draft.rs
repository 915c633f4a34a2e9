//! A list while the steps work on it.

use std::sync::Arc;

use openclaw_interface::Role;

use super::Source;
use super::lead::ReplayLead;
use crate::message::Message;
use crate::repair::{Mend, Piece, Repaired};

/// What a step makes of a message.
pub(super) enum Verdict {
    Keep,
    Drop,
    Change(String),
}

/// Where a message of the draft comes from.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// The message given it stems from; `None` for one that a step added.
    source: Option<usize>,
    changed: bool,
    /// Whether it is several of those given in one.
    joined: bool,
    /// Carried over a reset: no user turn.
    pub(super) prelude: bool,
}

/// Messages in work, each with its origin.
pub(super) struct Draft {
    messages: Vec<Message>,
    origins: Vec<Origin>,
    lead: Arc<ReplayLead>,
    /// Messages looked at by all steps so far.
    #[cfg(test)]
    pub(super) visits: usize,
}

impl Draft {
    /// - `prelude`: how many of the first messages were carried over a reset.
    pub(super) fn of(messages: &[Message], prelude: usize) -> Self {
        let lead = Arc::new(ReplayLead::new(&super::Policy::default()));
        Self::behind(&lead, messages, prelude)
    }

    /// The messages behind those in `lead`.
    pub(super) fn behind(lead: &Arc<ReplayLead>, messages: &[Message], prelude: usize) -> Self {
        let origins = (0..messages.len()).map(|index| Origin {
            source: Some(index),
            changed: false,
            joined: false,
            prelude: index < prelude,
        });
        Self {
            messages: messages.to_vec(),
            origins: origins.collect(),
            lead: Arc::clone(lead),
            #[cfg(test)]
            visits: 0,
        }
    }

    pub(super) fn lead(&self) -> Arc<ReplayLead> {
        Arc::clone(&self.lead)
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(super) fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Runs a step over each message in order. A step that works on neighbours collects what it needs first.
    pub(super) fn each(&mut self, mut step: impl FnMut(usize, &Message) -> Verdict) {
        #[cfg(test)]
        {
            self.visits += self.messages.len();
        }
        let verdicts: Vec<Verdict> = self
            .messages
            .iter()
            .enumerate()
            .map(|(index, message)| step(index, message))
            .collect();
        if verdicts
            .iter()
            .all(|verdict| matches!(verdict, Verdict::Keep))
        {
            return;
        }
        let old = self.messages.drain(..).zip(self.origins.drain(..));
        let (mut messages, mut origins) = (Vec::new(), Vec::new());
        for ((message, origin), verdict) in old.zip(verdicts) {
            let (message, changed) = match verdict {
                Verdict::Keep => (message, origin.changed),
                Verdict::Drop => continue,
                Verdict::Change(json) => match Message::from_json(&json) {
                    Ok(message) => (message, true),
                    // One block became a list of it and so nests too deep: nothing a model could take.
                    Err(_) => continue,
                },
            };
            messages.push(message);
            origins.push(Origin { changed, ..origin });
        }
        (self.messages, self.origins) = (messages, origins);
    }

    /// Keeps the messages for which this holds.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(usize, &Message) -> bool) {
        self.each(|index, message| {
            if keep(index, message) {
                Verdict::Keep
            } else {
                Verdict::Drop
            }
        });
    }

    /// Joins neighbours of a role: `join` gives the JSON of two and more messages in one.
    pub(super) fn join(&mut self, role: Role, join: impl Fn(&[Message]) -> String) {
        #[cfg(test)]
        {
            self.visits += self.messages.len();
        }
        let is_one = |message: &Message| message.role() == role;
        let (mut messages, mut origins) = (Vec::new(), Vec::new());
        let mut at = 0;
        for run in self.messages.chunk_by(|a, b| is_one(a) && is_one(b)) {
            at += run.len();
            let mut origin = self.origins[at - 1];
            if let [alone] = run {
                messages.push(alone.clone());
            } else {
                let joined = Message::read(&join(run));
                messages.push(joined.expect("what messages hold together can be read"));
                origin.changed = true;
                origin.joined = true;
            }
            origins.push(origin);
        }
        (self.messages, self.origins) = (messages, origins);
    }

    /// Puts a new message in front.
    pub(super) fn put_first(&mut self, json: &str) {
        let message = Message::read(json).expect("a step adds messages that can be read");
        self.messages.insert(0, message);
        self.origins.insert(
            0,
            Origin {
                source: None,
                changed: true,
                joined: false,
                prelude: false,
            },
        );
    }

    /// Takes over a repair. Returns what it did, by the messages given.
    pub(super) fn repair(&mut self, repair: impl FnOnce(&[Message]) -> Repaired) -> Vec<Mend> {
        #[cfg(test)]
        {
            self.visits += self.messages.len();
        }
        let Repaired {
            pieces, mut mends, ..
        } = repair(&self.messages);
        if mends.is_empty() {
            return mends;
        }
        for mend in &mut mends {
            mend.message = self.origins[mend.message].source.unwrap_or(mend.message);
        }
        let mut old: Vec<Option<Message>> = self.messages.drain(..).map(Some).collect();
        let mut origins = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let (message, origin) = match piece {
                Piece::Keep(index) => (old[index].take(), self.origins[index]),
                Piece::New { json, .. } => (
                    Message::read(&json).ok(),
                    Origin {
                        source: None,
                        changed: true,
                        joined: false,
                        prelude: false,
                    },
                ),
            };
            if let Some(message) = message {
                self.messages.push(message);
                origins.push(origin);
            }
        }
        self.origins = origins;
        mends
    }

    /// Where each message of the list stems from.
    pub(super) fn sources(&self) -> Vec<Source> {
        let origins = self.origins.iter();
        origins
            .map(|origin| Source {
                message: origin.source,
                is_joined: origin.joined,
                is_prelude: origin.prelude,
            })
            .collect()
    }

    /// The list as picks from the messages given.
    pub(super) fn pieces(self) -> Vec<Piece> {
        let messages = self.messages.into_iter().zip(self.origins);
        messages
            .map(|(message, origin)| match origin.source {
                Some(source) if !origin.changed => Piece::Keep(source),
                _ => Piece::New {
                    role: message.role(),
                    json: message.json().to_owned(),
                },
            })
            .collect()
    }
}
