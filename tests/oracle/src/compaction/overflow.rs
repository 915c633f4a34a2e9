//! What providers' errors and answers mean.

use crate::support::{field, list, oracle, text};
use openclaw_host::compaction::{is_overflow, is_silent_overflow, observed_tokens};
use openclaw_host::{Stop, Usage};
use serde_json::Value;

#[test]
fn errors_that_mean_a_too_large_prompt_are_those_of_the_original() {
    oracle("overflow wordings", |captured, tally| {
        for case in list(&captured.golden("overflow-classification")) {
            let said = text(case, "message");
            // The original asks in two places with two lists; ours is one rule for both.
            let explicit = list(field(case, "scopes")).contains(&"failover-explicit".into());
            let expected = field(case, "assistantError") == &Value::Bool(true) || explicit;
            tally.same(said, "overflow", expected, is_overflow(said));
        }
    });
}

#[test]
fn sizes_are_read_from_errors_as_the_original_does() {
    oracle("observed overflow tokens", |captured, tally| {
        for case in list(&captured.golden("observed-overflow-tokens")) {
            let said = text(case, "message");
            let expected = field(case, "tokens").as_u64();
            tally.same(said, "tokens", expected, observed_tokens(said));
        }
    });
}

#[test]
fn silent_overflows_are_those_of_the_original() {
    oracle("silent overflow", |captured, tally| {
        for (index, case) in list(&captured.golden("silent-overflow")).iter().enumerate() {
            let count = |name| field(field(case, "usage"), name).as_u64().expect("a count");
            let usage = Usage {
                input_tokens: count("input"),
                output_tokens: count("output"),
                cache_read_tokens: count("cacheRead"),
                cache_write_tokens: count("cacheWrite"),
            };
            let stop = match text(case, "stopReason") {
                "stop" => Stop::Stop,
                "length" => Stop::Length,
                other => panic!("no stop reason {other}"),
            };
            let window = field(case, "contextWindow").as_u64().expect("a window");
            let actual = is_silent_overflow(stop, usage, window);
            let expected = field(case, "overflow").as_bool();
            tally.same(index, "overflow", expected, Some(actual));
        }
    });
}
