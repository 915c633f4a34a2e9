//! Where a path is cut and what is folded.

use crate::support::{Tally, field, list, oracle, text};
use openclaw_host::compaction::{
    CompactionInput, Cut, PrepareSettings, Prepared, Weighed, find_cut, prepare,
};
use openclaw_transcript::{Row, estimate, parse_row};
use serde_json::{Value, json};

/// Cuts that ours puts between turns: rows that no model sees do not make a turn a split one.
const BETWEEN_TURNS: &[(&str, u64)] = &[("meta", 15)];

fn input(golden: &Value, scenario: &str) -> CompactionInput {
    let entries = list(field(field(golden, "scenarios"), scenario));
    let rows: Vec<Row> = entries
        .iter()
        .map(|entry| parse_row(1, &entry.to_string()).expect("a recorded row"))
        .collect();
    let rows: Vec<&Row> = rows.iter().collect();
    CompactionInput::of_path(&rows, &|_, json| estimate(json))
}

fn number(case: &Value, name: &str) -> u64 {
    field(case, name).as_u64().expect("a number")
}

#[test]
fn paths_are_cut_where_the_original_cuts_them() {
    oracle("cut points", |captured, tally| {
        let golden = captured.golden("cut-points");
        for case in list(field(&golden, "cases")) {
            let (scenario, keep_recent) =
                (text(case, "scenario"), number(case, "keepRecentTokens"));
            let cut = find_cut(&input(&golden, scenario), keep_recent, None);
            compare_cut(tally, scenario, keep_recent, field(case, "result"), cut);
        }
    });
}

fn compare_cut(tally: &mut Tally, scenario: &str, keep_recent: u64, expected: &Value, cut: Cut) {
    let actual = json!({
        "firstKeptEntryIndex": cut.first_kept,
        "turnStartIndex": cut.turn_start.map_or(-1, |at| i64::try_from(at).expect("a small index")),
        "isSplitTurn": cut.turn_start.is_some(),
    });
    let mut expected = expected.clone();
    if BETWEEN_TURNS.contains(&(scenario, keep_recent)) {
        assert_eq!(
            expected["isSplitTurn"],
            json!(true),
            "no longer different: {scenario} {keep_recent}"
        );
        expected["turnStartIndex"] = json!(-1);
        expected["isSplitTurn"] = json!(false);
    }
    tally.same(
        format!("{scenario} keeping {keep_recent}"),
        "cut",
        &expected,
        &actual,
    );
}

#[test]
fn compactions_are_prepared_as_in_the_original() {
    oracle("prepare compaction", |captured, tally| {
        let scenarios = captured.golden("cut-points");
        for case in list(&captured.golden("prepare-compaction")) {
            let (scenario, keep_recent) =
                (text(case, "scenario"), number(case, "keepRecentTokens"));
            let input = input(&scenarios, scenario);
            let prepared = prepare(
                &input,
                &PrepareSettings {
                    keep_recent_tokens: keep_recent,
                    room_tokens: None,
                    known_tokens: None,
                    keep_from_id: None,
                    force: false,
                },
            );
            let actual = prepared.map_or_else(|_| json!({}), |prepared| recorded(&prepared));
            let case_name = format!("{scenario} keeping {keep_recent}");
            tally.same(case_name, "prepared", field(case, "result"), &actual);
        }
    });
}

fn recorded(prepared: &Prepared<'_>) -> Value {
    let roles = |messages: &[Weighed<'_>]| -> Vec<&'static str> {
        messages.iter().map(|it| it.message.role().name()).collect()
    };
    let mut value = json!({
        "firstKeptEntryId": prepared.first_kept_entry_id,
        "isSplitTurn": prepared.cut.turn_start.is_some(),
        "tokensBefore": prepared.tokens_before,
        "messagesToSummarize": roles(&prepared.history),
        "turnPrefixMessages": roles(&prepared.turn_prefix),
    });
    if let Some(previous) = prepared.previous_summary {
        value["previousSummary"] = json!(previous);
    }
    value
}
