//! `openclaw plugins init`: a crate of a context engine that builds, passes its tests and can be linked at once.

mod template;
mod vendored;

use super::text::{shown, tidy, word};
use crate::args::InitArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use openclaw_host::LEGACY_ID;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The only type of scaffold.
const TYPE: &str = "context-engine";
const MAX_NAME_CHARS: usize = 64;
/// What the compiler has already.
const OF_RUST: [&str; 6] = ["alloc", "core", "proc-macro", "std", "test", "self"];

pub(crate) fn run(
    context: &Context,
    args: &InitArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let id = check_id(&args.id)?;
    if args.scaffold_type != TYPE {
        return Err(CliError::new(
            format!("there is no scaffold of type `{}`", args.scaffold_type),
            format!("leave --type out, or say {TYPE}: a native plugin brings a context engine"),
        ));
    }
    let title = match &args.name {
        Some(name) if name.trim().is_empty() || name.chars().any(char::is_control) => {
            return Err(CliError::new(
                format!("`{}` is no name to show", name.escape_debug()),
                "give --name one line of text",
            ));
        }
        Some(name) => name.trim().to_owned(),
        None => title(id),
    };
    let directory = args.directory.clone().unwrap_or_else(|| PathBuf::from(id));
    let directory = tidy(&context.absolute(&directory));
    if !args.force && !is_free(&directory) {
        return Err(CliError::new(
            format!("there is something at {} already", directory.display()),
            "name another place with --directory, or add --force to write the scaffold's files into it",
        ));
    }
    let files = template::files(id, &title);
    write(&directory, &files)?;
    let next = format!(
        "cd {} && openclaw plugins install -l . --build",
        word(&directory)
    );
    output.line(&format!("created    {id} in {}", directory.display()));
    output.line("engine     src/lib.rs, with its test: `cargo test`");
    output.line("contract   vendor/openclaw-interface, so that nothing has to be fetched but what cargo has cached");
    output.help(&format!(
        "build it, link it and select its engine: `{next}`"
    ));
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    output.document(&json!({
        "ok": true, "id": id, "name": title, "directory": shown(&directory), "files": paths, "next": next,
    }));
    Ok(ExitCode::SUCCESS)
}

/// A name that is good as crate, as plugin and as engine.
fn check_id(id: &str) -> Result<&str, CliError> {
    let refused = |reason: &str| {
        CliError::new(
            format!(
                "`{}` cannot be the id of an engine: {reason}",
                id.escape_debug()
            ),
            "an id starts with a small letter and goes on with small letters, digits and hyphens, such as `my-engine`",
        )
    };
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !id.starts_with(|c: char| c.is_ascii_lowercase())
        || !id.chars().all(is_word)
        || id.ends_with('-')
    {
        return Err(refused(
            "it is no name that cargo, OpenClaw and a file system all take",
        ));
    }
    if id.len() > MAX_NAME_CHARS {
        return Err(refused(&format!(
            "it is longer than {MAX_NAME_CHARS} characters"
        )));
    }
    if id == LEGACY_ID {
        return Err(refused("that is the built-in engine"));
    }
    if OF_RUST.contains(&id) || vendored::is_taken(id) {
        return Err(refused("a crate of that name is needed to build it"));
    }
    Ok(id)
}

/// `my-engine` as `My engine`.
fn title(id: &str) -> String {
    let words = id.replace('-', " ");
    let mut chars = words.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// Whether nothing is there, or an empty directory.
fn is_free(directory: &Path) -> bool {
    match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => directory.symlink_metadata().is_err(),
    }
}

/// Writes the files; one of the same name is replaced whole, every other one stays.
fn write(directory: &Path, files: &[(String, String)]) -> Result<(), CliError> {
    for (path, text) in files {
        let path = directory.join(path);
        let parent = path.parent().unwrap_or(directory);
        let failed = |error: std::io::Error| CliError::io("write", &path, &error);
        fs::create_dir_all(parent).map_err(failed)?;
        let mut file = fs::File::create(&path).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case M-5.
    #[test]
    fn odd_ids_are_refused_with_the_form_that_is_allowed() {
        let long = "a".repeat(65);
        let odd = [
            "",
            "../x",
            "a b",
            "ÄÖ",
            "Bad",
            "7up",
            "-a",
            "a-",
            "__proto__",
            "legacy",
            "serde",
            "std",
            &long,
        ];
        for id in odd {
            let error = check_id(id).expect_err(id);
            assert!(error.to_string().contains(&format!("`{id}`")), "{error}");
            assert!(
                error
                    .help()
                    .is_some_and(|help| help.contains("`my-engine`"))
            );
        }
        for id in ["a", "my-engine", "e2"] {
            assert!(check_id(id).is_ok(), "{id}");
        }
    }

    #[test]
    fn title_is_made_of_the_id() {
        assert_eq!(title("my-best-engine"), "My best engine");
    }
}
