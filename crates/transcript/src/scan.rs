//! One pass over a line before it is read as JSON: how deep it nests, and half surrogate escapes.

use std::borrow::Cow;

/// How deep arrays and objects of one line may nest.
///
/// What `serde_json` reads into a value at most, so that whatever passes here can be read further on.
pub const MAX_DEPTH: usize = 127;

/// The text as it is read: each escape of half a surrogate pair is replaced by `\ufffd`.
///
/// The replacement has as many bytes as the escape, so positions in both texts agree. `None` when the text nests
/// deeper than [`MAX_DEPTH`]. Text that is not JSON passes through; the parser refuses it.
pub(crate) fn readable(text: &str) -> Option<Cow<'_, str>> {
    readable_within(text, MAX_DEPTH)
}

/// [`readable`] with another limit, for texts that will stand inside others.
pub(crate) fn readable_within(text: &str, max_depth: usize) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let (mut depth, mut in_string, mut at) = (0usize, false, 0);
    let mut halves = Vec::new();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => in_string = !in_string,
            b'\\' if in_string => at += escape(bytes, at, &mut halves),
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > max_depth {
                    return None;
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Some(heal(text, &halves))
}

/// Bytes of the escape at `at` beyond its backslash; notes the start of each half surrogate.
fn escape(bytes: &[u8], at: usize, halves: &mut Vec<usize>) -> usize {
    match unit(bytes, at) {
        Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => 11,
        Some(0xD800..=0xDFFF) => {
            halves.push(at);
            5
        }
        _ => 1,
    }
}

/// The UTF-16 unit of a `\uXXXX` escape that starts at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(br"\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

fn heal<'a>(text: &'a str, halves: &[usize]) -> Cow<'a, str> {
    if halves.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut healed = String::with_capacity(text.len());
    let mut from = 0;
    for &half in halves {
        healed.push_str(&text[from..half]);
        healed.push_str(r"\ufffd");
        from = half + 6;
    }
    healed.push_str(&text[from..]);
    Cow::Owned(healed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case F-5.
    #[test]
    fn half_surrogates_become_replacement_characters_of_equal_size() {
        for (text, expected) in [
            (r#""a\ud83db""#, r#""a\ufffdb""#),
            (r#""\udc00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#"{"k\uD83D":1}"#, r#"{"k\ufffd":1}"#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\ud83d"#, r#""\ufffd"#),
            (r#""\ud8"#, r#""\ud8"#),
        ] {
            assert_eq!(readable(text).as_deref(), Some(expected), "{text}");
        }
    }

    /// Case F-14.
    #[test]
    fn nesting_is_refused_one_level_past_the_limit() {
        let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
        let deepest = nested(MAX_DEPTH);
        assert!(readable(&deepest).is_some());
        assert!(serde_json::from_str::<serde_json::Value>(&deepest).is_ok());
        assert!(readable(&nested(MAX_DEPTH + 1)).is_none());
        assert!(readable(&nested(10_000)).is_none());
        assert!(
            readable(&format!("\"{}\"", nested(10_000))).is_some(),
            "brackets in a string do not nest"
        );
    }
}
