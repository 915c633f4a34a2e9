//! Helpers of the steps' own tests.

use super::draft::{Draft, Verdict};
use crate::message::Message;
use crate::repair::Piece;

pub(crate) fn message(json: &str) -> Message {
    Message::from_json(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// The texts that pieces of these messages stand for.
pub(crate) fn texts_of(messages: &[Message], pieces: Vec<Piece>) -> Vec<String> {
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Keep(index) => messages[index].json().to_owned(),
            Piece::New { json, .. } => json,
        })
        .collect()
}

/// The texts after a step over the whole list.
pub(super) fn run(step: impl FnOnce(&mut Draft), given: &[&str]) -> Vec<String> {
    let messages: Vec<Message> = given.iter().map(|json| message(json)).collect();
    let mut draft = Draft::of(&messages, 0);
    step(&mut draft);
    texts_of(&messages, draft.pieces())
}

/// The texts after a step over each message.
pub(super) fn run_each(step: impl Fn(&Message) -> Verdict, given: &[&str]) -> Vec<String> {
    run(|draft| draft.each(|_, message| step(message)), given)
}

/// The message after a step that has to change it.
#[track_caller]
pub(super) fn changed(step: impl Fn(&Message) -> Verdict, json: &str) -> Message {
    match step(&message(json)) {
        Verdict::Change(json) => message(&json),
        Verdict::Keep => panic!("kept: {json}"),
        Verdict::Drop => panic!("dropped: {json}"),
    }
}
