//! The built-in compactor at work on a session: reads its path, asks the model for a summary, appends the row.

use crate::Host;
use crate::cancel::Cancel;
use crate::compaction::{
    Compacted, CompactionInput, CompactionRequest, CompactionWorld, Outcome, Trigger, compact,
    summariser_for,
};
use crate::model::Model;
use crate::store::{PathEntry, Session, StoreError};
use crate::tokens::TokenCounter;
use openclaw_interface::model::{CompactParams, CompactResult, Compaction};
use openclaw_interface::{EngineError, ErrorCode};
use openclaw_transcript::Row;

/// What a compaction is for, in the numbers that asked for it.
#[derive(Clone, Copy, Debug)]
pub(in crate::turn) struct Need {
    pub(in crate::turn) trigger: Trigger,
    /// Tokens the whole next prompt may take.
    pub(in crate::turn) budget_tokens: u64,
    /// Tokens of it that are not on the path.
    pub(in crate::turn) fixed_tokens: u64,
    /// Position on the path of the running turn's first entry, from where on nothing is folded.
    pub(in crate::turn) turn_position: Option<i64>,
}

impl Need {
    /// The trigger's word for engines and records.
    pub(in crate::turn) fn word(&self) -> &'static str {
        match self.trigger {
            Trigger::Manual => "manual",
            Trigger::Budget | Trigger::Bytes => "budget",
            Trigger::Overflow => "overflow",
            Trigger::Timeout => "timeout_recovery",
        }
    }
}

/// The built-in compactor for one session.
pub(in crate::turn) struct BuiltIn<'a> {
    host: &'a Host,
    session: Session,
    model: &'a mut dyn Model,
    pub(super) cancel: &'a Cancel,
    pub(super) need: Need,
    /// What it answered last, and with which summariser; `None` before it was asked.
    pub(in crate::turn) answered: Option<CompactResult>,
    pub(in crate::turn) summariser: String,
}

impl<'a> BuiltIn<'a> {
    pub(in crate::turn) fn new(
        host: &'a Host,
        session: &Session,
        model: &'a mut dyn Model,
        cancel: &'a Cancel,
        need: Need,
    ) -> Self {
        Self {
            host,
            session: session.clone(),
            model,
            cancel,
            need,
            answered: None,
            summariser: String::new(),
        }
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.host.ambient().now_ms()
    }

    /// Whether it has put a summary into the transcript.
    pub(in crate::turn) fn has_compacted(&self) -> bool {
        self.answered.as_ref().is_some_and(|it| it.compacted)
    }

    /// Compacts, once: what a second call could fold is what the first has kept.
    ///
    /// # Errors
    ///
    /// The caller broke it off. Any other reason is an answer.
    pub(in crate::turn) fn compact(
        &mut self,
        params: &CompactParams,
    ) -> Result<CompactResult, EngineError> {
        if let Some(answered) = self.answered.as_ref().filter(|it| it.compacted) {
            return Ok(CompactResult {
                compacted: false,
                reason: Some("already compacted in this call".into()),
                ..answered.clone()
            });
        }
        let result = match self.fold(params) {
            Ok(Outcome::Cancelled) => {
                return Err(EngineError::new(
                    ErrorCode::Cancelled,
                    "the compaction was cancelled",
                ));
            }
            Ok(Outcome::Skipped(skip)) => CompactResult {
                ok: true,
                reason: Some(skip.to_string()),
                ..CompactResult::default()
            },
            Ok(Outcome::Compacted(made)) => match self.write(&made) {
                Ok(()) => result_of(*made),
                Err(error) => failed(error.to_string()),
            },
            Err(reason) => failed(reason),
        };
        self.answered = Some(result.clone());
        Ok(result)
    }

    fn fold(&mut self, params: &CompactParams) -> Result<Outcome, String> {
        let path = self.path().map_err(|error| error.to_string())?;
        let rows: Vec<&Row> = path.iter().map(|entry| &entry.row).collect();
        let tokens = |row: usize, json: &str| match path[row].row.message() {
            Some(message) if message.json() == json => path[row].tokens,
            _ => TokenCounter.message(json),
        };
        let input = CompactionInput::of_path(&rows, &tokens);
        let pending = match self.need.turn_position {
            Some(position) => self.entry_at(position).map_err(|error| error.to_string())?,
            None => None,
        };
        let request = CompactionRequest {
            trigger: self.need.trigger,
            budget_tokens: self.need.budget_tokens,
            fixed_tokens: self.need.fixed_tokens,
            known_tokens: params.current_token_count,
            pending_entry_id: pending.as_deref(),
            focus: params.custom_instructions.as_deref(),
            last_without_gain: None,
        };
        let (ambient, cancel) = (self.host.ambient(), self.cancel);
        let world = CompactionWorld {
            count_tokens: &|text| TokenCounter.text(text),
            now_ms: &|| ambient.now_ms(),
            wait: &|time| ambient.wait(time, cancel),
            is_cancelled: &|| cancel.is_cancelled(),
        };
        let mut summariser = summariser_for(self.model);
        let settings = &self.host.compaction().settings;
        let outcome = compact(&input, summariser.as_mut(), settings, &request, &world);
        let is_extractive = summariser.is_extractive();
        drop(summariser);
        let info = self.model.info();
        self.summariser = match is_extractive {
            true => "extractive".into(),
            false => format!("{}/{}", info.provider, info.id),
        };
        outcome.map_err(|error| format!("{}; {}", error.kind, error.help()))
    }

    /// The visible part of the path, up to where the next row goes.
    fn path(&self) -> Result<Vec<PathEntry>, StoreError> {
        let store = self.host.store();
        let session = &self.session;
        let start = store.context_start(session, session.path_length)?;
        let mut path = store.path_between(session, start..session.path_length)?;
        let leaf = session.append_parent.as_deref();
        let last = path.iter().rposition(|entry| entry.row.id() == leaf);
        path.truncate(last.map_or(0, |last| last + 1));
        Ok(path)
    }

    fn entry_at(&self, position: i64) -> Result<Option<String>, StoreError> {
        let found = self
            .host
            .store()
            .path_between(&self.session, position..position + 1)?;
        let id = found.first().and_then(|entry| entry.row.id());
        Ok(id.map(str::to_owned))
    }

    fn write(&mut self, made: &Compacted) -> Result<(), StoreError> {
        let ambient = self.host.ambient();
        let parent = self.session.append_parent.clone();
        let row = made.row(&ambient.new_id(), parent.as_deref(), &ambient.timestamp());
        self.host.store().append_rows(&mut self.session, &[row])?;
        tracing::info!(
            session = self.session.id,
            before_tokens = made.tokens_before,
            after_tokens = made.tokens_after,
            budget_tokens = self.need.budget_tokens,
            folded_messages = made.folded_messages,
            summariser = self.summariser,
            "session compacted"
        );
        Ok(())
    }
}

fn failed(reason: String) -> CompactResult {
    CompactResult {
        reason: Some(reason),
        ..CompactResult::default()
    }
}

fn result_of(made: Compacted) -> CompactResult {
    CompactResult {
        ok: true,
        compacted: true,
        reason: made
            .extractive
            .then(|| "the summary was made without a model".into()),
        result: Some(Compaction {
            details: serde_json::to_value(&made.details).ok(),
            summary: Some(made.summary),
            first_kept_entry_id: made.first_kept_entry_id,
            tokens_before: made.tokens_before,
            tokens_after: Some(made.tokens_after),
            ..Compaction::default()
        }),
    }
}
