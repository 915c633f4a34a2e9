//! `openclaw plugins build`: from a crate to a build directory.

mod cargo;
mod place;

use super::text::{file_name, shown, size, tidy, word};
use crate::args::BuildArgs;
use crate::built::{Built, RECORD};
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use cargo::{Cargo, Package};
use openclaw_config::Edit;
use openclaw_loader::{
    LibraryFacts, LoadError, LoadErrorKind, MANIFEST_FILE, Manifest, check_settings, inspect,
};
use place::{File, Place};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A build directory that was made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) directory: PathBuf,
    manifest: Manifest,
    version: String,
    facts: LibraryFacts,
    library_name: String,
    library_bytes: u64,
}

pub(crate) fn run(
    context: &Context,
    args: &BuildArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let crate_dir = tidy(&context.absolute(&args.crate_dir));
    let out = args.out.as_ref().map(|out| tidy(&context.absolute(out)));
    let made = make(&crate_dir, out, output)?;
    made.report(output);
    Ok(ExitCode::SUCCESS)
}

/// Has cargo build the crate in a directory (absolute), and makes a build directory of it: at `out`, or else where the
/// crate's own is.
pub(super) fn make(
    crate_dir: &Path,
    out: Option<PathBuf>,
    output: &mut Output,
) -> Result<Made, CliError> {
    check_crate_dir(crate_dir)?;
    let cargo = Cargo::of_crate(crate_dir);
    let (package, target_dir) = cargo.package(output)?;
    let (manifest_text, manifest) = read_manifest(crate_dir)?;
    let out = out.unwrap_or_else(|| target_dir.join("openclaw").join(&manifest.id));
    Place::check(&out)?;

    output.talk(&format!(
        "building {} {} from {}",
        package.name,
        package.version,
        crate_dir.display()
    ));
    let library = cargo.build(&package)?;
    let bytes = fs::read(&library).map_err(|error| CliError::io("read", &library, &error))?;
    let facts = inspect_library(&library, &bytes, &manifest)?;
    let version = manifest.version.clone();
    let version = version.unwrap_or_else(|| package.version.clone());
    let library_name = file_name(&library);
    let library_bytes = bytes.len() as u64;
    let files = [
        File {
            name: MANIFEST_FILE,
            bytes: manifest_with_version(&manifest_text, &manifest, &package, crate_dir)?,
            mode: 0o644,
        },
        File {
            name: "package.json",
            bytes: package_json(&manifest, &version, &package),
            mode: 0o644,
        },
        File {
            name: RECORD,
            bytes: Built::from_library(&library).text()?,
            mode: 0o644,
        },
        File {
            name: &library_name,
            bytes,
            mode: 0o755,
        },
    ];
    // Judged again: the build may have taken minutes.
    let directory = Place::check(&out)?.fill(&files, output)?;

    Ok(Made {
        directory,
        version,
        facts,
        library_name,
        library_bytes,
        manifest,
    })
}

impl Made {
    fn report(&self, output: &mut Output) {
        let Self {
            directory,
            manifest,
            version,
            library_name,
            library_bytes,
            facts,
        } = self;
        let contract = contract(facts);
        let next = format!("openclaw plugins install -l {}", word(directory));
        output.line(&format!("built      {} {version}", manifest.id));
        output.line(&format!("contract   {contract} ({})", facts.note.toolchain));
        output.line(&format!(
            "library    {library_name}, {}",
            size(*library_bytes)
        ));
        output.line(&format!("directory  {}", directory.display()));
        output.help(&format!("link it and select its engine: `{next}`"));
        output.document(&json!({
        "ok": true, "id": manifest.id, "version": version, "contract": contract, "toolchain": facts.note.toolchain,
        "directory": shown(directory), "library": shown(&directory.join(library_name)), "libraryBytes": library_bytes, "next": next,
    }));
    }
}

fn contract(facts: &LibraryFacts) -> String {
    format!(
        "{}.{}",
        facts.note.contract_major, facts.note.contract_minor
    )
}

