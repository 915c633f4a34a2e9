//! Numbers as reports show them.

use crate::support::{field, list, oracle, text};
use openclaw_agent::format_token_count;

#[test]
fn token_counts_are_written_as_in_the_original() {
    oracle("token count format", |captured, tally| {
        for case in list(&captured.golden("format-token-count")) {
            let value = field(case, "value");
            // The capture writes what JSON cannot hold as text.
            let tokens = value.as_f64().unwrap_or(f64::NAN);
            tally.same(
                value,
                "text",
                text(case, "text"),
                &format_token_count(tokens),
            );
        }
    });
}
