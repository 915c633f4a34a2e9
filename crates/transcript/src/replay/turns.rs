//! The order of turns a provider insists on.

use std::borrow::Cow;

use openclaw_interface::Role;

use super::boundary::FAILED;
use super::draft::Draft;
use super::policy::Policy;
use crate::blocks;
use crate::json::{self, Object};
use crate::message::Message;

const BOOTSTRAP: &str = "(session bootstrap)";
/// What a later assistant message says of the whole.
const OF_THE_LATER: [&str; 5] = [
    "usage",
    "stopReason",
    "errorMessage",
    "timestamp",
    "providerReplay",
];

/// Puts a user message in front when the first message is an assistant's. It has that message's time, so that the same
/// history always gives the same bytes.
pub(super) fn user_first(draft: &mut Draft) {
    let Some(first) = draft.messages().first() else {
        return;
    };
    if first.role() != Role::Assistant || !draft.lead().is_empty() {
        return;
    }
    let content = json::quote(BOOTSTRAP);
    let timestamp = first.timestamp_ms().map(|ms| ms.to_string());
    let mut members = vec![("role", "\"user\""), ("content", &*content)];
    members.extend(timestamp.as_deref().map(|ms| ("timestamp", ms)));
    draft.put_first(&json::object(members));
}

/// Joins neighbours as the policy wants it.
pub(super) fn merge(draft: &mut Draft, policy: &Policy) {
    let roles = [
        (Role::Assistant, policy.merge_assistants),
        (Role::User, policy.merge_users),
    ];
    for (role, _) in roles.into_iter().filter(|(_, wanted)| *wanted) {
        draft.join(role, |run| joined(role, run));
    }
}

/// Neighbours of this role in one: all contents in order. Of an assistant's members the later usage, reason, error and
/// time count; of a user's members all later ones.
fn joined(role: Role, run: &[Message]) -> String {
    let objects: Vec<Object<'_>> = run.iter().map(Message::object).collect();
    let failed = run.iter().filter(|message| message.failed()).count();
    let mixed = role == Role::Assistant && failed > 0 && failed < run.len();
    let parts = run.iter().zip(&objects);
    let content: Vec<Cow<'_, str>> = parts
        .flat_map(|(message, object)| part(message, object, mixed))
        .collect();
    let content = format!("[{}]", content.join(","));
    let mut whole = objects[0].clone();
    // The whole must not count as failed because of a part: then all of it would be left out.
    let tells_failure = ["stopReason", "errorMessage"];
    if mixed && run[0].failed() {
        for name in tells_failure {
            whole.remove(name);
        }
    }
    for (message, object) in run.iter().zip(&objects).skip(1) {
        for (name, value) in object.members() {
            let counts = role == Role::User || OF_THE_LATER.contains(&name);
            if counts && !(mixed && message.failed() && tells_failure.contains(&name)) {
                whole.set(name, value);
            }
        }
    }
    let provenance = objects[0].get("provenance");
    if objects
        .iter()
        .any(|object| object.get("provenance") != provenance)
    {
        // It would tell of the whole what is true of a part only; the part from elsewhere is marked in its text.
        whole.remove("provenance");
    }
    whole.set("content", &content);
    whole.write()
}

