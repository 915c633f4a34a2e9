//! Shortening of old images and tool results.

use crate::support::{CapturedTranscript, field, list, oracle, parsed, text};
use openclaw_transcript::{
    CACHE_TTL_ROW, Decisions, Message, Piece, Pruning, ResultBudget, estimate, history_share,
    prune_history_images, prune_tool_results, truncate_tool_text,
};
use serde_json::{Value, json};

#[test]
fn tool_texts_are_cut_as_the_original_does() {
    oracle("tool result truncation", |captured, tally| {
        for case in list(&captured.golden("tool-result-truncation")) {
            let (length, max) = (number(case, "inputLength"), number(case, "maxChars"));
            let tail = text(case, "tail");
            let body = usize::try_from(length).expect("a length") - tail.len();
            let given: String = "line of text\n".chars().cycle().take(body).collect();
            let cut = truncate_tool_text(&format!("{given}{tail}"), max);
            let name = format!("{length} chars to {max}, tail {tail:?}");
            let cut: Vec<char> = cut.chars().collect();
            tally.same(
                &name,
                "length",
                number(case, "outputLength"),
                cut.len() as u64,
            );
            let (head, end) = (text(case, "head"), text(case, "end"));
            let first: String = cut.iter().take(head.chars().count()).collect();
            tally.same(&name, "head", head, &first);
            let last: String = cut[cut.len().saturating_sub(end.chars().count())..]
                .iter()
                .collect();
            tally.same(&name, "end", end, &last);
            let whole: String = cut.iter().collect();
            let marker = whole.contains("middle content omitted");
            tally.same(
                &name,
                "marker",
                field(case, "hasMiddleMarker").as_bool(),
                Some(marker),
            );
        }
    });
}

#[test]
fn old_images_are_pruned_as_the_original_does() {
    oracle("history image prune", |captured, tally| {
        let image = || json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        let block = |text: String| json!({"type": "text", "text": text});
        for case in list(&captured.golden("history-image-prune")) {
            let turns = number(case, "completedTurns");
            let mut given = Vec::new();
            for turn in 0..turns {
                let asked = block(format!("q{turn} [media attached: /x/y.png]"));
                given.push(json!({"role": "user", "content": [asked, image()]}));
                given.push(json!({"role": "assistant", "content": [block("ok".into())]}));
            }
            given.push(json!({"role": "user", "content": [block("now".into()), image()]}));
            let given = messages(&given);
            let after = texts(&given, prune_history_images(&given).pieces);
            let shown = |block: &Value| match text(block, "type") {
                "image" => Value::from("IMAGE"),
                _ => field(block, "text").clone(),
            };
            let users = after.iter().filter(|one| text(one, "role") == "user");
            let contents: Vec<Value> = users
                .map(|one| list(field(one, "content")).iter().map(shown).collect())
                .collect();
            tally.same(
                format!("{turns} turns"),
                "contents",
                field(case, "userContents"),
                &Value::from(contents),
            );
        }
    });
}

#[test]
fn a_history_gives_way_as_in_the_original() {
    oracle("history prune plan", |captured, tally| {
        for case in list(&captured.golden("history-prune-plan")) {
            let shown: Vec<&str> = list(field(case, "messages"))
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let given = messages(
                &(0..shown.len())
                    .map(|at| sized(&shown, at))
                    .collect::<Vec<_>>(),
            );
            let tokens: Vec<u64> = given
                .iter()
                .map(|message| estimate(message.json()))
                .collect();
            let (before, window) = (
                number(case, "tokensBefore"),
                number(case, "contextWindowTokens"),
            );
            let name = text(case, "name");
            tally.same(
                name,
                "new tokens",
                number(case, "newContentTokens"),
                before - tokens.iter().sum::<u64>().min(before),
            );
            let share = history_share(&given, &tokens, before, window);
            let expected = match field(case, "pruned") {
                Value::Null => None,
                pruned => Some((
                    number(pruned, "droppedMessages"),
                    number(pruned, "droppedChunks"),
                )),
            };
            let found =
                share.map(|share| (share.dropped_messages as u64, share.dropped_chunks as u64));
            tally.same(name, "dropped", expected, found);
        }
    });
}

/// The message shown as `role:tokens`; an assistant before a result calls for it.
fn sized(shown: &[&str], at: usize) -> Value {
    let (role, tokens) = shown[at].split_once(':').expect("role and tokens");
    let filler = "x".repeat(4 * tokens.parse::<usize>().expect("tokens"));
    let mut content = vec![json!({"type": "text", "text": filler})];
    if shown
        .get(at + 1)
        .is_some_and(|next| next.starts_with("toolResult"))
    {
        content.push(json!({"type": "toolCall", "id": "c", "name": "r", "arguments": {}}));
    }
    json!({"role": role, "toolCallId": "c", "toolName": "r", "isError": false, "content": content})
}

