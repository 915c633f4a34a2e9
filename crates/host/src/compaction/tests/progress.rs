//! A compaction gains something or is none.

use super::*;

/// Case L-4.
#[test]
fn the_result_is_inside_the_budget_the_trigger_used() {
    let talk = Talk::default().turns(8);
    let before = talk.input().tokens();
    assert!((800..900).contains(&before), "{before}");
    let request = CompactionRequest {
        trigger: Trigger::Budget,
        budget_tokens: 700,
        ..REQUEST
    };
    let compacted = compacted(&talk, &CompactionSettings::default(), &request);
    assert!(compacted.tokens_after <= 700, "{}", compacted.tokens_after);
}

/// Cases L-5 and L-8.
#[test]
fn what_no_compaction_can_shrink_is_said_with_its_numbers() {
    let talk = Talk::default().turns(1);
    let request = CompactionRequest {
        trigger: Trigger::Overflow,
        budget_tokens: 700,
        fixed_tokens: 900,
        known_tokens: Some(1_000),
        ..REQUEST
    };
    let error = World::default()
        .compact(&talk, &mut Scripted::good(), &keeping(1), &request)
        .unwrap_err();
    let text = error.kind.to_string();
    assert!(text.contains("900 of 700"), "{text}");
    assert!(error.help().contains("fewer tools"));
}

/// Case L-8.
#[test]
fn a_large_fixed_part_makes_the_kept_end_smaller() {
    let talk = Talk::default().turns(8);
    let request = CompactionRequest {
        trigger: Trigger::Budget,
        budget_tokens: 5_500,
        fixed_tokens: 5_000,
        ..REQUEST
    };
    let compacted = compacted(&talk, &keeping(1_000), &request);
    assert!(
        compacted.tokens_after <= 5_500,
        "{}",
        compacted.tokens_after
    );
    assert!(compacted.tokens_before > 5_700);
}

/// Case L-7.
#[test]
fn no_request_exceeds_the_summarisers_own_window() {
    let talk = Talk::default().turns(22).user(&words(720)).turns(22);
    assert!(talk.input().tokens() > 5_000);
    let mut summariser = Scripted::new(|request| {
        let size = estimate_text(request.system_prompt) + estimate_text(request.prompt);
        assert!(size + request.max_output_tokens <= 500, "{size}");
        Ok(good("short"))
    });
    summariser.window_tokens = 500;
    let outcome = World::default().compact(&talk, &mut summariser, &keeping(100), &REQUEST);
    assert!(done(outcome).tokens_after < 400);
    let prompts: String = summariser
        .asked
        .iter()
        .map(|(_, prompt)| prompt.as_str())
        .collect();
    assert_eq!(
        prompts.matches("question 20").count(),
        2,
        "both halves are there to the end"
    );
    assert!(
        prompts.matches("word").count() > 4_000,
        "nothing is left out"
    );
}

/// Case L-7.
#[test]
fn a_window_smaller_than_it_claims_gets_smaller_requests() {
    let talk = Talk::default().turns(60);
    let mut refused = 0;
    let mut summariser = Scripted::new(|request| {
        if estimate_text(request.prompt) > 3_000 {
            refused += 1;
            return Err(SummaryError::TooLarge {
                reason: "prompt is too long".into(),
            });
        }
        Ok(good("short"))
    });
    let outcome = World::default().compact(&talk, &mut summariser, &keeping(100), &REQUEST);
    done(outcome);
    drop(summariser);
    assert!((1..5).contains(&refused), "{refused}");
}

/// Cases S-1 and L-10.
#[test]
fn a_summary_and_one_short_message_are_left_alone() {
    for trigger in [Trigger::Manual, Trigger::Overflow] {
        let talk = Talk::default()
            .turns(3)
            .summary(&good("what matters"), None)
            .user("ok");
        let mut summariser = Scripted::good();
        let request = CompactionRequest { trigger, ..REQUEST };
        let outcome = World::default().compact(&talk, &mut summariser, &keeping(1), &request);
        let skip = skipped(outcome);
        assert_eq!(skip, Skip::TooSmall);
        assert!(skip.to_string().contains("too small"));
        assert_eq!(summariser.asked, [], "no model was asked");
    }
}

