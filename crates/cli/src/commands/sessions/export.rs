//! `openclaw sessions export`: a transcript as JSONL, line by line.

use super::store_path;
use crate::args::ExportArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use openclaw_host::{Session, Store, StoreError};
use serde_json::json;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

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

pub(super) fn run(
    context: &Context,
    args: &ExportArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let Some(store) = Store::open_to_read(&store_path(context), Context::ambient())? else {
        return Err(CliError::new(
            format!("there is no session `{}`", args.session),
            "`openclaw sessions list` shows the sessions there are",
        ));
    };
    let session = store.session_named(&args.session)?;
    let Some(file) = &args.out else {
        return to_stdout(&store, &session);
    };
    let path = context.absolute(file);
    let lines = to_file(&store, &session, &path).map_err(|error| match error {
        ExportError::Store(error) => error.into(),
        ExportError::Write(error) => CliError::io("write", &path, &error),
    })?;
    output.line(&format!("{lines} lines written to {}", path.display()));
    output.document(&json!({ "ok": true, "file": path.to_string_lossy(), "lines": lines }));
    Ok(ExitCode::SUCCESS)
}

fn to_stdout(store: &Store, session: &Session) -> Result<ExitCode, CliError> {
    match write(store, session, io::stdout().lock()) {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(ExportError::Store(error)) => Err(error.into()),
        // A reader that has seen enough is no failure.
        Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        Err(ExportError::Write(error)) => Err(CliError::io("write", Path::new("stdout"), &error)),
    }
}

/// Writes beside the file and gives it its name at the end: a file with that name is whole, and none is replaced.
fn to_file(store: &Store, session: &Session, path: &Path) -> Result<usize, ExportError> {
    if path.symlink_metadata().is_ok() {
        return Err(ExportError::Write(ErrorKind::AlreadyExists.into()));
    }
    let directory = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(ExportError::Write)?;
    let lines = write(store, session, &mut file)?;
    file.as_file().sync_all().map_err(ExportError::Write)?;
    file.persist_noclobber(path)
        .map_err(|error| ExportError::Write(error.error))?;
    Ok(lines)
}

fn write(store: &Store, session: &Session, sink: impl Write) -> Result<usize, ExportError> {
    let mut sink = BufWriter::with_capacity(1 << 16, sink);
    let mut lines = 0;
    let exported = store.export(session, |line| {
        lines += 1;
        writeln!(sink, "{line}").map_err(ExportError::Write)
    });
    exported.and_then(|()| sink.flush().map_err(ExportError::Write))?;
    Ok(lines)
}
