//! Cutting text, counted in the original's units.

use crate::tokens::{char_units, text_units};

/// UTF-16 units of a text.
pub(super) fn utf16(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The longest start of at most so many UTF-16 units.
pub(super) fn first_utf16(text: &str, max: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += c.len_utf16();
        used > max
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The longest end of at most so many UTF-16 units.
pub(super) fn last_utf16(text: &str, max: usize) -> &str {
    last_by(text, max as u64, |c| c.len_utf16() as u64)
}

/// The longest start of at most so many weighted units.
fn first_units(text: &str, max: u64) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += char_units(*c);
        used > max
    });
    end.map_or(text, |(at, _)| &text[..at])
}

fn last_by(text: &str, max: u64, units: impl Fn(char) -> u64) -> &str {
    let mut used = 0;
    let before = text.char_indices().rev().find(|(_, c)| {
        used += units(*c);
        used > max
    });
    before.map_or(text, |(at, c)| &text[at + c.len_utf8()..])
}

/// What a cut keeps even when its notice takes more, in units.
const MIN_KEPT: u64 = 2000;
const MAX_TAIL: u64 = 4000;
const OMITTED: &str = "\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\n";

/// Cuts the text of a tool result to at most `max` weighted units, its notice included.
///
/// The head stays, up to a line's end where one is near. When the end looks important (an error, a summary, the end of an
/// object) and there is room, a part of it stays too. A text that fits is returned as it is.
///
/// Source: legacy engine, "Cutting tool text".
#[must_use]
pub fn truncate_tool_text(text: &str, max: u64) -> String {
    truncate(text, max, MIN_KEPT)
}

pub(super) fn truncate(text: &str, max: u64, min_kept: u64) -> String {
    if text_units(text) <= max {
        return text.to_owned();
    }
    let length = utf16(text);
    let floor = min_kept.min(max.saturating_sub(text_units(&notice(1))));
    let first = first_units(text, max);
    let notice = text_units(&notice((length - utf16(first)).max(1)));
    let budget = floor.max(max.saturating_sub(notice));
    let kept = with_tail(text, budget, floor)
        .unwrap_or_else(|| to_line_end(first_units(text, budget)).to_owned());
    with_notice(&kept, length, max)
}

/// What a cut says of itself; `cut` in UTF-16 units.
fn notice(cut: usize) -> String {
    format!("[... {cut} more characters truncated; rerun with narrower args if needed]")
}

/// Head and tail, when the tail is worth it and both have room.
fn with_tail(text: &str, budget: u64, floor: u64) -> Option<String> {
    if budget <= floor.saturating_mul(2) || !matters(last_utf16(text, 2000)) {
        return None;
    }
    let tail_budget = (budget * 3 / 10).min(MAX_TAIL);
    let head_budget = budget
        .saturating_sub(tail_budget)
        .saturating_sub(text_units(OMITTED));
    if head_budget <= floor {
        return None;
    }
    let head = to_line_end(first_units(text, head_budget));
    let tail = last_by(text, tail_budget, char_units);
    let tail = match tail.find('\n') {
        Some(at) if utf16(&tail[..at]) * 5 < utf16(tail) => &tail[at + 1..],
        _ => tail,
    };
    (head.len() + tail.len() < text.len()).then(|| format!("{head}{OMITTED}{tail}"))
}

/// The text without its last, unfinished line, when that line is less than a fifth of it.
fn to_line_end(text: &str) -> &str {
    match text.rfind('\n') {
        Some(at) if utf16(&text[..at]) * 5 > utf16(text) * 4 => &text[..at],
        _ => text,
    }
}

/// The kept text and its notice in at most `max` units; the notice counts what is really gone, and so may grow itself.
fn with_notice(kept: &str, length: usize, max: u64) -> String {
    let mut kept = kept;
    loop {
        let notice = notice(length.saturating_sub(utf16(kept)).max(1));
        let units = text_units(&notice);
        if units >= max {
            return first_units(&self::notice(length.max(1)), max).to_owned();
        }
        let next = first_units(kept, max - units);
        if next.len() == kept.len() {
            return format!("{kept}{notice}");
        }
        kept = next;
    }
}

const WORDS: [&str; 15] = [
    "error",
    "exception",
    "failed",
    "fatal",
    "traceback",
    "panic",
    "stack trace",
    "errno",
    "exit code",
    "total",
    "summary",
    "result",
    "complete",
    "finished",
    "done",
];

/// Whether the end of a text tells how something went.
fn matters(tail: &str) -> bool {
    let tail = tail.trim().to_lowercase();
    tail.ends_with('}') || WORDS.iter().any(|word| has_word(&tail, word))
}

fn has_word(text: &str, word: &str) -> bool {
    let is_inner =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_inner(before) && !is_inner(bytes.get(at + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_that_fits_is_left_alone() {
        for text in ["", "short", &"x".repeat(2000)] {
            assert_eq!(truncate_tool_text(text, 2000), text);
        }
    }

    #[test]
    fn the_head_stays_up_to_a_line_end() {
        let text = "one line of it\n".repeat(400);
        let cut = truncate_tool_text(&text, 3000);
        let (head, notice) = cut.rsplit_once("[... ").unwrap();
        assert!(head.ends_with("one line of it"));
        assert_eq!(
            notice,
            format!(
                "{} more characters truncated; rerun with narrower args if needed]",
                6000 - head.len()
            )
        );
        let one_line = truncate_tool_text(&"x".repeat(6000), 3000);
        assert_eq!(one_line.len(), 3000);
    }

    #[test]
    fn an_end_that_matters_stays_where_there_is_room() {
        let text = |end: &str| format!("{}{end}", "some words\n".repeat(4000));
        for end in [
            "Error: no such file",
            "exit code 1",
            "}\n",
            "42 passed, done",
        ] {
            let cut = truncate_tool_text(&text(end), 16_000);
            assert!(
                cut.contains("middle content omitted") && cut.contains(end.trim()),
                "{end}"
            );
        }
        for end in ["terrors", "undone_", "nothing of note"] {
            assert!(
                !truncate_tool_text(&text(end), 16_000).contains("omitted"),
                "{end}"
            );
        }
        assert!(!truncate_tool_text(&text("Error: x"), 3000).contains("omitted"));
    }

    /// Case T-1.
    #[test]
    fn east_asian_text_is_cut_by_its_weight() {
        let cut = truncate_tool_text(&"漢".repeat(5000), 4000);
        assert!(text_units(&cut) <= 4000);
        assert!(cut.contains("[... 40"), "{}", &cut[cut.len() - 90..]);
    }

    proptest! {
        #[test]
        fn a_cut_never_exceeds_its_limit(
            text in "([a-z \n]{0,40}|漢字|😀|\u{e9}){0,60}",
            times in 1_usize..40,
            end in "(error|done|x|\\})?",
            max in 0_u64..9000,
        ) {
            let text = format!("{}{end}", text.repeat(times));
            let cut = truncate_tool_text(&text, max);
            prop_assert!(text_units(&cut) <= max);
            prop_assert_eq!(truncate_tool_text(&cut, max), cut);
        }

        #[test]
        fn halves_never_split_a_character(text in "[a😀漢]{0,30}", max in 0_usize..40) {
            let (first, last) = (first_utf16(&text, max), last_utf16(&text, max));
            prop_assert!(text.starts_with(first) && text.ends_with(last));
            prop_assert!(utf16(first) <= max && utf16(last) <= max);
            prop_assert!(utf16(first) + 2 > max.min(utf16(&text)));
        }
    }
}
