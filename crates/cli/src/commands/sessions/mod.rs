//! `openclaw sessions`: import, list, export, repair, recommit, compact.

mod export;
mod import;
mod repair;

use crate::args::{CompactArgs, SessionsArgs, SessionsCommand};
use crate::context::{AGENT_ID, Context};
use crate::error::CliError;
use crate::output::Output;
use crate::turns::{Turns, compaction_document, open_host};
use openclaw_host::{HostSettings, Store};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &SessionsArgs,
    is_verbose: bool,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    match &args.command {
        SessionsCommand::Import(args) => import::run(context, args, is_verbose, output),
        SessionsCommand::List => list(context, output),
        SessionsCommand::Export(args) => export::run(context, args, output),
        SessionsCommand::Repair => repair::run(context, output),
        SessionsCommand::Recommit(args) => recommit(context, &args.session, output),
        SessionsCommand::Compact(args) => compact(context, args, output),
    }
}

fn store_path(context: &Context) -> PathBuf {
    HostSettings::store_path(&context.paths.native_dir, AGENT_ID)
}

fn list(context: &Context, output: &mut Output) -> Result<ExitCode, CliError> {
    let store = Store::open_to_read(&store_path(context), Context::ambient())?;
    let sessions = store
        .map(|store| store.sessions())
        .transpose()?
        .unwrap_or_default();
    let documents: Vec<Value> = sessions
        .iter()
        .map(|session| {
            json!({
                "sessionKey": session.key,
                "sessionId": session.session_id,
                "entries": session.entries,
                "messages": session.messages,
                "tokens": session.tokens,
                "updatedAtMs": session.updated_at_ms,
            })
        })
        .collect();
    output.document(&json!({ "sessions": documents }));
    if sessions.is_empty() {
        output.line("no sessions yet: `openclaw agent -m TEXT` starts one, `openclaw sessions import FILE` brings one");
        return Ok(ExitCode::SUCCESS);
    }
    let rows = sessions
        .into_iter()
        .map(|session| {
            let updated =
                jiff::Timestamp::from_millisecond(session.updated_at_ms).unwrap_or_default();
            vec![
                session.key.unwrap_or_else(|| session.session_id.clone()),
                session.session_id,
                session.messages.to_string(),
                session.tokens.to_string(),
                format!("{updated:.0}"),
            ]
        })
        .collect();
    output.table(&["session", "id", "messages", "tokens", "updated"], rows);
    Ok(ExitCode::SUCCESS)
}

fn recommit(context: &Context, name: &str, output: &mut Output) -> Result<ExitCode, CliError> {
    let host = open_host(context, output)?;
    let result = host.recommit(name)?;
    output.line(&format!(
        "engine {}: committed now: {}; there already (duplicate): {}",
        result.engine_id, result.committed, result.duplicates
    ));
    output.document(&json!({
        "ok": true,
        "engineId": result.engine_id,
        "committed": result.committed,
        "duplicates": result.duplicates,
        "changed": result.changed,
    }));
    Ok(ExitCode::SUCCESS)
}

fn compact(
    context: &Context,
    args: &CompactArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let mut turns = Turns::open(context, args.model.as_deref(), output)?;
    let outcome = turns.compact(&args.session, args.instructions.as_deref(), output)?;
    output.document(&compaction_document(&outcome));
    Ok(ExitCode::SUCCESS)
}
