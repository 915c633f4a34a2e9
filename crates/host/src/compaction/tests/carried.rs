//! What a summary carries on: requests, files, identifiers, and the row it becomes.

use super::*;

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
