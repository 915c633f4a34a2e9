//! Whether a summary may stand for what it summarises.

use super::ask;
use super::identifiers::carries;
use super::structure::{HEADINGS, heading};

/// Missing identifiers that a reason lists.
const LISTED: usize = 3;

/// A summary and what it is held to.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditInput<'a> {
    /// The summary with its frame: what stands in front and behind.
    pub structural: &'a str,
    /// The summary as a model wrote it.
    pub summary: &'a str,
    /// Parts it was merged from; in them a heading may stand once only.
    pub sources: &'a [&'a str],
    /// Identifiers it must carry; none when identifiers are not protected.
    pub identifiers: &'a [String],
    /// The latest request in what was summarised.
    pub latest_ask: Option<&'a str>,
    /// A request that has no answer yet and must stand in front.
    pub unresolved_ask: Option<&'a str>,
}

/// A reason against a summary. Its text is the original's code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A heading is missing.
    #[error("missing_section:{0}")]
    MissingSection(&'static str),
    /// A heading stands twice.
    #[error("duplicate_section:{0}")]
    DuplicateSection(&'static str),
    /// Identifiers are missing; the first few.
    #[error("missing_identifiers:{}", .0.join(","))]
    MissingIdentifiers(Vec<String>),
    /// The latest request is not spoken of.
    #[error("latest_user_ask_not_reflected")]
    AskNotReflected,
    /// The open request does not stand in front.
    #[error("latest_user_ask_not_foregrounded")]
    AskNotForegrounded,
}

/// What is wrong with a summary; nothing when it may stand.
///
/// Source: compaction, "Safeguard mode".
#[must_use]
pub fn audit(input: &AuditInput<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (index, name) in HEADINGS.iter().enumerate() {
        let count = |text: &str| {
            text.lines()
                .filter(|line| heading(line) == Some(index))
                .count()
        };
        if count(input.structural) == 0 {
            flaws.push(Flaw::MissingSection(name));
        } else if count(input.structural) > 1 || input.sources.iter().any(|text| count(text) > 1) {
            flaws.push(Flaw::DuplicateSection(name));
        }
    }
    let missing = input
        .identifiers
        .iter()
        .filter(|one| !carries(input.structural, one) && !carries(input.summary, one));
    let missing: Vec<String> = missing.take(LISTED).cloned().collect();
    if !missing.is_empty() {
        flaws.push(Flaw::MissingIdentifiers(missing));
    }
    if let Some(latest) = input.latest_ask
        && !ask::is_reflected(input.summary, latest)
        && !ask::is_foregrounded(input.structural, latest)
    {
        flaws.push(Flaw::AskNotReflected);
    }
    if let Some(open) = input.unresolved_ask
        && !ask::is_foregrounded(input.structural, open)
    {
        flaws.push(Flaw::AskNotForegrounded);
    }
    flaws
}

/// What a summariser is told about its last attempt.
pub(super) fn feedback(flaws: &[Flaw]) -> String {
    let flaws: Vec<String> = flaws.iter().map(|flaw| format!("- {flaw}")).collect();
    format!(
        "The last summary was refused. Write it again in full and correct this:\n{}",
        flaws.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::structure::structured_fallback;

    #[test]
    fn each_flaw_is_found() {
        let good = structured_fallback(Some("The login page was mended."));
        let identifiers = ["/srv/a/b", "/srv/c/d", "0BADCAFE", "987654"].map(String::from);
        let input = AuditInput {
            structural: &good,
            summary: &good,
            ..AuditInput::default()
        };
        assert_eq!(audit(&input), []);
        assert_eq!(
            audit(&AuditInput {
                identifiers: &identifiers,
                ..input
            }),
            [Flaw::MissingIdentifiers(identifiers[..3].to_vec())]
        );
        assert_eq!(
            audit(&AuditInput {
                latest_ask: Some("deploy the cluster now"),
                ..input
            }),
            [Flaw::AskNotReflected]
        );
        assert_eq!(
            audit(&AuditInput {
                unresolved_ask: Some("mend it"),
                ..input
            }),
            [Flaw::AskNotForegrounded]
        );
        let twice = format!("{good}\n## Decisions\nagain");
        for input in [
            AuditInput {
                structural: &twice,
                ..input
            },
            AuditInput {
                sources: &[&twice],
                ..input
            },
        ] {
            assert_eq!(audit(&input), [Flaw::DuplicateSection("## Decisions")]);
        }
        let bare = AuditInput {
            structural: "words",
            ..input
        };
        assert_eq!(audit(&bare).len(), HEADINGS.len());
        assert!(feedback(&audit(&bare)).contains("- missing_section:## Open TODOs"));
    }
}
