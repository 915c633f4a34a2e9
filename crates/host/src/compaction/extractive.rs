//! A summary without a model: sentences of the conversation itself, chosen by a fixed rule. The same input always gives
//! the same text.

use openclaw_transcript::{Message, Role, said};

use super::conversation::joined;
use super::identifiers::{KEPT_IDENTIFIERS, identifiers};
use super::sentences::{SENTENCE_UNITS, Sentence, best, sentences};
use super::structure::{
    ASKS, CONSTRAINTS, DECISIONS, IDENTIFIERS, Sections, TODOS, structured_fallback,
};
use super::summariser::{Purpose, Summariser, SummariserLimits, SummaryError, SummaryRequest};
use super::text::{one_line, units};

/// First line of every text this rule makes.
pub(super) const NOTICE: &str = "Extractive summary, made without a language model: the lines below are quoted from the conversation.";

const WINDOW_TOKENS: u64 = 64_000;
/// The share of its source that a text may have, as one part in so many.
const SHARE: usize = 3;
const MIN_UNITS: usize = 300;
/// Fewer than the usual four, as not all text is English.
const UNITS_PER_TOKEN: u64 = 3;
const MAX_UNITS: usize = 6_000;

const TODO_WORDS: &[&str] = &[
    "todo",
    "next",
    "remaining",
    "still",
    "open",
    "later",
    "pending",
];
const RULE_WORDS: &[&str] = &[
    "must",
    "never",
    "always",
    "only",
    "forbidden",
    "required",
    "rule",
];

/// Chooses sentences; asks nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extractive;

impl Summariser for Extractive {
    fn limits(&self) -> SummariserLimits {
        SummariserLimits {
            window_tokens: WINDOW_TOKENS,
            max_output_tokens: None,
        }
    }

    fn is_extractive(&self) -> bool {
        true
    }

    fn summarise(&mut self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        if (request.should_stop)() {
            return Err(SummaryError::Cancelled);
        }
        let sentences = sentences(request);
        let room = (units(request.conversation) / SHARE).clamp(MIN_UNITS, MAX_UNITS);
        let most = request.max_output_tokens.saturating_mul(UNITS_PER_TOKEN);
        let room = room.min(usize::try_from(most).unwrap_or(usize::MAX));
        if request.purpose == Purpose::TurnPrefix {
            let lines = best(&sentences, room, |_| true);
            return Ok(format!("{NOTICE}\n{}", listed(&lines)));
        }
        Ok(summary(request, &sentences, room))
    }
}

fn summary(request: &SummaryRequest<'_>, sentences: &[Sentence], room: usize) -> String {
    let mut sections = Sections::read(&structured_fallback(None)).unwrap_or_default();
    let mut earlier = request
        .previous_summary
        .and_then(Sections::read)
        .unwrap_or_default();
    let loose = request
        .previous_summary
        .filter(|text| Sections::read(text).is_none())
        .map(|text| one_line(text, room / 2));
    // What stood behind the earlier summary reads as a part of its last section.
    let quotes = earlier.below(IDENTIFIERS).lines();
    let quotes: Vec<&str> = quotes.filter(|line| line.starts_with("- ")).collect();
    let quotes = quotes.join("\n");
    let has = |words: &'static [&str]| {
        move |sentence: &Sentence| {
            sentence
                .words
                .iter()
                .any(|word| words.contains(&word.as_str()))
        }
    };
    let is_rule = has(RULE_WORDS);
    let is_todo = has(TODO_WORDS);
    let chosen = [
        (CONSTRAINTS, best(sentences, room / 4, is_rule)),
        (
            TODOS,
            best(sentences, room / 4, |it| is_todo(it) && !is_rule(it)),
        ),
        (
            DECISIONS,
            best(sentences, room / 2, |it| !is_todo(it) && !is_rule(it)),
        ),
    ];
    for (heading, lines) in chosen {
        let old = kept_lines(earlier.below(heading), room / 4);
        let mut all = old;
        if heading == DECISIONS {
            all.extend(loose.clone());
            all.extend(kept_lines(&quotes, room / 4));
        }
        all.extend(lines);
        *sections.below(heading) = listed(&all);
    }
    let ask = last_ask(request.messages).map(|ask| format!("- {}", one_line(&ask, SENTENCE_UNITS)));
    *sections.below(ASKS) = ask.unwrap_or_else(|| earlier.below(ASKS).clone());
    *sections.below(IDENTIFIERS) = named(request, earlier.below(IDENTIFIERS));
    sections.lead = NOTICE.to_owned();
    sections.write()
}

