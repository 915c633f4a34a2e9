//! `openclaw sessions import`: transcripts as JSONL, and sessions out of OpenClaw's own store.

mod report;
mod source;

use super::store_path;
use crate::args::ImportArgs;
use crate::context::{AGENT_ID, Context};
use crate::error::{CliError, chain};
use crate::output::{Output, Progress};
use openclaw_host::{
    ImportProgress, ImportReport, ImportTarget, OpenClawSession, OpenClawStore, Store,
    StoreErrorKind, TranscriptLines,
};
use serde_json::{Value, json};
use source::Source;
use std::process::ExitCode;
use std::time::Duration;

/// How long to wait for a turn that runs in the session.
const TURN_WAIT: Duration = Duration::from_secs(10);

/// What was imported so far.
struct Import<'a> {
    store: Store,
    output: &'a mut Output,
    is_verbose: bool,
    documents: Vec<Value>,
    done: Vec<String>,
    has_failed: bool,
}

/// Why a session was not imported.
enum Failure {
    /// It cannot be had; others can.
    Session(CliError),
    /// The store takes none.
    Store(CliError),
}

pub(super) fn run(
    context: &Context,
    args: &ImportArgs,
    is_verbose: bool,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    if args.session_key.is_some() && args.files.len() > 1 {
        return Err(CliError::new(
            "one session key cannot hold several transcripts",
            "import the files one by one",
        ));
    }
    // All files are opened and judged before the first is stored: a wrong one stores nothing.
    let mut sources = Vec::new();
    if args.openclaw {
        let state_dir = &context.paths.state_dir;
        let path = state_dir
            .join("agents")
            .join(AGENT_ID)
            .join("agent/openclaw-agent.sqlite");
        sources.push(Source::openclaw(&path)?);
    }
    for file in &args.files {
        sources.push(Source::open(&context.absolute(file))?);
    }
    let store = Store::open(&store_path(context), Context::ambient())?;
    for source in &mut sources {
        source.check(&store, args)?;
    }
    let mut import = Import {
        store,
        output,
        is_verbose,
        documents: Vec::new(),
        done: Vec::new(),
        has_failed: false,
    };
    for source in sources {
        match source {
            Source::Transcript {
                path,
                name,
                mut lines,
            } => {
                let shown = path.display().to_string();
                let imported = import.one(&mut lines, &name, args.session_key.as_deref(), &shown);
                imported.map_err(|failure| match failure {
                    Failure::Session(error) | Failure::Store(error) => error,
                })?;
            }
            Source::OpenClaw { path, store } => {
                import.all(&store, &args.sessions, &path.display().to_string())?;
                store
                    .finish()
                    .map_err(|error| CliError::caused(&error, error.help()))?;
            }
        }
    }
    let Import {
        documents,
        output,
        has_failed,
        ..
    } = import;
    output.document(&json!({ "ok": !has_failed, "imports": documents }));
    Ok(if has_failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Whether the session is what fails, and not the store.
fn is_of_session(kind: &StoreErrorKind) -> bool {
    matches!(
        kind,
        StoreErrorKind::SessionTaken(_)
            | StoreErrorKind::Forked { .. }
            | StoreErrorKind::KeyTaken { .. }
            | StoreErrorKind::BadKey { .. }
            | StoreErrorKind::ImportRunning(_)
            | StoreErrorKind::Lane(_)
            | StoreErrorKind::Transcript(_)
            | StoreErrorKind::NoTranscript(_)
    )
}

impl Import<'_> {
    /// Imports the sessions asked for, each behind the key it has.
    fn all(
        &mut self,
        openclaw: &OpenClawStore,
        asked: &[String],
        shown: &str,
    ) -> Result<(), CliError> {
        for session in source::chosen(openclaw, asked)? {
            let OpenClawSession { id, key, .. } = &session;
            let shown = format!("{shown}: {}", key.as_deref().unwrap_or(id));
            let mut lines = openclaw.lines(&session);
            match self.one(&mut lines, id, key.as_deref(), &shown) {
                Err(Failure::Session(error)) => {
                    // One session that cannot be had keeps out no other.
                    self.output.error_text(&error);
                    let mut document = error.to_json();
                    document["file"] = Value::from(shown);
                    self.documents.push(document);
                    self.has_failed = true;
                }
                Err(Failure::Store(error)) => return Err(error),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn one(
        &mut self,
        lines: &mut dyn TranscriptLines,
        name: &str,
        key: Option<&str>,
        shown: &str,
    ) -> Result<(), Failure> {
        let target = ImportTarget {
            name,
            agent_id: AGENT_ID,
            key,
            wait: TURN_WAIT,
        };
        let mut progress = self.output.progress();
        let imported = self.store.import(lines, &target, &mut |now| {
            show_progress(&mut progress, shown, now);
        });
        progress.end();
        let report = imported.map_err(|error| {
            let before = match &self.done[..] {
                [] => "nothing was stored".to_owned(),
                done => format!("stored before it: {}", done.join(", ")),
            };
            let text = format!("{shown}: {} ({before})", chain(&error));
            let told = CliError::new(text, error.help());
            if is_of_session(&error.kind) {
                Failure::Session(told)
            } else {
                Failure::Store(told)
            }
        })?;
        self.tell(&report, key, shown);
        Ok(())
    }

    fn tell(&mut self, report: &ImportReport, key: Option<&str>, shown: &str) {
        report::show(report, shown, self.is_verbose, self.output);
        if let Some(asked) = key.filter(|asked| *asked != report.session_key) {
            self.output.warning(&format!(
                "the session {} was there and keeps its key `{}`; `{asked}` is not used",
                report.session_id, report.session_key
            ));
        }
        self.documents.push(report::document(report, shown));
        self.done.push(shown.to_owned());
    }
}

fn show_progress(progress: &mut Progress, shown: &str, now: ImportProgress) {
    let megabytes = |bytes: u64| bytes / 1_000_000;
    let read = megabytes(now.bytes_read);
    let entries = now.entries;
    progress.show(&match now.bytes_total {
        Some(total) => format!(
            "{shown}: {read} of {} MB, {entries} entries",
            megabytes(total)
        ),
        None => format!("{shown}: {read} MB, {entries} entries"),
    });
}
