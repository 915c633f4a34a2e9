//! Cuts a text to a limit: its head, a marker that says so, its tail. The result is never above the limit.

use crate::utf16::{head, tail, utf16_len};

/// Fewer chars than this beside the full marker are not worth it.
const FEWEST_BESIDE_MARKER: usize = 16;
/// Rounds until the numbers in the marker and the room it leaves agree.
const MARKER_ROUNDS: usize = 3;
const SEPARATORS: usize = 2;

/// The text cut to `limit`; shorter texts stay as they are.
pub(super) fn cut(name: &str, text: &str, limit: usize) -> String {
    let total = utf16_len(text);
    if total <= limit {
        return text.to_owned();
    }
    let full = |kept: Kept| {
        format!(
            "\n[...truncated, read {name} for full content...]\n…(truncated {name}: kept {}+{} chars of {total})…\n",
            kept.head, kept.tail
        )
    };
    let kept = fitted(limit.saturating_sub(SEPARATORS), full);
    if kept.head + kept.tail >= FEWEST_BESIDE_MARKER {
        let (head, tail) = (head(text, kept.head), tail(text, kept.tail));
        return format!("{head}\n{}\n{tail}", full(kept));
    }
    let compact = |kept: Kept| format!("[…truncated {}+{}/{total}]", kept.head, kept.tail);
    let kept = fitted(limit, compact);
    let whole = format!(
        "{}{}{}",
        head(text, kept.head),
        compact(kept),
        tail(text, kept.tail)
    );
    head(&whole, limit).to_owned()
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Kept {
    head: usize,
    tail: usize,
}

/// How much may stay beside a marker that names it.
fn fitted(limit: usize, marker: impl Fn(Kept) -> String) -> Kept {
    let size = |kept| utf16_len(&marker(kept));
    let mut kept = Kept {
        head: limit * 3 / 4,
        tail: limit / 4,
    };
    for _ in 0..MARKER_ROUNDS {
        let room = limit.saturating_sub(size(kept));
        let next = Kept {
            head: room * 3 / 4,
            tail: room / 4,
        };
        if next == kept {
            break;
        }
        kept = next;
    }
    let mut over = (kept.head + kept.tail + size(kept)).saturating_sub(limit);
    while over > 0 && kept != Kept::default() {
        let from_tail = over.min(kept.tail);
        kept.tail -= from_tail;
        kept.head = kept.head.saturating_sub(over - from_tail);
        over = (kept.head + kept.tail + size(kept)).saturating_sub(limit);
    }
    kept
}

/// The text as one piece of at most `limit`, `…` at the cut.
pub(super) fn clamp(text: &str, limit: usize) -> String {
    if utf16_len(text) <= limit {
        return text.to_owned();
    }
    if limit <= 3 {
        return head(text, limit).to_owned();
    }
    format!("{}…", head(text, limit - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words() -> String {
        (0..1_000).map(|number| format!("{number} ")).collect()
    }

    /// Case B-3.
    #[test]
    fn start_marker_and_end_stay_within_the_limit() {
        let text = words();
        let shown = cut("X.md", &text, 100);
        assert!(shown.starts_with("0 1 2"), "{shown}");
        assert!(
            shown.contains("truncated") && shown.ends_with("999 "),
            "{shown}"
        );
        assert_eq!(cut("X.md", &text, 10), "[…truncate");
        assert_eq!(cut("X.md", &text, 0), "");
    }

    #[test]
    fn a_text_within_the_limit_stays_whole() {
        assert_eq!(cut("X.md", "abc", 3), "abc");
        assert_eq!(cut("X.md", "a😀", 3), "a😀");
    }

    #[test]
    fn a_clamped_text_says_so() {
        let check = |limit, expected: &str| assert_eq!(clamp("[MISSING] x", limit), expected);
        check(11, "[MISSING] x");
        check(10, "[MISSING]…");
        check(3, "[MI");
        check(0, "");
    }

    proptest! {
        #[test]
        fn nothing_is_above_its_limit(text in "[aé😀\n]{0,300}", limit in 0_usize..250) {
            let shown = cut("NAME.md", &text, limit);
            prop_assert!(utf16_len(&shown) <= limit, "{shown}");
            if utf16_len(&text) <= limit {
                prop_assert_eq!(shown, text);
            }
        }
    }
}
