//! Broken pairs of all kinds.

use proptest::prelude::*;

use super::*;
use crate::message::tests::{call, calls_with, result, result_saying, say};
use crate::{BrokenCall, groups, groups_by_role, is_legal_cut};

fn message(json: &str) -> Message {
    Message::from_json(json).unwrap()
}

fn missing(id: &str) -> Message {
    let caller = call(&[id]);
    message(&edit::missing(&caller, &caller.calls()[0], MISSING_RESULT))
}

/// The repaired list as messages.
fn messages(input: &[Message], repaired: &Repaired) -> Vec<Message> {
    let piece = |piece: &Piece| match piece {
        Piece::Keep(index) => input[*index].clone(),
        Piece::New { json, role } => {
            let new = message(json);
            assert_eq!(new.role(), *role);
            new
        }
    };
    repaired.pieces.iter().map(piece).collect()
}

#[track_caller]
fn check(input: &[Message], expected: &[Message], mends: &[(usize, MendKind)]) {
    let repaired = pair(input);
    assert_eq!(messages(input, &repaired), expected);
    let found: Vec<_> = repaired
        .mends
        .iter()
        .map(|mend| (mend.message, mend.kind))
        .collect();
    assert_eq!(found, mends);
}

#[test]
fn a_sound_list_is_kept_as_it_is() {
    let list = [
        say("user", "hi"),
        call(&["a", "b"]),
        result("a"),
        result("b"),
        say("assistant", "done"),
    ];
    check(&list, &list, &[]);
    check(&[], &[], &[]);
}

/// Case P-2.
#[test]
fn a_missing_result_is_inserted_once() {
    let input = [call(&["a", "b"]), result("a"), say("user", "next")];
    let expected = [
        call(&["a", "b"]),
        result("a"),
        missing("b"),
        say("user", "next"),
    ];
    check(&input, &expected, &[(0, MendKind::ResultInserted)]);
    check(&expected, &expected, &[]);
}

