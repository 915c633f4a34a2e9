//! What holds for every history and every provider.

use std::collections::HashSet;

use openclaw_interface::Role;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{message, texts_of};
use super::*;
use crate::blocks;
use crate::json::Object;

const APIS: [(&str, &str, &str); 7] = [
    ("openai-completions", "mock", "m1"),
    ("openai-completions", "mistral", "large"),
    ("openai-completions", "moonshot", "kimi-k2"),
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5"),
    ("anthropic-messages", "anthropic", "claude-opus-4-6"),
    ("google-generative-ai", "google", "gemini-2.5-pro"),
    ("openai-responses", "openai", "gpt-5"),
];

fn all_policies() -> impl Iterator<Item = Policy> {
    let known = APIS.map(|(api, provider, model)| Policy::of_model(api, provider, model, false));
    known.into_iter().chain([Policy::default()])
}

fn policies() -> impl Strategy<Value = Policy> {
    proptest::sample::select(all_policies().collect::<Vec<_>>())
}

/// The policies that do not send reasoning back only while its turn goes on.
fn steady_policies() -> impl Strategy<Value = Policy> {
    let is_steady =
        |policy: &Policy| policy.reasoning == Reasoning::All && !policy.signed_reasoning;
    proptest::sample::select(all_policies().filter(is_steady).collect::<Vec<_>>())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,6}",
        1 => Just(String::new()),
        1 => Just(" \n".to_owned()),
        1 => Just("NO_REPLY".to_owned()),
        1 => Just("HEARTBEAT_OK".to_owned()),
        1 => Just("[OpenClaw heartbeat poll]".to_owned()),
        1 => Just("漢字 😀 \\u00e9".to_owned()),
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("call_1"),
        Just("call_2!"),
        Just("toolu_01A"),
        Just("functions.read:0"),
        Just("call_3|fc_3"),
        Just("é"),
    ]
    .prop_map(str::to_owned)
}

fn block() -> impl Strategy<Value = Value> {
    let call = (
        id(),
        "[a-z]{1,4}| |bad!",
        any::<bool>(),
        "toolCall|tool_use",
    )
        .prop_map(|(id, name, whole, kind)| {
            let mut call = json!({"type": kind, "id": id, "name": name});
            if whole {
                call["arguments"] = json!({"p": 1});
            }
            call
        });
    prop_oneof![
        4 => text().prop_map(|text| json!({"type": "text", "text": text})),
        3 => call,
        1 => text().prop_map(|text| json!({"type": "thinking", "thinking": text})),
        1 => text().prop_map(|text| json!({"type": "thinking", "thinking": "t", "thinkingSignature": text})),
        1 => Just(json!({"type": "thinking", "thinking": "", "thinkingSignature": "{\"id\":\"rs_1\"}"})),
        1 => Just(json!({"type": "redacted_thinking", "data": "d"})),
        1 => "[A-Z]{0,5}".prop_map(|data| json!({"type": "image", "data": data, "mimeType": "image/png"})),
        1 => Just(json!({"type": "new", "thought_signature": "msg_1"})),
        1 => Just(json!({"type": "text"})),
    ]
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => text().prop_map(Value::from),
        4 => proptest::collection::vec(block(), 0..4).prop_map(Value::from),
        1 => block(),
        1 => Just(Value::Null),
    ]
}

fn members() -> impl Strategy<Value = Value> {
    let stop = prop_oneof![
        4 => Just(json!({})),
        1 => Just(json!({"stopReason": "stop"})),
        1 => Just(json!({"stopReason": "error"})),
        1 => Just(json!({"stopReason": "aborted"})),
        1 => Just(json!({"stopReason": "length"})),
    ];
    let rest = prop_oneof![
        4 => Just(json!({})),
        1 => Just(json!({"usage": {"input": 0, "output": 0}})),
        1 => Just(json!({"usage": {"input": 3}, "provider": "openclaw", "model": "delivery-mirror"})),
        1 => Just(json!({"details": {"secret": 1}})),
        1 => Just(json!({"provenance": {"kind": "inter_session", "sourceTool": "t"}})),
        1 => Just(json!({"providerReplay": {}})),
        1 => Just(json!({"excludeFromContext": true})),
        1 => Just(json!({"MediaPath": "a"})),
    ];
    (stop, rest, proptest::option::of(0_u32..9)).prop_map(|(mut all, rest, time)| {
        all.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        if let Some(time) = time {
            all["timestamp"] = time.into();
        }
        all
    })
}

fn one_message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![
        5 => Just("user"), 6 => Just("assistant"), 4 => Just("toolResult"),
        1 => Just("custom"), 1 => Just("compactionSummary"), 1 => Just("branchSummary"), 1 => Just("system"),
        1 => Just("bashExecution"),
    ];
    (role, content(), members(), proptest::option::weighted(0.9, id())).prop_map(|(role, content, members, id)| {
        let mut all = json!({"role": role, "content": content, "summary": "S", "command": "c", "output": ""});
        if role == "toolResult" {
            all["toolName"] = "read".into();
            if let Some(id) = id {
                all["toolCallId"] = id.into();
            }
        }
        all.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        message(&all.to_string())
    })
}

