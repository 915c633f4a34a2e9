//! What a model may see of a session, with the tokens of each message.

use crate::store::PathEntry;
use crate::tokens::TokenCounter;
use openclaw_interface::{Message as View, Role};
use openclaw_transcript::{Mend, Message, Piece, Row, context, pair};
use std::sync::Arc;

/// One message as the host holds it.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// Entry id; empty for a message the host made.
    pub(crate) id: String,
    pub(crate) role: Role,
    pub(crate) tokens: u32,
    pub(crate) json: Arc<str>,
}

impl Held {
    /// A message without an entry of its own.
    pub(crate) fn made(role: Role, json: impl Into<Arc<str>>) -> Self {
        let json = json.into();
        Self {
            id: String::new(),
            role,
            tokens: small(TokenCounter.message(&json)),
            json,
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.id, self.role, self.tokens, &self.json)
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
    /// Messages before the turn, oldest first, pairs intact.
    pub(crate) messages: Vec<Held>,
    /// What had to be repaired to make it so.
    pub(crate) mends: Vec<Mend>,
}

impl History {
    /// Builds the history from the entries of the active path before the turn.
    pub(crate) fn of_path(path: &[PathEntry]) -> Self {
        let rows: Vec<&Row> = path.iter().map(|entry| &entry.row).collect();
        let visible: Vec<(Held, Message)> = context(&rows)
            .messages
            .into_iter()
            .filter_map(|message| {
                let parsed = Message::from_json(&message.json).ok()?;
                let entry = &path[message.row];
                let id = entry.row.id().unwrap_or_default().to_owned();
                let tokens = match entry.row.message() {
                    Some(_) => small(entry.tokens),
                    None => small(TokenCounter.message(&message.json)),
                };
                Some((
                    Held {
                        id,
                        role: message.role,
                        tokens,
                        json: message.json,
                    },
                    parsed,
                ))
            })
            .collect();
        let (mut held, parsed): (Vec<Held>, Vec<Message>) = visible.into_iter().unzip();
        let repaired = pair(&parsed);
        if repaired.mends.is_empty() {
            return Self {
                messages: held,
                mends: Vec::new(),
            };
        }
        let messages = apply(&mut held, repaired.pieces);
        Self {
            messages,
            mends: repaired.mends,
        }
    }
}

/// The list that `pieces` describe.
pub(crate) fn apply(held: &mut [Held], pieces: Vec<Piece>) -> Vec<Held> {
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Keep(index) => held[index].clone(),
            Piece::New { json, role } => Held::made(role, json),
        })
        .collect()
}
