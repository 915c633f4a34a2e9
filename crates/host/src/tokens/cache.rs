//! Counts of the texts counted last, by their content, so that no text is counted twice.
//!
//! For the whole process: the same prompt, schemas and messages come up in every turn of every agent. Bounded: when it is
//! full, what was not asked for since it was half full is forgotten.

use super::Vocabulary;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Texts of each half. An entry takes some 40 bytes.
const HALF: usize = 1 << 16;

static COUNTS: LazyLock<Counts> = LazyLock::new(Counts::default);

/// A text by its vocabulary and two hashes with keys of their own, 128 bits together.
type Key = (Vocabulary, u64, u64);

#[derive(Debug, Default)]
struct Counts {
    keys: [RandomState; 2],
    halves: Mutex<Halves>,
}

#[derive(Debug, Default)]
struct Halves {
    young: HashMap<Key, u64>,
    old: HashMap<Key, u64>,
}

/// The tokens of a text, counted only when that was not done before.
pub(super) fn or_count(vocabulary: Vocabulary, text: &str, count: impl FnOnce() -> u64) -> u64 {
    if text.is_empty() {
        return 0;
    }
    let [one, two] = &COUNTS.keys;
    let key = (vocabulary, one.hash_one(text), two.hash_one(text));
    if let Some(tokens) = COUNTS.halves.lock().get(key) {
        return tokens;
    }
    // Not under the lock: another thread may count the same meanwhile, and comes to the same.
    let tokens = count();
    #[cfg(test)]
    COUNTED_BYTES.with(|counted| counted.set(counted.get() + text.len()));
    COUNTS.halves.lock().put(key, tokens);
    tokens
}

impl Halves {
    fn get(&mut self, key: Key) -> Option<u64> {
        if let Some(tokens) = self.young.get(&key) {
            return Some(*tokens);
        }
        let tokens = self.old.remove(&key)?;
        self.put(key, tokens);
        Some(tokens)
    }

    fn put(&mut self, key: Key, tokens: u64) {
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, tokens);
    }
}

#[cfg(test)]
thread_local! {
    static COUNTED_BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Bytes this thread has counted and not looked up.
#[cfg(test)]
pub(crate) fn counted_bytes() -> usize {
    COUNTED_BYTES.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_again_outlives_what_is_not() {
        let mut halves = Halves::default();
        let key = |at: usize| (Vocabulary::O200k, at as u64, 0);
        for at in 0..2 * HALF {
            halves.put(key(at), 1);
            assert_eq!(halves.get(key(7.min(at))), Some(1));
        }
        halves.put(key(2 * HALF), 1);
        assert_eq!(halves.get(key(8)), None, "forgotten");
        assert_eq!(halves.get(key(7)), Some(1));
        assert!(halves.young.len() + halves.old.len() <= 2 * HALF);
    }
}
