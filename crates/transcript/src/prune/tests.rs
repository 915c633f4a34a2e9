//! Rounds of pruning over whole histories, and the laws of pruning.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::parse::{Line, parse_line};
use crate::replay::tests::{message, texts_of};
use crate::row::Row;
use crate::tokens::text_units;
use crate::write::{custom_row, reset_row};

const ANSWER: &str = r#"{"role":"assistant","content":[{"type":"text","text":"ok"}]}"#;

fn pruning(config: serde_json::Value) -> Pruning {
    let mut all = json!({"mode": "cache-ttl"});
    all.as_object_mut()
        .unwrap()
        .extend(config.as_object().unwrap().clone());
    Pruning::from_config(&all).unwrap()
}

fn budget(pruning: Option<&Pruning>) -> ResultBudget<'_> {
    ResultBudget {
        window_tokens: 20_000,
        pruning,
        idle_ms: Some(400_000),
        reasoning_dropped: false,
    }
}

fn result_of(id: &str, text: &str) -> Message {
    let block = crate::blocks::text_block(text);
    message(&format!(
        r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"read","content":[{block}],"isError":false,"timestamp":7}}"#
    ))
}

/// One question, then calls with results of these sizes, then three answers.
fn history(sizes: &[usize]) -> Vec<Message> {
    let mut all = vec![message(r#"{"role":"user","content":"go"}"#)];
    for (index, size) in sizes.iter().enumerate() {
        let id = format!("c{index}");
        all.push(message(&format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":"read","arguments":{{}}}}]}}"#
        )));
        all.push(result_of(&id, &"x".repeat(*size)));
    }
    all.extend([ANSWER; 3].map(message));
    all
}

/// The lengths of all results after pruning.
fn lengths(messages: &[Message], pruned: &PrunedResults) -> Vec<usize> {
    let texts = texts_of(messages, pruned.list.pieces.clone());
    let after = texts.iter().map(|json| message(json));
    after
        .filter(|message| message.role() == openclaw_interface::Role::ToolResult)
        .map(|message| crate::blocks::texts(&message.object()).concat().len())
        .collect()
}

#[test]
fn a_cold_cache_lets_long_results_be_trimmed() {
    let given = history(&[15_000, 15_000, 3000]);
    let pruned = prune_tool_results(
        &given,
        &Decisions::default(),
        budget(Some(&pruning(json!({})))),
    );
    assert_eq!(lengths(&given, &pruned), [3087, 3087, 3000]);
    assert_eq!((pruned.pruned, pruned.list.changed), (2, 2));
}

#[test]
fn what_gates_a_round_leaves_all_as_it_is() {
    let given = history(&[15_000, 15_000]);
    let settings = pruning(json!({}));
    let open = budget(Some(&settings));
    let none = pruning(json!({"ttl": "0"}));
    for closed in [
        ResultBudget {
            pruning: None,
            ..open
        },
        ResultBudget {
            pruning: Some(&none),
            ..open
        },
        ResultBudget {
            idle_ms: None,
            ..open
        },
        ResultBudget {
            idle_ms: Some(299_999),
            ..open
        },
        ResultBudget {
            window_tokens: 100_000,
            ..open
        },
    ] {
        assert_eq!(
            prune_tool_results(&given, &Decisions::default(), closed).pruned,
            0,
            "{closed:?}"
        );
    }
    let at_the_minute = ResultBudget {
        idle_ms: Some(300_000),
        ..open
    };
    assert_eq!(
        prune_tool_results(&given, &Decisions::default(), at_the_minute).pruned,
        2
    );
}

#[test]
fn the_newest_results_and_those_before_the_first_question_stay() {
    let settings = pruning(json!({}));
    let mut given = history(&[15_000, 15_000]);
    let recent = &given[..given.len() - 3];
    assert_eq!(
        prune_tool_results(recent, &Decisions::default(), budget(Some(&settings))).pruned,
        0
    );
    let question = given.remove(0);
    given.push(question);
    assert_eq!(
        prune_tool_results(&given, &Decisions::default(), budget(Some(&settings))).pruned,
        0
    );
}

#[test]
fn the_oldest_are_cleared_when_trimming_is_not_enough() {
    let given = history(&[3900; 20]);
    let pruned = prune_tool_results(
        &given,
        &Decisions::default(),
        budget(Some(&pruning(json!({})))),
    );
    let cleared = lengths(&given, &pruned)
        .into_iter()
        .take_while(|length| *length == 33)
        .count();
    assert_eq!((cleared, pruned.pruned), (10, 10));
    let kept = pruning(json!({"hardClear": {"enabled": false}}));
    assert_eq!(
        prune_tool_results(&given, &Decisions::default(), budget(Some(&kept))).pruned,
        0
    );
    // Twelve such results are less than 50,000 together.
    let few = history(&[3900; 12]);
    assert_eq!(
        prune_tool_results(
            &few,
            &Decisions::default(),
            budget(Some(&pruning(json!({}))))
        )
        .pruned,
        0
    );
}

#[test]
fn clearing_never_makes_a_result_longer() {
    let mut sizes = vec![5; 3];
    sizes.extend([3900; 20]);
    let given = history(&sizes);
    let pruned = prune_tool_results(
        &given,
        &Decisions::default(),
        budget(Some(&pruning(json!({})))),
    );
    assert_eq!(lengths(&given, &pruned)[..4], [5, 5, 5, 33]);
}

#[test]
fn a_result_too_large_for_the_window_is_cut_at_its_first_request() {
    let mut given = history(&[]);
    given.push(message(r#"{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"read","arguments":{}}]}"#));
    given.push(result_of("a", &"some words\n".repeat(4000)));
    let first = prune_tool_results(&given, &Decisions::default(), budget(None));
    let [length] = lengths(&given, &first)[..] else {
        panic!("one result")
    };
    assert!((15_900..=16_000).contains(&length), "{length}");
    // The same bytes when the window is another one later.
    let wide = ResultBudget {
        window_tokens: 1_000_000,
        ..budget(None)
    };
    let second = prune_tool_results(&given, &first.decisions, wide);
    assert_eq!(second.list, first.list);
    assert_eq!(cap::max_units(8000), 9600);
}

#[test]
fn results_that_are_too_large_together_give_way_oldest_first() {
    let mut given = history(&[15_000; 8]);
    given.extend([
        message(r#"{"role":"assistant","content":[{"type":"toolCall","id":"n","name":"read","arguments":{}}]}"#),
        result_of("n", &"y".repeat(15_000)),
    ]);
    let pruned = prune_tool_results(&given, &Decisions::default(), budget(None));
    let lengths = lengths(&given, &pruned);
    assert!(lengths.iter().sum::<usize>() <= 64_000, "{lengths:?}");
    assert!(lengths[0] <= 80 && lengths[8] == 15_000, "{lengths:?}");
}

#[test]
fn decisions_survive_a_row() {
    let given = history(&[15_000, 30_000, 3000, 3900]);
    let settings = pruning(json!({"hardClear": {"placeholder": "[gone]"}}));
    let pruned = prune_tool_results(&given, &Decisions::default(), budget(Some(&settings)));
    let touch = Touch {
        timestamp_ms: 9,
        provider: "P",
        model: "m",
    };
    for touch in [None, Some(touch)] {
        let data = pruned.decisions.row_data(touch);
        assert_eq!(
            Decisions::from_row_data(&data),
            Some(pruned.decisions.clone()),
            "{data}"
        );
    }
    for wrong in [
        "",
        "7",
        "{}",
        r#"{"prunedToolResults":[{"key":"a","mode":"new"}]}"#,
        r#"{"prunedToolResults":[{"key":"a","mode":"hard"}]}"#,
    ] {
        assert_eq!(Decisions::from_row_data(wrong), None, "{wrong}");
    }
}

#[test]
fn a_mark_without_a_hash_is_believed() {
    let given = history(&[5000]);
    let data =
        r#"{"prunedToolResults":[{"key":"tool:c0:7","mode":"hard","placeholder":"[gone]"}]}"#;
    let pruned = prune_tool_results(
        &given,
        &Decisions::from_row_data(data).unwrap(),
        budget(None),
    );
    assert_eq!(lengths(&given, &pruned), [6]);
}

#[test]
fn a_result_with_another_text_is_new() {
    let given = history(&[15_000, 15_000]);
    let pruned = prune_tool_results(
        &given,
        &Decisions::default(),
        budget(Some(&pruning(json!({})))),
    );
    let mut rewritten = given.clone();
    rewritten[2] = result_of("c0", &"y".repeat(5000));
    let again = prune_tool_results(&rewritten, &pruned.decisions, budget(None));
    assert_eq!(lengths(&rewritten, &again), [5000, 3087]);
}

#[test]
fn a_second_result_of_the_same_key_does_not_take_the_decision_over() {
    let mut given = history(&[15_000, 15_000]);
    let pruned = prune_tool_results(
        &given,
        &Decisions::default(),
        budget(Some(&pruning(json!({})))),
    );
    given.push(result_of("c0", "later"));
    let again = prune_tool_results(&given, &pruned.decisions, budget(None));
    assert_eq!(lengths(&given, &again), [3087, 3087, 5]);
    assert_eq!(again.list.pieces[..7], pruned.list.pieces[..7]);
    let third = prune_tool_results(&given, &again.decisions, budget(None));
    assert_eq!(
        (&third.list, &third.decisions),
        (&again.list, &again.decisions)
    );
}

fn row(line: &str) -> Row {
    match parse_line(2, line.as_bytes(), &mut Vec::new()) {
        Line::Row(row) => row,
        other => panic!("no row: {other:?}"),
    }
}

#[test]
fn the_newest_row_since_the_last_reset_counts() {
    let given = history(&[15_000, 15_000]);
    let decisions = prune_tool_results(
        &given,
        &Decisions::default(),
        budget(Some(&pruning(json!({})))),
    )
    .decisions;
    let touch = |timestamp_ms| Touch {
        timestamp_ms,
        provider: "Anthropic",
        model: "M-1",
    };
    let note = |data: &str| row(&custom_row("a", None, "", CACHE_TTL_ROW, data));
    let (old, new) = (
        note(&decisions.row_data(Some(touch(5)))),
        note(&decisions.row_data(None)),
    );
    let other = row(&custom_row("b", None, "", "other", "{}"));
    let reset = row(&reset_row("r", None, "", "new", None));
    assert_eq!(Decisions::on_path(&[&old, &other]), decisions);
    assert_eq!(
        Decisions::on_path(&[&old, &reset, &other]),
        Decisions::default()
    );
    assert_eq!(
        last_touch_ms(&[&old, &new, &other], "anthropic", "m-1"),
        Some(5)
    );
    assert_eq!(last_touch_ms(&[&old, &new], "anthropic", "m-2"), None);
}

/// Kinds of results: size, whether with an image, whether the id was used before.
fn sizes() -> impl Strategy<Value = Vec<(usize, bool, bool)>> {
    let size = prop_oneof![0_usize..100, 3900_usize..4100, 10_000_usize..40_000];
    proptest::collection::vec((size, any::<bool>(), proptest::bool::weighted(0.1)), 0..14)
}

fn history_of(results: &[(usize, bool, bool)]) -> Vec<Message> {
    let mut all = vec![message(r#"{"role":"user","content":"go"}"#)];
    for (index, (size, image, repeated)) in results.iter().enumerate() {
        let id = format!("c{}", if *repeated { 0 } else { index });
        let mut blocks = vec![crate::blocks::text_block(&"w ".repeat(size / 2))];
        blocks.extend(
            image.then(|| r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#.to_owned()),
        );
        let blocks = blocks.join(",");
        all.push(message(&format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"{id}","name":"read","arguments":{{}}}}]}}"#
        )));
        all.push(message(&format!(
            r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"read","content":[{blocks}]}}"#
        )));
    }
    all
}

