//! Everything in a row: from bytes to a repaired list, whatever the bytes.

use proptest::prelude::*;

use crate::{
    IdSeed, Link, Message, Piece, Row, active_path, context, count, estimate, groups, migrate,
    newest_within, pair, parse, visible,
};

const SOUND: &str = r#"{"type":"session","id":"s","version":4}
{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"list 漢\ud83d\ude00","timestamp":1}}
{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"ls","arguments":{"p":[1]}}],"stopReason":"toolUse"}}
{"type":"message","id":"c","parentId":"b","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"x"}],"isError":false}}
{"type":"compaction","id":"k","parentId":"c","summary":"S","firstKeptEntryId":"b","tokensBefore":9}
{"type":"leaf","id":"l","parentId":"k","targetId":"k"}
{"type":"branch_summary","id":"d","parentId":"l","fromId":"a","summary":"B"}
{"type":"custom_message","id":"e","parentId":"d","customType":"t","content":"N","display":false,"appendMode":"side"}
"#;

/// Runs the whole way; returns how many messages a model would see.
fn run(bytes: &[u8]) -> usize {
    let transcript = migrate(
        parse(bytes),
        &IdSeed {
            source: "f",
            session_id: "s",
        },
    )
    .transcript;
    let links: Vec<Link> = transcript.rows.iter().map(Row::link).collect();
    let path: Vec<&Row> = active_path(&links)
        .rows
        .iter()
        .map(|row| &transcript.rows[*row])
        .collect();
    assert!(visible(&path).len() <= path.len());
    let stored: Vec<Message> = context(&path)
        .messages
        .iter()
        .map(|message| Message::from_json(&message.json).unwrap())
        .collect();
    let repaired: Vec<Message> = pair(&stored)
        .pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Keep(index) => stored[index].clone(),
            Piece::New { json, .. } => Message::from_json(&json).unwrap(),
        })
        .collect();
    let tokens: Vec<u32> = repaired
        .iter()
        .map(|message| u32::try_from(estimate(message.json())).unwrap())
        .collect();
    let groups = groups(&repaired);
    assert_eq!(newest_within(&groups, &tokens, u64::MAX), 0);
    repaired.iter().for_each(|message| {
        assert!(count(message.json(), &mut |text| text.len() as u64) < 1 << 30)
    });
    repaired.len()
}

#[test]
fn a_sound_transcript_goes_all_the_way() {
    assert_eq!(run(SOUND.as_bytes()), 4);
}

/// Case F-7.
#[test]
fn five_thousand_messages_and_a_large_one_go_all_the_way() {
    let mut text = String::from("{\"type\":\"session\",\"version\":4}\n");
    for n in (0..5_000).step_by(4) {
        let messages = [
            format!(r#"{{"role":"user","content":"question {n}"}}"#),
            format!(
                r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"c{n}","name":"ls","arguments":{{}}}}]}}"#
            ),
            format!(r#"{{"role":"toolResult","toolCallId":"c{n}","content":"r","isError":false}}"#),
            format!(
                r#"{{"role":"assistant","content":"{}"}}"#,
                "x".repeat(if n == 400 { 300_000 } else { 20 })
            ),
        ];
        for (offset, message) in messages.iter().enumerate() {
            text.push_str(&crate::message_row(
                &format!("r{}", n + offset),
                None,
                "",
                message,
            ));
            text.push('\n');
        }
    }
    // Every row claims to be a root: each must be put behind the one before.
    assert_eq!(run(text.as_bytes()), 5_000);
}

proptest! {
    #[test]
    fn damage_never_panics(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..8)) {
        let mut bytes = SOUND.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => _ = bytes.remove(at),
                _ => bytes.insert(at, byte),
            }
        }
        run(&bytes);
    }

    #[test]
    fn swapped_pieces_never_panic(order in prop::collection::vec(any::<prop::sample::Index>(), 0..60)) {
        let words: Vec<&str> = SOUND.split_inclusive([',', ':', '{', '}', '"', '\n']).collect();
        let text: String = order.iter().map(|at| words[at.index(words.len())]).collect();
        run(text.as_bytes());
    }
}
