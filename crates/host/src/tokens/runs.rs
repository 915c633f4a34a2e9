//! Long runs of one kind of character, which a vocabulary's own splitter takes time or stack without bound on.

/// Runs of one character class longer than this are counted in slices.
pub(super) const LONGEST_RUN_BYTES: usize = 64 * 1024;
pub(super) const RUN_SLICE_BYTES: usize = 8 * 1024;

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
pub(super) fn slices(text: &str) -> impl Iterator<Item = &str> {
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
