//! The shape of a summary: five headings, and texts cut to a limit.

use super::text::{head, units};

/// The headings of a summary, in order.
pub const HEADINGS: [&str; 5] = [DECISIONS, TODOS, CONSTRAINTS, ASKS, IDENTIFIERS];
pub(super) const DECISIONS: &str = "## Decisions";
pub(super) const TODOS: &str = "## Open TODOs";
pub(super) const CONSTRAINTS: &str = "## Constraints/Rules";
pub(super) const ASKS: &str = "## Pending user asks";
pub(super) const IDENTIFIERS: &str = "## Exact identifiers";

/// UTF-16 units of a whole summary.
pub const SUMMARY_UNITS: usize = 16_000;
const CUT: &str = "\n\n[Compaction summary truncated to fit budget]";
const SECTION_CUT: &str = "\n[... shortened]";

/// A summary in its sections: what stands before the first heading, and the text below each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sections {
    pub(super) lead: String,
    pub(super) texts: [String; 5],
}

impl Sections {
    /// Reads a summary; `None` unless each heading stands in it exactly once.
    pub(super) fn read(summary: &str) -> Option<Self> {
        let mut sections = Self::default();
        let mut seen = [false; 5];
        let mut current = None;
        for line in summary.lines() {
            if let Some(index) = heading(line) {
                if std::mem::replace(&mut seen[index], true) {
                    return None;
                }
                current = Some(index);
                continue;
            }
            let text = current.map_or(&mut sections.lead, |index| &mut sections.texts[index]);
            text.push_str(line);
            text.push('\n');
        }
        for text in sections.texts.iter_mut().chain([&mut sections.lead]) {
            *text = text.trim().to_owned();
        }
        seen.iter().all(|seen| *seen).then_some(sections)
    }

    /// The text below a heading.
    pub(super) fn below(&mut self, heading: &str) -> &mut String {
        let index = HEADINGS.iter().position(|known| *known == heading);
        &mut self.texts[index.expect("a heading of HEADINGS")]
    }

    pub(super) fn write(&self) -> String {
        let sections = HEADINGS.iter().zip(&self.texts);
        let lead = (!self.lead.is_empty()).then(|| self.lead.clone());
        let parts = lead.into_iter().chain(sections.map(|(heading, text)| {
            format!(
                "{heading}\n{}",
                if text.is_empty() { "None." } else { text }
            )
        }));
        parts.collect::<Vec<_>>().join("\n\n")
    }

    /// Shortens the sections, the longest first, until the whole takes at most `max` units. Identifiers and asks are
    /// shortened last.
    pub(super) fn shrink(&mut self, max: usize) {
        for protected in [true, false] {
            let over = units(&self.write()).saturating_sub(max);
            if over == 0 {
                return;
            }
            let open = if protected { 3 } else { 5 };
            let total: usize = self.texts[..open].iter().map(|text| units(text)).sum();
            for text in &mut self.texts[..open] {
                let share = units(text) * over.min(total) / total.max(1) + 1;
                let room = units(text).saturating_sub(share + units(SECTION_CUT));
                if units(text) > share {
                    *text = format!("{}{SECTION_CUT}", head(text, room).trim_end());
                }
            }
        }
    }
}

/// Which heading a line is.
pub(super) fn heading(line: &str) -> Option<usize> {
    HEADINGS
        .iter()
        .position(|heading| line.trim_end() == *heading)
}

/// A summary with all headings where nothing new was summarised: the earlier one if it has them, else a skeleton
/// around it.
///
/// Source: compaction, "Safeguard mode"; case S-1.
#[must_use]
pub fn structured_fallback(previous: Option<&str>) -> String {
    let previous = previous.map(str::trim).filter(|text| !text.is_empty());
    if let Some(previous) = previous
        && Sections::read(previous).is_some()
    {
        return previous.to_owned();
    }
    let none = || "None.".to_owned();
    let sections = Sections {
        lead: String::new(),
        texts: [
            previous.unwrap_or("No prior history.").to_owned(),
            none(),
            none(),
            none(),
            "None captured.".to_owned(),
        ],
    };
    sections.write()
}

/// Cuts a summary to at most `max` UTF-16 units, with a mark where it was cut. What it ends with in `suffix` stays.
#[must_use]
pub fn cap_summary(summary: &str, max: usize, suffix: &str) -> String {
    if units(summary) <= max {
        return summary.to_owned();
    }
    let body = summary.strip_suffix(suffix).unwrap_or(summary);
    match max.checked_sub(units(CUT) + units(suffix)) {
        Some(room) if room > 0 => format!("{}{CUT}{suffix}", head(body, room)),
        _ => head(summary, max).to_owned(),
    }
}

/// A text whose headings cannot be taken for those of the summary it will stand in.
pub(super) fn demoted(text: &str) -> String {
    let lines = text.lines().map(|line| match heading(line) {
        Some(_) => format!("#{line}"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        HEADINGS
            .map(|heading| format!("{heading}\n{text}"))
            .join("\n\n")
    }

    #[test]
    fn a_summary_is_read_and_written_alike() {
        let text = format!("Lead.\n\n{}", filled("one\ntwo"));
        assert_eq!(Sections::read(&text).unwrap().write(), text);
        assert_eq!(Sections::read("## Decisions\nonly"), None);
        assert_eq!(
            Sections::read(&format!("{text}\n## Decisions\nagain")),
            None
        );
    }

    #[test]
    fn shrinking_keeps_every_heading_and_spares_asks_and_identifiers() {
        let mut sections = Sections::read(&filled(&"word ".repeat(200))).unwrap();
        sections.below(ASKS).clone_from(&"fix it".to_owned());
        sections
            .below(IDENTIFIERS)
            .clone_from(&"/srv/a/b".to_owned());
        sections.shrink(600);
        let text = sections.write();
        assert!(units(&text) <= 600, "{}", units(&text));
        assert!(Sections::read(&text).is_some());
        assert!(
            text.contains("fix it") && text.contains("/srv/a/b"),
            "{text}"
        );
        let mut tiny = Sections::read(&filled(&"word ".repeat(200))).unwrap();
        tiny.shrink(10);
        assert!(Sections::read(&tiny.write()).is_some());
    }

    /// Case S-1.
    #[test]
    fn an_earlier_summary_is_never_replaced_by_a_skeleton() {
        assert_eq!(structured_fallback(Some(&filled("kept"))), filled("kept"));
        assert!(structured_fallback(Some("loose words")).contains("loose words"));
        let once = structured_fallback(Some("loose words"));
        assert_eq!(structured_fallback(Some(&once)), once);
    }

    #[test]
    fn a_cut_summary_says_so_and_keeps_its_suffix() {
        let text = format!("{}\nEND", "a".repeat(300));
        let cut = cap_summary(&text, 100, "\nEND");
        assert_eq!(units(&cut), 100);
        assert!(cut.ends_with("budget]\nEND"), "{cut}");
        assert_eq!(cap_summary("short", 100, ""), "short");
        assert_eq!(cap_summary(&text, 5, "\nEND"), "aaaaa");
    }

    #[test]
    fn headings_inside_a_part_are_demoted() {
        assert_eq!(
            demoted("## Decisions\nx\n## Other"),
            "### Decisions\nx\n## Other"
        );
    }
}
