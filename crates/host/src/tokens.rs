//! Counts tokens, once per text.

use openclaw_transcript as transcript;

/// Exact token counts in the `o200k` vocabulary. The vocabulary is loaded at the first count.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenCounter;

/// Runs of one character class longer than this are counted in slices: the vocabulary's own splitter takes time or stack
/// without bound on them.
const LONGEST_RUN_BYTES: usize = 64 * 1024;
const RUN_SLICE_BYTES: usize = 8 * 1024;

impl TokenCounter {
    /// Tokens of a text. Text that looks like a control token is ordinary text. Runs of one kind of character longer
    /// than 64 KiB are counted in slices, which gives a few tokens too many.
    #[must_use]
    pub fn text(&self, text: &str) -> u64 {
        slices(text).map(count).sum()
    }

    /// Tokens of a message, as [`openclaw_transcript::count`] weighs its parts.
    #[must_use]
    pub fn message(&self, message_json: &str) -> u64 {
        transcript::count(message_json, &mut |text| self.text(text))
    }
}

#[cfg(feature = "fast-tokens")]
fn count(text: &str) -> u64 {
    match tiktoken::get_encoding("o200k_base") {
        Some(encoding) => encoding.count(text) as u64,
        None => transcript::estimate_text(text),
    }
}

#[cfg(not(feature = "fast-tokens"))]
use reference as count;

/// What every count must be.
#[cfg(any(test, not(feature = "fast-tokens")))]
fn reference(text: &str) -> u64 {
    let no_control_tokens = std::collections::HashSet::new();
    let exact = tiktoken_rs::o200k_base_singleton().count(text, &no_control_tokens);
    exact.map_or_else(|_| transcript::estimate_text(text), |tokens| tokens as u64)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Space,
    Other,
}

fn class(c: char) -> Class {
    if c.is_alphanumeric() {
        Class::Word
    } else if c.is_whitespace() {
        Class::Space
    } else {
        Class::Other
    }
}

/// `text` whole, unless a run in it is too long; then cut inside such runs.
fn slices(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (slice, tail) = rest.split_at(first_cut(rest));
        rest = tail;
        Some(slice)
    })
}

/// Where the first slice ends: behind the first 8 KiB of the first run that is too long, else at the end.
fn first_cut(text: &str) -> usize {
    if text.len() <= LONGEST_RUN_BYTES {
        return text.len();
    }
    let (mut run_start, mut run_class, mut slice_end) = (0, None, 0);
    for (at, c) in text.char_indices() {
        if run_class != Some(class(c)) {
            (run_start, run_class, slice_end) = (at, Some(class(c)), at);
        } else if at - run_start <= RUN_SLICE_BYTES {
            slice_end = at;
        } else if at - run_start > LONGEST_RUN_BYTES {
            return slice_end;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> u64 {
        TokenCounter.text(text)
    }

    #[test]
    fn ordinary_text_is_counted_exactly() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("hello world"), 2);
    }

    #[test]
    fn counts_are_those_of_the_reference() {
        let odd = [
            "",
            " ",
            "\r\n\r\n  x",
            "don't  DON'T we'LL 've",
            "é e\u{301} 漢字かな カナ 한국어 русский العربية",
            "👩‍👩‍👧 🇩🇪 \u{1F1E9}\u{200D}\u{FE0F}",
            "<|endoftext|><|endofprompt|>",
            "fn f(x: &str) -> Vec<u8> { x.into() } // 0x1F 1_000",
            "\u{0}\u{7}\u{1b}[31m\u{85}\u{a0}\u{3000}\u{feff}",
            "12345678901234567890 3.14159 ١٢٣ Ⅻ",
            "{\"a\":[1,2,{\"b\":null}]}\n\t\t}",
            "camelCaseAndSNAKE_CASEǅungla ﬁ",
        ];
        for text in odd {
            assert_eq!(count(text), reference(text), "{text:?}");
        }
        // All of them behind each other, cut at every place.
        let all = odd.concat();
        for (at, _) in all.char_indices() {
            let (head, tail) = all.split_at(at);
            assert_eq!(count(head), reference(head), "{head:?}");
            assert_eq!(count(tail), reference(tail), "{tail:?}");
        }
        for unit in ["_", " ", "ab", "A", "^", "\n", "漢", "👩‍👩‍👧"] {
            let text = unit.repeat(RUN_SLICE_BYTES / unit.len());
            assert_eq!(count(&text), reference(&text), "{unit:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_counts_as_in_the_reference(text in "(\\PC|[a-z' \n0-9]){0,60}") {
            proptest::prop_assert_eq!(count(&text), reference(&text));
        }
    }

    /// Case T-8.
    #[test]
    fn control_tokens_in_a_text_are_text() {
        assert!(tokens("see <|endoftext|> here") > 5);
    }

    /// Cases T-6 and T-7.
    #[test]
    fn long_runs_are_counted_in_slices_that_lose_nothing() {
        for unit in ["_", " ", "ab", "A", "^", "👩‍👩‍👧"] {
            let text = unit.repeat(300_000 / unit.len());
            assert_eq!(
                slices(&text).map(str::len).sum::<usize>(),
                text.len(),
                "{unit}"
            );
            assert!(tokens(&text) > 0, "{unit}");
        }
        let spaces = " ".repeat(300_000);
        assert!(slices(&spaces).all(|slice| slice.len() <= LONGEST_RUN_BYTES));
        let prose = "some words and then more ".repeat(20_000);
        assert_eq!(slices(&prose).count(), 1);
    }

    /// Case T-1.
    #[test]
    fn cjk_text_is_not_undercounted() {
        assert!(tokens(&"漢".repeat(160)) >= 100);
    }
}