/// What a message gives to the whole: its blocks, or of an answer that failed beside one that did not, that it failed.
fn part<'a>(message: &Message, object: &Object<'a>, mixed: bool) -> Vec<Cow<'a, str>> {
    let mut blocks = blocks::as_blocks(object);
    blocks.retain(|raw| !Object::read(raw).is_ok_and(|block| blocks::is_blank_text(&block)));
    if mixed && message.failed() && !blocks.is_empty() {
        blocks = vec![Cow::Owned(blocks::text_block(FAILED))];
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::run;

    #[test]
    fn an_assistant_never_comes_first() {
        let said = r#"{"role":"assistant","content":[],"timestamp":7}"#;
        let user = r#"{"role":"user","content":"(session bootstrap)","timestamp":7}"#;
        assert_eq!(run(user_first, &[said]), [user, said]);
        assert_eq!(run(user_first, &[user, said]), [user, said]);
        let summary = r#"{"role":"compactionSummary","summary":"S"}"#;
        assert_eq!(run(user_first, &[summary, said]), [summary, said]);
        assert!(run(user_first, &[]).is_empty());
    }

    fn merged(given: &[&str]) -> Vec<String> {
        let policy = Policy {
            merge_assistants: true,
            merge_users: true,
            ..Policy::default()
        };
        run(|draft| merge(draft, &policy), given)
    }

    #[test]
    fn neighbouring_assistants_become_one_with_the_later_numbers() {
        let after = merged(&[
            r#"{"role":"assistant","content":[{"type":"text","text":"x"}],"model":"a","usage":{"input":1},"timestamp":1}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"y"}],"model":"b","usage":{"input":2},"stopReason":"stop","timestamp":2}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"z"}],"timestamp":3}"#,
        ]);
        let whole = r#"{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"text","text":"y"},{"type":"text","text":"z"}],"model":"a","usage":{"input":2},"timestamp":3,"stopReason":"stop"}"#;
        assert_eq!(after, [whole]);
    }

    #[test]
    fn neighbouring_users_become_one_with_the_later_members() {
        let after = merged(&[
            r#"{"role":"user","content":"a","x":1,"timestamp":1}"#,
            r#"{"role":"user","content":[{"type":"image","data":"A"}],"timestamp":2}"#,
            r#"{"role":"custom","content":"c"}"#,
            r#"{"role":"user","content":"b"}"#,
        ]);
        assert_eq!(
            after,
            [
                r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"A"}],"x":1,"timestamp":2}"#,
                r#"{"role":"custom","content":"c"}"#,
                r#"{"role":"user","content":"b"}"#,
            ]
        );
    }

    #[test]
    fn a_failed_answer_does_not_take_its_neighbour_with_it() {
        let whole = r#"{"role":"assistant","content":[{"type":"text","text":"whole"}],"stopReason":"stop"}"#;
        let half = r#"{"role":"assistant","content":[{"type":"text","text":"half"}],"stopReason":"aborted","errorMessage":"e"}"#;
        let none =
            r#"{"role":"assistant","content":[{"type":"text","text":" "}],"stopReason":"error"}"#;
        let (text, told) = (blocks::text_block("whole"), blocks::text_block(FAILED));
        let said = |blocks: &[&str]| {
            format!(
                r#"{{"role":"assistant","content":[{}],"stopReason":"stop"}}"#,
                blocks.join(",")
            )
        };
        assert_eq!(merged(&[whole, half]), [said(&[&text, &told])]);
        assert_eq!(merged(&[half, whole]), [said(&[&told, &text])]);
        assert_eq!(merged(&[none, whole, none]), [whole]);
        let plain = r#"{"role":"assistant","content":[{"type":"text","text":"plain"}]}"#;
        assert_eq!(merged(&[none, plain]), [plain]);
        assert!(merged(&[half, half])[0].contains(r#""stopReason":"aborted""#));
    }

    #[test]
    fn a_persons_text_does_not_become_another_sessions() {
        let person = r#"{"role":"user","content":"a"}"#;
        let other = r#"{"role":"user","content":"b","provenance":{"kind":"inter_session"}}"#;
        for given in [[person, other], [other, person]] {
            assert!(!merged(&given)[0].contains("provenance"));
        }
        assert!(merged(&[other, other])[0].contains("provenance"));
    }

    #[test]
    fn a_policy_without_rules_joins_nothing() {
        let given = [
            r#"{"role":"user","content":"a"}"#,
            r#"{"role":"user","content":"b"}"#,
        ];
        assert_eq!(run(|draft| merge(draft, &Policy::default()), &given), given);
    }
}
