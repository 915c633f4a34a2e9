//! A request that is too large, or takes too long, is made smaller in mid-turn.

use super::{Windowed, by_hand, question, said, stored, summaries, talked, text_of};
use openclaw_host::compaction::{CompactionPolicy, CompactionSettings};
use openclaw_host::{Cancel, ModelErrorKind, ToolOutcome, ToolSpec, Tools, TurnError, TurnEvent};
use serde_json::{Value, json};
use support::{Home, ScriptedModel, call, request, say, turn};

const OVERFLOW: ModelErrorKind = ModelErrorKind::ContextOverflow;

/// A policy that keeps little, so that a few turns are enough.
pub(super) fn little() -> CompactionPolicy {
    CompactionPolicy {
        settings: CompactionSettings {
            keep_recent_tokens: 600,
            ..CompactionSettings::default()
        },
        ..CompactionPolicy::default()
    }
}

#[test]
fn overflow_is_compacted_by_the_built_in_engine_and_the_next_turn_starts_from_the_summary() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    let mut model = Windowed::new(20_000).failing([OVERFLOW]);
    let mut events = Vec::new();
    let outcome = host
        .turn(
            request("And now?"),
            &mut model,
            &mut openclaw_host::NoTools,
            &mut |event| match event {
                TurnEvent::Compacting { engine_id } => events.push(engine_id.to_owned()),
                TurnEvent::Compacted(record) => events.push(record.trigger.clone()),
                TurnEvent::Text(_) | TurnEvent::Retry(_) => {}
            },
        )
        .unwrap();
    assert_eq!(outcome.reply, "done");
    assert_eq!(events, ["legacy", "overflow"]);
    let [record] = &outcome.record.compactions[..] else {
        panic!("{:?}", outcome.record.compactions)
    };
    assert!(record.compacted && record.elapsed_ms > 0);
    assert_eq!(record.engine_id, "legacy");
    assert_eq!(record.summariser.as_deref(), Some("windowed/model"));
    assert!(record.tokens_after < record.tokens_before, "{record:?}");

    let [before, after] = &model.asked[..] else {
        panic!("{} requests", model.asked.len())
    };
    assert_eq!(before.len(), 25);
    assert!(after.len() < 10, "{}", after.len());
    assert!(text_of(&after[0]).contains("As it was said."), "{after:?}");
    let users = |messages: &[Value]| {
        let users = messages.iter().filter(|it| text_of(it) == "And now?");
        users.count()
    };
    assert_eq!((users(before), users(after)), (1, 1));

    let mut model = Windowed::new(20_000);
    said(&host, "Go on.", &mut model).unwrap();
    let next = &model.asked[0];
    assert_eq!(next[..after.len()], after[..], "the same start");
    assert_eq!(next.len(), after.len() + 2);
    assert_eq!(summaries(&host).len(), 1);
    assert_eq!(stored(&host), 12 * 2 + 4, "nothing stored is gone");
}

/// Two compactions, the second over the summary of the first.
#[test]
fn a_session_is_compacted_again_when_it_has_grown() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    for turn in 20..32 {
        let failures = (turn % 8 == 0).then_some(OVERFLOW);
        let mut model = Windowed::new(20_000).failing(failures);
        said(&host, &question(turn), &mut model).unwrap();
        let starts = model.asked.last().unwrap().iter();
        let starts = starts.filter(|it| text_of(it).contains("As it was said."));
        assert!(starts.count() <= 1, "one summary at a time");
    }
    let summaries = summaries(&host);
    assert_eq!(summaries.len(), 1);
    let mut model = Windowed::new(20_000).failing([OVERFLOW]);
    said(&host, "Again.", &mut model).unwrap();
    assert!(model.summaries[0].contains("<previous-summary>"));
    assert_eq!(super::summaries(&host).len(), 2);
}

/// Case L-3: the engine does nothing, and the host compacts; the record names both.
#[test]
fn an_engine_that_does_not_own_compaction_is_not_the_last_word() {
    let home = Home::new()
        .compacting(little())
        .with_recorder(&json!({}), &json!({}));
    let home = talked(home, 12);
    let host = home.host();
    let mut model = Windowed::new(20_000).failing([OVERFLOW]);
    let outcome = said(&host, "And now?", &mut model).unwrap();
    let records = &outcome.record.compactions;
    let engines: Vec<_> = records
        .iter()
        .map(|it| (it.engine_id.as_str(), it.compacted))
        .collect();
    assert_eq!(engines, [("recorder", false), ("legacy", true)]);
    assert_eq!(summaries(&host).len(), 1);
    // What the engine was owed it has got: the user's message and the reply, once.
    let commits = home.calls_of("commitTurn");
    assert_eq!(commits.last().unwrap().messages.len(), 2);
    assert_eq!(host.store().backlog().unwrap(), []);
}

