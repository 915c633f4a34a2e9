//! Turns on behalf of a command: the host, the model, the prompt, and what is said about each turn.

mod compaction;
mod report;
mod shown;
mod surroundings;

pub(crate) use compaction::document as compaction_document;

use crate::context::{AGENT_ID, Context};
use crate::engines::Engines;
use crate::error::CliError;
use crate::models::{self, Chosen};
use crate::output::Output;
use crate::probing;
use crate::rebuilds::Rebuilds;
use openclaw_host::{Host, HostSettings, TurnEvent, TurnOutcome, TurnRequest};
use shown::Shown;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use surroundings::Surroundings;

/// How long to wait for another process that runs a turn in the same session.
const LANE_WAIT: Duration = Duration::from_secs(30);

/// How long turns on a new build of an engine wait for those on the old one.
const HANDOVER_WAIT: Duration = Duration::from_secs(30);
/// How long the end of a command waits for what engines do behind the last reply.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// A host with a model to talk to.
pub(crate) struct Turns {
    host: Arc<Host>,
    chosen: Chosen,
    surroundings: Surroundings,
    shown: Shown,
}

impl Drop for Turns {
    /// Lets engines finish what they do behind the last reply; the end of the host would cancel it.
    fn drop(&mut self) {
        self.host.settle(LAST_WAIT);
    }
}

/// What a user says.
pub(crate) struct Said<'a> {
    pub(crate) session_key: &'a str,
    pub(crate) text: String,
    pub(crate) turn_id: Option<String>,
}

impl Turns {
    /// Opens the host of the configured agent and chooses the model: the one named, else as configured.
    pub(crate) fn open(
        context: &Context,
        model: Option<&str>,
        output: &mut Output,
    ) -> Result<Self, CliError> {
        let chosen = models::choose(context, model)?;
        let host = Arc::new(open_host(context, output)?);
        let surroundings = Surroundings::open(context, &workspace_dir(context)?, output)?;
        let shown = Shown::read(&context.config()?.history_settings()?, output);
        for warning in &chosen.warnings {
            output.warning(warning);
        }
        Ok(Self {
            host,
            chosen,
            surroundings,
            shown,
        })
    }

    /// The engine the configuration asks for, and why it is that one.
    pub(crate) fn engine_name(&self) -> String {
        let slot = self.host.slot();
        format!("{} ({})", slot.engine_id(), slot.reason())
    }

    /// Keeps the host on the newest build of its engine for as long as the answer lives; `None` when no plugin serves.
    pub(crate) fn follow_builds(&self, context: &Context) -> Result<Option<Rebuilds>, CliError> {
        let engine_id = self.host.slot().engine_id();
        let directory = self.host.plugin_directory(engine_id);
        directory
            .map(|directory| {
                Rebuilds::follow(context, Arc::clone(&self.host), engine_id, directory)
            })
            .transpose()
    }

    /// The model as `<provider>/<id>`.
    pub(crate) fn model_name(&self) -> String {
        let info = self.chosen.model.info();
        format!("{}/{}", info.provider, info.id)
    }

    /// Runs one turn: the reply goes to stdout as it comes, what is to be said about it to stderr.
    pub(crate) fn run(
        &mut self,
        said: Said<'_>,
        output: &mut Output,
    ) -> Result<TurnOutcome, CliError> {
        let model = self.chosen.model.info();
        let system_prompt = self
            .surroundings
            .system_prompt(model, said.session_key, output);
        let request = TurnRequest {
            session_key: said.session_key.to_owned(),
            text: said.text,
            turn_id: said.turn_id,
            system_prompt,
            context_tokens: self.chosen.context_tokens,
            view: self.shown.of_session(said.session_key),
            ..TurnRequest::default()
        };
        let models = self.chosen.candidates();
        let mut streamed = false;
        let mut on_event = |event: TurnEvent<'_>| match event {
            TurnEvent::Text(text) => {
                streamed = true;
                output.piece(text);
            }
            TurnEvent::Retry(retry) => {
                if retry.was_streaming {
                    output.piece("\n");
                }
                report::retry(retry, output);
            }
            TurnEvent::Compacting { engine_id } => output.talk(&format!(
                "the conversation is too large for the model; {engine_id} makes it smaller"
            )),
            TurnEvent::Compacted(record) => report::compacted(record, output),
        };
        let outcome = self
            .host
            .turn(request, models, self.surroundings.tools(), &mut on_event);
        if streamed {
            output.piece("\n");
        }
        let outcome = outcome?;
        if !streamed {
            output.piece(&outcome.reply);
            output.piece("\n");
        }
        report::report(&outcome, output);
        Ok(outcome)
    }
}

/// The host of the configured agent.
pub(crate) fn open_host(context: &Context, output: &mut Output) -> Result<Host, CliError> {
    // Ahead of the first library: its code prints what it likes, even when it is only opened.
    output.keep_stdout();
    let engines = Engines::read(context)?;
    probing::ensure(context, &engines);
    let (native, faults) = context.native_settings()?;
    for fault in faults {
        output.warning(&format!("native.json5: {fault}"));
    }
    Ok(Host::open(HostSettings {
        native_dir: context.paths.native_dir.clone(),
        agent_id: AGENT_ID.to_owned(),
        workspace_dir: Some(workspace_dir(context)?),
        plugins: engines.sources(),
        slot: engines.slot,
        strict: native.strict,
        lane_wait: LANE_WAIT,
        handover_wait: HANDOVER_WAIT,
        leaked_generations: native.leaked_generations,
        compaction: compaction::policy(context)?,
        ambient: Context::ambient(),
    })?)
}

fn workspace_dir(context: &Context) -> Result<PathBuf, CliError> {
    let configured = context.config()?.agent_defaults()?.workspace;
    Ok(configured.map_or_else(
        || context.paths.default_workspace.clone(),
        |path| context.absolute(path.as_ref()),
    ))
}