fn history() -> impl Strategy<Value = Vec<Message>> {
    proptest::collection::vec(one_message(), 0..24)
}

fn replayed(messages: &[Message], request: &Replay<'_>) -> Vec<Message> {
    let pieces = replay(messages, request).pieces;
    texts_of(messages, pieces)
        .iter()
        .map(|json| message(json))
        .collect()
}

fn for_policy(policy: &Policy) -> Replay<'static> {
    Replay {
        policy: policy.clone(),
        ..Replay::default()
    }
}

/// Every call has its result right behind its message, in order, and no result stands elsewhere.
fn check_pairs(messages: &[Message]) -> Result<(), TestCaseError> {
    let mut due: Vec<&str> = Vec::new();
    for message in messages {
        if message.role() == Role::ToolResult {
            prop_assert!(
                !due.is_empty(),
                "a result without a call: {}",
                message.json()
            );
            prop_assert_eq!(message.result_of(), Some(due.remove(0)));
            continue;
        }
        prop_assert!(due.is_empty(), "calls without results: {:?}", due);
        prop_assert!(message.broken_calls().is_empty(), "{}", message.json());
        due = message
            .calls()
            .iter()
            .map(|call| call.id.as_str())
            .collect();
    }
    prop_assert!(
        due.is_empty(),
        "calls without results at the end: {:?}",
        due
    );
    Ok(())
}

/// Whether an API would find nothing in the content, or a block that says nothing.
fn has_blanks(message: &Message) -> bool {
    let object = message.object();
    let raw = blocks::as_blocks(&object);
    let is_blank = |raw: &str| Object::read(raw).is_ok_and(|block| blocks::is_blank_text(&block));
    raw.is_empty() || raw.iter().any(|raw| is_blank(raw))
}

fn check_valid(messages: &[Message], policy: &Policy) -> Result<(), TestCaseError> {
    check_pairs(messages)?;
    for message in messages {
        let judged_later = message.failed() || message.object().get("providerReplay").is_some();
        let speaks = matches!(
            message.role(),
            Role::User | Role::Assistant | Role::ToolResult
        );
        prop_assert!(
            !speaks || judged_later || !has_blanks(message),
            "empty: {}",
            message.json()
        );
        prop_assert!(
            message.role() != Role::ToolResult || message.object().get("details").is_none()
        );
    }
    if policy.assistant_not_first {
        prop_assert_ne!(messages.first().map(Message::role), Some(Role::Assistant));
    }
    let neighbours = |role| {
        messages
            .windows(2)
            .any(|two| two[0].role() == role && two[1].role() == role)
    };
    prop_assert!(!policy.merge_assistants || !neighbours(Role::Assistant));
    prop_assert!(!policy.merge_users || !neighbours(Role::User));
    let ids: Vec<&String> = messages
        .iter()
        .flat_map(Message::calls)
        .map(|call| &call.id)
        .collect();
    let unique = ids.iter().collect::<HashSet<_>>().len() == ids.len();
    match policy.call_ids {
        CallIds::Any => {}
        CallIds::Strict(_) => {
            prop_assert!(unique && ids.iter().all(|id| (1..=64).contains(&id.len())))
        }
        CallIds::Nine => prop_assert!(unique && ids.iter().all(|id| id.len() == 9)),
        CallIds::Responses => prop_assert!(
            ids.iter()
                .all(|id| id.starts_with("call_") || id.starts_with("fc_"))
        ),
    }
    Ok(())
}

