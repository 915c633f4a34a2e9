//! How servers say that a prompt is too large.

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
pub(super) fn is_overflow(said: &str) -> bool {
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
}
