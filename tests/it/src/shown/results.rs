//! Tool results in requests: large ones cut, old ones pruned, always in the bytes that were sent before.

use openclaw_host::{Host, Pruning, TurnRequest, ViewSettings};
use serde_json::{Value, json};
use std::time::Duration;
use support::{Home, Lister, ScriptedModel, call, request, say, transcript};

/// A turn that calls the tool, with these settings of pruning.
fn turn(host: &Host, model: &mut ScriptedModel, result: &str, pruning: &Value) {
    let request = TurnRequest {
        view: ViewSettings {
            pruning: Pruning::from_config(pruning),
            ..ViewSettings::default()
        },
        ..request("go on")
    };
    host.turn(request, model, &mut Lister::saying(result), &mut |_| {})
        .unwrap();
}

/// A model that calls the tool in each of its first turns.
fn caller(turns: usize, provider: &str) -> ScriptedModel {
    let script = (0..turns).flat_map(|turn| [Ok(call(&format!("c{turn}"), "ls")), Ok(say("ok"))]);
    ScriptedModel::new(20_000, script).at(provider, "anthropic-messages")
}

/// Texts of the results in the last request.
fn results(model: &ScriptedModel) -> Vec<String> {
    let (_, messages) = model.requests.last().unwrap();
    let results = messages
        .iter()
        .filter(|message| message["role"] == "toolResult");
    results
        .map(|result| result["content"][0]["text"].as_str().unwrap().to_owned())
        .collect()
}

fn decisions(host: &Host) -> usize {
    let lines = transcript(host);
    lines
        .iter()
        .filter(|line| line["customType"] == "openclaw.cache-ttl")
        .count()
}

/// Case P-3.
#[test]
fn a_large_result_is_cut_once_and_sent_so_for_ever() {
    let home = Home::new();
    let host = home.host();
    let mut model = caller(1, "scripted");
    let long = "a line of text\n".repeat(3_000);
    turn(&host, &mut model, &long, &json!({}));
    let cut = results(&model);
    assert!(cut[0].len() <= 16_000 && cut[0].contains("more characters truncated"));
    assert_eq!(decisions(&host), 1);
    turn(&host, &mut model, "", &json!({}));
    assert!(results(&model) == cut);
    drop(host);
    // Another process, and a model with room for the whole.
    let host = home.host();
    let mut model = ScriptedModel::new(400_000, []).at("scripted", "anthropic-messages");
    turn(&host, &mut model, "", &json!({}));
    assert!(results(&model) == cut);
    assert_eq!(decisions(&host), 1, "nothing new to remember");
    let stored = transcript(&host);
    let whole = stored
        .iter()
        .find(|line| line["message"]["role"] == "toolResult")
        .unwrap();
    assert_eq!(whole["message"]["content"][0]["text"], long.as_str());
}

#[test]
fn a_result_that_is_sent_whole_leaves_no_row() {
    let home = Home::new();
    let host = home.host();
    turn(&host, &mut caller(1, "scripted"), "short", &json!({}));
    assert_eq!(decisions(&host), 0);
}

/// Old results give way once the provider's cache has gone cold, and stay as they were sent then.
#[test]
fn old_results_are_pruned_when_the_cache_is_cold() {
    let pruning = json!({"mode": "cache-ttl", "ttl": "1h"});
    let home = Home::new();
    let host = home.host();
    let mut model = caller(5, "anthropic");
    let text = "words of a result ".repeat(350);
    for _ in 0..5 {
        turn(&host, &mut model, &text, &pruning);
    }
    assert!(
        results(&model).iter().all(|result| *result == text),
        "the cache is warm"
    );
    home.pass(Duration::from_secs(3600));
    turn(&host, &mut model, "", &pruning);
    let pruned = results(&model);
    let is_trimmed =
        |result: &String| result.contains("[Tool result trimmed: kept first 1500 chars");
    assert!(
        is_trimmed(&pruned[0]) && !is_trimmed(&pruned[4]),
        "{pruned:#?}"
    );
    turn(&host, &mut model, "", &pruning);
    assert_eq!(results(&model)[..4], pruned[..4]);
    drop(host);
    let host = home.host();
    turn(&host, &mut model, "", &json!({"mode": "off"}));
    assert_eq!(
        results(&model)[..4],
        pruned[..4],
        "remembered in another process, whatever the mode"
    );
}

#[test]
fn nothing_is_pruned_where_no_cache_is_or_pruning_is_off() {
    let text = "words of a result ".repeat(350);
    let on = json!({"mode": "cache-ttl", "ttl": "1s"});
    for (provider, pruning) in [
        ("scripted", &on),
        ("anthropic", &json!({"mode": "off", "ttl": "1s"})),
    ] {
        let home = Home::new();
        let host = home.host();
        let mut model = caller(5, provider);
        for _ in 0..5 {
            turn(&host, &mut model, &text, pruning);
        }
        home.pass(Duration::from_secs(3600));
        turn(&host, &mut model, "", pruning);
        assert!(
            results(&model).iter().all(|result| *result == text),
            "{provider}"
        );
    }
}
