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

/// Case S-4.
#[test]
fn the_latest_request_is_in_the_kept_end_or_in_front() {
    let talk = Talk::default()
        .user(&format!("write docs {}", words(60)))
        .answer(&words(60))
        .user("stop docs, fix the test")
        .answer(&words(30));
    let split = compacted(&talk, &keeping(1), &REQUEST);
    assert!(
        split
            .summary
            .starts_with("## Latest user request context\n\"stop docs, fix the test\""),
        "{}",
        split.summary
    );
    let talk = talk.user("now the build").answer("ok");
    let request = CompactionRequest {
        pending_entry_id: Some("r4"),
        ..REQUEST
    };
    let kept = compacted(&talk, &keeping(1), &request);
    assert_eq!(kept.first_kept_entry_id.as_deref(), Some("r4"));
    assert!(
        !kept.summary.contains("Latest user request"),
        "{}",
        kept.summary
    );
    assert_eq!(
        kept.details.latest_unresolved_user_request.as_deref(),
        Some("now the build")
    );
}

/// Case S-4.
#[test]
fn summaries_in_a_row_do_not_grow_and_forget_old_requests() {
    let mut talk = Talk::default();
    let mut sizes = Vec::new();
    for round in 0..6 {
        talk = talk
            .turns(6)
            .user(&format!("wish number {round} {}", words(30)))
            .answer(&words(20));
        let mut summariser = Extractive;
        let outcome = World::default().compact(
            &talk,
            &mut summariser,
            &CompactionSettings {
                keep_recent_tokens: 1,
                ..CompactionSettings::default()
            },
            &REQUEST,
        );
        let compacted = done(outcome);
        assert!(compacted.extractive);
        assert!(compacted.summary.contains("made without a language model"));
        assert_eq!(
            compacted
                .summary
                .matches("## Latest user request context")
                .count(),
            1
        );
        assert!(
            compacted
                .summary
                .matches("## Recent turns preserved")
                .count()
                <= 1
        );
        sizes.push(compacted.summary.len());
        talk = talk.compacted(&compacted);
    }
    assert!(sizes[5] < sizes[1] * 3 / 2, "{sizes:?}");
}

#[test]
fn files_are_handed_on_and_identifiers_kept() {
    let edit = |path: &str| {
        json!({ "role": "assistant", "content": [
            { "type": "toolCall", "id": path, "name": "edit", "arguments": { "path": path } },
        ]})
    };
    let talk = Talk::default()
        .turns(2)
        .message(edit("a.rs"))
        .result("a.rs", "ok")
        .turns(2);
    let first = compacted(&talk, &keeping(1), &REQUEST);
    assert!(
        first
            .summary
            .ends_with("<modified-files>\na.rs\n</modified-files>"),
        "{}",
        first.summary
    );
    let talk = talk
        .compacted(&first)
        .turns(2)
        .user("look at /srv/data/item.csv and ticket 987654")
        .message(edit("b.rs"))
        .result("b.rs", "ok")
        .turns(1);
    let second = compacted(&talk, &keeping(1), &REQUEST);
    let modified: Vec<&str> = second
        .details
        .files
        .modified_files
        .iter()
        .map(String::as_str)
        .collect();
    assert_eq!(modified, ["a.rs", "b.rs"]);
    for identifier in ["/srv/data/item.csv", "987654"] {
        assert!(second.summary.contains(identifier), "{}", second.summary);
    }
}

#[test]
fn notices_say_what_happened() {
    let plain = |tokens: u64| tokens.to_string();
    let talk = Talk::default().turns(9);
    let compacted = compacted(&talk, &keeping(1), &REQUEST);
    let numbers = (compacted.tokens_before, compacted.tokens_after);
    let text = notice(&Ok(Outcome::Compacted(Box::new(compacted))), &plain);
    assert_eq!(text, format!("Compacted ({} → {})", numbers.0, numbers.1));
    let text = notice(&Ok(Outcome::Skipped(Skip::TooSmall)), &plain);
    assert!(
        text.starts_with("Compaction skipped: nothing to compact"),
        "{text}"
    );
    let failed = CompactionErrorKind::NoSummary {
        error: SummaryError::Empty,
        requests: 1,
    };
    let text = notice(&Err(CompactionError { kind: failed }), &plain);
    assert!(
        text.contains("no summary text") && text.contains("To go on:"),
        "{text}"
    );
}

#[test]
fn one_long_turn_over_many_compactions_does_not_grow() {
    let mut talk = Talk::default().turns(4).user("a long task");
    let mut sizes = Vec::new();
    for round in 0..6 {
        talk = (0..20).fold(talk, |talk, n| {
            let call = format!("c{round}-{n}");
            talk.calls(&[&call])
                .result(&call, &words(40))
                .answer(&format!("Finished step {n} of round {round} as planned."))
        });
        let mut summariser = Extractive;
        let outcome = World::default().compact(&talk, &mut summariser, &keeping(30), &REQUEST);
        let compacted = done(outcome);
        assert!(
            compacted.summary.contains(&format!("round {round}")),
            "{}",
            compacted.summary
        );
        assert!(compacted.summary.matches("**Turn Context").count() <= 1);
        sizes.push(compacted.summary.len());
        talk = talk.compacted(&compacted);
    }
    assert!(sizes[5] < sizes[1] * 3 / 2, "{sizes:?}");
}

#[test]
fn file_lists_of_a_plugins_summary_stay_its_own() {
    let summary = |from_hook: bool| {
        let talk = Talk::default().turns(2).row(|id, parent| {
            let compaction = openclaw_transcript::NewCompaction {
                summary: "s",
                first_kept_entry_id: None,
                tokens_before: 9,
                tokens_after: None,
                details_json: Some(r#"{"readFiles":["a"],"modifiedFiles":["b"],"more":1}"#),
                from_hook,
            };
            compaction_row(id, parent, "", &compaction)
        });
        compacted(&talk.turns(9), &keeping(1), &REQUEST)
            .details
            .files
    };
    assert_eq!(summary(true), FileLists::default());
    let own = summary(false);
    assert_eq!((own.read_files.len(), own.modified_files.len()), (1, 1));
}

#[test]
fn a_row_reads_back_as_what_was_compacted() {
    let talk = Talk::default().turns(9);
    let request = CompactionRequest {
        trigger: Trigger::Bytes,
        fixed_tokens: 100,
        ..REQUEST
    };
    let compacted = compacted(&talk, &CompactionSettings::default(), &request);
    let row = parse_row(
        1,
        &compacted.row("k", Some("r17"), "2026-05-01T10:00:00.000Z"),
    )
    .unwrap();
    assert_eq!(
        row.kind(),
        &openclaw_transcript::RowKind::Compaction {
            summary: compacted.summary.clone(),
            first_kept_entry_id: compacted.first_kept_entry_id.clone(),
            tokens_before: Some(talk.input().tokens() + 100),
            tokens_after: Some(compacted.tokens_after),
            from_hook: false,
        }
    );
    assert!(
        row.raw()
            .contains(r#""details":{"readFiles":[],"modifiedFiles":[]}"#),
        "{}",
        row.raw()
    );
}
