//! How servers say that a prompt is too large, and how large it was.

use crate::model::{Stop, Usage};

/// Wordings, lower case; the pieces of one stand in this order, with anything between.
///
/// Source: compaction, "Overflow wordings".
const WORDINGS: &[&[&str]] = &[
    &["context_length_exceeded"],
    &["context_window_exceeded"],
    &["context_overflow"],
    &["request_too_large"],
    &["prompt is too long"],
    &["prompt too long; exceeded", "context length"],
    &["prompt exceeds max length"],
    &[
        "prompt has ",
        " tokens, but the configured context size is ",
    ],
    &["input length and ", "max_tokens", " exceed context limit"],
    &["input is too long for requested model"],
    &["input token count", "exceeds the maximum"],
    &[
        "input (",
        " tokens) is longer than the model's context length",
    ],
    &["exceeds the context window"],
    &["exceeds the maximum context length"],
    &["exceeds the model's maximum context length"],
    &["exceeds maximum allowed input length"],
    &["exceeds the available context size"],
    &["exceeded model token limit"],
    &["maximum context length is ", " tokens"],
    &["too large for model with ", " maximum context length"],
    &["reduce the length of the messages"],
    &["context size has been exceeded"],
    &["greater than the context length"],
    &["context window exceeds limit"],
    &["ran out of room", "context window"],
    &["tokens in request more than max tokens allowed"],
    &["too many tokens"],
    &["token limit exceeded"],
    &["413", "too large"],
    &["上下文过长"],
    &["上下文长度超"],
    &["超出最大上下文"],
];

/// Wordings where a number follows.
const WITH_LIMIT: &[&str] = &["exceeds the limit of ", "maximum prompt length is "];

/// Whether a server's words mean that the prompt is too large. Rate limits that count tokens do not.
///
/// The one rule for every place that meets an error of a provider.
///
/// Source: compaction, "Overflow wordings".
#[must_use]
pub fn is_overflow(said: &str) -> bool {
    let said = said.to_lowercase();
    let is_rate_limit = ["throttling error:", "service unavailable:"]
        .iter()
        .any(|start| said.starts_with(start))
        || ["rate limit", "too many requests", "tokens per min"]
            .iter()
            .any(|words| said.contains(words));
    !is_rate_limit
        && (said.starts_with("413 (no body)")
            || said.starts_with("413 status code (no body)")
            || WORDINGS
                .iter()
                .any(|pieces| contains_in_order(&said, pieces))
            || WITH_LIMIT
                .iter()
                .any(|words| contains_with_number(&said, words)))
}

/// Whether a server refuses the size of the request itself, in bytes: no summary makes its limit larger, and the same
/// request would be refused again.
///
/// Source: compaction, "Overflow recovery".
#[must_use]
pub fn is_request_ceiling(said: &str) -> bool {
    let said = said.to_lowercase();
    said.contains("request body")
        && ["too large", "exceed", "maximum", "limit"]
            .iter()
            .any(|words| said.contains(words))
}

/// How many tokens the refused prompt had, where the server says so.
#[must_use]
pub fn observed_tokens(said: &str) -> Option<u64> {
    let said = said.to_lowercase();
    let after = |words: &str| {
        let (_, rest) = said.split_once(words)?;
        leading_number(rest)
    };
    let sum = || {
        let (_, rest) = said.split_once("exceed context limit: ")?;
        let (prompt, rest) = (leading_number(rest)?, rest.split_once(" + ")?.1);
        prompt.checked_add(leading_number(rest)?)
    };
    after("prompt is too long: ")
        .or_else(|| after("resulted in "))
        .or_else(|| after("you requested "))
        .or_else(sum)
}

