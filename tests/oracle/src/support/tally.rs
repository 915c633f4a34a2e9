//! Counts comparisons and keeps those that differ.

use std::fmt::{Debug, Display};

/// Chars shown of a value: some before its first difference, and what follows.
const CHARS_BEFORE: usize = 60;
const CHARS_SHOWN: usize = 400;

/// The comparisons of one group. A difference does not end the group, so that a run shows all of them.
#[derive(Default)]
pub(crate) struct Tally {
    comparisons: usize,
    differences: Vec<String>,
}

impl Tally {
    /// Compares one thing of one case.
    pub(crate) fn same<T: PartialEq + Debug>(
        &mut self,
        case: impl Display,
        what: &str,
        expected: T,
        actual: T,
    ) {
        self.comparisons += 1;
        if expected != actual {
            let (expected, actual) = excerpts(&format!("{expected:?}"), &format!("{actual:?}"));
            self.differences.push(format!(
                "{case}: {what}\n  expected {expected}\n  actual   {actual}"
            ));
        }
    }

    /// How many comparisons agreed; or which did not.
    pub(super) fn verdict(self) -> Result<usize, String> {
        let Self {
            comparisons,
            differences,
        } = self;
        if comparisons == 0 {
            return Err("nothing was compared".to_owned());
        }
        if differences.is_empty() {
            return Ok(comparisons);
        }
        Err(format!(
            "{} of {comparisons} comparisons differ\n{}",
            differences.len(),
            differences.join("\n")
        ))
    }
}

/// Two texts around the first char in which they differ.
fn excerpts(expected: &str, actual: &str) -> (String, String) {
    let equal = expected
        .chars()
        .zip(actual.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let from = equal.saturating_sub(CHARS_BEFORE);
    let excerpt = |text: &str| {
        let before = if from > 0 { "..." } else { "" };
        let shown: String = text.chars().skip(from).take(CHARS_SHOWN).collect();
        let cut = text.chars().count() > from + CHARS_SHOWN;
        format!("{before}{shown}{}", if cut { "..." } else { "" })
    };
    (excerpt(expected), excerpt(actual))
}

#[test]
fn group_without_a_comparison_fails() {
    assert!(Tally::default().verdict().is_err());
}

#[test]
fn group_with_a_difference_fails_and_names_case_and_values() {
    let mut tally = Tally::default();
    tally.same("case one", "leaf", 1, 1);
    assert_eq!(
        tally.comparisons, 1,
        "an agreeing comparison counts like any other"
    );
    tally.same("case two", "leaf", "b", "c");
    let reason = tally.verdict().unwrap_err();
    assert!(reason.starts_with("1 of 2 comparisons differ"), "{reason}");
    for part in ["case two: leaf", r#"expected "b""#, r#"actual   "c""#] {
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn long_values_are_shown_around_their_first_difference() {
    let long = "x".repeat(5_000);
    let (expected, actual) = excerpts(&format!("{long}a{long}"), &format!("{long}b{long}"));
    for (excerpt, differing) in [(expected, 'a'), (actual, 'b')] {
        assert!(excerpt.contains(differing), "{excerpt}");
        assert!(
            excerpt.chars().count() <= CHARS_SHOWN + "......".len(),
            "{excerpt}"
        );
    }
}
