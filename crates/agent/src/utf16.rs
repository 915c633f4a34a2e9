//! Sizes in UTF-16 units, which is what limits and reports of OpenClaw mean by "chars". Never splits a character.

/// The units of a text.
pub(crate) fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The longest beginning of at most `units`.
pub(crate) fn head(text: &str, units: usize) -> &str {
    let mut left = units;
    let end = text
        .char_indices()
        .find(|(_, char)| match left.checked_sub(char.len_utf16()) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The longest end of at most `units`.
pub(crate) fn tail(text: &str, units: usize) -> &str {
    let mut left = units;
    let start =
        text.char_indices()
            .rev()
            .find(|(_, char)| match left.checked_sub(char.len_utf16()) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            });
    start.map_or(text, |(at, char)| &text[at + char.len_utf8()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_stand_between_characters() {
        let text = "aé😀z";
        assert_eq!(utf16_len(text), 5);
        let heads: Vec<&str> = (0..=6).map(|units| head(text, units)).collect();
        assert_eq!(heads, ["", "a", "aé", "aé", "aé😀", text, text]);
        let tails: Vec<&str> = (0..=6).map(|units| tail(text, units)).collect();
        assert_eq!(tails, ["", "z", "z", "😀z", "é😀z", text, text]);
    }
}
