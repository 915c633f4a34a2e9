//! Compaction ahead of a turn.

use super::recovery::little;
use super::{Windowed, question, said, stored, summaries, talked, text_of};
use openclaw_host::compaction::CompactionPolicy;
use openclaw_host::{ModelErrorKind, TurnError};
use serde_json::json;
use support::Home;

/// The threshold is what a request may take: three quarters of a small window. Case L-4.
#[test]
fn a_session_at_its_threshold_is_compacted_ahead_of_the_turn_once() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    let mut model = Windowed::new(3_600);
    let outcome = said(&host, "And now?", &mut model).unwrap();
    let [record] = &outcome.record.compactions[..] else {
        panic!("{:?}", outcome.record.compactions)
    };
    assert_eq!(record.trigger, "budget");
    assert!(record.tokens_before.unwrap() >= 2_700);
    assert!(record.tokens_after.unwrap() < 2_700);
    assert_eq!(model.asked.len(), 1, "no request was refused");
    let last = model.asked[0].last().unwrap();
    assert_eq!(text_of(last), "And now?");
    assert!(
        outcome.record.mends.is_empty(),
        "{:?}",
        outcome.record.mends
    );

    let made = model.summaries.len();
    let outcome = said(&host, "And then?", &mut model).unwrap();
    assert!(outcome.record.compactions.is_empty());
    assert_eq!(model.summaries.len(), made);
    assert_eq!(summaries(&host).len(), 1);
}

#[test]
fn a_session_below_its_threshold_is_left_alone() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    let mut model = Windowed::new(9_000);
    let outcome = said(&host, "And now?", &mut model).unwrap();
    assert!(outcome.record.compactions.is_empty() && model.summaries.is_empty());
}

/// The turn fails before it has begun, and works when the model does.
#[test]
fn a_compaction_that_fails_ahead_of_a_turn_fails_it_with_the_cause() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    let mut model = Windowed::new(3_600).without_summaries(ModelErrorKind::Unauthorized);
    let error = said(&host, "And now?", &mut model).unwrap_err();
    assert!(matches!(error, TurnError::Preflight { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("Preflight compaction required but failed"),
        "{text}"
    );
    assert!(text.contains("credentials"), "{text}");
    assert_eq!((stored(&host), summaries(&host).len()), (24, 0));
    let mut model = Windowed::new(3_600);
    assert_eq!(said(&host, "And now?", &mut model).unwrap().reply, "done");
}

/// An engine of a plugin is asked first, gets its turns, and hears of the compaction.
#[test]
fn an_engine_is_asked_ahead_of_its_turn_and_loses_nothing() {
    let home = Home::new()
        .compacting(little())
        .with_recorder(&json!({}), &json!({}));
    let home = talked(home, 12);
    home.clear_recording();
    let host = home.host();
    let outcome = said(&host, &question(99), &mut Windowed::new(3_600)).unwrap();
    assert_eq!(outcome.record.served.engine_id, "recorder");
    let sequence = home.sequence();
    assert_eq!(
        sequence[..4],
        ["factory#1", "compact#1", "maintain#1", "dispose#1"],
        "{sequence:?}"
    );
    let params = &home.calls_of("compact")[0].params;
    assert_eq!(params["compactionTarget"], "budget");
    assert_eq!(params["force"], true);
    assert_eq!(params["runtimeContext"]["trigger"], "budget");
    assert_eq!(
        params["runtimeContext"]["forceReason"],
        "preflight_required"
    );
    assert!(params["currentTokenCount"].as_u64().unwrap() >= 2_700);
    assert_eq!(
        home.calls_of("commitTurn").last().unwrap().messages.len(),
        2
    );
    assert_eq!(host.store().backlog().unwrap(), []);
}

/// Once per limit of growth, however large the rest stays.
#[test]
fn a_transcript_that_stays_over_its_bytes_is_not_compacted_in_every_turn() {
    let policy = CompactionPolicy {
        max_active_bytes: 4_000,
        ..little()
    };
    let home = Home::new().compacting(policy);
    let host = home.host();
    let mut model = Windowed::new(1_000_000);
    let mut compactions = 0;
    for turn in 0..12 {
        let outcome = said(&host, &question(turn), &mut model).unwrap();
        compactions += outcome
            .record
            .compactions
            .iter()
            .filter(|it| it.compacted)
            .count();
    }
    assert!((1..=6).contains(&compactions), "{compactions}");
}

/// The check before a prompt is sent only reports; for an engine that answers for its own size only when it says that its
/// answer is not the whole truth.
#[test]
fn a_prompt_is_checked_before_it_is_sent_and_the_record_says_how() {
    let policy = CompactionPolicy {
        automatic: false,
        ..little()
    };
    let home = talked(Home::new().compacting(policy), 12);
    let host = home.host();
    let long = "The valve opens late. ".repeat(100);
    for (window, route, is_over) in [(20_000, "fits", false), (4_000, "compact_only", true)] {
        let outcome = said(&host, &long, &mut Windowed::new(window)).unwrap();
        let status = outcome.record.context_budget.unwrap();
        assert_eq!(status.route, route);
        assert_eq!(status.overflow_tokens > 0, is_over, "{status:?}");
        assert_eq!(status.prompt_budget_tokens, window - status.reserve_tokens);
        assert!(status.unwindowed_message_count >= status.message_count);
    }
}
