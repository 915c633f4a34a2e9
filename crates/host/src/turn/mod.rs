//! One turn, from the user's message to the acknowledged commit.
//!
//! The steps are types: [`Opened`](open::Opened) has an engine, [`Admitted`](admission::Admitted) has the user's entry on
//! disk, [`Assembled`](assemble::Assembled) has what the model gets, [`Answered`](answer::Answered) has the last entry on
//! disk. A turn can die after any of them; what is on disk then is enough to repeat it without loss: its message, its reply
//! and its commit are stored once. Tools that had run before it died may run again.

mod admission;
mod advance;
mod answer;
mod assemble;
mod error;
mod open;
mod prompt;
mod record;

pub(crate) use admission::{ModelFacts, commit_params};
pub use advance::Recommit;
pub(crate) use advance::recommit;
pub use error::TurnError;
pub use prompt::SystemPrompt;
pub use record::{
    Asked, CommitOutcome, ContextSizes, HookTiming, ModelUse, RecoveredCommit, Scope, Served,
    Substitution, TurnRecord,
};

use crate::Host;
use crate::model::{Model, Tools};

/// What a turn is about.
#[derive(Clone, Debug)]
pub struct TurnRequest {
    /// Stable logical name of the session; made when it is new.
    pub session_key: String,
    /// The user's text; not blank.
    pub text: String,
    /// Id of the turn. A turn with the id of an earlier one is that turn: it is finished if it died, and not done
    /// again if it was. `None` makes a new one.
    pub turn_id: Option<String>,
    /// The host's part of the system prompt.
    pub system_prompt: SystemPrompt,
    /// Tokens a request and its answer may take together, where less than the model's window.
    pub context_tokens: Option<u64>,
}

/// A finished turn.
#[derive(Clone, Debug)]
pub struct TurnOutcome {
    /// The model's text.
    pub reply: String,
    /// What happened.
    pub record: TurnRecord,
    /// Whether the turn had been answered before and was not done again.
    pub is_repeat: bool,
}

/// Runs one turn.
pub(crate) fn run(
    host: &Host,
    request: TurnRequest,
    model: &mut dyn Model,
    tools: &mut dyn Tools,
    on_text: &mut dyn FnMut(&str),
) -> Result<TurnOutcome, TurnError> {
    open::check(&request)?;
    let _alone = host.enter(&request.session_key)?;
    let turn = open::open(host, request)?;
    let turn = match turn.admit(model.info())? {
        admission::Admission::Admitted(turn) => turn,
        admission::Admission::Answered(outcome) => return Ok(*outcome),
    };
    let turn = turn.assemble(model.info(), tools.specs())?;
    let turn = turn.answer(model, tools, on_text)?;
    Ok(turn.commit())
}