fn weigh(message: &Message) -> u64 {
    units::of_message(message.role(), &message.object(), true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Case P-3.
    #[test]
    fn pruning_keeps_pairs_never_grows_and_is_repeated_byte_for_byte(
        results in sizes(),
        window_tokens in prop_oneof![2_000_u64..60_000, Just(0), Just(u64::MAX)],
        later in 1_usize..4,
    ) {
        let settings = pruning(json!({}));
        let round = ResultBudget { window_tokens, ..budget(Some(&settings)) };
        let given = history_of(&results);
        let first = prune_tool_results(&given, &Decisions::default(), round);
        let once: Vec<Message> = texts_of(&given, first.list.pieces.clone()).iter().map(|json| message(json)).collect();
        prop_assert_eq!(once.len(), given.len());
        for (before, after) in given.iter().zip(&once) {
            prop_assert_eq!(before.role(), after.role());
            prop_assert_eq!(before.calls(), after.calls());
            prop_assert_eq!(before.result_of(), after.result_of());
            prop_assert!(weigh(after) <= weigh(before), "{} units became {}", weigh(before), weigh(after));
        }

        // Nothing pruned anew: the same bytes, with any settings, window and longer history.
        let mut longer = given.clone();
        longer.extend(std::iter::repeat_n(message(ANSWER), later));
        let data = first.decisions.row_data(None);
        let restored = Decisions::from_row_data(&data).unwrap();
        let warm = ResultBudget { idle_ms: Some(0), window_tokens: window_tokens / 2, ..round };
        let second = prune_tool_results(&longer, &restored, warm);
        prop_assert_eq!(second.pruned, 0);
        prop_assert_eq!(&second.list.pieces[..given.len()], &first.list.pieces[..]);
        prop_assert_eq!(second.decisions, first.decisions);
    }

    #[test]
    fn no_decision_on_nonsense_panics(data in "\\PC{0,60}", key in "[a-z:]{0,8}") {
        let _ = Decisions::from_row_data(&data);
        let data = json!({"prunedToolResults": [], "frozenToolResults": [{"key": key, "sourceHash": 7, "texts": [1]}]});
        let decisions = Decisions::from_row_data(&data.to_string()).unwrap();
        let given = history(&[10]);
        let _ = prune_tool_results(&given, &decisions, budget(None));
    }
}

#[test]
fn cut_texts_fit_their_share() {
    let long = "words and words\n".repeat(3000);
    let blocks = [&long, "short", &long]
        .map(crate::blocks::text_block)
        .join(",");
    let given = [message(&format!(
        r#"{{"role":"toolResult","toolCallId":"a","content":[{blocks}]}}"#
    ))];
    let pruned = prune_tool_results(&given, &Decisions::default(), budget(None));
    let after = message(&texts_of(&given, pruned.list.pieces)[0]);
    let object = after.object();
    let texts = crate::blocks::texts(&object);
    assert_eq!(texts.len(), 3);
    let units: u64 = texts.iter().map(|text| text_units(text)).sum();
    assert!((15_000..=16_000).contains(&units), "{units}");
}
