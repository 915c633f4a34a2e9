//! Whole compactions, with a summariser that does as told and a clock that stands still.

mod carried;
mod coverage;
mod cuts;
mod failures;
mod linear;
mod progress;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use openclaw_transcript::{Row, compaction_row, estimate, estimate_text, message_row, parse_row};
use serde_json::json;

use super::*;

/// A session as it is told. Row ids are `r0`, `r1` and so on.
#[derive(Clone, Default)]
struct Talk(Vec<Row>);

impl Talk {
    fn row(mut self, make: impl FnOnce(&str, Option<&str>) -> String) -> Self {
        let id = format!("r{}", self.0.len());
        let parent = self.0.last().and_then(Row::id).map(str::to_owned);
        let text = make(&id, parent.as_deref());
        self.0
            .push(parse_row(self.0.len() + 1, &text).expect("a row"));
        self
    }

    fn message(self, message: serde_json::Value) -> Self {
        self.row(|id, parent| message_row(id, parent, "", &message.to_string()))
    }

    fn user(self, text: &str) -> Self {
        self.message(json!({ "role": "user", "content": text }))
    }

    fn answer(self, text: &str) -> Self {
        self.message(json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }))
    }

    fn calls(self, ids: &[&str]) -> Self {
        let calls = ids.iter().map(
            |id| json!({ "type": "toolCall", "id": id, "name": "run", "arguments": { "for": id } }),
        );
        self.message(json!({ "role": "assistant", "content": calls.collect::<Vec<_>>() }))
    }

    fn result(self, call: &str, text: &str) -> Self {
        self.message(json!({
            "role": "toolResult", "toolCallId": call, "toolName": "run", "content": text,
        }))
    }

    fn silent(self) -> Self {
        self.row(|id, parent| openclaw_transcript::custom_row(id, parent, "", "note", "1"))
    }

    fn turns(self, count: usize) -> Self {
        (0..count).fold(self, |talk, turn| {
            talk.user(&format!("question {turn} {}", words(40)))
                .answer(&format!("answer {turn} {}", words(40)))
        })
    }

    fn summary(self, summary: &str, first_kept: Option<&str>) -> Self {
        self.row(|id, parent| {
            let compaction = openclaw_transcript::NewCompaction {
                summary,
                first_kept_entry_id: first_kept,
                tokens_before: 9,
                tokens_after: None,
                details_json: None,
                from_hook: false,
            };
            compaction_row(id, parent, "", &compaction)
        })
    }

    fn compacted(self, compacted: &Compacted) -> Self {
        self.row(|id, parent| compacted.row(id, parent, ""))
    }

    fn rows(&self) -> Vec<&Row> {
        self.0.iter().collect()
    }

    fn input(&self) -> CompactionInput {
        CompactionInput::of_path(&self.rows(), &|_, json| estimate(json))
    }
}

fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

/// A summary that passes every check.
fn good(text: &str) -> String {
    HEADINGS
        .map(|heading| format!("{heading}\n{text}"))
        .join("\n\n")
}

type Answer<'a> = dyn FnMut(&SummaryRequest<'_>) -> Result<String, SummaryError> + 'a;

/// The JSON of a request's messages, and its prompt.
type Asked = (Vec<String>, String);

/// Answers as told and notes what it was given.
struct Scripted<'a> {
    window_tokens: u64,
    answer: Box<Answer<'a>>,
    asked: Vec<Asked>,
}

impl<'a> Scripted<'a> {
    fn new(answer: impl FnMut(&SummaryRequest<'_>) -> Result<String, SummaryError> + 'a) -> Self {
        Self {
            window_tokens: 200_000,
            answer: Box::new(answer),
            asked: Vec::new(),
        }
    }

    fn good() -> Self {
        Self::new(|_| Ok(good("done")))
    }
}

impl Summariser for Scripted<'_> {
    fn limits(&self) -> SummariserLimits {
        SummariserLimits {
            window_tokens: self.window_tokens,
            max_output_tokens: None,
        }
    }

    fn summarise(&mut self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        let messages = request.messages.iter().map(|it| it.json().to_owned());
        self.asked
            .push((messages.collect(), request.prompt.to_owned()));
        (self.answer)(request)
    }
}

/// A clock that moves when somebody waits, and a cancel switch.
#[derive(Default)]
struct World {
    now_ms: Cell<i64>,
    cancelled: Cell<bool>,
    waits_ms: RefCell<u128>,
    counted_units: Cell<usize>,
}

impl World {
    fn compact(
        &self,
        talk: &Talk,
        summariser: &mut dyn Summariser,
        settings: &CompactionSettings,
        request: &CompactionRequest<'_>,
    ) -> Result<Outcome, CompactionError> {
        compact(
            &talk.input(),
            summariser,
            settings,
            request,
            &CompactionWorld {
                count_tokens: &|text| {
                    self.counted_units
                        .set(self.counted_units.get() + text.len());
                    estimate_text(text)
                },
                now_ms: &|| self.now_ms.get(),
                wait: &|time: Duration| {
                    *self.waits_ms.borrow_mut() += time.as_millis();
                    self.now_ms
                        .set(self.now_ms.get() + i64::try_from(time.as_millis()).unwrap());
                },
                is_cancelled: &|| self.cancelled.get(),
            },
        )
    }
}

const REQUEST: CompactionRequest<'static> = CompactionRequest {
    trigger: Trigger::Manual,
    budget_tokens: 100_000,
    fixed_tokens: 0,
    known_tokens: None,
    pending_entry_id: None,
    focus: None,
    last_without_gain: None,
};

/// Settings that keep about this many tokens.
fn keeping(keep_recent_tokens: u64) -> CompactionSettings {
    CompactionSettings {
        keep_recent_tokens,
        recent_turns: 0,
        ..CompactionSettings::default()
    }
}

/// Compacts with a good summariser; panics when nothing was compacted.
fn compacted(
    talk: &Talk,
    settings: &CompactionSettings,
    request: &CompactionRequest<'_>,
) -> Compacted {
    done(World::default().compact(talk, &mut Scripted::good(), settings, request))
}

fn done(outcome: Result<Outcome, CompactionError>) -> Compacted {
    match outcome {
        Ok(Outcome::Compacted(compacted)) => *compacted,
        other => panic!("{other:?}"),
    }
}

fn skipped(outcome: Result<Outcome, CompactionError>) -> Skip {
    match outcome {
        Ok(Outcome::Skipped(skip)) => skip,
        other => panic!("{other:?}"),
    }
}
