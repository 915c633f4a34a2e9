//! An engine instance as a host holds it.

use crate::abi::{AssembleOut, AssembleReq, EngineObject, MessagesReq};
use crate::convert::reply_text;
use crate::model::{
    AssembleParams, Assembly, BatchParams, BootstrapResult, CommitParams, CommitResult,
    CompactParams, CompactResult, EngineError, ErrorCode, IngestResult, MaintenanceResult, Message,
    SessionParams,
};
use abi_stable::std_types::{RResult, RString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// An engine instance, wherever it came from.
///
/// Answers are parsed and copied; an answer that does not parse is an error of kind `InvalidAnswer`. What the answer
/// *means* (picks in range, budgets) is for the host to check.
pub struct EngineInstance(EngineObject);

// SAFETY: the contract lets any thread call an instance, one call at a time; `ContextEngine` requires `Send`, and
// `&mut self` keeps calls apart.
unsafe impl Send for EngineInstance {}

impl EngineInstance {
    pub(super) fn new(object: EngineObject) -> Self {
        Self(object)
    }

    /// See [`ContextEngine::bootstrap`](crate::ContextEngine::bootstrap).
    ///
    /// # Errors
    ///
    /// What the engine answered, or that its answer cannot be read. The same holds for every hook below.
    pub fn bootstrap(&mut self, params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        answer(reply_text(self.0.bootstrap(text(params)?.as_str().into())))
    }

    /// See [`ContextEngine::maintain`](crate::ContextEngine::maintain).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn maintain(&mut self, params: &SessionParams) -> Result<MaintenanceResult, EngineError> {
        answer(reply_text(self.0.maintain(text(params)?.as_str().into())))
    }

    /// See [`ContextEngine::ingest`](crate::ContextEngine::ingest).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn ingest(
        &mut self,
        message: Message<'_>,
        params: &BatchParams,
    ) -> Result<IngestResult, EngineError> {
        let params = text(params)?;
        let messages = [message];
        let request = messages_request(&messages, &params);
        answer(reply_text(self.0.ingest(request)))
    }

    /// See [`ContextEngine::ingest_batch`](crate::ContextEngine::ingest_batch).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn ingest_batch(
        &mut self,
        messages: &[Message<'_>],
        params: &BatchParams,
    ) -> Result<IngestResult, EngineError> {
        answer(reply_text(
            self.0
                .ingest_batch(messages_request(messages, &text(params)?)),
        ))
    }

    /// See [`ContextEngine::after_turn`](crate::ContextEngine::after_turn).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn after_turn(
        &mut self,
        messages: &[Message<'_>],
        params: &BatchParams,
    ) -> Result<(), EngineError> {
        reply_text(
            self.0
                .after_turn(messages_request(messages, &text(params)?)),
        )
        .map(drop)
    }

    /// See [`ContextEngine::commit_turn`](crate::ContextEngine::commit_turn).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn commit_turn(
        &mut self,
        messages: &[Message<'_>],
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        answer(reply_text(
            self.0
                .commit_turn(messages_request(messages, &text(params)?)),
        ))
    }

    /// See [`ContextEngine::assemble`](crate::ContextEngine::assemble). `token_budget`: `None` when not known.
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn assemble(
        &mut self,
        messages: &[Message<'_>],
        token_budget: Option<u64>,
        params: &AssembleParams,
    ) -> Result<Assembly, EngineError> {
        let params = text(params)?;
        let answer = self.0.assemble(AssembleReq {
            messages: Message::views(messages).into(),
            token_budget: token_budget.unwrap_or(0),
            params_json: params.as_str().into(),
        });
        match answer {
            RResult::ROk(out) => assembly(&out),
            RResult::RErr(error) => Err(error.into()),
        }
    }

    /// See [`ContextEngine::compact`](crate::ContextEngine::compact).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn compact(&mut self, params: &CompactParams) -> Result<CompactResult, EngineError> {
        answer(reply_text(self.0.compact(text(params)?.as_str().into())))
    }

    /// See [`ContextEngine::dispose`](crate::ContextEngine::dispose).
    ///
    /// # Errors
    ///
    /// As [`Self::bootstrap`].
    pub fn dispose(&mut self) -> Result<(), EngineError> {
        reply_text(self.0.dispose()).map(drop)
    }
}

impl fmt::Debug for EngineInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineInstance")
    }
}

fn text(params: &impl Serialize) -> Result<String, EngineError> {
    serde_json::to_string(params).map_err(|error| {
        EngineError::new(
            ErrorCode::InvalidParams,
            format!("cannot write the parameters: {error}"),
        )
    })
}

fn answer<T: DeserializeOwned>(reply: Result<String, EngineError>) -> Result<T, EngineError> {
    let json = reply?;
    serde_json::from_str(&json).map_err(|error| {
        EngineError::new(
            ErrorCode::InvalidAnswer,
            format!("the answer cannot be read: {error}"),
        )
    })
}

fn messages_request<'a>(messages: &'a [Message<'a>], params: &'a str) -> MessagesReq<'a> {
    MessagesReq {
        messages: Message::views(messages).into(),
        params_json: params.into(),
    }
}

fn assembly(out: &AssembleOut) -> Result<Assembly, EngineError> {
    let extra = out.ext_json.as_str();
    Ok(Assembly {
        picks: out.picks.as_slice().to_vec(),
        new_messages: out
            .new_messages
            .iter()
            .map(|message| message.as_str().to_owned())
            .collect(),
        estimated_tokens: out.estimated_tokens,
        system_prompt_addition: out
            .system_prompt_addition
            .as_ref()
            .into_option()
            .map(RString::as_str)
            .map(str::to_owned),
        extra: if extra.is_empty() {
            Ok(Default::default())
        } else {
            answer(Ok(extra.to_owned()))
        }?,
    })
}
