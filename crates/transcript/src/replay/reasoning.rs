//! Which reasoning a model gets back.

use openclaw_interface::Role;

use super::draft::{Draft, Verdict};
use super::policy::Reasoning;
use crate::blocks::{self, Fate, is_reasoning};
use crate::json::Object;
use crate::message::Message;

const OMITTED: &str = "[assistant reasoning omitted]";

/// Drops the reasoning that the policy does not send again.
///
/// - `is_over`: whether the last turn is: then the policies that send back the newest reasoning send back none.
pub(super) fn keep_only(draft: &mut Draft, which: Reasoning, is_over: bool) {
    let kept = match which {
        Reasoning::All => return,
        Reasoning::Latest | Reasoning::CurrentCalls if is_over => None,
        Reasoning::Latest => draft
            .messages()
            .iter()
            .rposition(|message| message.role() == Role::Assistant),
        Reasoning::CurrentCalls => current_calls(draft.messages()),
    };
    draft.each(|index, message| {
        if Some(index) == kept {
            Verdict::Keep
        } else {
            without(message, is_reasoning)
        }
    });
}

/// The first message with calls of the turn that is going on, once a result follows it.
fn current_calls(messages: &[Message]) -> Option<usize> {
    let start = messages
        .iter()
        .rposition(|message| message.role() == Role::User)
        .map_or(0, |user| user + 1);
    let first = messages[start..]
        .iter()
        .position(|message| !message.calls().is_empty())?;
    let next = messages.get(start + first + 1)?;
    (next.role() == Role::ToolResult).then_some(start + first)
}

/// An assistant message without some of its blocks; a text says so when nothing else is left.
pub(super) fn without(message: &Message, drop: impl Fn(&Object<'_>) -> bool) -> Verdict {
    if message.role() != Role::Assistant || !blocks::mentions(message, "thinking") {
        return Verdict::Keep;
    }
    let object = message.object();
    let edited = blocks::edited(
        &object,
        |block| {
            if drop(block) { Fate::Drop } else { Fate::Keep }
        },
    );
    match edited {
        None => Verdict::Keep,
        Some(left) if left.is_empty() => Verdict::Change(blocks::with_text(&object, OMITTED)),
        Some(left) => Verdict::Change(blocks::with_blocks(&object, &left)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::run;

    const USER: &str = r#"{"role":"user","content":"u"}"#;
    const RESULT: &str = r#"{"role":"toolResult","toolCallId":"a","content":[]}"#;
    const CALLS: &str = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"toolCall","id":"a","name":"n","arguments":{}}]}"#;
    const BARE_CALLS: &str = r#"{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"n","arguments":{}}]}"#;
    const THOUGHT: &str =
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t"}],"x":1}"#;
    const OMITTED: &str = r#"{"role":"assistant","content":[{"type":"text","text":"[assistant reasoning omitted]"}],"x":1}"#;

    #[track_caller]
    fn check(which: Reasoning, given: &[&str], expected: &[&str]) {
        assert_eq!(run(|draft| keep_only(draft, which, false), given), expected);
        assert_eq!(
            run(|draft| keep_only(draft, which, false), expected),
            expected
        );
    }

    #[test]
    fn older_claude_models_keep_the_latest_reasoning() {
        check(
            Reasoning::Latest,
            &[THOUGHT, CALLS, RESULT, THOUGHT],
            &[OMITTED, BARE_CALLS, RESULT, THOUGHT],
        );
    }

    #[test]
    fn models_without_reasoning_keep_it_for_the_calls_of_their_turn() {
        check(
            Reasoning::CurrentCalls,
            &[CALLS, RESULT, USER, CALLS, RESULT],
            &[BARE_CALLS, RESULT, USER, CALLS, RESULT],
        );
        check(
            Reasoning::CurrentCalls,
            &[USER, CALLS, RESULT, CALLS, RESULT],
            &[USER, CALLS, RESULT, BARE_CALLS, RESULT],
        );
        check(
            Reasoning::CurrentCalls,
            &[USER, CALLS, USER],
            &[USER, BARE_CALLS, USER],
        );
        check(Reasoning::CurrentCalls, &[USER, CALLS], &[USER, BARE_CALLS]);
    }

    #[test]
    fn of_a_turn_that_is_over_nothing_goes_away_later() {
        let given = [USER, CALLS, RESULT];
        for which in [Reasoning::Latest, Reasoning::CurrentCalls] {
            let after = run(|draft| keep_only(draft, which, true), &given);
            assert_eq!(after, [USER, BARE_CALLS, RESULT]);
        }
        let all = run(|draft| keep_only(draft, Reasoning::All, true), &given);
        assert_eq!(all, given);
    }

    #[test]
    fn a_policy_that_keeps_all_touches_nothing() {
        check(
            Reasoning::All,
            &[THOUGHT, CALLS, RESULT],
            &[THOUGHT, CALLS, RESULT],
        );
    }
}
