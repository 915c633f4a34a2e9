//! Half surrogate escapes in JSON text, which strict readers refuse. Never fails.

use std::borrow::Cow;

/// The JSON text with each escape of half a surrogate pair replaced by `\ufffd`, as transcripts are read.
///
/// Servers that cut a stream between the halves of an emoji send such escapes. Text that is not JSON passes through.
#[must_use]
pub fn heal_half_surrogates(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let (mut healed, mut from, mut at) = (String::new(), 0, 0);
    // Escapes stand in strings only; elsewhere a backslash is no JSON.
    while let Some(offset) = json[at..].find('\\') {
        at += offset;
        match unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                healed.push_str(&json[from..at]);
                healed.push_str(r"\ufffd");
                at += 6;
                from = at;
            }
            // The escaped character may be of several bytes.
            _ => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    healed.push_str(&json[from..]);
    Cow::Owned(healed)
}

/// The UTF-16 unit of a `\uXXXX` escape that starts at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(br"\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case F-5.
    #[test]
    fn half_surrogates_become_replacement_characters() {
        let check = |json: &str, expected: &str| assert_eq!(heal_half_surrogates(json), expected);
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(r#""a\ud83d""#, r#""a\ufffd""#);
        check(r#""\uDE00b""#, r#""\ufffdb""#);
        check(r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#);
        check(r#""\\ud83d""#, r#""\\ud83d""#);
        check("\\", "\\");
        check("\\é\\ud83", "\\é\\ud83");
    }
}
