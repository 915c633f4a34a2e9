//! The final text: the summary, what is put right without a model, and what stands behind it.

use openclaw_transcript::{Message, Role, is_error_result, said, tool_name};

use super::ask;
use super::chunks::Weighed;
use super::conversation::{joined, speaker};
use super::identifiers::carries;
use super::structure::{IDENTIFIERS, Sections, cap_summary, demoted};
use super::text::{head, one_line, units};

const QUOTED_UNITS: usize = 600;
const QUOTED_TOTAL_UNITS: usize = 8_000;
const FAILURES: usize = 8;
const FAILURE_UNITS: usize = 240;
/// The share of a summary that each part behind it may have, as one part in so many.
const PART_SHARE: usize = 4;

/// What stands behind a summary.
#[derive(Default)]
pub(super) struct Behind {
    pub(super) turn_prefix: Option<String>,
    pub(super) recent_turns: String,
    pub(super) failures: String,
    pub(super) notes: Vec<String>,
    pub(super) files: String,
}

/// What a summary has to show.
pub(super) struct Required<'a> {
    pub(super) ask: Option<&'a str>,
    pub(super) identifiers: &'a [String],
}

/// Puts the final text together, at most `max` UTF-16 units.
pub(super) fn compose(body: &str, behind: &Behind, required: &Required<'_>, max: usize) -> String {
    let behind = behind.write(max / PART_SHARE);
    let Some(mut sections) = Sections::read(body) else {
        return cap_summary(&format!("{body}{behind}"), max, &behind);
    };
    ask::drop_foreground(&mut sections);
    if let Some(ask) = required.ask {
        ask::foreground(&mut sections, ask);
    }
    let text = sections.write();
    let missing: Vec<&str> = required
        .identifiers
        .iter()
        .filter(|one| !carries(&text, one) && !carries(&behind, one))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        let named = sections.below(IDENTIFIERS);
        if named.trim() == "None captured." || named.trim() == "None." {
            named.clear();
        }
        let all = named.lines().chain(missing).collect::<Vec<_>>().join("\n");
        *named = all;
    }
    let room = max.saturating_sub(units(&behind));
    sections.shrink(room);
    let text = sections.write();
    cap_summary(&format!("{text}{behind}"), max, &behind)
}

impl Behind {
    /// The same without what only repeats.
    pub(super) fn without_quotes(self) -> Self {
        Self {
            recent_turns: String::new(),
            failures: String::new(),
            ..self
        }
    }

    fn write(&self, most: usize) -> String {
        let turn = self
            .turn_prefix
            .as_deref()
            .map(|text| format!("**Turn Context (split turn):**\n\n{}", demoted(text)));
        let notes = (!self.notes.is_empty()).then(|| self.notes.join("\n"));
        let parts = [
            turn,
            titled("## Recent turns preserved verbatim", &self.recent_turns),
            titled("## Tool Failures", &self.failures),
            notes,
            (!self.files.is_empty() && units(&self.files) <= most).then(|| self.files.clone()),
        ];
        let parts = parts.into_iter().flatten();
        parts
            .map(|part| format!("\n\n{}", cap_summary(&part, most, "")))
            .collect()
    }
}

fn titled(title: &str, lines: &str) -> Option<String> {
    (!lines.is_empty()).then(|| format!("{title}\n{lines}"))
}

/// What people and model said in the last turns of a history, a line each.
///
/// Quotes on top of the summary, never in its place: the same messages were summarised too.
pub(super) fn recent_turns(history: &[Weighed<'_>], turns: u8) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut left, mut users) = (QUOTED_TOTAL_UNITS, 0);
    for message in history.iter().rev().map(|it| it.message) {
        if users >= turns {
            break;
        }
        let Some(speaker) = speaker(message.role()) else {
            continue;
        };
        users += u8::from(message.role() == Role::User);
        let text = one_line(&joined(&said(message)), QUOTED_UNITS);
        if text.is_empty() {
            continue;
        }
        let line = format!("- {speaker}: {text}");
        let Some(rest) = left.checked_sub(units(&line) + 1) else {
            break;
        };
        left = rest;
        lines.push(line);
    }
    lines.reverse();
    lines.join("\n")
}

/// The last failures of tools, a line each.
pub(super) fn failures<'m>(messages: impl DoubleEndedIterator<Item = &'m Message>) -> String {
    let failed = messages
        .rev()
        .filter(|message| is_error_result(message) && !message.synthetic());
    let mut lines: Vec<String> = failed
        .take(FAILURES)
        .map(|message| {
            let tool = tool_name(message).unwrap_or_else(|| "unknown".to_owned());
            let text = joined(&said(message));
            let start = head(&text, FAILURE_UNITS * 2);
            one_line(&format!("- {tool}: {start}"), FAILURE_UNITS)
        })
        .collect();
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::structure::structured_fallback;

    fn messages(json: &[&str]) -> Vec<Message> {
        json.iter()
            .map(|json| Message::from_json(json).unwrap())
            .collect()
    }

    #[test]
    fn what_is_required_is_put_right_without_a_model() {
        let identifiers = ["/srv/a/b".to_owned(), "987654".to_owned()];
        let required = Required {
            ask: Some("mend it"),
            identifiers: &identifiers,
        };
        let behind = Behind {
            turn_prefix: Some("## Decisions\nticket 987654".into()),
            files: "<read-files>\na\n</read-files>".into(),
            ..Behind::default()
        };
        let body = structured_fallback(None);
        let text = compose(&body, &behind, &required, 16_000);
        assert!(
            text.starts_with("## Latest user request context\n\"mend it\"\n\n## Decisions"),
            "{text}"
        );
        assert!(
            text.contains("## Exact identifiers\n/srv/a/b\n\n**Turn Context"),
            "{text}"
        );
        assert!(text.contains("\n### Decisions\nticket 987654"), "{text}");
        assert!(text.ends_with("</read-files>"), "{text}");
        for max in [0, 10, 300, 500] {
            assert!(
                units(&compose(&body, &behind, &required, max)) <= max,
                "{max}"
            );
        }
    }

    #[test]
    fn the_last_turns_and_failures_are_quoted_in_short() {
        let long = format!(r#"{{"role":"user","content":"{}"}}"#, "word ".repeat(400));
        let messages = messages(&[
            r#"{"role":"user","content":"one"}"#,
            r#"{"role":"assistant","content":"two"}"#,
            &long,
            r#"{"role":"toolResult","toolCallId":"c","toolName":"run","isError":true,"content":"no\nspace"}"#,
            r#"{"role":"toolResult","toolCallId":"d","content":"fine"}"#,
        ]);
        let weighed: Vec<Weighed<'_>> = messages
            .iter()
            .map(|message| Weighed { message, tokens: 1 })
            .collect();
        assert_eq!(recent_turns(&weighed, 0), "");
        let one = recent_turns(&weighed, 1);
        assert!(
            one.starts_with("- User: word") && one.ends_with("...") && units(&one) < 620,
            "{one}"
        );
        assert!(
            recent_turns(&weighed, 12).starts_with("- User: one\n- Assistant: two\n- User: word")
        );
        assert_eq!(failures(messages.iter()), "- run: no space");
    }
}
