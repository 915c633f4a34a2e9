//! Finds a `/name` and takes a span out of a text. Byte positions always stand between characters.

use std::ops::Range;

/// Where a `/name` stands: its slash and the end of its name.
///
/// It starts the text or follows white space, and is followed by the end, white space or `:`. Case does not matter.
pub(super) fn find(text: &str, names: &[&str]) -> Option<Range<usize>> {
    find_followed(text, names, |next| next == ':' || next.is_whitespace())
}

fn find_followed(
    text: &str,
    names: &[&str],
    may_follow: impl Fn(char) -> bool,
) -> Option<Range<usize>> {
    text.match_indices('/').find_map(|(at, _)| {
        let follows_word = text[..at]
            .chars()
            .next_back()
            .is_some_and(|before| !before.is_whitespace());
        if follows_word {
            return None;
        }
        let rest = &text[at + 1..];
        let length = names.iter().map(|name| name.len()).find(|&length| {
            rest.get(..length)
                .is_some_and(|word| names.iter().any(|name| name.eq_ignore_ascii_case(word)))
                && rest[length..].chars().next().is_none_or(&may_follow)
        })?;
        Some(at..at + 1 + length)
    })
}

/// Where the arguments of a directive begin: behind white space and one `:`.
pub(super) fn arguments(text: &str, name_end: usize) -> usize {
    let at = skip_space(text, name_end);
    match text[at..].strip_prefix(':') {
        Some(_) => skip_space(text, at + 1),
        None => at,
    }
}

/// The end of the `:` behind a name, or of the name where there is none.
pub(super) fn name_with_colon(text: &str, name_end: usize) -> usize {
    let at = skip_space(text, name_end);
    if text[at..].starts_with(':') {
        at + 1
    } else {
        name_end
    }
}

pub(super) fn skip_space(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_start().len()
}

/// The end of the word that starts at `from`.
pub(super) fn word_end(text: &str, from: usize) -> usize {
    let length = text[from..].find(char::is_whitespace);
    length.map_or(text.len(), |length| from + length)
}

/// Takes a span out: with its line when nothing else stands there, else with one blank beside it.
pub(super) fn cut(text: &mut String, span: Range<usize>) {
    let is_blank = |char: char| char == ' ' || char == '\t';
    let line_start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let line_feed = text[span.end..].find('\n').map(|at| span.end + at);
    let after = &text[span.end..line_feed.unwrap_or(text.len())];
    let line_end = after.strip_suffix('\r').unwrap_or(after);
    let stands_alone =
        text[line_start..span.start].chars().all(is_blank) && line_end.chars().all(is_blank);
    let (start, end) = if stands_alone {
        (line_start, line_feed.map_or(text.len(), |at| at + 1))
    } else if line_end.starts_with(is_blank) {
        (span.start, span.end + 1)
    } else if line_end.is_empty() && text[..span.start].ends_with(is_blank) {
        (span.start - 1, span.end)
    } else {
        (span.start, span.end)
    };
    text.replace_range(start..end, "");
    if text.trim().is_empty() {
        text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words() {
        let check =
            |text: &str, expected| assert_eq!(find(text, &["think", "t"]), expected, "{text}");
        check("/think high", Some(0..6));
        check("a /T:x", Some(2..4));
        check("/thinkhigh /t", Some(11..13));
        check("x/think (/think /tea", None);
        check("é /t", Some(3..5));
    }

    #[test]
    fn a_span_goes_with_its_line_or_a_blank() {
        let check = |text: &str, expected: &str| {
            let mut left = text.to_owned();
            cut(&mut left, find(text, &["x"]).unwrap());
            assert_eq!(left, expected, "{text:?}");
        };
        check("a\n /x \nb", "a\nb");
        check("a\n/x", "a\n");
        check("a /x", "a");
        check("a /x b", "a b");
        check("a /x\nb", "a\nb");
        check("a /x\r\nb", "a\r\nb");
        check(" \n/x\n ", "");
    }
}
