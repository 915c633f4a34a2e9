//! Counts tokens, once per text.

use openclaw_transcript as transcript;
use std::collections::HashSet;

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

fn count(text: &str) -> u64 {
    let exact = tiktoken_rs::o200k_base_singleton().count(text, &HashSet::new());
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
