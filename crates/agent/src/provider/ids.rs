//! Tool-call ids that every server takes: letters and digits, at most 40, unique in the request.
//!
//! Source: legacy engine, "Tool-call ids", mode `strict`. The transcript keeps the original ids.

use std::collections::{HashMap, VecDeque};

use sha2::{Digest, Sha256};

const MAX_CHARS: usize = 40;
const DEFAULT: &str = "call";

/// Gives out wire ids, in order of the messages; an id given out never depends on what follows.
#[derive(Debug, Default)]
pub(super) struct WireIds {
    /// Wire id to the original it was made for.
    taken: HashMap<String, String>,
    /// How often an id was given out with a number.
    uses: HashMap<String, u64>,
    /// Calls of the newest assistant message without a result yet: original and wire id.
    open: VecDeque<(String, String)>,
}

impl WireIds {
    /// A new assistant message begins.
    pub(super) fn next_frame(&mut self) {
        self.open.clear();
    }

    /// The wire id of a call.
    pub(super) fn call(&mut self, original: &str) -> String {
        let wire = self.free(original);
        self.taken.insert(wire.clone(), original.to_owned());
        self.open.push_back((original.to_owned(), wire.clone()));
        wire
    }

    /// The wire id of a result: that of the first open call with its id.
    pub(super) fn result(&mut self, original: &str) -> Option<String> {
        let at = self.open.iter().position(|(id, _)| id == original)?;
        self.open.remove(at).map(|(_, wire)| wire)
    }

    fn free(&mut self, original: &str) -> String {
        let clean: String = original
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(MAX_CHARS)
            .collect();
        let mut base = if clean.is_empty() {
            DEFAULT.to_owned()
        } else {
            clean
        };
        if self.taken.get(&base).is_some_and(|owner| owner != original) {
            base = with_suffix(&base, &hash(original));
        }
        if !self.taken.contains_key(&base) {
            return base;
        }
        let uses = self.uses.entry(base.clone()).or_insert(1);
        loop {
            *uses += 1;
            let numbered = with_suffix(&base, &uses.to_string());
            if !self.taken.contains_key(&numbered) {
                return numbered;
            }
        }
    }
}

fn with_suffix(base: &str, suffix: &str) -> String {
    let kept = base.len().min(MAX_CHARS - suffix.len());
    format!("{}{suffix}", &base[..kept])
}

/// The first 8 hex digits of the SHA-256 of an id.
fn hash(original: &str) -> String {
    let digest = Sha256::digest(original.as_bytes());
    digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(originals: &[&str], expected: &[&str]) {
        let mut ids = WireIds::default();
        let wire: Vec<String> = originals
            .iter()
            .map(|original| ids.call(original))
            .collect();
        assert_eq!(wire, expected, "{originals:?}");
    }

    #[test]
    fn ids_become_letters_and_digits() {
        check(
            &["call_5ms", "toolu-01:A", "日本"],
            &["call5ms", "toolu01A", "call"],
        );
        let (long, cut) = ("x".repeat(50), "x".repeat(40));
        check(&[&long], &[&cut]);
    }

    #[test]
    fn ids_that_collapse_or_repeat_stay_apart() {
        check(&["call_1!", "call_1?"], &["call1", "call163785ba9"]);
        check(
            &["dup", "dup", "dup2", "dup"],
            &["dup", "dup2", &format!("dup2{}", hash("dup2")), "dup3"],
        );
        check(
            &["call_1!", "call_1?", "call_1?"],
            &["call1", "call163785ba9", "call163785ba92"],
        );
        let long = ["x".repeat(41), "x".repeat(42), "x".repeat(41)];
        let wire = [
            "x".repeat(40),
            format!("{}{}", "x".repeat(32), hash(&long[1])),
            format!("{}2", "x".repeat(39)),
        ];
        check(
            &long.each_ref().map(String::as_str),
            &wire.each_ref().map(String::as_str),
        );
    }

    #[test]
    fn safe_ids_pass_unchanged() {
        check(&["call1", "dup", "dup2"], &["call1", "dup", "dup2"]);
    }

    #[test]
    fn results_follow_their_calls_by_occurrence() {
        let mut ids = WireIds::default();
        ids.call("a");
        ids.call("a");
        assert_eq!(
            [
                ids.result("a"),
                ids.result("b"),
                ids.result("a"),
                ids.result("a")
            ],
            [Some("a".to_owned()), None, Some("a2".to_owned()), None]
        );
        ids.call("a");
        ids.next_frame();
        assert_eq!(ids.result("a"), None);
    }
}
