//! A history that is kept and grows comes to what it comes to from scratch, and costs what is new.

use super::*;
use openclaw_transcript::{Policy, Replay, TurnLimit, pair, replay};
use proptest::prelude::*;
use proptest::sample::select;

/// Every kind of policy there is.
fn policies() -> impl Strategy<Value = Policy> {
    select(vec![
        Policy::default(),
        Policy::of_model("openai-completions", "mock", "m1", false),
        Policy::of_model("openai-completions", "mistral", "large", true),
        Policy::of_model("anthropic-messages", "anthropic", "claude-2", false),
        Policy::of_model("anthropic-messages", "anthropic", "claude-opus-4-6", false),
        Policy::of_model("google-generative-ai", "google", "gemini-2.5-pro", false),
        Policy::of_model("openai-responses", "openai", "gpt-5", false),
        Policy::of_model("ollama", "ollama", "llama", false),
    ])
}

fn manners() -> impl Strategy<Value = Manner> {
    (policies(), prop::option::of(1_u32..4)).prop_map(|(policy, limit)| Manner {
        policy,
        limit: limit.and_then(|limit| TurnLimit::new(limit.into())),
        ..Manner::default()
    })
}

/// A message that goes behind what is there; mostly ordinary ones, so that there are seams.
fn message() -> impl Strategy<Value = Vec<String>> {
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}","timestamp":7}}"#);
    let said = |blocks: &str, members: &str| {
        format!(r#"{{"role":"assistant","content":[{blocks}],"stopReason":"stop"{members}}}"#)
    };
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let call =
        |id: &str| format!(r#"{{"type":"toolCall","id":"{id}","name":"ls","arguments":{{}}}}"#);
    let result = move |id: &str, members: &str| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"ls","content":[{}]{members}}}"#,
            text("r")
        )
    };
    let ids = || select(vec!["call_1", "call_1!", "toolu_01", "call_2|fc_2", "é"]);
    let thought = r#"{"type":"thinking","thinking":"t"}"#;
    let signed = r#"{"type":"thinking","thinking":"t","thinkingSignature":"s"}"#;
    let usage = r#","usage":{"input":3,"output":2}"#;
    prop_oneof![
        8 => "[a-z]{1,5}".prop_map(move |words| vec![user(&words)]),
        8 => "[a-z]{1,5}".prop_map(move |words| vec![said(&text(&words), usage)]),
        6 => ids().prop_map(move |id| vec![said(&call(id), ""), result(id, "")]),
        2 => ids().prop_map(move |id| vec![said(&format!("{thought},{}", call(id)), ""), result(id, "")]),
        2 => ids().prop_map(move |id| vec![said(&call(id), "")]),
        1 => ids().prop_map(move |id| vec![result(id, "")]),
        1 => ids().prop_map(move |id| vec![said(&call(id), r#","provider":"openclaw","model":"delivery-mirror""#), result(id, "")]),
        2 => Just(vec![said(&format!("{signed},{}", text("x")), "")]),
        1 => Just(vec![said(thought, "")]),
        2 => Just(vec![user("[OpenClaw heartbeat poll]"), said(&text("HEARTBEAT_OK"), "")]),
        1 => Just(vec![user("[OpenClaw heartbeat poll]")]),
        1 => Just(vec![user(" ")]),
        1 => Just(vec![said(&text("NO_REPLY"), "")]),
        1 => Just(vec![said(&text("half"), r#","errorMessage":"e""#).replace("\"stop\"", "\"error\"")]),
        1 => Just(vec![r#"{"role":"compactionSummary","summary":"S","timestamp":5}"#.to_owned()]),
        1 => Just(vec![r#"{"role":"custom","content":"note"}"#.to_owned()]),
    ]
}

fn held(json: &str) -> Held {
    let message = Message::from_json(json).unwrap();
    Held {
        id: "e".into(),
        ..Held::made(message.role(), json)
    }
}

/// The history as a host holds it: in pairs.
fn paired(texts: &[String]) -> Vec<Held> {
    let given: Vec<Held> = texts.iter().map(|json| held(json)).collect();
    let parsed: Vec<Message> = texts
        .iter()
        .map(|json| Message::from_json(json).unwrap())
        .collect();
    apply(&given, pair(&parsed).pieces)
}

/// What a replay of the whole gives.
fn replayed(history: &[Held], manner: &Manner, prelude: usize) -> Vec<String> {
    let parsed: Vec<Message> = history
        .iter()
        .map(|held| Message::from_json(&held.json).unwrap())
        .collect();
    let request = Replay {
        policy: manner.policy.clone(),
        limit: manner.limit,
        heartbeat_prompt: manner.heartbeat_prompt.as_deref(),
        prelude,
        is_over: true,
        ..Replay::default()
    };
    let pieces = replay(&parsed, &request).pieces.into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Keep(index) => history[index].json.to_string(),
            Piece::New { json, .. } => json,
        })
        .collect()
}

fn texts(messages: &[Held]) -> Vec<&str> {
    messages.iter().map(|held| &*held.json).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    #[test]
    fn what_grew_is_what_a_replay_of_the_whole_gives(
        steps in prop::collection::vec((message(), any::<bool>()), 1..40),
        manner in manners(),
        prelude in 0_usize..3,
        rewritten in prop::option::weighted(0.3, (0_usize..40, 0_usize..20)),
    ) {
        let mut fitted = Fitted::new(&manner);
        let mut given: Vec<String> = Vec::new();
        for (index, (messages, is_turn)) in steps.into_iter().enumerate() {
            given.extend(messages);
            if let Some((_, at)) = rewritten.filter(|(when, _)| *when == index) {
                // The path moved: what was read before is not what is there.
                given.truncate(at);
            }
            if !is_turn {
                continue;
            }
            let history = paired(&given);
            fitted.follow(&history, prelude);
            prop_assert_eq!(texts(fitted.messages()), replayed(&history, &manner, prelude));
            for held in fitted.messages() {
                prop_assert_eq!(u64::from(held.tokens), TokenCounter.message(&held.json));
            }
        }
    }
}

/// A turn with a tool call and an answer.
fn turn(number: usize) -> Vec<String> {
    vec![
        format!(r#"{{"role":"user","content":"question {number}"}}"#),
        format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"call_{number}","name":"ls","arguments":{{}}}}]}}"#
        ),
        format!(
            r#"{{"role":"toolResult","toolCallId":"call_{number}","toolName":"ls","content":"r"}}"#
        ),
        format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"answer {number}"}}],"stopReason":"stop"}}"#
        ),
    ]
}