/// Case L-2.
#[test]
fn an_engine_below_its_threshold_does_not_lose_the_message() {
    let below = json!({ "ok": true, "compacted": false, "reason": "below_threshold" });
    let home = Home::new()
        .compacting(little())
        .with_recorder(&json!({}), &json!({ "compact": below }));
    let host = talked(home, 12);
    let host = host.host();
    let mut model = Windowed::new(20_000).failing([OVERFLOW]);
    assert_eq!(said(&host, "And now?", &mut model).unwrap().reply, "done");
}

#[test]
fn an_engine_can_have_the_host_compact_and_only_then() {
    let mut home = Home::new()
        .compacting(little())
        .with_recorder(&json!({}), &json!({}));
    home.set_recorder(
        &json!({}),
        &json!({ "compact": ["compaction.delegate", {}], "commitTurn": ["compaction.delegate", {}] }),
    );
    let home = talked(home, 12);
    let host = home.host();
    let mut model = Windowed::new(20_000);
    let outcome = host.compact(&by_hand(), &mut model).unwrap();
    assert!(outcome.compacted);
    assert_eq!(outcome.engine_id, "recorder");
    assert_eq!(outcome.summariser.as_deref(), Some("windowed/model"));
    assert_eq!(summaries(&host).len(), 1);
    let answer = home.calls_of("compact")[0].service.to_string();
    assert!(answer.contains("As it was said."), "{answer}");
    let services = &home.calls_of("compact")[0].params["hostServices"];
    assert!(services.to_string().contains("compaction.delegate"));
    let refused = home.calls_of("commitTurn")[0].service.to_string();
    assert!(refused.contains("not offered"), "{refused}");
}

#[test]
fn a_timeout_over_a_large_prompt_is_compacted_and_asked_again() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    let timeout = ModelErrorKind::Timeout;
    let mut model = Windowed::new(4_300).failing([timeout]);
    let outcome = said(&host, "And now?", &mut model).unwrap();
    let triggers: Vec<_> = outcome
        .record
        .compactions
        .iter()
        .map(|it| it.trigger.as_str())
        .collect();
    assert_eq!(triggers, ["timeout_recovery"]);
    assert_eq!(home.waits(), [], "asked again at once");
}

/// Nothing is written when a compaction is broken off.
#[test]
fn a_cancelled_compaction_writes_nothing() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    let request = by_hand();
    request.cancel.cancel();
    let error = host
        .compact(&request, &mut Windowed::new(20_000))
        .unwrap_err();
    assert!(matches!(error, TurnError::Cancelled), "{error}");
    assert!(summaries(&host).is_empty());
    assert!(
        host.compact(&by_hand(), &mut Windowed::new(20_000))
            .unwrap()
            .compacted
    );
}

/// A tool that answers with far more than a model takes.
struct Flood(Vec<ToolSpec>);

impl Tools for Flood {
    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn run(&mut self, _name: &str, _arguments: &Value, _cancel: &Cancel) -> ToolOutcome {
        ToolOutcome {
            text: "a line of the log\n".repeat(4_000),
            is_error: false,
            notes: Vec::new(),
        }
    }
}

/// What belongs to the running turn is never folded; its results are cut where nothing else helps, and the turn is
/// delivered once.
#[test]
fn tool_results_are_cut_when_a_compaction_cannot_help() {
    let home = Home::new().with_recorder(&json!({}), &json!({}));
    let host = home.host();
    let mut tools = Flood(vec![ToolSpec {
        name: "log".into(),
        description: "Shows the log".into(),
        parameters: json!({}),
    }]);
    let script = [Ok(call("c1", "log")), Err(OVERFLOW), Ok(say("read"))];
    let mut model = ScriptedModel::new(9_000, script);
    let outcome = host
        .turn(request("Show"), &mut model, &mut tools, &mut |_| {})
        .unwrap();
    assert_eq!(outcome.reply, "read");
    let mends = outcome.record.mends.join("; ");
    assert!(mends.contains("1 tool results were cut"), "{mends}");
    let sent = &model.requests.last().unwrap().1;
    let roles: Vec<_> = sent.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult"]);
    let text = text_of(&sent[2]);
    assert!(
        text.len() < 11_000 && text.contains("truncated"),
        "{}",
        text.len()
    );
    let commit = home.calls_of("commitTurn");
    assert_eq!(
        commit[0].roles(),
        ["user", "assistant", "toolResult", "assistant"]
    );
    assert_eq!(host.store().backlog().unwrap(), []);
    let mut model = ScriptedModel::done();
    assert_eq!(turn(&host, "next", None, &mut model).unwrap().reply, "done");
    assert_eq!(model.last_user_texts(), ["Show", "next"]);
}
