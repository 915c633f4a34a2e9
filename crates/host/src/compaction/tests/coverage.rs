//! Everything between the last summary and the kept end is covered once.

use std::collections::BTreeMap;

use openclaw_transcript::{Message, Role, Row, context, pair};
use proptest::prelude::*;

use super::*;

/// A session out of random steps; each message has a text of its own.
fn talk_of(steps: &[(u8, usize)], from: Talk) -> Talk {
    let mut open: Vec<String> = Vec::new();
    steps.iter().fold(from, |talk, (kind, size)| {
        let n = talk.0.len();
        let text = format!("m{n}. {}", words(*size));
        match kind {
            0 | 1 => talk.user(&text),
            2 | 3 => talk.answer(&text),
            4 => {
                let ids = [format!("a{n}"), format!("b{n}")];
                open.extend(ids.clone());
                talk.calls(&[&ids[0], &ids[1]])
            }
            5 | 6 => match open.pop() {
                Some(call) => talk.result(&call, &text),
                None => talk.user(&text),
            },
            _ => talk.silent(),
        }
    })
}

fn visible(talk: &Talk) -> Vec<String> {
    let messages = context(&talk.rows()).messages.into_iter();
    let messages = messages.filter(|message| message.role != Role::CompactionSummary);
    messages.map(|message| message.json.to_string()).collect()
}

/// Compacts; checks what was given to the summariser and what is kept.
fn check(talk: &Talk, keep: u64, window: u64) -> Result<Option<Talk>, TestCaseError> {
    let mut summariser = Scripted::good();
    summariser.window_tokens = window;
    let request = CompactionRequest {
        trigger: Trigger::Overflow,
        ..REQUEST
    };
    let outcome = World::default().compact(talk, &mut summariser, &keeping(keep), &request);
    let before = visible(talk);
    let compacted = match outcome.unwrap() {
        Outcome::Compacted(compacted) => compacted,
        Outcome::Skipped(_) => return Ok(None),
        Outcome::Cancelled => panic!("nobody cancelled"),
    };
    let after_talk = talk.clone().compacted(&compacted);
    let kept = visible(&after_talk);
    prop_assert_eq!(&before[before.len() - kept.len()..], &kept[..]);

    let mut times: BTreeMap<&str, usize> = before.iter().map(|json| (json.as_str(), 0)).collect();
    let given = summariser.asked.iter().flat_map(|(messages, _)| messages);
    for json in given.chain(&kept) {
        *times
            .get_mut(json.as_str())
            .expect("a message of the session") += 1;
    }
    for (json, count) in times {
        prop_assert_eq!(count, 1, "{}", json);
    }

    let kept: Vec<Message> = kept
        .iter()
        .map(|json| Message::from_json(json).unwrap())
        .collect();
    let all: Vec<Message> = before
        .iter()
        .map(|json| Message::from_json(json).unwrap())
        .collect();
    prop_assert!(
        pair(&kept).mends.len() <= pair(&all).mends.len(),
        "a pair was torn"
    );
    let rows: Vec<&Row> = after_talk.rows();
    let size = CompactionInput::of_path(&rows, &|_, json| estimate(json)).tokens();
    prop_assert!(size < talk.input().tokens());
    prop_assert_eq!(size, compacted.tokens_after);
    Ok(Some(after_talk))
}

fn steps(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(u8, usize)>> {
    prop::collection::vec((0u8..8, 1usize..120), count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Cases I-7, I-10, P-1, P-7.
    #[test]
    fn every_message_is_summarised_or_kept_once_over_compactions_in_a_row(
        first in steps(4..60),
        second in steps(1..30),
        keep in 0u64..2_000,
        small in any::<bool>(),
    ) {
        let window = if small { 12_000 } else { 200_000 };
        let talk = talk_of(&first, Talk::default());
        let Some(talk) = check(&talk, keep, window)? else {
            return Ok(());
        };
        let again = World::default().compact(&talk, &mut Scripted::good(), &keeping(keep), &REQUEST);
        prop_assert_eq!(again.unwrap(), Outcome::Skipped(Skip::AlreadyCompacted));
        check(&talk_of(&second, talk), keep, window)?;
    }
}

/// Case I-7.
#[test]
fn forty_messages_are_covered_without_gap_or_overlap() {
    let talk = Talk::default().turns(20);
    let after = check(&talk, 500, 200_000).unwrap().expect("it compacts");
    assert!(visible(&after).len() >= 8, "{}", visible(&after).len());
    assert!(visible(&after).len() <= 12);
}

/// Case I-10.
#[test]
fn the_answer_before_the_first_kept_message_is_summarised() {
    let talk = Talk::default().turns(15).user("question").answer("answer");
    let mut summariser = Scripted::good();
    let outcome = World::default().compact(&talk, &mut summariser, &keeping(4), &REQUEST);
    assert_eq!(done(outcome).first_kept_entry_id.as_deref(), Some("r30"));
    let given: Vec<&String> = summariser
        .asked
        .iter()
        .flat_map(|(messages, _)| messages)
        .collect();
    assert!(given.last().unwrap().contains("answer 14"), "{given:?}");
}

#[test]
fn many_chunks_and_two_stages_cover_all() {
    let talk = Talk::default().turns(400);
    check(&talk, 500, 20_000).unwrap().expect("it compacts");
}
