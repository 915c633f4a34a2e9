//! How full a context is, from what the provider counted last.

use openclaw_interface::Role;

use super::estimate;
use crate::json::Object;
use crate::message::Message;

/// The size of a context, as far as a provider counted it and beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextTokens {
    /// Both parts together.
    pub tokens: u64,
    /// What the provider counted up to and with the message that carries the number.
    pub counted: u64,
    /// The estimate of all later messages.
    pub estimated: u64,
    /// The message that carries the number; `None` when all is estimated.
    pub counted_up_to: Option<usize>,
}

/// The size of a context: the newest count of a provider, and an [`estimate`] of what came after it.
///
/// Failed and broken-off turns carry no usable number. A turn that ran in another program, or whose provider said that it
/// does not know, ends the search: numbers from before it are about another context.
///
/// Source: compaction, "Token estimates".
#[must_use]
pub fn context_tokens(messages: &[Message]) -> ContextTokens {
    let found = messages
        .iter()
        .enumerate()
        .rev()
        .find_map(|(index, message)| match usage(message)? {
            Usage::Counted(tokens) => Some(Some((index, tokens))),
            Usage::Barrier => Some(None),
        })
        .flatten();
    let after = found.map_or(0, |(index, _)| index + 1);
    let counted = found.map_or(0, |(_, tokens)| tokens);
    let estimated = messages[after..]
        .iter()
        .map(|message| estimate(message.json()))
        .fold(0, u64::saturating_add);
    ContextTokens {
        tokens: counted.saturating_add(estimated),
        counted,
        estimated,
        counted_up_to: found.map(|(index, _)| index),
    }
}

enum Usage {
    Counted(u64),
    Barrier,
}

/// What a message says about the context before it; `None` when nothing.
fn usage(message: &Message) -> Option<Usage> {
    if message.role() != Role::Assistant {
        return None;
    }
    let object = message.object();
    let usage = Object::read(object.get("usage")?).ok()?;
    let context = usage.get("contextUsage").filter(|raw| *raw != "null");
    if context.is_none() && object.string("api").is_some_and(|api| api == "cli") {
        return Some(Usage::Barrier);
    }
    let tokens = total(&usage);
    let unavailable = context
        .and_then(|raw| Object::read(raw).ok())
        .and_then(|context| context.string("state").map(|state| state == "unavailable"));
    if unavailable == Some(true) && tokens == 0 {
        return Some(Usage::Barrier);
    }
    (!message.failed() && tokens > 0).then_some(Usage::Counted(tokens))
}

fn total(usage: &Object<'_>) -> u64 {
    let number = |field| u64::try_from(usage.integer(field).unwrap_or(0)).unwrap_or(0);
    match number("totalTokens") {
        0 => ["input", "output", "cacheRead", "cacheWrite"]
            .into_iter()
            .map(number)
            .fold(0, u64::saturating_add),
        total => total,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::tests::say;

    fn answered(members: &str) -> Message {
        let json =
            format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"x"}}],{members}}}"#);
        Message::from_json(&json).unwrap()
    }

    #[track_caller]
    fn check(members: &[&str], expected: (u64, Option<usize>)) {
        let mut messages: Vec<_> = members.iter().map(|members| answered(members)).collect();
        messages.push(say("user", "abcd"));
        let found = context_tokens(&messages);
        assert_eq!((found.tokens, found.counted_up_to), expected);
        assert_eq!(found.tokens, found.counted + found.estimated);
    }

    #[test]
    fn the_newest_count_stands_for_all_before_it() {
        check(
            &[
                r#""usage":{"totalTokens":50}"#,
                r#""usage":{"totalTokens":90}"#,
            ],
            (91, Some(1)),
        );
        check(
            &[r#""usage":{"input":5,"output":2,"cacheRead":3,"cacheWrite":1,"totalTokens":0}"#],
            (12, Some(0)),
        );
    }

    #[test]
    fn failed_and_uncounted_turns_are_passed_over() {
        check(
            &[
                r#""usage":{"totalTokens":50}"#,
                r#""usage":{"totalTokens":900},"stopReason":"aborted""#,
                r#""usage":{"totalTokens":0}"#,
                r#""stopReason":"stop""#,
            ],
            (54, Some(0)),
        );
        check(&[r#""usage":7"#], (2, None));
    }

    #[test]
    fn a_foreign_or_unknown_context_ends_the_search() {
        for barrier in [
            r#""api":"cli","usage":{"totalTokens":900}"#,
            r#""usage":{"totalTokens":0,"contextUsage":{"state":"unavailable"}}"#,
        ] {
            check(&[r#""usage":{"totalTokens":50}"#, barrier], (3, None));
        }
        let known =
            r#""api":"cli","usage":{"totalTokens":900,"contextUsage":{"state":"available"}}"#;
        check(&[known], (901, Some(0)));
    }

    /// Case T-5.
    #[test]
    fn nonsense_numbers_count_as_none() {
        for usage in [
            r#"{"totalTokens":-1}"#,
            r#"{"totalTokens":"9"}"#,
            "null",
            "[]",
        ] {
            check(&[&format!(r#""usage":{usage}"#)], (2, None));
        }
        let large = answered(r#""usage":{"totalTokens":1e300}"#);
        let found = context_tokens(&[large, say("user", "abcd")]);
        assert_eq!(found.counted, i64::MAX as u64);
    }
}
