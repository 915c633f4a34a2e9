//! The front matter of a `SKILL.md`: the few text fields that are needed, in the YAML that such files are written in.
//!
//! A field is a plain, quoted or block text; nested values are skipped. A whole YAML reader would bring anchors, tags and
//! its own faults for three fields.

/// What the front matter says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    /// `disable-model-invocation`.
    pub(super) is_hidden: bool,
}

/// Reads it; `None` when the text does not begin with one.
pub(super) fn front_matter(text: &str) -> Option<FrontMatter> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut lines = text.lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let body: Vec<&str> = lines
        .clone()
        .take_while(|line| line.trim_end() != "---")
        .collect();
    // Without its closing line the whole file would be front matter.
    lines.nth(body.len())?;

    let mut found = FrontMatter::default();
    let mut at = 0;
    while at < body.len() {
        let line = body[at];
        at += 1;
        let is_field = !line.starts_with([' ', '\t', '#', '-']);
        let Some((key, value)) = line.split_once(':').filter(|_| is_field) else {
            continue;
        };
        let rest = body[at..]
            .iter()
            .take_while(|line| line.trim().is_empty() || line.starts_with([' ', '\t']));
        let inner: Vec<&str> = rest.copied().collect();
        at += inner.len();
        let value = scalar(value.trim(), &inner);
        match key.trim() {
            "name" => found.name = value,
            "description" => found.description = value,
            "disable-model-invocation" => {
                found.is_hidden =
                    value.is_some_and(|value| matches!(value.as_str(), "true" | "yes" | "on"))
            }
            _ => {}
        }
    }
    Some(found)
}

/// A text from behind its key and the indented lines that follow; `None` when it is empty.
fn scalar(first: &str, inner: &[&str]) -> Option<String> {
    let folded = |first: &str| {
        let lines = std::iter::once(first).chain(inner.iter().map(|line| line.trim()));
        lines
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let text = match first.chars().next() {
        Some('|') => inner
            .iter()
            .map(|line| line.trim())
            .collect::<Vec<_>>()
            .join("\n")
            .trim()
            .to_owned(),
        Some('>') => folded(""),
        Some('"') => double_quoted(&folded(first)),
        Some('\'') => single_quoted(&folded(first)),
        Some('#') => String::new(),
        _ => {
            let text = folded(first);
            text.split(" #")
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned()
        }
    };
    Some(text).filter(|text| !text.is_empty())
}

fn double_quoted(text: &str) -> String {
    let (mut out, mut chars) = (String::new(), text.chars().skip(1));
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    out
}

fn single_quoted(text: &str) -> String {
    let inner = text[1..].replace("''", "\0");
    inner
        .split('\'')
        .next()
        .unwrap_or_default()
        .replace('\0', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_every_spelling() {
        let check = |value: &str, expected: Option<&str>| {
            let text = format!("---\nname: x\ndescription: {value}\nother:\n  - a: b\n---\nbody\n");
            let found = front_matter(&text).unwrap();
            assert_eq!(
                (found.name.as_deref(), found.description.as_deref()),
                (Some("x"), expected),
                "{value}"
            );
        };
        check("Does a thing: well # really", Some("Does a thing: well"));
        check("\"say \\\"hi\\\"\\n\" # c", Some("say \"hi\"\n"));
        check("'it''s' # c", Some("it's"));
        check("\n  on the next\n  lines", Some("on the next lines"));
        check("|\n  one\n  two\n", Some("one\ntwo"));
        check(">-\n  one\n  two\n", Some("one two"));
        check("", None);
        check("'", None);
    }

    #[test]
    fn a_skill_may_hide_from_the_model() {
        let hidden = |value: &str| {
            front_matter(&format!("---\ndisable-model-invocation: {value}\n---"))
                .unwrap()
                .is_hidden
        };
        assert!(hidden("true") && hidden("'yes'") && !hidden("false") && !hidden(""));
    }

    #[test]
    fn a_text_without_front_matter_has_none() {
        for text in ["", "# Title\n", "---\nname: x\n", "--- x\n---\n"] {
            assert_eq!(front_matter(text), None, "{text:?}");
        }
        assert_eq!(
            front_matter("---\r\nname: x\r\n---\r\n")
                .unwrap()
                .name
                .as_deref(),
            Some("x")
        );
    }
}
