//! Images a model has answered to long ago are not sent again.

use openclaw_interface::Role;

use super::Pruned;
use crate::blocks::{self, Fate};
use crate::json;
use crate::message::{Message, is_type};

const IMAGE: &str = "[image data removed - already processed by model]";
const REFERENCE: &str = "[media reference removed - already processed by model]";
/// Completed turns that keep their images.
const TURNS_KEPT: usize = 3;

/// Replaces images, and texts that name media, in user messages and results from before the third-last completed turn. A
/// turn is complete once an assistant has answered. With three completed turns or fewer nothing changes.
///
/// Source: legacy engine, "Per-call transforms after assembly".
#[must_use]
pub fn prune_history_images(messages: &[Message]) -> Pruned {
    let end = first_kept(messages).unwrap_or(0);
    Pruned::of(messages, |index, message| {
        let hears = matches!(message.role(), Role::User | Role::ToolResult);
        (index < end && hears)
            .then(|| without_images(message))
            .flatten()
    })
}

/// Where the third-last completed turn begins, when there are more than three.
fn first_kept(messages: &[Message]) -> Option<usize> {
    let mut starts = Vec::new();
    let (mut start, mut answered) = (None, false);
    for (index, message) in messages.iter().enumerate() {
        match message.role() {
            Role::User => {
                starts.extend(start.filter(|_| answered));
                (start, answered) = (Some(index), false);
            }
            Role::ToolResult => start = start.or(Some(index)),
            Role::Assistant => answered |= start.is_some(),
            Role::Custom
            | Role::CompactionSummary
            | Role::BranchSummary
            | Role::BashExecution
            | Role::Other => {}
        }
    }
    starts.extend(start.filter(|_| answered));
    (starts.len() > TURNS_KEPT).then(|| starts[starts.len() - TURNS_KEPT])
}

fn without_images(message: &Message) -> Option<String> {
    let object = message.object();
    if let Some(text) = object.string("content") {
        let text = without_references(&text)?;
        return Some(object.with("content", &json::quote(&text)));
    }
    let edited = blocks::edited(&object, |block| {
        if is_type(block, "image") {
            return Fate::Become(blocks::text_block(IMAGE));
        }
        let text = is_type(block, "text")
            .then(|| block.string("text"))
            .flatten();
        text.and_then(|text| without_references(&text))
            .map_or(Fate::Keep, |text| {
                Fate::Become(blocks::with_block_text(block, &text))
            })
    })?;
    Some(blocks::with_blocks(&object, &edited))
}

/// The text with each reference to media replaced; `None` when it has none.
fn without_references(text: &str) -> Option<String> {
    let last_bracket = text.rfind(']').unwrap_or(0);
    let mut result = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(next) = text[at..].find(['[', 'm']) {
        at += next;
        // Without a bracket ahead there is no search for one: a text full of openings stays linear.
        let open = (at < last_bracket).then(|| attached(text, at).or_else(|| source(text, at)));
        let length = open.flatten().or_else(|| inbound(text, at));
        match length {
            Some(length) => {
                result.push_str(&text[copied..at]);
                result.push_str(REFERENCE);
                at += length;
                copied = at;
            }
            None => at += 1,
        }
    }
    (copied > 0).then(|| result + &text[copied..])
}

/// Bytes of `[media attached: …]` or `[media attached 1/2: …]` at `at`.
fn attached(text: &str, at: usize) -> Option<usize> {
    let rest = strip_word(&text[at..], "[media attached")?;
    let rest = match rest.trim_start() {
        counted if counted.len() < rest.len() => {
            let after = counted.trim_start_matches(|c: char| c.is_ascii_digit() || c == '/');
            let (one, two) = counted[..counted.len() - after.len()].split_once('/')?;
            (!one.is_empty() && !two.is_empty() && !two.contains('/')).then_some(after)?
        }
        rest => rest,
    };
    bracketed(text, at, rest.strip_prefix(':')?)
}

/// Bytes of `[Image: source: …]` at `at`.
fn source(text: &str, at: usize) -> Option<usize> {
    let rest = strip_word(&text[at..], "[image:")?.trim_start();
    bracketed(text, at, strip_word(rest, "source:")?)
}

