//! Keeps deeply nested texts from a parser that would exhaust the stack, which ends the process.

/// Deepest nesting read. Manifests need about ten levels.
const MAX_DEPTH: usize = 256;

/// What is wrong with a text that is nested too deep; looks past strings and comments, parses nothing.
pub(crate) fn problem(text: &str) -> Option<String> {
    let (mut depth, mut line) = (0_usize, 1_usize);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '"' | '\'' => loop {
                match chars.next()? {
                    '\\' => line += usize::from(chars.next()? == '\n'),
                    '\n' => line += 1,
                    end if end == c => break,
                    _ => {}
                }
            },
            '/' if chars.peek() == Some(&'/') => {
                // The line end itself is counted above.
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            '/' if chars.next_if_eq(&'*').is_some() => {
                let mut before = ' ';
                loop {
                    let c = chars.next()?;
                    line += usize::from(c == '\n');
                    if (before, c) == ('*', '/') {
                        break;
                    }
                    before = c;
                }
            }
            '[' | '{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(format!(
                        "it is nested deeper than {MAX_DEPTH} levels (line {line})"
                    ));
                }
            }
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