fn check_crate_dir(crate_dir: &Path) -> Result<(), CliError> {
    let at = crate_dir.display();
    if !crate_dir.exists() {
        return Err(CliError::new(
            format!("no crate at {at}: there is nothing at this path"),
            "check the path; relative paths start at the current directory",
        ));
    }
    if !crate_dir.is_dir() {
        let parent = crate_dir.parent().unwrap_or(crate_dir);
        return Err(CliError::new(
            format!("no crate at {at}: this is a file"),
            format!("name the crate's directory, such as {}", parent.display()),
        ));
    }
    if !crate_dir.join("Cargo.toml").is_file() {
        return Err(CliError::new(
            format!("no crate at {at}: no Cargo.toml in it"),
            "name the directory that holds the engine's Cargo.toml",
        ));
    }
    Ok(())
}

/// The crate's manifest, checked as far as that goes without the library.
fn read_manifest(crate_dir: &Path) -> Result<(String, Manifest), CliError> {
    let path = crate_dir.join(MANIFEST_FILE);
    if !path.exists() {
        return Err(CliError::new(
            format!(
                "the crate in {} has no {MANIFEST_FILE}",
                crate_dir.display()
            ),
            "write one beside Cargo.toml, such as {\"id\": \"<engine id>\", \"kind\": \"context-engine\", \
             \"configSchema\": {\"type\": \"object\", \"additionalProperties\": false}}",
        ));
    }
    let manifest = Manifest::read(crate_dir)?;
    match check_settings(&manifest, &Value::Null) {
        // Settings that must be given are the user's matter, not the builder's.
        Ok(()) | Err(LoadErrorKind::Settings(_)) => {}
        Err(kind) => return Err(load_error(&manifest, &path, kind).into()),
    }
    let text = fs::read_to_string(&path).map_err(|error| CliError::io("read", &path, &error))?;
    Ok((text, manifest))
}

fn inspect_library(
    library: &Path,
    bytes: &[u8],
    manifest: &Manifest,
) -> Result<LibraryFacts, CliError> {
    let facts = inspect(bytes).map_err(|fault| load_error(manifest, library, fault.into()))?;
    let found = &facts.note.engine_id;
    if *found != manifest.id {
        return Err(CliError::new(
            format!(
                "{MANIFEST_FILE} has the id `{}`, the engine in {} is `{found}`",
                manifest.id,
                library.display()
            ),
            "give both the same id: the manifest's `id` and the one in `export_engine!`",
        ));
    }
    Ok(facts)
}

fn load_error(manifest: &Manifest, path: &Path, kind: LoadErrorKind) -> LoadError {
    LoadError {
        plugin: Some(manifest.id.clone()),
        path: path.to_owned(),
        kind,
    }
}

/// The manifest's text; the crate's version is put in where it names none, and no other byte changes.
fn manifest_with_version(
    text: &str,
    manifest: &Manifest,
    package: &Package,
    crate_dir: &Path,
) -> Result<Vec<u8>, CliError> {
    if manifest.version.is_some() {
        return Ok(text.as_bytes().to_vec());
    }
    let edit = Edit::set(["version"], package.version.as_str());
    let text = openclaw_config::apply(text, &[edit]).map_err(|error| {
        let path = crate_dir.join(MANIFEST_FILE);
        CliError::new(
            format!(
                "cannot put the crate's version into {}: {}",
                path.display(),
                crate::error::chain(&error)
            ),
            "give it a `version` of its own",
        )
    })?;
    Ok(text.into_bytes())
}

fn package_json(manifest: &Manifest, version: &str, package: &Package) -> Vec<u8> {
    let mut value = json!({ "name": manifest.id, "version": version, "type": "module" });
    let description = manifest
        .description
        .as_ref()
        .or(package.description.as_ref());
    if let Some(description) = description {
        value["description"] = json!(description);
    }
    let mut text = format!("{value:#}");
    text.push('\n');
    text.into_bytes()
}
