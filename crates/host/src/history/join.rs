//! Lists made of replayed parts: neighbours that a provider wants as one message, and an assistant that comes first.

use super::{Held, Manner};
use openclaw_interface::Role;
use openclaw_transcript::{Message, Policy, Replay, join_turns, replay};

/// Joins neighbours as the provider wants it, and puts a user's message before an assistant's that comes first. What is in
/// order is not looked into.
pub(crate) fn joined(messages: Vec<Held>, manner: &Manner) -> Vec<Held> {
    let policy = &manner.policy;
    let is_wanted = |a: &Held, b: &Held| {
        a.role == b.role
            && match a.role {
                Role::User => policy.merge_users,
                Role::Assistant => policy.merge_assistants,
                _ => false,
            }
    };
    let is_late = |messages: &[Held]| {
        policy.assistant_not_first
            && messages
                .first()
                .is_some_and(|first| first.role == Role::Assistant)
    };
    if !is_late(&messages) && !messages.windows(2).any(|two| is_wanted(&two[0], &two[1])) {
        return messages;
    }
    let mut result = Vec::with_capacity(messages.len());
    for run in messages.chunk_by(is_wanted) {
        let is_first = result.is_empty();
        if run.len() == 1 && !(is_first && is_late(run)) {
            result.push(run[0].clone());
            continue;
        }
        let policy = Policy {
            assistant_not_first: is_first && policy.assistant_not_first,
            ..policy.clone()
        };
        result.extend(manner.apply(run, join_turns(&read(run), &policy)));
    }
    result
}

/// A list in which an engine has put messages of its own, as the provider takes it. What came out of a replay stays as it
/// is; with calls among the engine's own, all of it is replayed, for their ids must differ from all others.
pub(crate) fn made(messages: Vec<Held>, manner: &Manner) -> Vec<Held> {
    let is_made = |held: &Held| held.id.is_empty();
    let has_pairs = messages.iter().filter(|held| is_made(held)).any(|held| {
        held.role == Role::ToolResult
            || Message::from_json(&held.json).is_ok_and(|message| !message.calls().is_empty())
    });
    // What one needs beside the other comes later.
    let policy = Policy {
        assistant_not_first: false,
        merge_users: false,
        merge_assistants: false,
        ..manner.policy.clone()
    };
    let request = Replay {
        policy,
        ..Replay::default()
    };
    let replayed = |messages: &[Held]| manner.apply(messages, replay(&read(messages), &request));
    if has_pairs {
        return replayed(&messages);
    }
    let one = |held: Held| {
        if is_made(&held) {
            replayed(&[held])
        } else {
            vec![held]
        }
    };
    messages.into_iter().flat_map(one).collect()
}

fn read(held: &[Held]) -> Vec<Message> {
    held.iter()
        .map(|held| Message::from_json(&held.json).expect("a held message was read before"))
        .collect()
}
