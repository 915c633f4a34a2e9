//! `openclaw sessions`: import, list, export, recommit.

use crate::args::{ExportArgs, ImportArgs, SessionsArgs, SessionsCommand};
use crate::context::{AGENT_ID, Context};
use crate::error::{CliError, chain};
use crate::output::Output;
use crate::turns::open_host;
use openclaw_host::{HostSettings, ImportReport, Imported, Store, StoreError};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(
    context: &Context,
    args: &SessionsArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    match &args.command {
        SessionsCommand::Import(args) => import(context, args, output),
        SessionsCommand::List => list(context, output),
        SessionsCommand::Export(args) => export(context, args, output),
        SessionsCommand::Recommit(args) => recommit(context, &args.session, output),
    }
}

fn store_path(context: &Context) -> PathBuf {
    HostSettings::store_path(&context.paths.native_dir, AGENT_ID)
}

fn import(context: &Context, args: &ImportArgs, output: &mut Output) -> Result<ExitCode, CliError> {
    if args.session_key.is_some() && args.files.len() > 1 {
        return Err(CliError::new(
            "one session key cannot hold several transcripts",
            "import the files one by one",
        ));
    }
    // All files are read and judged before the first is stored: a wrong one stores nothing.
    let files = args
        .files
        .iter()
        .map(|file| {
            let path = context.absolute(file);
            let bytes = read_transcript(&path)?;
            Ok((path, bytes))
        })
        .collect::<Result<Vec<_>, CliError>>()?;
    let asked = args.session_key.as_deref();
    let mut store = Store::open(&store_path(context), Context::ambient())?;
    let mut reports = Vec::new();
    for (index, (path, bytes)) in files.iter().enumerate() {
        let report = store
            .import(bytes, &name_of(path), AGENT_ID, asked)
            .map_err(|error| in_the_middle(&error, path, &files[..index]))?;
        show(&report, path, output);
        if let Some(asked) = asked.filter(|asked| *asked != report.session_key) {
            output.warning(&format!(
                "the session {} was there and keeps its key `{}`; `{asked}` is not used",
                report.session_id, report.session_key
            ));
        }
        reports.push(report_json(&report, path));
    }
    output.document(&json!({ "ok": true, "imports": reports }));
    Ok(ExitCode::SUCCESS)
}

/// Reads a file that must be a transcript. Never waits: only regular files are opened.
fn read_transcript(path: &Path) -> Result<Vec<u8>, CliError> {
    let unreadable = |error: &io::Error| CliError::io("read the transcript", path, error);
    let refused = |what: &str| {
        Err(CliError::new(
            format!("{} {what}", path.display()),
            "give a session file in OpenClaw's JSONL format",
        ))
    };
    let metadata = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        return refused("is a directory");
    }
    if !metadata.is_file() {
        return refused("is no regular file");
    }
    let bytes = fs::read(path).map_err(|error| unreadable(&error))?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return refused("is empty");
    }
    if !is_transcript(&bytes) {
        return refused("is no transcript: not one of its lines is a session row");
    }
    Ok(bytes)
}

/// A file's name without its ending.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// An error of the store, with what was stored before it.
fn in_the_middle(error: &StoreError, path: &Path, stored: &[(PathBuf, Vec<u8>)]) -> CliError {
    let stored: Vec<String> = stored
        .iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    let before = if stored.is_empty() {
        "nothing was stored".to_owned()
    } else {
        format!("stored before it: {}", stored.join(", "))
    };
    CliError::new(
        format!("{}: {} ({before})", path.display(), chain(error)),
        error.help(),
    )
}

/// Whether at least one line is a row or a header.
fn is_transcript(bytes: &[u8]) -> bool {
    let transcript = openclaw_transcript::parse(bytes);
    let recognised = |row: &openclaw_transcript::Row| {
        !matches!(row.kind(), openclaw_transcript::RowKind::Opaque)
    };
    transcript.header.is_some() || transcript.rows.iter().any(recognised)
}

fn show(report: &ImportReport, path: &Path, output: &mut Output) {
    let outcome = match report.imported {
        Imported::New => "imported".to_owned(),
        Imported::Extended { entries } => format!("new entries added: {entries}"),
        Imported::Unchanged => "nothing new".to_owned(),
    };
    output.line(&format!("{}: {outcome}", path.display()));
    output.line(&format!(
        "  session {} · header version {} · {} entries · {} messages on the active path",
        report.session_key, report.version, report.entries, report.messages
    ));
    if report.migrated_rows > 0 {
        output.line(&format!(
            "  rows brought to today's shape: {}",
            report.migrated_rows
        ));
    }
    for fault in report.faults.iter().chain(&report.path_faults) {
        output.line(&format!("  {fault}"));
    }
    for mend in &report.mends {
        output.line(&format!("  for the model: {mend}"));
    }
    if report.skipped_lines > 0 {
        output.line(&format!(
            "  lines that could not be read, which the file keeps: {}",
            report.skipped_lines
        ));
    }
}

fn report_json(report: &ImportReport, path: &Path) -> Value {
    let outcome = match report.imported {
        Imported::New => "new",
        Imported::Extended { .. } => "extended",
        Imported::Unchanged => "unchanged",
    };
    let faults = report.faults.iter().chain(&report.path_faults);
    let faults: Vec<String> = faults.map(ToString::to_string).collect();
    let mends: Vec<String> = report.mends.iter().map(ToString::to_string).collect();
    json!({
        "file": path.to_string_lossy(),
        "sessionKey": report.session_key,
        "sessionId": report.session_id,
        "outcome": outcome,
        "headerVersion": report.version,
        "entries": report.entries,
        "messages": report.messages,
        "skippedLines": report.skipped_lines,
        "migratedRows": report.migrated_rows,
        "faults": faults,
        "mends": mends,
    })
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

/// A failure of an export: of the store, or of the file written.
enum ExportError {
    Store(StoreError),
    Write(io::Error),
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn export(context: &Context, args: &ExportArgs, output: &mut Output) -> Result<ExitCode, CliError> {
    let Some(store) = Store::open_to_read(&store_path(context), Context::ambient())? else {
        return Err(CliError::new(
            format!("there is no session `{}`", args.session),
            "`openclaw sessions list` shows the sessions there are",
        ));
    };
    let session = store.session_named(&args.session)?;
    let (mut sink, path): (Box<dyn Write>, PathBuf) = match &args.out {
        None => (
            Box::new(BufWriter::new(io::stdout().lock())),
            PathBuf::from("stdout"),
        ),
        Some(file) => {
            let path = context.absolute(file);
            let file =
                File::create_new(&path).map_err(|error| CliError::io("write", &path, &error))?;
            (Box::new(BufWriter::new(file)), path)
        }
    };
    let mut lines = 0usize;
    let exported = store
        .export(&session, |line| {
            lines += 1;
            writeln!(sink, "{line}").map_err(ExportError::Write)
        })
        .and_then(|()| sink.flush().map_err(ExportError::Write));
    drop(sink);
    match exported {
        Ok(()) => {}
        Err(ExportError::Store(error)) => return Err(error.into()),
        Err(ExportError::Write(error)) => {
            if args.out.is_some() {
                // Nothing half-written stays.
                let _ = fs::remove_file(&path);
            }
            return Err(CliError::io("write", &path, &error));
        }
    }
    if args.out.is_some() {
        output.line(&format!("{lines} lines written to {}", path.display()));
        output.document(&json!({ "ok": true, "file": path.to_string_lossy(), "lines": lines }));
    }
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