#[test]
fn a_turn_replays_the_turns_around_it_and_not_the_history() {
    for policy in [
        Policy::default(),
        Policy::of_model("openai-completions", "mock", "m1", false),
        Policy::of_model("anthropic-messages", "anthropic", "claude-2", false),
    ] {
        let manner = Manner {
            policy,
            ..Manner::default()
        };
        let mut fitted = Fitted::new(&manner);
        let mut given = Vec::new();
        for number in 0..200 {
            given.extend(turn(number));
            let before = fitted.replayed;
            fitted.follow(&paired(&given), 0);
            assert!(fitted.replayed - before <= 8, "turn {number}");
        }
        let before = fitted.replayed;
        fitted.follow(&paired(&given), 0);
        assert!(fitted.replayed - before <= 8, "again");
    }
}

#[test]
fn a_message_that_is_not_changed_is_the_one_given_and_a_changed_one_keeps_its_entry() {
    let mut fitted = Fitted::new(&Manner {
        policy: Policy::of_model("openai-completions", "mock", "m1", false),
        ..Manner::default()
    });
    let history = paired(&turn(1));
    fitted.follow(&history, 0);
    assert!(Arc::ptr_eq(&fitted.messages()[0].json, &history[0].json));
    assert!(fitted.messages()[1].json.contains(r#""id":"call1""#));
    assert!(fitted.messages().iter().all(|held| &*held.id == "e"));
}

#[test]
fn calls_of_the_turn_that_goes_on_get_ids_of_their_own() {
    let mut fitted = Fitted::new(&Manner {
        policy: Policy::of_model("openai-completions", "mock", "m1", false),
        ..Manner::default()
    });
    let mut given: Vec<String> = (0..9).flat_map(turn).collect();
    fitted.follow(&paired(&given), 0);
    let again = turn(3);
    let pending: Vec<Held> = again[..3].iter().map(|json| held(json)).collect();
    let sent = fitted.behind(&pending);
    assert_eq!(sent.len(), 3);
    assert!(
        sent[1].json.contains(r#""id":"call32""#),
        "{}",
        sent[1].json
    );
    assert!(sent[2].json.contains(r#""toolCallId":"call32""#));
    // As part of the history it is sent in the same bytes.
    given.extend(again);
    fitted.follow(&paired(&given), 0);
    let history = texts(fitted.messages());
    assert_eq!(history[36..39], texts(&sent)[..]);
}
