//! Cuts `AGENTS.md`: between its head and its tail stand the lines of the middle that look like rules.

use crate::utf16::{head, tail, utf16_len};

use super::cut;

const LINE_CHARS: usize = 240;

/// Words of rules that matter most.
const STRONG: &[&str] = &[
    "must",
    "never",
    "required",
    "scoped",
    "do not",
    "security",
    "secret",
    "credential",
    "owner",
    "必须",
    "禁止",
    "不要",
    "安全",
    "密钥",
    "凭证",
];
/// Words of rules about daily work.
const WORK: &[&str] = &[
    "test",
    "tests",
    "validation",
    "command",
    "commands",
    "commit",
    "push",
    "github",
    "pr",
    "agents.md",
    "测试",
    "验证",
    "命令",
    "提交",
];

/// The text cut to `limit`.
pub(super) fn cut_agents(name: &str, text: &str, limit: usize) -> String {
    let total = utf16_len(text);
    if total <= limit {
        return text.to_owned();
    }
    let mut kept = Kept {
        head: limit * 45 / 100,
        tail: limit * 15 / 100,
        digest: digest(text, limit * 35 / 100),
    };
    loop {
        let shown = kept.layout(name, text, total);
        let Some(over) = utf16_len(&shown)
            .checked_sub(limit)
            .filter(|over| *over > 0)
        else {
            return shown;
        };
        if !kept.shorten(over) {
            return cut::cut(name, text, limit);
        }
    }
}

struct Kept {
    head: usize,
    tail: usize,
    digest: Digest,
}

impl Kept {
    fn layout(&self, name: &str, text: &str, total: usize) -> String {
        let digest = self.digest.lines.join("\n");
        let mut lines = vec![
            head(text, self.head).to_owned(),
            format!("[...truncated, read {name} for full content...]"),
        ];
        if !digest.is_empty() {
            lines.push(format!("[Policy digest from {name}]"));
            lines.push(digest.clone());
        }
        if self.digest.omitted > 0 {
            lines.push(format!(
                "[...{} more policy lines omitted...]",
                self.digest.omitted
            ));
        }
        lines.push(format!(
            "…(truncated {name}: kept {}+policy {}+{} chars of {total})…",
            self.head,
            utf16_len(&digest),
            self.tail
        ));
        lines.push(tail(text, self.tail).to_owned());
        lines.join("\n")
    }

    /// Gives up chars: of the tail, then of the head, then lines of the digest. False when nothing is left.
    fn shorten(&mut self, over: usize) -> bool {
        let from_tail = over.min(self.tail);
        self.tail -= from_tail;
        let from_head = (over - from_tail).min(self.head);
        self.head -= from_head;
        if from_tail + from_head == 0 {
            if self.digest.lines.pop().is_none() {
                return false;
            }
            self.digest.omitted += 1;
        }
        true
    }
}

#[derive(Default)]
struct Digest {
    lines: Vec<String>,
    omitted: usize,
}

struct Candidate {
    /// Number of its first line.
    at: usize,
    lines: Vec<String>,
    is_strong: bool,
}

/// The rules of a text that fit, in its order: strong ones first served.
fn digest(text: &str, room: usize) -> Digest {
    let candidates = candidates(text);
    let (strong, rest): (Vec<_>, Vec<_>) =
        candidates.iter().partition(|candidate| candidate.is_strong);
    let (mut used, mut omitted, mut chosen) = (0, 0, Vec::new());
    for candidate in strong.into_iter().chain(rest) {
        let size: usize = candidate.lines.iter().map(|line| utf16_len(line) + 1).sum();
        // The line break behind the last line is not there.
        if used + size <= room + 1 {
            used += size;
            chosen.push(candidate);
        } else {
            omitted += candidate.lines.len();
        }
    }
    chosen.sort_by_key(|candidate| candidate.at);
    let lines = chosen
        .into_iter()
        .flat_map(|candidate| candidate.lines.clone())
        .collect();
    Digest { lines, omitted }
}

fn candidates(text: &str) -> Vec<Candidate> {
    let lines: Vec<String> = text.lines().map(short_line).collect();
    let mut found = Vec::new();
    let mut prose = None;
    for (at, line) in lines.iter().enumerate() {
        let before = prose.take();
        if line.is_empty() {
            continue;
        }
        let lower = line.to_lowercase();
        let is_strong = has_word(&lower, STRONG);
        if !is_strong && !is_listed(line) && !has_word(&lower, WORK) {
            prose = Some(at);
            continue;
        }
        let first = before.unwrap_or(at);
        found.push(Candidate {
            at: first,
            lines: lines[first..=at].to_vec(),
            is_strong,
        });
    }
    found
}

/// White space collapsed, cut to what the digest takes of a line.
fn short_line(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    cut::clamp(&words.join(" "), LINE_CHARS)
}

/// Headings, list items, numbered items.
fn is_listed(line: &str) -> bool {
    let after = |marks: &str| line.trim_start_matches(|char| marks.contains(char));
    let is_heading = line.starts_with('#') && after("#").starts_with(' ');
    let is_item = ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_numbered =
        rest.len() < line.len() && [". ", ") "].iter().any(|mark| rest.starts_with(mark));
    is_heading || is_item || is_numbered
}

/// Whether one of the words stands in a lower-case line, as a whole word where the script has any.
fn has_word(line: &str, words: &[&str]) -> bool {
    let is_part =
        |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphanumeric() || char == '_');
    words.iter().any(|word| {
        line.match_indices(word).any(|(at, _)| {
            !word.is_ascii()
                || !is_part(line[..at].chars().next_back())
                    && !is_part(line[at + word.len()..].chars().next())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_the_middle_are_kept_in_order() {
        let filler = "Some prose about nothing.\n\n".repeat(60);
        let text = format!(
            "# Top\n\n{filler}Mind this:\nYou must never push.\n\n{filler}1. Run it.\n\n{filler}end"
        );
        let shown = cut_agents("AGENTS.md", &text, 1_000);
        assert!(utf16_len(&shown) <= 1_000);
        assert!(
            shown.contains(
                "[Policy digest from AGENTS.md]\n# Top\nMind this:\nYou must never push.\n1. Run it.\n…(truncated AGENTS.md: \
                 kept 450+policy "
            ),
            "{shown}"
        );
        assert!(
            shown.starts_with("# Top") && shown.ends_with("end"),
            "{shown}"
        );
    }

    #[test]
    fn rules_without_room_are_counted() {
        let text: String = (0..200)
            .map(|number| format!("- You must do {number} things.\n"))
            .collect();
        let shown = cut_agents("AGENTS.md", &text, 900);
        assert!(utf16_len(&shown) <= 900);
        assert!(shown.contains(" more policy lines omitted...]"), "{shown}");
        for limit in [0, 1, 30, 200] {
            assert!(
                utf16_len(&cut_agents("AGENTS.md", &text, limit)) <= limit,
                "{limit}"
            );
        }
    }
}
