//! Token estimates, to the token.

use crate::support::{field, list, oracle, text};
use openclaw_transcript::{estimate, estimate_text};

#[test]
fn messages_are_estimated_as_the_original_does() {
    oracle("message tokens", |captured, tally| {
        for (index, case) in list(&captured.golden("message-tokens")).iter().enumerate() {
            let expected = field(case, "tokens").as_u64();
            let message = field(case, "message").to_string();
            let case = format!("message-tokens {index}");
            tally.same(case, "tokens", expected, Some(estimate(&message)));
        }
    });
}

#[test]
fn texts_are_estimated_as_the_original_does() {
    oracle("string weights", |captured, tally| {
        for (index, case) in list(&captured.golden("string-weights")).iter().enumerate() {
            let expected = field(case, "tokens").as_u64();
            let actual = estimate_text(text(case, "input"));
            let case = format!("string-weights {index}");
            tally.same(case, "tokens", expected, Some(actual));
        }
    });
}