/// Case S-1.
#[test]
fn folding_a_few_words_under_an_earlier_summary_gains_nothing() {
    let talk = Talk::default()
        .summary(&good(&words(50)), None)
        .user("ok")
        .answer("fine");
    let mut summariser = Scripted::good();
    let outcome = World::default().compact(&talk, &mut summariser, &keeping(1), &REQUEST);
    let Skip::NothingToGain {
        before_tokens,
        after_tokens,
    } = skipped(outcome)
    else {
        panic!("it would gain");
    };
    assert!(after_tokens >= before_tokens);
    assert_eq!(summariser.asked, []);
}

/// Case S-2.
#[test]
fn a_summary_longer_than_its_source_is_cut_or_refused() {
    for turns in [1, 2, 4, 30] {
        let talk = Talk::default().turns(turns);
        let mut summariser = Scripted::new(|_| Ok(good(&words(3_000))));
        let outcome = World::default().compact(&talk, &mut summariser, &keeping(1), &REQUEST);
        match outcome {
            Ok(Outcome::Compacted(compacted)) => {
                assert!(compacted.tokens_after < compacted.tokens_before, "{turns}");
                assert!(
                    HEADINGS
                        .iter()
                        .all(|heading| compacted.summary.contains(heading))
                );
            }
            Ok(Outcome::Skipped(Skip::NothingToGain { .. })) | Err(_) => assert!(turns < 4),
            other => panic!("{other:?}"),
        }
    }
}

/// Case L-14.
#[test]
fn notes_without_conversation_are_no_reason_to_compact() {
    let note = json!({ "role": "custom", "customType": "n", "content": "note", "display": false });
    let talk = (0..3)
        .fold(Talk::default(), |talk, _| talk.message(note.clone()))
        .answer("NO_REPLY");
    for trigger in [Trigger::Manual, Trigger::Overflow] {
        let mut summariser = Scripted::good();
        let request = CompactionRequest { trigger, ..REQUEST };
        let outcome = World::default().compact(&talk, &mut summariser, &keeping(1), &request);
        skipped(outcome);
        assert_eq!(summariser.asked, []);
    }
}

#[test]
fn many_heartbeats_are_folded_without_a_model_when_room_is_needed() {
    let earlier = good("what matters");
    let talk = (0..200).fold(Talk::default().summary(&earlier, None), |talk, _| {
        talk.user("HEARTBEAT_OK").answer("NO_REPLY")
    });
    let mut summariser = Scripted::good();
    let request = CompactionRequest {
        trigger: Trigger::Overflow,
        ..REQUEST
    };
    let outcome = World::default().compact(&talk, &mut summariser, &keeping(10), &request);
    let compacted = done(outcome);
    assert!(
        compacted.summary.contains("what matters"),
        "{}",
        compacted.summary
    );
    assert_eq!(summariser.asked, []);
}

#[test]
fn work_of_tools_without_a_persons_word_is_summarised_too() {
    let talk = (0..40).fold(Talk::default().summary("s", None), |talk, n| {
        let call = format!("c{n}");
        talk.calls(&[&call]).result(&call, &words(50))
    });
    let mut summariser = Scripted::good();
    let outcome = World::default().compact(&talk, &mut summariser, &keeping(100), &REQUEST);
    done(outcome);
    assert!(!summariser.asked.is_empty());
}

#[test]
fn the_same_input_is_not_tried_twice() {
    let talk = Talk::default().turns(9);
    let key = talk.input().key();
    let request = CompactionRequest {
        last_without_gain: Some(&key),
        ..REQUEST
    };
    let mut summariser = Scripted::good();
    let again = World::default().compact(&talk, &mut summariser, &keeping(1), &request);
    assert_eq!(skipped(again), Skip::Unchanged);
    let more = World::default().compact(&talk.user("more"), &mut summariser, &keeping(1), &request);
    done(more);
}
