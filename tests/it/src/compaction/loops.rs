//! What would go round for ever ends with a message, and the session works afterwards.

use super::recovery::little;
use super::{Windowed, by_hand, said, stored, summaries, talked};
use openclaw_host::compaction::CompactionPolicy;
use openclaw_host::{ModelErrorKind, SystemPrompt, TurnError, TurnRequest};
use serde_json::json;
use support::{Home, request};

const OVERFLOW: ModelErrorKind = ModelErrorKind::ContextOverflow;

/// Cases L-1 and L-9: three compactions at most, then words; the history stays and the next turn works.
#[test]
fn a_model_that_never_takes_the_prompt_ends_with_a_message() {
    let unchanged = json!({ "ok": true, "compacted": true, "result": { "tokensBefore": 5_000, "tokensAfter": 5_000 } });
    for home in [
        Home::new(),
        Home::new().with_recorder(&json!({}), &json!({ "compact": unchanged })),
    ] {
        let home = talked(home.compacting(little()), 12);
        let host = home.host();
        let mut model = Windowed::new(20_000).failing([OVERFLOW; 20]);
        let error = said(&host, "And now?", &mut model).unwrap_err();
        assert!(matches!(error, TurnError::Overflow { .. }), "{error}");
        assert!(error.help().contains("the history is kept"));
        assert!(model.asked.len() <= 4, "{} requests", model.asked.len());
        assert!(summaries(&host).len() <= 3);
        assert_eq!(stored(&host), 12 * 2 + 1);
        let mut model = Windowed::new(20_000);
        assert_eq!(
            said(&host, "Still there?", &mut model).unwrap().reply,
            "done"
        );
    }
}

/// Case L-8: what cannot shrink leaves no room, and that is said with the numbers.
#[test]
fn a_fixed_part_that_leaves_no_room_is_said_in_numbers() {
    let home = talked(Home::new().compacting(little()), 3);
    let host = home.host();
    let mut model = Windowed::new(2_000).failing([OVERFLOW; 9]);
    for _ in 0..2 {
        let request = TurnRequest {
            system_prompt: SystemPrompt {
                stable: "Mind the valve. ".repeat(600),
                ..SystemPrompt::default()
            },
            ..request("And now?")
        };
        let error = host
            .turn(
                request,
                &mut model,
                &mut openclaw_host::NoTools,
                &mut |_| {},
            )
            .unwrap_err();
        assert!(error.to_string().contains("of 1500 tokens"), "{error}");
    }
    assert!(model.summaries.is_empty(), "no summary can help");
    assert!(summaries(&host).is_empty());
}

/// Cases L-10 and L-14: nothing to do is an answer and no failure.
#[test]
fn nothing_to_compact_is_no_failure() {
    let home = talked(Home::new(), 1);
    let host = home.host();
    let mut model = Windowed::new(20_000);
    host.compact(&by_hand(), &mut model).unwrap();
    let second = host.compact(&by_hand(), &mut model).unwrap();
    assert!(!second.compacted && second.is_skipped, "{second:?}");
    assert!(second.reason.unwrap().contains("nothing to"));
}

/// Case L-15: the true cause, at once, and nothing written.
#[test]
fn a_summariser_that_is_refused_fails_at_once_with_its_cause() {
    let home = talked(Home::new().compacting(little()), 12);
    let host = home.host();
    let mut model = Windowed::new(20_000)
        .failing([OVERFLOW])
        .without_summaries(ModelErrorKind::Unauthorized);
    let error = said(&host, "And now?", &mut model).unwrap_err();
    assert!(error.to_string().contains("credentials"), "{error}");
    assert_eq!(model.summaries.len(), 1);
    assert_eq!(home.waits(), []);
    assert!(summaries(&host).is_empty());
}

/// Case L-17.
#[test]
fn automatic_compaction_that_is_off_stays_off() {
    let policy = CompactionPolicy {
        automatic: false,
        ..little()
    };
    let home = talked(Home::new().compacting(policy), 12);
    let host = home.host();
    let mut model = Windowed::new(2_000).failing([OVERFLOW]);
    let error = said(&host, "And now?", &mut model).unwrap_err();
    for words in ["agents.defaults.compaction.enabled", "sessions compact"] {
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(summaries(&host).is_empty() && model.summaries.is_empty());
    assert!(
        host.compact(&by_hand(), &mut model).unwrap().compacted,
        "by hand it works"
    );
}

/// Case L-6: a window smaller than the reserve still has room.
#[test]
fn a_small_window_has_room_for_a_first_message() {
    let host = Home::new().host();
    let mut model = Windowed::new(16_000);
    let outcome = said(&host, "hi", &mut model).unwrap();
    assert!(outcome.record.compactions.is_empty());
    assert!(model.summaries.is_empty());
}
