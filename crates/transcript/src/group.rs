//! Messages that belong together: an assistant message with calls, and all its results.

use std::collections::HashMap;
use std::ops::Range;

use openclaw_interface::Role;

use crate::message::Message;

/// Splits messages into groups that must not be separated.
///
/// A group runs from an assistant message with calls to the last message that answers one of them, whatever stands
/// between; a result that answers nothing belongs to the message before it. Any other message is a group by itself.
/// A result answers the last call before it with its id. Returned in order, without gaps, none empty.
///
/// Cases P-1, P-7.
#[must_use]
pub fn groups(messages: &[Message]) -> Vec<Range<usize>> {
    let mut callers = HashMap::new();
    let mut reach: Vec<usize> = (0..messages.len()).collect();
    for (index, message) in messages.iter().enumerate() {
        for call in message.calls() {
            callers.insert(call.id.as_str(), index);
        }
        if message.role() == Role::ToolResult {
            let caller = message.result_of().and_then(|id| callers.get(id).copied());
            reach[caller.unwrap_or(index.saturating_sub(1))] = index;
        }
    }
    joined(messages.iter().map(Message::role), |index| reach[index])
}

/// Splits messages into groups by their roles alone, for lists whose pairs are adjacent: each result belongs to the
/// message before it.
#[must_use]
pub fn groups_by_role(roles: impl IntoIterator<Item = Role>) -> Vec<Range<usize>> {
    joined(roles.into_iter(), |index| index)
}

/// `reach` gives the last message that must stay with a message.
fn joined(roles: impl Iterator<Item = Role>, reach: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    for (index, role) in roles.enumerate() {
        match groups.last_mut() {
            Some(group) if index < end || role == Role::ToolResult => group.end = index + 1,
            _ => groups.push(index..index + 1),
        }
        end = end.max(reach(index) + 1);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::tests::{call, result, say};

    #[track_caller]
    fn check(messages: &[Message], expected: &[Range<usize>]) {
        assert_eq!(groups(messages), expected);
    }

    #[test]
    fn a_call_and_its_results_are_one_group() {
        check(&[], &[]);
        check(&[say("user", "hi"), say("user", "hi")], &[0..1, 1..2]);
        check(
            &[
                say("user", "hi"),
                call(&["a"]),
                result("a"),
                say("assistant", "done"),
            ],
            &[0..1, 1..3, 3..4],
        );
    }

    /// Case P-7.
    #[test]
    fn parallel_results_in_any_order_stay_with_their_calls() {
        let messages = [
            call(&["a", "b", "c"]),
            result("b"),
            result("a"),
            result("c"),
            say("user", "next"),
        ];
        check(&messages, &[0..4, 4..5]);
    }

    #[test]
    fn a_late_result_keeps_what_stands_between_in_the_group() {
        check(
            &[
                call(&["a"]),
                say("user", "wait"),
                result("a"),
                say("user", "next"),
            ],
            &[0..3, 3..4],
        );
    }

    #[test]
    fn a_repeated_id_belongs_to_the_call_before_it() {
        check(
            &[call(&["a"]), result("a"), call(&["a"]), result("a")],
            &[0..2, 2..4],
        );
    }

    /// Case P-1.
    #[test]
    fn an_orphan_never_starts_a_group_but_the_first() {
        check(
            &[result("x"), say("user", "hi"), result("y")],
            &[0..1, 1..3],
        );
    }

    #[test]
    fn roles_alone_give_the_same_groups_for_adjacent_pairs() {
        let messages = [
            say("user", "hi"),
            call(&["a", "b"]),
            result("b"),
            result("a"),
            say("assistant", "done"),
        ];
        assert_eq!(
            groups_by_role(messages.iter().map(Message::role)),
            groups(&messages)
        );
    }
}