const TARGET: Target<'_> = Target {
    provider: "p",
    model: "m",
    images: false,
    prefill: false,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_comes_out_is_valid_for_the_provider(
        given in history(), policy in policies(), limit in proptest::option::of(1_u32..4), prelude in 0_usize..3, switched in 0_usize..9,
    ) {
        let request = Replay {
            limit: limit.and_then(|limit| TurnLimit::new(limit.into())),
            tools: Some(&["a", "read"]),
            prelude,
            switched,
            ..for_policy(&policy)
        };
        let after = replayed(&given, &request);
        check_valid(&after, &policy)?;

        let sent = for_request(&after, TARGET);
        let sent: Vec<Message> = texts_of(&after, sent).iter().map(|json| message(json)).collect();
        check_pairs(&sent)?;
        for message in &sent {
            prop_assert!(matches!(message.role(), Role::User | Role::Assistant | Role::ToolResult));
            let checkpoint = message.object().get("providerReplay").is_some();
            prop_assert!(checkpoint || !has_blanks(message), "empty: {}", message.json());
        }
        prop_assert_ne!(sent.last().map(Message::role), Some(Role::Assistant));
    }

    #[test]
    fn replaying_twice_is_replaying_once(given in history(), policy in policies()) {
        let request = for_policy(&policy);
        let once = replayed(&given, &request);
        let again = replay(&once, &request);
        prop_assert_eq!(&again.mends, &[]);
        let texts = texts_of(&once, again.pieces.clone());
        let before: Vec<&str> = once.iter().map(Message::json).collect();
        prop_assert_eq!(texts, before);
        let kept = again.pieces.iter().all(|piece| matches!(piece, Piece::Keep(_)));
        prop_assert!(kept, "made the same text anew");
    }

    #[test]
    fn a_longer_history_begins_with_the_same_bytes(given in history(), policy in steady_policies(), answers in 1_usize..4) {
        let user = |text: &str| message(&format!(r#"{{"role":"user","content":"{text}","timestamp":1}}"#));
        let mut shorter = given;
        shorter.push(user("next question"));
        let mut longer = shorter.clone();
        for answer in 0..answers {
            longer.push(message(&format!(
                r#"{{"role":"assistant","content":[{{"type":"text","text":"answer {answer}"}}],"stopReason":"stop","usage":{{"input":7}}}}"#
            )));
            longer.push(user("and then"));
        }
        let request = for_policy(&policy);
        let (shorter, longer) = (replayed(&shorter, &request), replayed(&longer, &request));
        prop_assert_eq!(&longer[..shorter.len()], &shorter[..]);
    }

    #[test]
    fn any_json_is_survived(given in proptest::collection::vec(wild(), 0..8), policy in policies()) {
        let given: Vec<Message> = given.iter().filter_map(|json| Message::from_json(&json.to_string()).ok()).collect();
        let after = replayed(&given, &for_policy(&policy));
        check_valid(&after, &policy)?;
        let _ = for_request(&given, TARGET);
        let _ = normalize_history(&given);
        let _ = crate::prune_history_images(&given);
        let _ = crate::context_tokens(&given);
    }
}

/// A JSON value made of names that mean something and values that do not.
fn wild() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        proptest::sample::select(vec![
            "user",
            "assistant",
            "toolResult",
            "custom",
            "text",
            "image",
            "toolCall",
            "thinking",
            "stop",
            "error",
            "inter_session",
            "a"
        ])
        .prop_map(Value::from),
    ];
    let name = || {
        proptest::sample::select(vec![
            "role",
            "content",
            "type",
            "text",
            "id",
            "name",
            "arguments",
            "toolCallId",
            "stopReason",
            "usage",
            "timestamp",
            "thinking",
            "thinkingSignature",
            "data",
            "mimeType",
            "provenance",
            "kind",
            "details",
            "input",
            "totalTokens",
            "summary",
        ])
    };
    let value = leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(name(), inner, 0..5).prop_map(|all| Value::from(
                all.into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
            )),
        ]
    });
    let role = proptest::sample::select(vec![
        "user",
        "assistant",
        "toolResult",
        "custom",
        "compactionSummary",
    ]);
    (
        role,
        proptest::collection::hash_map(name(), value.clone(), 0..6),
        content(),
    )
        .prop_map(|(role, all, content)| {
            let mut message = json!({"content": content});
            for (name, value) in all {
                message[name] = value;
            }
            message["role"] = role.into();
            message
        })
}

#[test]
fn the_deepest_messages_come_through_or_go() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let policy = Policy::of_model("openai-completions", "mock", "m1", true);
    for (list, depth, count) in [(true, 123, 2), (false, 123, 2), (false, 124, 0)] {
        let given = ["user", "user", "assistant", "assistant"].map(|role| {
            let block = format!(r#"{{"type":"new","x":{}}}"#, nested(depth));
            let content = if list { format!("[{block}]") } else { block };
            message(&format!(r#"{{"role":"{role}","content":{content}}}"#))
        });
        assert_eq!(
            replayed(&given, &for_policy(&policy)).len(),
            count,
            "{list} {depth}"
        );
    }
}

#[test]
fn the_work_grows_with_the_history_and_no_faster() {
    let visits = |turns: usize| {
        let turn = [
            r#"{"role":"user","content":"q"}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"toolCall","id":"a","name":"read","arguments":{}}]}"#,
            r#"{"role":"toolResult","toolCallId":"a","content":"r"}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#,
        ]
        .map(message);
        let given: Vec<Message> = turn.iter().cycle().take(4 * turns).cloned().collect();
        let mut draft = Draft::of(&given, 0);
        let policy = Policy::of_model("anthropic-messages", "anthropic", "claude-2", false);
        sanitize(&mut draft, &for_policy(&policy));
        validate(&mut draft, &policy);
        draft.visits
    };
    assert_eq!(visits(200), 2 * visits(100));
    assert!(visits(100) <= 400 * 20, "{}", visits(100));
}
