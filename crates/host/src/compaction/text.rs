//! Texts measured and cut in UTF-16 units, as every limit of the original is.

/// UTF-16 units of a text.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The start of a text, at most `max` units, whole characters.
pub(super) fn head(text: &str, max: usize) -> &str {
    let mut left = max;
    let end = text.char_indices().find(|(_, c)| {
        let fits = c.len_utf16() <= left;
        left = left.saturating_sub(c.len_utf16());
        !fits
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The end of a text, at most `max` units, whole characters.
pub(super) fn tail(text: &str, max: usize) -> &str {
    let mut left = max;
    let start = text.char_indices().rev().find(|(_, c)| {
        let fits = c.len_utf16() <= left;
        left = left.saturating_sub(c.len_utf16());
        !fits
    });
    start.map_or(text, |(at, c)| &text[at + c.len_utf8()..])
}

/// A text of at most `max` units: whole, or its start and end around `mark`. A limit that the mark alone fills keeps
/// the start.
pub(super) fn without_middle(text: &str, max: usize, mark: &str) -> String {
    if units(text) <= max {
        return text.to_owned();
    }
    let Some(room) = max.checked_sub(units(mark)) else {
        return head(text, max).to_owned();
    };
    format!(
        "{}{mark}{}",
        head(text, room.div_ceil(2)),
        tail(text, room / 2)
    )
}

/// A text in one line of at most `max` units, with `...` where it was cut.
pub(super) fn one_line(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if units(&line) <= max {
        return line;
    }
    format!("{}...", head(&line, max.saturating_sub(3)).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_never_split_a_character_and_never_exceed_the_limit() {
        assert_eq!((head("a😀b", 2), tail("a😀b", 2)), ("a", "b"));
        assert_eq!((head("a😀b", 3), tail("a😀b", 3)), ("a😀", "😀b"));
        assert_eq!((head("ab", 9), tail("ab", 9)), ("ab", "ab"));
        assert_eq!((head("ab", 0), tail("ab", 0)), ("", ""));
        for max in 0..12 {
            assert!(
                units(&without_middle("0123456789abc", max, " .. ")) <= max,
                "{max}"
            );
            assert!(
                units(&one_line("01 23 😀45", max.max(3))) <= max.max(3),
                "{max}"
            );
        }
        assert_eq!(without_middle("0123456789abc", 8, ".."), "012..abc");
        assert_eq!(one_line("a \n b", 9), "a b");
    }
}
