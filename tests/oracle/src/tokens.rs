//! Token estimates, to the token.

use crate::support::{field, list, oracle, text};
use openclaw_transcript::{Message, context_tokens, estimate, estimate_text};

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

#[test]
fn contexts_are_measured_as_the_original_does() {
    oracle("context tokens", |captured, tally| {
        for (index, case) in list(&captured.golden("context-tokens")).iter().enumerate() {
            let messages = list(field(case, "messages")).iter();
            let messages: Vec<Message> = messages
                .map(|message| {
                    Message::from_json(&message.to_string()).expect("a recorded message")
                })
                .collect();
            let found = context_tokens(&messages);
            let result = field(case, "result");
            let case = format!("context-tokens {index}");
            let numbers = ["tokens", "usageTokens", "trailingTokens"];
            tally.same(
                &case,
                "tokens",
                numbers.map(|name| field(result, name).as_u64()),
                [found.tokens, found.counted, found.estimated].map(Some),
            );
            let at = field(result, "lastUsageIndex").as_u64();
            tally.same(case, "index", at, found.counted_up_to.map(|at| at as u64));
        }
    });
}
