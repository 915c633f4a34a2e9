//! A line of a config file that is safe to show.

/// Chars shown of one line, at most.
const WIDTH: usize = 60;

/// `line` around `column` (chars, from 1), with everything that may be a value replaced by `…`.
///
/// Keys, brackets, `true`, `false` and `null` stay; so does a bare word before a colon.
pub(crate) fn without_values(line: &str, column: usize) -> String {
    let chars: Vec<char> = line.trim_end_matches('\r').chars().collect();
    let mut shown = String::new();
    let mut at = 0;
    while at < chars.len() {
        let start = at;
        match chars[at] {
            quote @ ('"' | '\'') => {
                at += 1;
                while at < chars.len() && chars[at] != quote {
                    at += if chars[at] == '\\' { 2 } else { 1 };
                }
                let closed = at < chars.len();
                at = (at + 1).min(chars.len());
                if closed && is_key(&chars, at) {
                    shown.extend(&chars[start..at]);
                } else {
                    shown.extend([quote, '…']);
                    if closed {
                        shown.push(quote);
                    }
                }
            }
            '/' if matches!(chars.get(at + 1), Some('/' | '*')) => {
                shown.push_str("/…");
                break;
            }
            c if c.is_whitespace() || matches!(c, '{' | '}' | '[' | ']' | ':' | ',') => {
                shown.push(c);
                at += 1;
            }
            _ => {
                while at < chars.len()
                    && !chars[at].is_whitespace()
                    && !"{}[]:,\"'/".contains(chars[at])
                {
                    at += 1;
                }
                at = at.max(start + 1);
                let word: String = chars[start..at].iter().collect();
                if is_key(&chars, at) || matches!(word.as_str(), "true" | "false" | "null") {
                    shown.push_str(&word);
                } else {
                    shown.push('…');
                }
            }
        }
    }
    cut(shown.trim(), column)
}

fn is_key(chars: &[char], end: usize) -> bool {
    chars[end..].iter().find(|c| !c.is_whitespace()) == Some(&':')
}

fn cut(shown: &str, column: usize) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let chars: Vec<char> = shown.chars().map(visible).collect();
    if chars.len() <= WIDTH {
        return chars.into_iter().collect();
    }
    let start = column.saturating_sub(WIDTH / 2).min(chars.len() - WIDTH);
    chars[start..start + WIDTH].iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case C-6.
    #[test]
    fn excerpt_keeps_keys_and_hides_values() {
        let check = |line: &str, shown: &str| assert_eq!(without_values(line, 1), shown);
        check(
            r#"  "apiKey": "sk-1234" "next": 1"#,
            r#""apiKey": "…" "next": …"#,
        );
        check("token: 'abc", "token: '…");
        check("token: abc-def, on: true // pw", "token: …, on: true /…");
        check("key: \"a\\\"b\"", "key: \"…\"");
        check("", "");
        check("\"a\u{1b}[2J\":\t1", "\"a [2J\": …");
    }

    #[test]
    fn long_line_is_cut_around_the_column() {
        let line = "key: 1, ".repeat(100);
        assert_eq!(without_values(&line, 400).chars().count(), WIDTH);
    }
}
