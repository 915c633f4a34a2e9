//! Thresholds, pressure and chunk sizes.

use super::{message_of, sized};
use crate::support::{field, list, oracle, text};
use openclaw_host::compaction::{
    PressureInput, Route, Weighed, chunk_ratio, chunks, oversized_note, pressure, should_compact,
    stages,
};
use openclaw_transcript::Message;
use serde_json::{Value, json};
use std::ops::Range;

fn number(case: &Value, name: &str) -> u64 {
    field(case, name).as_u64().expect("a number")
}

#[test]
fn compaction_is_due_as_in_the_original() {
    oracle("should compact", |captured, tally| {
        for (index, case) in list(&captured.golden("should-compact")).iter().enumerate() {
            let [context, window, reserve] =
                ["contextTokens", "contextWindow", "reserveTokens"].map(|name| number(case, name));
            let actual = should_compact(context, window, reserve);
            tally.same(index, "due", field(case, "result").as_bool(), Some(actual));
        }
    });
}

#[test]
fn requests_are_checked_before_they_are_sent_as_in_the_original() {
    oracle("precheck", |captured, tally| {
        for case in list(&captured.golden("precheck")) {
            let (name, input) = (text(case, "name"), field(case, "input"));
            let messages: Vec<Message> = list(field(input, "messages"))
                .iter()
                .map(|short| of_chars(short.as_str().expect("a short message")))
                .collect();
            let system_prompt = "s".repeat(chars(text(input, "systemPrompt")));
            let schemas = input.get("toolSchemaTokens").and_then(Value::as_u64);
            let found = pressure(&PressureInput {
                messages: &messages,
                system_prompt: &system_prompt,
                prompt: text(input, "prompt"),
                tool_schema_tokens: schemas.unwrap_or(0),
                budget_tokens: number(input, "contextTokenBudget"),
                reserve_tokens: number(input, "reserveTokens"),
            });
            let expected = field(case, "result");
            for (what, actual) in [
                ("route", json!(route(found.route))),
                (
                    "shouldCompact",
                    json!(matches!(
                        found.route,
                        Route::CompactOnly | Route::CompactThenTruncate
                    )),
                ),
                ("estimatedPromptTokens", json!(found.estimated_tokens)),
                (
                    "promptBudgetBeforeReserve",
                    json!(found.prompt_budget_tokens),
                ),
                ("overflowTokens", json!(found.overflow_tokens)),
                ("toolResultReducibleChars", json!(found.reducible_units)),
                (
                    "effectiveReserveTokens",
                    json!(found.effective_reserve_tokens),
                ),
            ] {
                tally.same(name, what, field(expected, what), &actual);
            }
        }
    });
}

fn route(route: Route) -> &'static str {
    match route {
        Route::Fits => "fits",
        Route::CompactOnly => "compact_only",
        Route::TruncateToolResultsOnly => "truncate_tool_results_only",
        Route::CompactThenTruncate => "compact_then_truncate",
    }
}

/// `4000 chars` as 4000.
fn chars(short: &str) -> usize {
    let (count, unit) = short.split_once(' ').expect("a count and a unit");
    assert_eq!(unit, "chars");
    count.parse().expect("a count")
}

/// `user:4000 chars` as a message with a text of that length.
fn of_chars(short: &str) -> Message {
    let (role, count) = short.split_once(':').expect("role:count");
    let text = "w".repeat(chars(count));
    let blocks = json!([{ "type": "text", "text": text }]);
    message_of(&match role {
        "user" => json!({ "role": role, "content": text }),
        "assistant" => json!({ "role": role, "content": blocks }),
        "toolResult" => {
            json!({ "role": role, "toolCallId": "c", "toolName": "x", "content": blocks })
        }
        other => panic!("no role {other}"),
    })
}

#[test]
fn chunks_are_as_large_as_in_the_original() {
    oracle("adaptive chunk ratio", |captured, tally| {
        for case in list(field(&captured.golden("adaptive-chunk-ratio"), "cases")) {
            let tokens: Vec<u64> = list(field(case, "messageTokens"))
                .iter()
                .map(|tokens| tokens.as_u64().expect("tokens"))
                .collect();
            let actual = chunk_ratio(&tokens, number(case, "window"));
            tally.same(
                text(case, "name"),
                "ratio",
                field(case, "ratio").as_f64(),
                Some(actual),
            );
        }
    });
}

/// Runs `divide` on the messages of a case and gives its parts in the recording's form.
fn divided(
    case: &Value,
    divide: impl Fn(&[Weighed<'_>], u64) -> Vec<Range<usize>>,
) -> Vec<Vec<Value>> {
    let shorts = list(field(case, "messages"));
    let messages: Vec<(Message, u64)> = shorts
        .iter()
        .map(|short| sized(short.as_str().expect("a short message")))
        .collect();
    let weighed: Vec<Weighed<'_>> = messages
        .iter()
        .map(|(message, tokens)| Weighed {
            message,
            tokens: *tokens,
        })
        .collect();
    let parts = divide(&weighed, number(case, "maxChunkTokens"));
    parts
        .into_iter()
        .map(|part| shorts[part].to_vec())
        .collect()
}

#[test]
fn histories_are_cut_into_the_chunks_of_the_original() {
    oracle("summary chunks", |captured, tally| {
        for case in list(&captured.golden("summary-chunks")) {
            let actual = json!(divided(case, chunks));
            tally.same(text(case, "name"), "chunks", field(case, "chunks"), &actual);
        }
    });
}

#[test]
fn histories_are_summarised_in_the_stages_of_the_original() {
    oracle("stage split", |captured, tally| {
        for case in list(&captured.golden("stage-split")) {
            let parts = divided(case, stages);
            let actual = if parts.len() == 1 {
                json!({ "mode": "single" })
            } else {
                json!({ "mode": "split", "chunks": parts })
            };
            tally.same(text(case, "name"), "stages", field(case, "result"), &actual);
        }
    });
}

#[test]
fn oversized_messages_are_left_out_as_in_the_original() {
    oracle("oversized fallback", |captured, tally| {
        let case = captured.golden("oversized-fallback");
        let (mut small, mut notes) = (Vec::new(), Vec::new());
        for short in list(field(&case, "messages")) {
            let (message, tokens) = sized(short.as_str().expect("a short message"));
            let weighed = Weighed {
                message: &message,
                tokens,
            };
            match oversized_note(weighed, number(&case, "contextWindow")) {
                Some(note) => notes.push(note),
                None => small.push(short.clone()),
            }
        }
        let actual = json!({ "smallMessages": small, "oversizedNotes": notes });
        tally.same("oversized", "result", field(&case, "result"), &actual);
    });
}
