//! One turn, from the user's message to the acknowledged commit.
//!
//! The steps are types: [`Opened`](open::Opened) has an engine, [`Admitted`](admission::Admitted) has the user's entry on
//! disk, [`Assembled`](assemble::Assembled) has what the model gets, [`Answered`](answer::Answered) has the last entry on
//! disk. A turn can die after any of them; what is on disk then is enough to repeat it without loss: its message, its reply
//! and its commit are stored once. Tools that had run before it died may run again.
//!
//! A model that gives no answer ends an attempt and not the turn: the [`Course`](course::Course) decides what comes next.

mod admission;
mod advance;
mod answer;
mod assemble;
mod compaction;
mod course;
mod drain;
mod error;
mod event;
mod message;
mod open;
mod overflow;
mod params;
mod place;
mod precheck;
mod preflight;
mod prompt;
mod record;
mod request;
mod retry;
mod truncation;
mod view;

pub use advance::Recommit;
pub(crate) use advance::recommit;
pub(crate) use compaction::compact;
pub use compaction::{CompactOutcome, CompactRequest};
pub use error::TurnError;
pub use event::{Retry, TurnEvent};
pub(crate) use open::create_context;
pub(crate) use params::committed_facts;
pub(crate) use place::commit_params;
pub use prompt::SystemPrompt;
pub use record::{
    Asked, CommitOutcome, CompactionRecord, ContextBudgetStatus, ContextSizes, FailedAttempt,
    HookTiming, ModelUse, RecoveredCommit, Scope, Served, Substitution, TurnRecord,
};
pub use request::{TurnKind, TurnRequest};
pub use view::ViewSettings;

use crate::Host;
use crate::model::{Candidates, Tools};
use admission::Admission;
use answer::Attempt;
use course::Course;

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
    models: Candidates<'_>,
    tools: &mut dyn Tools,
    on_event: &mut dyn FnMut(TurnEvent<'_>),
) -> Result<TurnOutcome, TurnError> {
    request.check()?;
    let lane = host.enter(&request.session_key)?;
    let mut course = Course::new(models);
    let facts = course.facts(request.context_tokens);
    let compactions = preflight::compact_ahead(
        host,
        &request,
        &facts,
        tools.specs(),
        course.model(),
        on_event,
    )?;
    let mut turn = open::open(host, request, course.hosts())?;
    turn.0.record.compactions = compactions;
    let mut turn = match turn.admit(facts)? {
        Admission::Admitted(turn) => turn,
        Admission::Answered(outcome) => return Ok(*outcome),
    };
    let turn = loop {
        let attempt = turn.assemble(tools.specs())?;
        match attempt.answer(course.model(), tools, on_event)? {
            Attempt::Answered(turn) => break turn,
            Attempt::Failed(failed) => turn = course.recover(failed, on_event)?,
        }
    };
    Ok(turn.commit(lane))
}
