//! Where paths are cut.

use super::*;

fn at(talk: &Talk, keep: u64) -> (usize, Option<usize>) {
    let cut = find_cut(&talk.input(), keep, None);
    (cut.first_kept, cut.turn_start)
}

/// Case P-1.
#[test]
fn a_call_is_never_parted_from_its_results() {
    let talk = Talk::default()
        .user(&words(40))
        .answer(&words(40))
        .user("go")
        .calls(&["t1"])
        .result("t1", &words(400))
        .answer("done")
        .user("more")
        .answer("fine");
    for keep in 0..800 {
        let cut = find_cut(&talk.input(), keep, None);
        assert_ne!(cut.first_kept, 4, "keeping {keep}");
    }
    assert_eq!(
        at(&talk, 100),
        (5, Some(2)),
        "a huge result is folded with its call"
    );
}

/// Case P-7.
#[test]
fn parallel_calls_move_together_whatever_the_order_of_their_results() {
    let mut talk = Talk::default()
        .user("go")
        .calls(&["a", "b", "c"])
        .result("b", &words(40))
        .result("a", &words(40))
        .user("meanwhile")
        .result("c", &words(40));
    talk = (0..5).fold(talk, |talk, _| talk.user(&words(20)).answer(&words(20)));
    for keep in 0..800 {
        let cut = find_cut(&talk.input(), keep, None).first_kept;
        assert!(!(2..=5).contains(&cut), "keeping {keep} cuts at {cut}");
    }
}

#[test]
fn results_at_the_end_keep_their_call() {
    let talk = Talk::default()
        .turns(3)
        .user("go")
        .calls(&["a"])
        .result("a", &words(900));
    assert_eq!(at(&talk, 0), (7, Some(6)));
}

#[test]
fn a_pending_message_is_never_folded() {
    let talk = Talk::default()
        .turns(4)
        .user("pending")
        .calls(&["a"])
        .result("a", "r");
    let cut = find_cut(&talk.input(), 0, Some(8));
    assert_eq!((cut.first_kept, cut.turn_start), (8, None));
}

#[test]
fn silent_rows_stay_with_the_message_behind_them_and_split_no_turn() {
    let talk = Talk::default().turns(2).silent().silent().turns(1);
    assert_eq!(at(&talk, 100), (4, None));
}

#[test]
fn a_path_that_is_smaller_than_the_kept_end_stays_whole() {
    assert_eq!(at(&Talk::default().turns(2), 10_000), (0, None));
    assert_eq!(at(&Talk::default(), 0), (0, None));
}

#[test]
fn what_the_last_compaction_kept_is_folded_with_the_rest() {
    let talk = Talk::default().turns(2).summary("s", Some("r2")).turns(2);
    let input = talk.input();
    let prepared = prepare(
        &input,
        &PrepareSettings {
            keep_recent_tokens: 1,
            room_tokens: None,
            known_tokens: None,
            keep_from_id: None,
            force: false,
        },
    )
    .unwrap();
    assert_eq!(prepared.first_kept_entry_id, Some("r8"));
    assert_eq!((prepared.history.len(), prepared.turn_prefix.len()), (4, 1));
    assert_eq!(prepared.previous_summary, Some("s"));
}

#[test]
fn a_provider_that_counts_more_gets_a_smaller_end() {
    let talk = Talk::default().turns(10);
    let own = talk.input().tokens();
    let kept = |known_tokens| {
        let input = talk.input();
        let settings = PrepareSettings {
            keep_recent_tokens: 400,
            room_tokens: None,
            known_tokens,
            keep_from_id: None,
            force: false,
        };
        prepare(&input, &settings).unwrap().kept_tokens
    };
    assert!(kept(Some(4 * own)) < kept(None) / 2);
    assert_eq!(kept(Some(own / 4)), kept(None));
}

#[test]
fn what_a_reset_kept_is_folded_whole_or_not_at_all() {
    let talk = Talk::default()
        .turns(3)
        .row(|id, parent| openclaw_transcript::reset_row(id, parent, "", "new", Some("r2")))
        .turns(2);
    for keep in 0..600 {
        let cut = find_cut(&talk.input(), keep, None).first_kept;
        assert!(cut >= 7 || cut == 2, "keeping {keep} cuts at {cut}");
    }
    assert_eq!(at(&talk, 220), (7, None));
}

/// Case I-7.
#[test]
fn a_row_without_an_id_is_never_the_first_that_stays() {
    let bare = |role: &str| {
        let message = json!({ "role": role, "content": words(20) });
        json!({ "type": "message", "message": message }).to_string()
    };
    let mut talk = Talk::default().turns(3);
    talk.0.push(parse_row(9, &bare("user")).unwrap());
    talk.0.push(parse_row(10, &bare("assistant")).unwrap());
    for (keep, keep_from) in [
        (0, None),
        (30, None),
        (0, Some(6)),
        (0, Some(7)),
        (9_999, None),
    ] {
        let cut = find_cut(&talk.input(), keep, keep_from);
        assert!(cut.first_kept < 6, "{keep} {keep_from:?}");
    }
}
