//! Text that cannot steer a terminal.

use std::borrow::Cow;

/// The text with every control character but line feed and tab replaced by U+FFFD. A carriage return before a line
/// feed, or at the end, goes away.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' if matches!(chars.peek(), None | Some('\n')) => {}
            char if steers(char) => shown.push(char::REPLACEMENT_CHARACTER),
            char => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

fn steers(char: char) -> bool {
    char.is_control() && !matches!(char, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        let check = |text: &str, shown: &str| assert_eq!(plain(text), shown, "{text:?}");
        check("wörds\n\tand 漢字 🙂", "wörds\n\tand 漢字 🙂");
        check("\u{1b}[31mred\u{7}", "\u{fffd}[31mred\u{fffd}");
        check("\u{9b}2J\u{7f}", "\u{fffd}2J\u{fffd}");
        check("one\r\ntwo\rthree\r", "one\ntwo\u{fffd}three");
    }
}
