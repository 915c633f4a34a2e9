//! What a model may see of a session, with the tokens of each message.
//!
//! A history grows by the rows behind it. Only its last messages, those a later row can still change, are looked at
//! again.

mod cache;
mod fitted;
mod join;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub(crate) use cache::{Histories, Past};
pub(crate) use fitted::{Fitted, Manner};
pub(crate) use join::{joined, made};

use crate::store::PathEntry;
use crate::tokens::TokenCounter;
use openclaw_interface::{Message as View, Role};
use openclaw_transcript::{
    CACHE_TTL_ROW, ContextMessage, Lead, Mend, Message, Piece, Row, RowKind, appended, context,
    pair_behind,
};
use std::sync::Arc;

/// One message as the host holds it. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    /// Entry id; empty for a message the host made.
    pub(crate) id: Arc<str>,
    pub(crate) role: Role,
    pub(crate) tokens: u32,
    pub(crate) json: Arc<str>,
}

impl Held {
    /// A message without an entry of its own.
    pub(crate) fn made(role: Role, json: impl Into<Arc<str>>) -> Self {
        let json = json.into();
        Self {
            id: Arc::default(),
            role,
            tokens: small(TokenCounter.message(&json)),
            json,
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.id, self.role, self.tokens, &self.json)
    }

    fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.json.len()
    }
}

/// A token count as messages carry it.
fn small(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Tokens of a list.
pub(crate) fn sum(messages: &[Held]) -> u64 {
    messages
        .iter()
        .map(|message| u64::from(message.tokens))
        .sum()
}

/// The history a turn starts from.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    messages: Vec<Held>,
    mends: Vec<Mend>,
    /// What stands before the tail, as far as pairing has to know.
    lead: Lead,
    /// How much of the lists above, and of the messages they were made from, is settled.
    settled: Settled,
    /// The messages behind, as stored: what comes next may change what becomes of them.
    tail: Tail,
    /// How many of the first messages were carried over a reset.
    prelude: usize,
    /// The newest row with what was decided on tool results.
    decisions: Option<Row>,
    size_bytes: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Settled {
    given: usize,
    messages: usize,
    mends: usize,
}

#[derive(Clone, Debug, Default)]
struct Tail {
    held: Vec<Held>,
    parsed: Vec<Message>,
}

impl History {
    /// The history of a path.
    ///
    /// - `path`: entries of the active path from where its context starts; what stands before them may be there too.
    pub(crate) fn of_path(path: &[PathEntry]) -> Self {
        let rows: Vec<&Row> = path.iter().map(|entry| &entry.row).collect();
        let mut history = Self::default();
        let messages = context(&rows).messages;
        history.prelude = messages.iter().filter(|message| message.prelude).count();
        history.decisions = decisions(&rows);
        history.add(path, messages);
        history
    }

    /// Adds the entries behind; whether that could be done. A boundary among them asks for a new history.
    pub(crate) fn extend(&mut self, behind: &[PathEntry]) -> bool {
        let rows: Vec<&Row> = behind.iter().map(|entry| &entry.row).collect();
        match appended(&rows) {
            Some(messages) => {
                self.decisions = decisions(&rows).or(self.decisions.take());
                self.add(behind, messages);
                true
            }
            None => false,
        }
    }

    /// Messages before the turn, oldest first, pairs intact.
    pub(crate) fn messages(&self) -> &[Held] {
        &self.messages
    }

    /// How many of the first messages were carried over a reset.
    pub(crate) fn prelude(&self) -> usize {
        self.prelude
    }

    /// The newest row with what was decided on tool results.
    pub(crate) fn decisions(&self) -> Option<&Row> {
        self.decisions.as_ref()
    }

    /// What had to be repaired to make it so, in words.
    pub(crate) fn mends(&self) -> Vec<String> {
        self.mends.iter().map(ToString::to_string).collect()
    }

    /// Bytes it takes in memory, about.
    fn size_bytes(&self) -> usize {
        let tail = self.tail.parsed.iter().map(|it| 2 * it.json().len());
        self.size_bytes + self.lead.size_bytes() + tail.sum::<usize>()
    }

    fn add(&mut self, entries: &[PathEntry], messages: Vec<ContextMessage>) {
        for message in messages {
            let Some((held, parsed)) = read(&entries[message.row], message) else {
                continue;
            };
            self.tail.held.push(held);
            self.tail.parsed.push(parsed);
        }
        let unsettled = &self.messages[self.settled.messages..];
        self.size_bytes -= unsettled.iter().map(Held::size_bytes).sum::<usize>();
        self.messages.truncate(self.settled.messages);
        self.mends.truncate(self.settled.mends);
        let repaired = pair_behind(&self.lead, &self.tail.parsed);
        let offset = self.settled.given;
        let settled_mends = repaired
            .mends
            .iter()
            .filter(|mend| mend.message < repaired.settled);
        self.settled.mends += settled_mends.count();
        self.settled.messages += repaired.settled_pieces;
        self.settled.given += repaired.settled;
        let messages = apply(&self.tail.held, repaired.pieces);
        self.size_bytes += messages.iter().map(Held::size_bytes).sum::<usize>();
        self.messages.extend(messages);
        self.mends
            .extend(repaired.mends.into_iter().map(|mend| Mend {
                message: mend.message + offset,
                ..mend
            }));
        self.lead.add(&self.tail.parsed[..repaired.settled]);
        self.tail.held.drain(..repaired.settled);
        self.tail.parsed.drain(..repaired.settled);
    }
}

/// The newest row with decisions since the last reset.
fn decisions(rows: &[&Row]) -> Option<Row> {
    let since_reset = rows.iter().rev();
    let mut since_reset =
        since_reset.take_while(|row| !matches!(row.kind(), RowKind::Reset { .. }));
    let is_one = |row: &&&Row| matches!(row.kind(), RowKind::Custom { custom_type } if custom_type == CACHE_TTL_ROW);
    since_reset.find(is_one).map(|row| (*row).clone())
}

/// A message of the context with what the store knows of its entry.
fn read(entry: &PathEntry, message: ContextMessage) -> Option<(Held, Message)> {
    let stored = entry.row.message();
    let parsed = match stored.filter(|stored| Arc::ptr_eq(&stored.shared_json(), &message.json)) {
        Some(stored) => stored.clone(),
        None => Message::from_json(&message.json).ok()?,
    };
    let tokens = match stored {
        Some(_) => small(entry.tokens),
        None => small(TokenCounter.message(&message.json)),
    };
    let held = Held {
        id: entry.row.id().unwrap_or_default().into(),
        role: message.role,
        tokens,
        json: message.json,
    };
    Some((held, parsed))
}

/// The list that `pieces` describe.
pub(crate) fn apply(held: &[Held], pieces: Vec<Piece>) -> Vec<Held> {
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Keep(index) => held[index].clone(),
            Piece::New { json, role } => Held::made(role, json),
        })
        .collect()
}
