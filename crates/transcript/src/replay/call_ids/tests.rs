//! Ids of every scheme: valid, unique, stable, the same in a call and its result.

use proptest::prelude::*;

use super::*;
use crate::replay::policy::NativeIds;
use crate::replay::tests::run;

const STRICT: CallIds = CallIds::Strict(NativeIds::None);

/// The ids after renaming calls with these ids, one message each, each with its result.
fn renamed(scheme: CallIds, ids: &[&str]) -> Vec<String> {
    let given: Vec<String> = ids
        .iter()
        .flat_map(|id| {
            let id = json::quote(id);
            [
                format!(r#"{{"role":"assistant","content":[{{"type":"toolCall","id":{id},"name":"n","arguments":{{}}}}]}}"#),
                format!(r#"{{"role":"toolResult","toolCallId":{id},"content":[]}}"#),
            ]
        })
        .collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let after = run(|draft| rename(draft, scheme), &given);
    let messages: Vec<Message> = after
        .iter()
        .map(|json| Message::from_json(json).unwrap())
        .collect();
    messages
        .chunks(2)
        .map(|pair| {
            let id = pair[0].calls()[0].id.clone();
            assert_eq!(pair[1].result_of(), Some(id.as_str()));
            id
        })
        .collect()
}

#[test]
fn strict_ids_are_letters_and_digits_and_unique() {
    assert_eq!(
        renamed(STRICT, &["call_1", "a b", "!!"]),
        ["call1", "ab", "defaulttoolid"]
    );
    assert_eq!(renamed(STRICT, &["a!", "a?"])[0], "a");
    assert_eq!(renamed(STRICT, &["a!", "a?"])[1].len(), 9);
    assert_eq!(renamed(STRICT, &["d", "d", "d2", "d"])[..2], ["d", "d2"]);
    assert_eq!(renamed(STRICT, &["d", "d", "d2", "d"])[3], "d3");
    assert_eq!(renamed(STRICT, &[&"x".repeat(50)])[0].len(), 40);
    assert_eq!(renamed(STRICT, &["toolu_01A"]), ["toolu01A"]);
}

#[test]
fn native_ids_stay_where_they_are_at_home() {
    let anthropic = CallIds::Strict(NativeIds::Anthropic);
    assert_eq!(
        renamed(anthropic, &["toolu_01A", "toolu_01A", "call_1"]),
        ["toolu_01A", "toolu01A2", "call1"]
    );
    let kimi = CallIds::Strict(NativeIds::Kimi);
    assert_eq!(
        renamed(kimi, &["functions.read:0", "functions.read:x"]),
        ["functions.read:0", "functionsreadx"]
    );
}

#[test]
fn nine_means_nine() {
    let ids = renamed(CallIds::Nine, &["abcdefghi", "abcdefghij", "a", "!", "a"]);
    assert_eq!(ids[0], "abcdefghi");
    assert!(ids.iter().all(|id| id.len() == 9), "{ids:?}");
}

#[test]
fn responses_ids_keep_their_form_and_their_reuse() {
    let ids = renamed(
        CallIds::Responses,
        &["call_1", "fc_1", "x|y", "x", "x", "call_a|fc_b"],
    );
    assert_eq!(
        (&*ids[0], &*ids[1], &*ids[5]),
        ("call_1", "fc_1", "call_a|fc_b")
    );
    assert!(
        ids[2].starts_with("call_x_") && ids[2].contains("|fc_y_"),
        "{}",
        ids[2]
    );
    assert_eq!(ids[3], ids[4]);
    let long = renamed(CallIds::Responses, &[&"z".repeat(200)]);
    assert_eq!(long[0].len(), 64);
}

#[test]
fn parallel_calls_of_one_id_get_their_own_results() {
    let given = [
        r#"{"role":"assistant","content":[{"type":"toolCall","id":"a_","name":"n","arguments":{}},{"type":"tool_use","id":"a_","name":"n","input":{}}]}"#,
        r#"{"role":"toolResult","toolCallId":"a_","tool_call_id":"a_","content":[]}"#,
        r#"{"role":"toolResult","toolCallId":"a_","content":[]}"#,
    ];
    let after = run(|draft| rename(draft, STRICT), &given);
    assert!(
        after[1].contains(r#""toolCallId":"a","tool_call_id":"a""#),
        "{}",
        after[1]
    );
    assert!(after[2].contains(r#""toolCallId":"a2""#), "{}", after[2]);
}

fn scheme() -> impl Strategy<Value = CallIds> {
    prop_oneof![
        Just(STRICT),
        Just(CallIds::Strict(NativeIds::Anthropic)),
        Just(CallIds::Strict(NativeIds::Kimi)),
        Just(CallIds::Nine),
        Just(CallIds::Responses),
    ]
}

proptest! {
    #[test]
    fn ids_fit_are_unique_and_renaming_twice_is_renaming_once(
        scheme in scheme(),
        ids in proptest::collection::vec("[a-c!|_é]{1,3}|toolu_[ab]|functions.a:[0-9]|[a-c]{9,60}", 1..12),
    ) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let once = renamed(scheme, &ids);
        let distinct: HashSet<&String> = once.iter().collect();
        match scheme {
            CallIds::Responses | CallIds::Any => {
                prop_assert!(once.iter().all(|id| id.split('|').all(|part| part.len() <= 64)));
            }
            CallIds::Strict(_) => {
                prop_assert_eq!(distinct.len(), ids.len());
                prop_assert!(once.iter().all(|id| id.len() <= 64 && !id.is_empty()));
            }
            CallIds::Nine => {
                prop_assert_eq!(distinct.len(), ids.len());
                prop_assert!(once.iter().all(|id| id.len() == 9));
            }
        }
        let borrowed: Vec<&str> = once.iter().map(String::as_str).collect();
        prop_assert_eq!(&renamed(scheme, &borrowed), &once);
        // A longer history begins with the same ids.
        let shorter = renamed(scheme, &ids[..ids.len() - 1]);
        prop_assert_eq!(&once[..ids.len() - 1], &shorter[..]);
    }
}