/// Identifiers of the conversation, the newest first, then those of before.
fn named(request: &SummaryRequest<'_>, earlier: &str) -> String {
    let mut found = identifiers(request.conversation);
    found.reverse();
    found.extend(identifiers(earlier));
    let mut seen = std::collections::HashSet::new();
    found.retain(|one| seen.insert(one.clone()));
    found.truncate(2 * KEPT_IDENTIFIERS);
    if found.is_empty() {
        "None captured.".to_owned()
    } else {
        found.join("\n")
    }
}

fn kept_lines(text: &str, room: usize) -> Vec<String> {
    let mut left = room;
    let lines = text
        .lines()
        .map(|line| line.trim_start_matches("- ").trim());
    let lines =
        lines.filter(|line| !line.is_empty() && *line != "None." && *line != "No prior history.");
    // The newest stand last.
    let mut kept: Vec<String> = lines
        .rev()
        .take_while(|line| {
            let fits = units(line) <= left;
            left = left.saturating_sub(units(line));
            fits
        })
        .map(str::to_owned)
        .collect();
    kept.reverse();
    kept
}

fn listed(lines: &[String]) -> String {
    if lines.is_empty() {
        return "None.".to_owned();
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    lines.join("\n")
}

fn last_ask(messages: &[&Message]) -> Option<String> {
    let asks = messages
        .iter()
        .rev()
        .filter(|message| message.role() == Role::User);
    asks.map(|message| joined(&said(message)))
        .find(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summarise(purpose: Purpose, messages: &[&str], previous: Option<&str>) -> String {
        let messages: Vec<Message> = messages
            .iter()
            .map(|json| Message::from_json(json).unwrap())
            .collect();
        let messages: Vec<&Message> = messages.iter().collect();
        let conversation = super::super::conversation::conversation(&messages);
        let request = SummaryRequest {
            purpose,
            system_prompt: "",
            prompt: "",
            messages: &messages,
            conversation: &conversation,
            previous_summary: previous,
            max_output_tokens: 1_000,
            should_stop: &|| false,
        };
        Extractive.summarise(&request).unwrap()
    }

    const TALK: [&str; 4] = [
        r#"{"role":"user","content":"Please migrate the billing service. You must never touch the ledger table."}"#,
        r#"{"role":"assistant","content":"We decided to use the copy in /srv/billing/new.sql instead. The next step is still the index."}"#,
        r#"{"role":"toolResult","toolCallId":"c","content":"Huge output that nobody needs."}"#,
        r#"{"role":"user","content":"Now mend the invoice printer in office 4, ticket 987654."}"#,
    ];

    #[test]
    fn sentences_find_their_sections_and_the_text_says_what_it_is() {
        let text = summarise(Purpose::History, &TALK, None);
        assert!(text.starts_with(NOTICE), "{text}");
        let mut sections = Sections::read(&text).unwrap();
        assert!(
            sections
                .below(CONSTRAINTS)
                .contains("never touch the ledger"),
            "{text}"
        );
        assert!(sections.below(TODOS).contains("still the index"), "{text}");
        assert!(
            sections
                .below(DECISIONS)
                .contains("decided to use the copy"),
            "{text}"
        );
        assert!(sections.below(ASKS).contains("invoice printer"), "{text}");
        assert_eq!(sections.below(IDENTIFIERS), "987654\n/srv/billing/new.sql");
        assert!(!text.contains("nobody needs"), "{text}");
        assert_eq!(summarise(Purpose::History, &TALK, None), text);
    }

    #[test]
    fn what_was_summarised_before_is_carried_on_without_growing() {
        let mut text = summarise(Purpose::History, &TALK, None);
        for round in 0..10 {
            let said = format!(
                r#"{{"role":"user","content":"Round {round} brings one more wish for the printer."}}"#
            );
            text = summarise(Purpose::History, &[&said], Some(&text));
            assert!(text.contains("987654"), "{text}");
            assert_eq!(text.matches(NOTICE).count(), 1);
        }
        assert!(units(&text) < 2_000, "{text}");
    }

    #[test]
    fn text_without_sentences_and_long_runs_are_survived() {
        for odd in [
            "1.".repeat(50_000),
            "漢字。".repeat(5_000),
            "a ".repeat(50_000),
            String::new(),
        ] {
            let said = serde_json::json!({ "role": "user", "content": odd }).to_string();
            let text = summarise(Purpose::History, &[&said], Some("loose earlier words"));
            assert!(units(&text) < MAX_UNITS + 1_000);
            assert!(text.contains("loose earlier words"), "{text}");
        }
        assert!(summarise(Purpose::TurnPrefix, &TALK, None).starts_with(NOTICE));
    }
}