/// Whether an answer shows that the server cut the prompt without a word: more prompt tokens than the window holds, or
/// a window so full that not one token was left to answer with.
///
/// Source: compaction, "Overflow wordings".
#[must_use]
pub fn is_silent_overflow(stop: Stop, usage: Usage, window_tokens: u64) -> bool {
    let prompt = [usage.cache_read_tokens, usage.cache_write_tokens]
        .into_iter()
        .fold(usage.input_tokens, u64::saturating_add);
    match stop {
        Stop::Stop => prompt > window_tokens,
        Stop::Length => {
            usage.output_tokens == 0 && u128::from(prompt) * 100 >= u128::from(window_tokens) * 99
        }
        Stop::ToolUse => false,
    }
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

fn contains_in_order(said: &str, pieces: &[&str]) -> bool {
    let mut rest = said;
    pieces.iter().all(|piece| {
        rest.find(piece)
            .map(|at| rest = &rest[at + piece.len()..])
            .is_some()
    })
}

fn contains_with_number(said: &str, words: &str) -> bool {
    said.match_indices(words)
        .any(|(at, _)| said[at + words.len()..].starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_is_told_from_other_troubles() {
        let check = |said: &str, expected| assert_eq!(is_overflow(said), expected, "{said}");
        check("Prompt is too long: 9001 tokens > 9000 maximum", true);
        check(
            "This model's maximum context length is 9000 tokens. You sent 9001.",
            true,
        );
        check(
            "the input token count (9001) exceeds the maximum number of tokens allowed (9000)",
            true,
        );
        check(
            "input length and `max_tokens` exceed context limit: 9000 + 2 > 9001",
            true,
        );
        check("the prompt exceeds the limit of 9000", true);
        check("it exceeds the limit of what I can do", false);
        check("model_context_window_exceeded", true);
        check("the model ran out of room in its context window", true);
        check("413 (no body)", true);
        check("413 status code (no body)", true);
        check(
            "prompt too long; exceeded max context length by 12 tokens",
            true,
        );
        check("Throttling error: Too many tokens, please wait", false);
        check("Service unavailable: token limit exceeded", false);
        check("429 Too Many Requests: too many tokens", false);
        check(
            "Request too large on tokens per min (TPM): limit 9000, requested 9001",
            false,
        );
        check("internal error", false);
        check("", false);
    }

    #[test]
    fn a_ceiling_of_the_request_is_told_from_a_window() {
        assert!(is_request_ceiling(
            "413: the request body is larger than the maximum of 9 MB"
        ));
        assert!(!is_request_ceiling("prompt is too long: 9001 tokens"));
    }

    #[test]
    fn the_size_is_read_where_the_server_says_it() {
        let check = |said: &str, expected| assert_eq!(observed_tokens(said), expected, "{said}");
        check("Prompt is too long: 9001 tokens > 9000 maximum", Some(9001));
        check(
            "However, your messages resulted in 9001 tokens.",
            Some(9001),
        );
        check(
            "you requested 9002 tokens (9000 in the messages, 2 in the completion)",
            Some(9002),
        );
        check(
            "input length and `max_tokens` exceed context limit: 9000 + 2 > 9001",
            Some(9002),
        );
        check("exceed context limit: 9000", None);
        check("prompt is too long: very", None);
        check("exceed context limit: 18446744073709551615 + 1 > 2", None);
        check("", None);
    }

    #[test]
    fn a_prompt_cut_without_a_word_is_noticed() {
        let usage = |input_tokens, output_tokens, cache_read_tokens| Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens: 0,
        };
        let check = |stop, usage, expected| {
            assert_eq!(
                is_silent_overflow(stop, usage, 1000),
                expected,
                "{stop:?} {usage:?}"
            );
        };
        check(Stop::Stop, usage(1000, 5, 0), false);
        check(Stop::Stop, usage(900, 5, 101), true);
        check(Stop::Length, usage(990, 0, 0), true);
        check(Stop::Length, usage(989, 0, 0), false);
        check(Stop::Length, usage(990, 1, 0), false);
        check(Stop::ToolUse, usage(u64::MAX, 0, u64::MAX), false);
        check(Stop::Stop, usage(u64::MAX, 0, u64::MAX), true);
    }
}
