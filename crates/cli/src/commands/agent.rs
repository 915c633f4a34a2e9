//! `openclaw agent`: one turn.

use crate::args::AgentArgs;
use crate::context::{AGENT_ID, Context};
use crate::engines::Engines;
use crate::error::CliError;
use crate::models;
use crate::output::Output;
use crate::probing;
use openclaw_agent::{PromptFacts, system_prompt};
use openclaw_host::{
    CommitOutcome, Host, HostSettings, NoTools, Scope, TurnOutcome, TurnRecord, TurnRequest,
};
use serde_json::json;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How long to wait for another process that runs a turn in the same session.
const LANE_WAIT: Duration = Duration::from_secs(30);

pub(crate) fn run(
    context: &Context,
    args: &AgentArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let text = message_text(&args.message)?;
    let mut chosen = models::choose(context, args.model.as_deref())?;
    let host = open_host(context, output)?;
    let workspace = workspace_dir(context)?;
    let now = jiff::ZonedDateTime::now()
        .strftime("%A, %-d %B %Y")
        .to_string();
    let facts = PromptFacts {
        workspace_dir: &workspace.display().to_string(),
        tools: &[],
        now: &now,
    };
    let request = TurnRequest {
        session_key: args.session_key.clone(),
        text,
        turn_id: args.turn_id.clone(),
        system_prompt: system_prompt(&facts),
        context_tokens: chosen.context_tokens,
    };
    for warning in &chosen.warnings {
        output.warning(warning);
    }
    let mut streamed = false;
    let outcome = host.turn(request, chosen.model.as_mut(), &mut NoTools, &mut |text| {
        streamed = true;
        output.piece(text);
    });
    if streamed {
        output.piece("\n");
    }
    let outcome = outcome?;
    if !streamed {
        output.piece(&outcome.reply);
        output.piece("\n");
    }
    output.document(
        &json!({ "reply": outcome.reply, "isRepeat": outcome.is_repeat, "turn": outcome.record }),
    );
    report(&outcome, output);
    Ok(ExitCode::SUCCESS)
}

/// The host of the configured agent.
pub(crate) fn open_host(context: &Context, output: &mut Output) -> Result<Host, CliError> {
    // Ahead of the first library: its code prints what it likes, even when it is only opened.
    output.keep_stdout();
    let engines = Engines::read(context)?;
    probing::ensure(context, &engines, output);
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

fn message_text(message: &str) -> Result<String, CliError> {
    if message != "-" {
        return Ok(message.to_owned());
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| {
            CliError::new(
                format!("cannot read the message from stdin: {error}"),
                "give UTF-8 text, or use -m TEXT",
            )
        })?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Says on stderr which engine served and what it did.
fn report(outcome: &TurnOutcome, output: &mut Output) {
    let record = &outcome.record;
    if outcome.is_repeat {
        output.talk(
            "this turn was answered before; the stored reply is shown and nothing was done twice",
        );
    }
    for commit in &record.recovered_commits {
        output.talk(&format!(
            "earlier turn {}: {}",
            commit.turn_id,
            commit_words(&commit.outcome)
        ));
    }
    if let Some(substitution) = &record.substitution {
        let (asked, served) = (&record.asked.engine_id, &record.served.engine_id);
        let at = substitution
            .location
            .as_ref()
            .map(|location| format!(" at {location}"))
            .unwrap_or_default();
        let scope = match substitution.scope {
            Scope::Degraded => "this turn only; the next one tries it again",
            Scope::Quarantined => "quarantined for this process",
        };
        output.warning(&format!(
            "{served} served instead of {asked}: {} failed: {}{at} ({scope})",
            substitution.operation, substitution.reason
        ));
        output.help("`openclaw doctor` shows what is known of it");
    }
    for mend in &record.mends {
        output.talk(&format!("mended: {mend}"));
    }
    if !outcome.is_repeat {
        output.talk(&summary(record));
    }
}

/// The exit line: who served, how much of the history, what became of the commit.
fn summary(record: &TurnRecord) -> String {
    let served = match &record.served.version {
        Some(version) => format!("{} {version}", record.served.engine_id),
        None => record.served.engine_id.clone(),
    };
    let sizes = &record.context;
    format!(
        "engine {served} · {} of {} messages · {} of {} tokens (budget {}) · commit {} · model {}/{}",
        sizes.assembled_messages,
        sizes.history_messages,
        sizes.assembled_tokens,
        sizes.history_tokens,
        sizes.budget_tokens,
        commit_words(&record.commit),
        record.model.provider,
        record.model.id,
    )
}

fn commit_words(outcome: &CommitOutcome) -> String {
    match outcome {
        CommitOutcome::NotOwed => "not needed".into(),
        CommitOutcome::Committed => "acknowledged".into(),
        CommitOutcome::Duplicate => "acknowledged as a duplicate".into(),
        CommitOutcome::Queued { reason } => format!("waits in the outbox ({reason})"),
    }
}
