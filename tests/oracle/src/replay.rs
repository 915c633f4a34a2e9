//! From stored history to what a provider accepts.

use crate::support::{field, list, oracle, parsed, text};
use openclaw_transcript::{
    Message, Piece, Policy, Replay, Target, TurnLimit, for_request, limit_turns, normalize_history,
    replay, sanitize_history, turn_limit,
};
use serde_json::{Value, json};

/// The recorded models, and whether they reason.
const MODELS: [(&str, &str, &str); 4] = [
    ("openai-completions", "mock", "m1"),
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5"),
    ("google-generative-ai", "google", "gemini-2.5-pro"),
    ("openai-responses", "openai", "gpt-5"),
];

#[test]
fn histories_are_replayed_as_the_original_does() {
    oracle("replay pipeline", |captured, tally| {
        let golden = captured.golden("replay-pipeline");
        let recorded = list(&golden);
        for (api, provider, model) in MODELS {
            let policy = recorded
                .iter()
                .filter(|one| text(one, "kind") == "policy")
                .find(|one| text(one, "modelApi") == api)
                .unwrap_or_else(|| panic!("no policy for {api}"));
            tally.same(
                api,
                "model",
                [text(policy, "provider"), text(policy, "modelId")],
                [provider, model],
            );
            let request = Replay {
                policy: Policy::of_model(api, provider, model, false),
                ..Replay::default()
            };
            let cases = recorded.iter().filter(|one| text(one, "kind") == "case");
            for case in cases.filter(|case| text(case, "modelApi") == api) {
                let name = format!("{} for {api}", text(case, "name"));
                let given = messages(field(case, "input"));
                let sanitized = texts(&given, sanitize_history(&given, &request).pieces);
                tally.same(
                    &name,
                    "sanitized",
                    timeless(field(case, "sanitized")),
                    sanitized,
                );
                let validated = texts(&given, replay(&given, &request).pieces);
                tally.same(
                    &name,
                    "validated",
                    timeless(field(case, "validated")),
                    validated,
                );
            }
        }
    });
}

#[test]
fn content_is_normalized_as_the_original_does() {
    oracle("normalize replay", |captured, tally| {
        for (index, case) in list(&captured.golden("normalize-replay"))
            .iter()
            .enumerate()
        {
            let given = messages(field(case, "messages"));
            tally.same(
                format!("normalize-replay {index}"),
                "output",
                list(field(case, "output")).to_vec(),
                texts(&given, normalize_history(&given)),
            );
        }
    });
}

#[test]
fn histories_are_limited_as_the_original_does() {
    oracle("history limit", |captured, tally| {
        for case in list(&captured.golden("history-limit")) {
            let count = field(case, "userTurns")
                .as_u64()
                .expect("a number of turns");
            let limit = field(case, "limit").as_f64().expect("a limit");
            let name = format!("{count} turns, limit {limit}");
            let lead: &[Value] = match case.get("roles") {
                None => &[],
                Some(_) => &[
                    json!({"role": "compactionSummary", "summary": "S"}),
                    json!({"role": "branchSummary", "summary": "B"}),
                ],
            };
            let turns = (1..=count).flat_map(|turn| {
                ["user", "assistant"]
                    .map(|role| json!({"role": role, "content": format!("{}{turn}", &role[..1])}))
            });
            let given: Vec<Value> = lead.iter().cloned().chain(turns).collect();
            let given = messages(&Value::from(given));
            let pieces = limit_turns(&given, 0, TurnLimit::new(limit));
            let kept = pieces.len();
            let after = texts(&given, pieces);
            let said = |one: &Value| {
                let said = one.get("content").or_else(|| one.get("summary"));
                format!(
                    "{}:{}",
                    text(one, "role"),
                    said.and_then(Value::as_str).unwrap_or_default()
                )
            };
            if let Some(roles) = case.get("roles") {
                let roles: Vec<&str> = list(roles).iter().filter_map(Value::as_str).collect();
                tally.same(
                    name,
                    "roles",
                    roles,
                    after
                        .iter()
                        .map(said)
                        .collect::<Vec<_>>()
                        .iter()
                        .map(String::as_str)
                        .collect(),
                );
                continue;
            }
            let first = format!("user:{}", text(case, "firstKept"));
            tally.same(&name, "first", Some(first), after.first().map(said));
            let users = after
                .iter()
                .filter(|one| text(one, "role") == "user")
                .count();
            tally.same(
                &name,
                "turns",
                field(case, "keptUserTurns").as_u64(),
                Some(users as u64),
            );
            tally.same(
                &name,
                "untouched",
                field(case, "untouched").as_bool(),
                Some(kept == given.len()),
            );
        }
    });
}

#[test]
fn limits_are_found_as_the_original_does() {
    oracle("history limit from key", |captured, tally| {
        let golden = captured.golden("history-limit-from-key");
        let channels = field(field(&golden, "config"), "channels");
        for case in list(field(&golden, "cases")) {
            let key = text(case, "sessionKey");
            let expected = field(case, "limit").as_f64().and_then(TurnLimit::new);
            tally.same(
                format!("`{key}`"),
                "limit",
                expected,
                turn_limit(key, channels),
            );
        }
    });
}

#[test]
fn summaries_are_told_as_the_original_does() {
    oracle("summaries in requests", |captured, tally| {
        let target = Target {
            provider: "mock",
            model: "m1",
            images: true,
            prefill: true,
        };
        for name in ["imported-v3-then-turn", "after-compaction"] {
            let request = captured.json(&format!("openclaw-outputs/model-requests/{name}.json"));
            let blocks = list(field(&request, "messages"))
                .iter()
                .filter_map(|message| message["content"].as_array())
                .flatten();
            for told in blocks.filter_map(|block| block["text"].as_str()) {
                let Some((lead, summary)) = told.split_once("<summary>\n") else {
                    continue;
                };
                let role = if lead.contains("branch") {
                    "branchSummary"
                } else {
                    "compactionSummary"
                };
                let summary = summary.trim_end_matches("</summary>");
                let summary = if role == "branchSummary" {
                    summary
                } else {
                    summary.trim_end_matches('\n')
                };
                let given = messages(&json!([{"role": role, "summary": summary}]));
                let after = texts(&given, for_request(&given, target));
                let expected =
                    json!([{"role": "user", "content": [{"type": "text", "text": told}]}]);
                tally.same(name, role, expected, Value::from(after));
            }
        }
    });
}

fn messages(list: &Value) -> Vec<Message> {
    crate::support::list(list)
        .iter()
        .map(|message| Message::from_json(&message.to_string()).expect("a recorded message"))
        .collect()
}

fn texts(given: &[Message], pieces: Vec<Piece>) -> Vec<Value> {
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Keep(index) => parsed("kept message", given[index].json()),
            Piece::New { json, .. } => parsed("made message", &json),
        })
        .collect()
}

/// The list without the times of messages the original made: ours have the time of the message they belong to.
fn timeless(list: &Value) -> Vec<Value> {
    let mut messages = crate::support::list(list).to_vec();
    for message in &mut messages {
        if message.get("timestamp").is_some_and(|time| time == "<now>") {
            message
                .as_object_mut()
                .expect("a message is an object")
                .remove("timestamp");
        }
    }
    messages
}
