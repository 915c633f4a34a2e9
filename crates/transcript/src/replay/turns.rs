//! The order of turns a provider insists on.

use openclaw_interface::Role;

use super::draft::Draft;
use super::policy::Policy;
use crate::blocks;
use crate::json;
use crate::message::Message;

const BOOTSTRAP: &str = "(session bootstrap)";
/// What a later assistant message says of the whole.
const OF_THE_LATER: [&str; 4] = ["usage", "stopReason", "errorMessage", "timestamp"];

/// Puts a user message in front when the first message is an assistant's. It has that message's time, so that the same
/// history always gives the same bytes.
pub(super) fn user_first(draft: &mut Draft) {
    let Some(first) = draft.messages().first() else {
        return;
    };
    if first.role() != Role::Assistant {
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
    if policy.merge_assistants {
        draft.join(|earlier, later| joined(Role::Assistant, earlier, later));
    }
    if policy.merge_users {
        draft.join(|earlier, later| joined(Role::User, earlier, later));
    }
}

/// Two neighbours of this role in one: both contents in order. Of an assistant's members the later usage, reason, error
/// and time count; of a user's members all later ones.
fn joined(role: Role, earlier: &Message, later: &Message) -> Option<String> {
    if earlier.role() != role || later.role() != role {
        return None;
    }
    let (first, second) = (earlier.object(), later.object());
    let mut content = blocks::as_blocks(&first);
    content.extend(blocks::as_blocks(&second));
    let content = format!("[{}]", content.join(","));
    let mut whole = first.clone();
    for (name, value) in second.members() {
        if role == Role::User || OF_THE_LATER.contains(&name) {
            whole.set(name, value);
        }
    }
    whole.set("content", &content);
    Some(whole.write())
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
    fn a_policy_without_rules_joins_nothing() {
        let given = [
            r#"{"role":"user","content":"a"}"#,
            r#"{"role":"user","content":"b"}"#,
        ];
        assert_eq!(run(|draft| merge(draft, &Policy::default()), &given), given);
    }
}