#[test]
fn an_inserted_result_names_call_and_tool_and_takes_the_time_of_its_call() {
    let input = [calls_with(&["a"], r#","timestamp":7"#)];
    let Piece::New { json, .. } = &pair_with(&input, "aborted").pieces[1] else {
        panic!("nothing inserted")
    };
    assert_eq!(
        json,
        r#"{"role":"toolResult","toolCallId":"a","toolName":"read","content":[{"type":"text","text":"aborted"}],"details":{"openclawSyntheticMissingToolResult":true,"reason":"missing_tool_result"},"isError":true,"timestamp":7}"#
    );
}

/// Case P-1.
#[test]
fn results_without_a_call_are_dropped() {
    let input = [
        result("x"),
        say("user", "hi"),
        result("y"),
        call(&["a"]),
        result("a"),
        result("z"),
    ];
    let expected = [say("user", "hi"), call(&["a"]), result("a")];
    let dropped = MendKind::OrphanDropped;
    check(
        &input,
        &expected,
        &[(0, dropped), (2, dropped), (5, dropped)],
    );
}

#[test]
fn a_displaced_result_is_moved_behind_its_call() {
    let input = [call(&["a"]), say("user", "wait"), result("a")];
    check(
        &input,
        &[call(&["a"]), result("a"), say("user", "wait")],
        &[(2, MendKind::ResultMoved)],
    );
    let input = [call(&["a"]), call(&["b"]), result("b"), result("a")];
    let expected = [call(&["a"]), result("a"), call(&["b"]), result("b")];
    check(&input, &expected, &[(3, MendKind::ResultMoved)]);
}

#[test]
fn results_stand_in_the_order_of_their_calls() {
    let moved = MendKind::ResultMoved;
    let input = [call(&["a", "b"]), result("b"), result("a")];
    check(
        &input,
        &[call(&["a", "b"]), result("a"), result("b")],
        &[(1, moved), (2, moved)],
    );
}

#[test]
fn a_second_result_is_dropped() {
    let input = [
        call(&["a"]),
        result_saying("a", "first"),
        result_saying("a", "second"),
    ];
    check(&input, &input[..2], &[(2, MendKind::DuplicateDropped)]);
}

#[test]
fn a_repeated_id_pairs_by_occurrence() {
    let input = [
        call(&["a"]),
        result_saying("a", "1"),
        call(&["a"]),
        result_saying("a", "2"),
    ];
    check(&input, &input, &[]);
}

#[test]
fn a_displaced_result_two_open_calls_could_claim_is_dropped() {
    let input = [
        call(&["a"]),
        call(&["a"]),
        call(&["b"]),
        result("b"),
        result("a"),
    ];
    let expected = [
        call(&["a"]),
        missing("a"),
        call(&["a"]),
        missing("a"),
        call(&["b"]),
        result("b"),
    ];
    let inserted = MendKind::ResultInserted;
    check(
        &input,
        &expected,
        &[
            (0, inserted),
            (1, inserted),
            (4, MendKind::AmbiguousDropped),
        ],
    );
}

/// Case P-6.
#[test]
fn the_real_result_replaces_a_made_up_one() {
    let made_up = message(
        r#"{"role":"toolResult","toolCallId":"a","content":"interrupted","isError":true,"details":{"openclawSyntheticMissingToolResult":true}}"#,
    );
    let real = result_saying("a", "real");
    let (replaced, moved) = ((1, MendKind::SyntheticReplaced), (4, MendKind::ResultMoved));
    let input = [
        call(&["a"]),
        made_up.clone(),
        call(&["b"]),
        result("b"),
        real.clone(),
    ];
    check(
        &input,
        &[call(&["a"]), real.clone(), call(&["b"]), result("b")],
        &[replaced, moved],
    );
    check(
        &[call(&["a"]), made_up, real.clone()],
        &[call(&["a"]), real],
        &[replaced],
    );
}

#[test]
fn a_result_without_an_id_goes_to_the_only_call_and_counts_as_an_error() {
    let unnamed = message(r#"{"role":"toolResult","content":[],"isError":false}"#);
    let adopted = message(r#"{"role":"toolResult","content":[],"isError":true,"toolCallId":"a"}"#);
    check(
        &[call(&["a"]), unnamed.clone()],
        &[call(&["a"]), adopted],
        &[(1, MendKind::ResultAdopted)],
    );
    let input = [call(&["a", "b"]), unnamed, result("a"), result("b")];
    check(
        &input,
        &[call(&["a", "b"]), result("a"), result("b")],
        &[(1, MendKind::OrphanDropped)],
    );
}

/// Case P-5.
#[test]
fn a_failed_message_with_calls_is_dropped_with_its_results() {
    let ids: Vec<String> = (0..16).map(|n| format!("c{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for reason in ["error", "aborted"] {
        let failed = calls_with(&ids, &format!(r#","stopReason":"{reason}""#));
        let input = [
            say("user", "hi"),
            failed,
            result("c3"),
            say("user", "again"),
        ];
        let expected = [say("user", "hi"), say("user", "again")];
        check(&input, &expected, &[(1, MendKind::FailedTurnDropped)]);
    }
    let text = message(r#"{"role":"assistant","content":"partial","stopReason":"aborted"}"#);
    let texts = [text];
    check(&texts, &texts, &[]);
}

/// Case P-8.
#[test]
fn a_half_written_call_is_dropped_and_its_text_kept() {
    let with = |first: &str| {
        message(&format!(
            r#"{{"role":"assistant","content":[{first}{{"type":"toolCall","id":"a","name":"read","arguments":"{{\"path\":\"a"}}],"stopReason":"aborted"}}"#
        ))
    };
    let text = message(
        r#"{"role":"assistant","content":[{"type":"text","text":"let me see"}],"stopReason":"aborted"}"#,
    );
    let dropped = (0, MendKind::CallDropped(BrokenCall::HalfWritten));
    let user = say("user", "go on");
    let said = r#"{"type":"text","text":"let me see"},"#;
    let thought = r#"{"type":"thinking","thinking":"hm","thinkingSignature":"c2ln"},"#;
    check(
        &[with(said), user.clone()],
        &[text.clone(), user.clone()],
        &[dropped],
    );
    check(
        &[with(&[thought, said].concat()), user.clone()],
        &[text, user.clone()],
        &[dropped],
    );
    check(
        &[with(thought), user.clone()],
        std::slice::from_ref(&user),
        &[dropped],
    );
    check(
        &[with(""), result("a"), user.clone()],
        &[user],
        &[dropped, (1, MendKind::OrphanDropped)],
    );
}

#[test]
fn a_sound_call_stays_when_the_call_beside_it_goes() {
    let input = message(
        r#"{"role":"assistant","content":[{"type":"toolCall","id":"x","name":"read"},{"type":"toolCall","id":"a","name":"read","arguments":{}}]}"#,
    );
    let dropped = (0, MendKind::CallDropped(BrokenCall::NoArguments));
    check(
        &[input, result("a")],
        &[call(&["a"]), result("a")],
        &[dropped],
    );
}

#[test]
fn mends_say_what_was_done_to_what() {
    let repaired = pair(&[call(&["a"]), result("x")]);
    let texts: Vec<_> = repaired.mends.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "message 0, call `a`: missing result inserted",
            "message 1, call `x`: result without a call dropped"
        ]
    );
}

fn any_message() -> impl Strategy<Value = Message> {
    let ids = prop::collection::vec("[a-d]", 1..4);
    let reason = prop_oneof![
        Just(""),
        Just(r#","stopReason":"error""#),
        Just(r#","stopReason":"toolUse""#)
    ];
    prop_oneof![
        2 => (ids, reason).prop_map(|(ids, reason)| {
            calls_with(&ids.iter().map(String::as_str).collect::<Vec<_>>(), reason)
        }),
        4 => "[a-e]".prop_map(|id| result(&id)),
        1 => "[a-d]".prop_map(|id| missing(&id)),
        1 => Just(message(r#"{"role":"toolResult","content":"no id"}"#)),
        1 => Just(say("user", "hi")),
        1 => Just(say("assistant", "ok")),
        1 => "[a-d]".prop_map(|id| message(&format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"t"}},{{"type":"toolCall","id":"{id}","name":"n"}}]}}"#
        ))),
    ]
}

proptest! {
    #[test]
    fn repairing_twice_is_repairing_once(input in prop::collection::vec(any_message(), 0..16)) {
        let once = messages(&input, &pair(&input));
        let again = pair(&once);
        prop_assert_eq!(again.mends, []);
        prop_assert_eq!(again.pieces, (0..once.len()).map(Piece::Keep).collect::<Vec<_>>());
    }

    #[test]
    fn every_call_has_exactly_its_results_behind_it(input in prop::collection::vec(any_message(), 0..16)) {
        let repaired = messages(&input, &pair(&input));
        let mut expected = Vec::new();
        for message in &repaired {
            match message.result_of() {
                Some(id) => prop_assert_eq!(expected.pop(), Some(id)),
                None => prop_assert_eq!(&expected, &Vec::<&str>::new()),
            }
            expected.extend(message.calls().iter().rev().map(|call| call.id.as_str()));
        }
        prop_assert_eq!(expected, Vec::<&str>::new());
    }

    #[test]
    fn a_cut_between_groups_leaves_nothing_to_mend(input in prop::collection::vec(any_message(), 0..16)) {
        let repaired = messages(&input, &pair(&input));
        let groups = groups(&repaired);
        prop_assert_eq!(&groups, &groups_by_role(repaired.iter().map(Message::role)));
        for cut in (0..=repaired.len()).filter(|cut| is_legal_cut(&groups, *cut)) {
            prop_assert_eq!(pair(&repaired[..cut]).mends, []);
            prop_assert_eq!(pair(&repaired[cut..]).mends, []);
        }
    }

    #[test]
    fn groups_cover_any_list_and_hold_calls_with_their_results(input in prop::collection::vec(any_message(), 0..16)) {
        let groups = groups(&input);
        let mut next = 0;
        for group in &groups {
            prop_assert_eq!(group.start, next);
            prop_assert!(group.end > group.start);
            next = group.end;
        }
        prop_assert_eq!(next, input.len());
    }

    #[test]
    fn what_is_settled_stays_whatever_comes(
        input in prop::collection::vec(any_message(), 0..24),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
        ends.push(input.len());
        ends.sort_unstable();
        let (mut lead, mut start, mut pieces, mut mends) = (Lead::default(), 0, Vec::new(), Vec::new());
        for end in ends {
            let part = pair_behind(&lead, &input[start..end]);
            let settled = &part.pieces[..part.settled_pieces];
            let shifted = |piece: &Piece| match piece {
                Piece::Keep(index) => Piece::Keep(start + index),
                new @ Piece::New { .. } => new.clone(),
            };
            let moved = |mend: &Mend| Mend { message: start + mend.message, ..mend.clone() };
            let whole = pair(&input[..end]);
            let mut all = pieces.clone();
            all.extend(part.pieces.iter().map(shifted));
            prop_assert_eq!(&all, &whole.pieces);
            prop_assert_eq!(start + part.settled, whole.settled);
            let all: Vec<Mend> = mends.iter().cloned().chain(part.mends.iter().map(moved)).collect();
            prop_assert_eq!(all, whole.mends);
            pieces.extend(settled.iter().map(shifted));
            mends.extend(part.mends.iter().filter(|mend| mend.message < part.settled).map(moved));
            lead.add(&input[start..start + part.settled]);
            start += part.settled;
        }
    }

    #[test]
    fn an_answered_list_is_settled_to_its_end(answered in prop::collection::vec("[a-c]", 0..8)) {
        let list: Vec<Message> = answered.iter().flat_map(|id| [say("user", "hi"), call(&[id]), result(id)]).collect();
        prop_assert_eq!(pair(&list).settled, list.len());
    }
}