#[test]
fn tool_results_are_pruned_as_the_original_does() {
    oracle("cache ttl pruning", |captured, tally| {
        for case in list(&captured.golden("cache-ttl-pruning")) {
            let name = text(case, "name");
            let sizes: Vec<u64> = list(field(case, "inputSizes"))
                .iter()
                .filter_map(Value::as_u64)
                .collect();
            let given = messages(&conversation(name, &sizes));
            let pruning = Pruning::from_config(field(case, "config")).expect("it is switched on");
            let budget = ResultBudget {
                window_tokens: number(case, "contextWindowTokens"),
                pruning: Some(&pruning),
                idle_ms: field(case, "ageMs").as_u64(),
                reasoning_dropped: false,
            };
            // The recorded function knows no size at a first request: what was sent before is sent whole.
            let sent = list(field(case, "result")).len();
            let first = ResultBudget {
                window_tokens: 10_000_000,
                pruning: None,
                ..budget
            };
            let seen = prune_tool_results(&given, &Decisions::default(), first).decisions;
            let pruned = prune_tool_results(&given, &seen, budget);
            let after = texts(&given, pruned.list.pieces);
            let results = after.iter().filter(|one| text(one, "role") == "toolResult");
            let shown: Vec<Value> = results.map(shown).map(Value::from).collect();
            tally.same(name, "results", list(field(case, "result")), &shown[..]);
            tally.same(name, "number", sizes.len(), sent);
        }
    });
}

/// The recorded conversation: a question, calls with results of these sizes, and three answers unless they are missing.
fn conversation(name: &str, sizes: &[u64]) -> Vec<Value> {
    let mut all = vec![json!({"role": "user", "content": "go"})];
    for (index, size) in sizes.iter().enumerate() {
        let id = format!("c{index}");
        let is_special = index == 0 && (name.starts_with("deny") || name.starts_with("allow"));
        let tool = if is_special { "exec" } else { "read" };
        let text = "x".repeat(usize::try_from(*size).expect("a size"));
        let mut content = vec![json!({"type": "text", "text": text})];
        if index == 0 && name.starts_with("image") {
            content.push(json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}));
        }
        let call = json!({"type": "toolCall", "id": id, "name": tool, "arguments": {}});
        all.push(json!({"role": "assistant", "content": [call]}));
        all.push(json!({"role": "toolResult", "toolCallId": id, "toolName": tool, "content": content, "isError": false}));
    }
    let answers = if name.starts_with("last 3") { 0 } else { 3 };
    let answer = json!({"role": "assistant", "content": [{"type": "text", "text": "ok"}]});
    all.extend(std::iter::repeat_n(answer, answers));
    all
}

/// A result as the material shows it.
fn shown(result: &Value) -> String {
    let content = list(field(result, "content"));
    let said: String = content
        .iter()
        .filter_map(|block| block.get("text")?.as_str())
        .collect();
    let kind = if said.contains("[Tool result trimmed: ") {
        format!("SOFT({})", said.len())
    } else if said == "[Old tool result content cleared]" {
        "HARD".to_owned()
    } else {
        format!("RAW({})", said.len())
    };
    format!("{}:{kind}", text(result, "toolCallId"))
}

#[test]
fn results_are_remembered_as_the_original_does() {
    oracle("cache ttl rows", |captured, tally| {
        for transcript in CapturedTranscript::all(captured) {
            let rows: Vec<Value> = transcript
                .lines()
                .iter()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect();
            let mut results: Vec<Message> = Vec::new();
            for row in &rows {
                if let Some(message) = row
                    .get("message")
                    .filter(|message| message["role"] == "toolResult")
                {
                    results.extend(Message::from_json(&message.to_string()));
                }
                if row
                    .get("customType")
                    .is_none_or(|kind| kind != CACHE_TTL_ROW)
                {
                    continue;
                }
                let data = field(row, "data");
                let read = Decisions::from_row_data(&data.to_string())
                    .expect("a recorded row can be read");
                let name = format!("{} {}", transcript.path, text(row, "id"));
                tally.same(
                    &name,
                    "written again",
                    data,
                    &parsed("row data", &read.row_data(None)),
                );
                // The row was written for the ids a provider gets, of the results there were.
                let budget = ResultBudget {
                    window_tokens: 32_000,
                    pruning: None,
                    idle_ms: None,
                    reasoning_dropped: false,
                };
                let ours = prune_tool_results(&results, &Decisions::default(), budget)
                    .decisions
                    .row_data(None);
                let ours = parsed("row data", &ours);
                let hashes = |data: &Value| -> Vec<Value> {
                    let frozen = list(field(data, "frozenToolResults")).iter();
                    // A text in which a path was made anonymous is not the one that was hashed.
                    let whole = frozen
                        .zip(&results)
                        .filter(|(_, result)| !result.json().contains("<workspaceDir>"));
                    whole
                        .map(|(one, _)| field(one, "sourceHash").clone())
                        .collect()
                };
                let (theirs, ours) = (hashes(data), hashes(&ours));
                tally.same(
                    &name,
                    "hashes",
                    &theirs[..],
                    &ours[..theirs.len().min(ours.len())],
                );
            }
        }
    });
}

fn number(object: &Value, name: &str) -> u64 {
    field(object, name)
        .as_u64()
        .unwrap_or_else(|| panic!("`{name}` is no number in {object}"))
}

fn messages(list: &[Value]) -> Vec<Message> {
    list.iter()
        .map(|message| Message::from_json(&message.to_string()).expect("a made message"))
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
