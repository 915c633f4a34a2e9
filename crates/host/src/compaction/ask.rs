//! The request a person is waiting for, and how a summary shows it.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use super::structure::{ASKS, Sections};
use super::text::without_middle;

/// UTF-16 units of a request that a summary repeats.
pub(super) const ASK_UNITS: usize = 800;
const ASK_CUT: &str = "\n[... request shortened ...]\n";
const LEAD_HEADING: &str = "## Latest user request context";
const PENDING_LABEL: &str = "Latest user request context: ";
const KEYWORDS: usize = 12;
/// From so many keywords on one hit is not enough.
const TWO_HITS_FROM: usize = 3;
/// Words that say nothing of a request's subject.
const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "that", "this", "with", "you", "your", "can", "could", "would", "should",
    "please", "have", "has", "had", "are", "was", "were", "will", "from", "into", "about", "what",
    "when", "where", "which", "who", "how", "why", "not", "but", "let", "its", "our", "now",
    "today", "just", "then", "than", "them", "they", "there", "here", "also", "any", "all", "some",
    "one",
];

/// A request as it is repeated: not longer than 800 units, its middle cut.
pub(super) fn repeated(ask: &str) -> String {
    without_middle(ask.trim(), ASK_UNITS, ASK_CUT)
}

/// A request as a JSON text, so that nothing in it can pass for the summary's own words.
fn quoted(ask: &str) -> String {
    serde_json::Value::from(repeated(ask)).to_string()
}

/// Puts a request in front of a summary. One that an earlier compaction put there goes.
pub(super) fn foreground(sections: &mut Sections, ask: &str) {
    drop_foreground(sections);
    let block = format!("{LEAD_HEADING}\n{}", quoted(ask));
    sections.lead = match sections.lead.as_str() {
        "" => block,
        lead => format!("{block}\n\n{lead}"),
    };
}

/// Removes what [`foreground`] or the original put before the headings: by the next compaction it is no longer the
/// latest request. Case S-4.
pub(super) fn drop_foreground(sections: &mut Sections) {
    if let Some(rest) = sections.lead.strip_prefix(LEAD_HEADING) {
        let rest = rest.trim_start();
        let rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        sections.lead = rest.trim().to_owned();
    }
    let asks = sections.below(ASKS);
    let kept = asks.lines().filter(|line| !line.starts_with(PENDING_LABEL));
    *asks = kept.collect::<Vec<_>>().join("\n");
}

/// Whether a request stands in front of a summary or as its first pending one.
pub(super) fn is_foregrounded(summary: &str, ask: &str) -> bool {
    let quoted = quoted(ask);
    if summary.starts_with(LEAD_HEADING) && summary.contains(&quoted) {
        return true;
    }
    Sections::read(summary).is_some_and(|mut sections| {
        let asks = sections.below(ASKS);
        asks.starts_with(&format!("{PENDING_LABEL}{quoted}"))
    })
}

/// Whether a summary speaks of a request: it holds one of its keywords, or two where there are three and more.
pub(super) fn is_reflected(summary: &str, ask: &str) -> bool {
    let keywords = keywords(ask);
    let needed = match keywords.len() {
        0 => return true,
        few if few < TWO_HITS_FROM => 1,
        _ => 2,
    };
    let words: HashSet<String> = words(summary).collect();
    keywords.iter().filter(|word| words.contains(*word)).count() >= needed
}

fn keywords(ask: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    words(ask)
        .filter(|word| !word.is_ascii() || word.len() > 2)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()) && seen.insert(word.clone()))
        .take(KEYWORDS)
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.unicode_words().map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::structure::structured_fallback;

    #[test]
    fn a_request_is_reflected_by_its_subject_not_by_politeness() {
        let summary = "The login page crashed. 登录 页面 坏了";
        for (ask, expected) in [
            ("please fix the login page", true),
            ("could you please", true),
            ("deploy the kubernetes cluster", false),
            ("repair the page footer colours", false),
            ("页面怎么了", true),
            ("", true),
        ] {
            assert_eq!(is_reflected(summary, ask), expected, "{ask}");
        }
    }

    /// Case S-4.
    #[test]
    fn the_latest_request_stands_in_front_and_an_old_one_goes() {
        let mut sections = Sections::read(&structured_fallback(None)).unwrap();
        foreground(&mut sections, "write docs");
        assert!(is_foregrounded(&sections.write(), "write docs"));
        foreground(&mut sections, "stop docs,\nfix \"the\" test");
        let text = sections.write();
        assert!(
            text.starts_with("## Latest user request context\n\"stop docs,\\nfix"),
            "{text}"
        );
        assert!(!text.contains("write docs"), "{text}");
        assert!(!is_foregrounded(&text, "write docs"));
    }

    #[test]
    fn a_long_request_is_repeated_in_short() {
        let long = "word ".repeat(1_000);
        let text = repeated(&long);
        assert!(text.encode_utf16().count() <= ASK_UNITS && text.contains("shortened"));
    }
}
