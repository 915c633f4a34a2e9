//! Sessions that are compacted: by the built-in engine, for an engine that leaves it to the host, and by hand.

mod around;
mod loops;
mod recovery;
mod threshold;

use openclaw_host::compaction::HEADINGS;
use openclaw_host::{
    CompactRequest, Host, Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest,
    Stop, TurnError, TurnOutcome,
};
use serde_json::Value;
use std::collections::VecDeque;
use support::{Home, request, say, transcript};

const SESSION: &str = "agent:main:main";

/// A model with a real window: it refuses what does not fit, counts like the host, and can write summaries.
struct Windowed {
    info: ModelInfo,
    /// How the next requests for a reply fail, whatever their size.
    failures: VecDeque<ModelErrorKind>,
    /// How requests for a summary fail.
    summary_failure: Option<ModelErrorKind>,
    /// Messages of each request for a reply.
    asked: Vec<Vec<Value>>,
    /// Requests for a summary.
    summaries: Vec<String>,
}

impl Windowed {
    fn new(window_tokens: u64) -> Self {
        Self {
            info: ModelInfo {
                provider: "windowed".into(),
                id: "model".into(),
                api: "scripted".into(),
                context_window_tokens: window_tokens,
                max_output_tokens: None,
            },
            failures: VecDeque::new(),
            summary_failure: None,
            asked: Vec::new(),
            summaries: Vec::new(),
        }
    }

    fn failing(mut self, failures: impl IntoIterator<Item = ModelErrorKind>) -> Self {
        self.failures = failures.into_iter().collect();
        self
    }

    fn without_summaries(mut self, failure: ModelErrorKind) -> Self {
        self.summary_failure = Some(failure);
        self
    }

    fn error(&self, kind: ModelErrorKind) -> ModelError {
        ModelError {
            provider: self.info.provider.clone(),
            model: self.info.id.clone(),
            kind,
            reason: "the model says so".into(),
        }
    }
}

impl Model for Windowed {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        _on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        if request.messages.concat().contains("<conversation>") {
            self.summaries.push(request.messages.concat());
            if let Some(failure) = self.summary_failure {
                return Err(self.error(failure));
            }
            let sections = HEADINGS.map(|heading| format!("{heading}\nAs it was said."));
            return Ok(ModelReply {
                usage: None,
                stop: Stop::Stop,
                ..say(&sections.join("\n\n"))
            });
        }
        let messages = request.messages.iter();
        let messages = messages.map(|it| serde_json::from_str(it).expect("JSON"));
        self.asked.push(messages.collect());
        match self.failures.pop_front() {
            Some(failure) => Err(self.error(failure)),
            None => Ok(ModelReply {
                usage: None,
                ..say("done")
            }),
        }
    }
}

/// A home with turns of about 260 tokens each behind it, answered without a compaction.
fn talked(home: Home, turns: usize) -> Home {
    let host = home.host();
    let mut model = Windowed::new(1_000_000);
    for turn in 0..turns {
        said(&host, &question(turn), &mut model).unwrap();
    }
    assert!(model.summaries.is_empty());
    home
}

fn question(turn: usize) -> String {
    format!(
        "Question {turn}. {}",
        "The pump starts before the valve opens. ".repeat(30)
    )
}

fn said(host: &Host, text: &str, model: &mut Windowed) -> Result<TurnOutcome, TurnError> {
    host.turn(
        request(text),
        model,
        &mut openclaw_host::NoTools,
        &mut |_| {},
    )
}

fn by_hand() -> CompactRequest {
    CompactRequest {
        session: SESSION.into(),
        ..CompactRequest::default()
    }
}

/// The rows of the session that are compactions.
fn summaries(host: &Host) -> Vec<Value> {
    let lines = transcript(host).into_iter();
    lines.filter(|row| row["type"] == "compaction").collect()
}

fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::Null => message["summary"].as_str().unwrap_or_default().to_owned(),
        Value::String(text) => text.clone(),
        content => content[0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Messages stored in the session.
fn stored(host: &Host) -> usize {
    let lines = transcript(host).into_iter();
    lines.filter(|row| row["type"] == "message").count()
}
