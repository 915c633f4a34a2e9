//! Foreign text as one line. Never splits a character.

/// The text as one line of at most `max_chars` characters.
///
/// Runs of white space and of characters that steer a terminal or the direction of text become one space. A cut
/// shows as `…`, which counts.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut words = text.split(steers_output).filter(|word| !word.is_empty());
    let Some(first) = words.next() else {
        return line;
    };
    // The words in order, each with its space, without a copy of a text that may be megabytes.
    let all = first
        .chars()
        .chain(words.flat_map(|word| std::iter::once(' ').chain(word.chars())));
    for (chars, char) in all.enumerate() {
        if chars == max_chars {
            line.pop();
            line.push('…');
            break;
        }
        line.push(char);
    }
    line
}

fn steers_output(char: char) -> bool {
    char.is_whitespace()
        || char.is_control()
        || matches!(char, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_one_line() {
        let check =
            |text: &str, expected: &str| assert_eq!(one_line(text, 12), expected, "{text:?}");
        check("", "");
        check(" \n\t ", "");
        check("two\r\n\r\nlines ", "two lines");
        check("\u{1b}[31mred\u{7}", "[31mred");
        check("a\u{202e}b\u{2028}c", "a b c");
        check("exactly 12 c", "exactly 12 c");
        check("one more: 13c", "one more: 1…");
        check("日本語日本語日本語日本語日", "日本語日本語日本語日本…");
    }
}