/// Bytes from `at` to the bracket that closes what `rest` begins with; there must be something in it.
fn bracketed(text: &str, at: usize, rest: &str) -> Option<usize> {
    let end = rest.find(']').filter(|end| *end > 0)?;
    Some(text.len() - at - rest.len() + end + 1)
}

/// Bytes of `media://inbound/…` at `at`.
fn inbound(text: &str, at: usize) -> Option<usize> {
    let inside_word = text[..at]
        .chars()
        .next_back()
        .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let rest = text[at..].strip_prefix("media://inbound/")?;
    let name = rest.find(|c: char| c.is_whitespace() || "]/\\".contains(c));
    let name = name.unwrap_or(rest.len());
    (!inside_word && name > 0).then(|| text.len() - at - rest.len() + name)
}

/// The text behind a word of ASCII letters in either case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::Piece;
    use crate::replay::tests::{message, texts_of};

    const ANSWER: &str = r#"{"role":"assistant","content":[{"type":"text","text":"ok"}]}"#;

    fn asked(content: &str) -> String {
        format!(r#"{{"role":"user","content":{content}}}"#)
    }

    /// A first turn with this content, and three completed ones behind it.
    fn pruned(content: &str) -> Vec<String> {
        let mut given = vec![message(&asked(content)), message(ANSWER)];
        for _ in 0..3 {
            given.push(message(&asked(r#"[{"type":"image","data":"A"}]"#)));
            given.push(message(ANSWER));
        }
        let pruned = prune_history_images(&given);
        let stays = |piece: &Piece| matches!(piece, Piece::Keep(_));
        assert!(pruned.pieces[2..].iter().all(stays), "recent turns stay");
        let once = texts_of(&given, pruned.pieces);
        let again: Vec<Message> = once.iter().map(|json| message(json)).collect();
        assert_eq!(prune_history_images(&again).changed, 0, "pruning twice");
        once
    }

    #[test]
    fn images_of_old_turns_become_a_note() {
        let after = pruned(r#"[{"type":"image","data":"A"},{"type":"text","text":"x","n":1.50}]"#);
        let note = blocks::text_block(IMAGE);
        assert_eq!(
            after[0],
            asked(&format!(
                r#"[{note},{{"type":"text","text":"x","n":1.50}}]"#
            ))
        );
    }

    #[test]
    fn references_to_media_become_a_note() {
        for reference in [
            "[media attached: /a/b.png]",
            "[Media attached 1/2: a b]",
            "[Image: source: a.png]",
            "[image:source:a]",
            "media://inbound/a.png",
        ] {
            let after = pruned(&json::quote(&format!("see {reference} and é")));
            assert_eq!(
                after[0],
                asked(&json::quote(&format!("see {REFERENCE} and é"))),
                "{reference}"
            );
        }
        for text in [
            "[media attached]",
            "[media attached:]x",
            "[media attached 1: a]",
            "[media attached 1/: a]",
            "[image: a]",
            "[Image: source:]",
            "xmedia://inbound/a",
            "media://inbound/ a",
            "media://out/a",
            "[media attached: a",
        ] {
            assert_eq!(
                pruned(&json::quote(text))[0],
                asked(&json::quote(text)),
                "{text}"
            );
        }
    }

    #[test]
    fn three_completed_turns_keep_all() {
        let image = message(&asked(r#"[{"type":"image","data":"A"}]"#));
        let mut given = Vec::new();
        for _ in 0..3 {
            given.extend([image.clone(), message(ANSWER)]);
        }
        given.push(image);
        assert_eq!(prune_history_images(&given).changed, 0);
        given.push(message(ANSWER));
        assert_eq!(prune_history_images(&given).changed, 1);
    }

    #[test]
    fn results_of_old_turns_lose_their_images_too() {
        let result =
            r#"{"role":"toolResult","toolCallId":"a","content":[{"type":"image","data":"A"}]}"#;
        let mut given = vec![message(result), message(ANSWER)];
        for _ in 0..3 {
            given.extend([message(&asked("\"q\"")), message(ANSWER)]);
        }
        assert_eq!(prune_history_images(&given).changed, 1);
        assert!(matches!(
            prune_history_images(&given).pieces[0],
            Piece::New {
                role: Role::ToolResult,
                ..
            }
        ));
    }
}
