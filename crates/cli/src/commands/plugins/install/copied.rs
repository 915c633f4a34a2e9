//! Installs a copy: of a directory, of an archive, or of a package. All of it or nothing.

use super::archive::{self, Format};
use super::npm::{self, Spec};
use super::plan::Plan;
use super::stage::{LIMITS, Refused, Stage};
use super::{How, Planned, tell, tree};
use crate::args::InstallArgs;
use crate::commands::plugins::consent;
use crate::commands::plugins::source;
use crate::commands::plugins::text::{tidy, word};
use crate::context::Context;
use crate::error::{CliError, chain};
use crate::installs::{Installs, Source, SourceKind};
use crate::output::Output;
use openclaw_loader::BuildDirectory;
use serde_json::Value;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is to be installed.
#[derive(Debug)]
pub(in super::super) enum Wanted {
    Directory(PathBuf),
    Archive(PathBuf, Format),
    Npm(Spec),
}

/// A plugin in a stage.
pub(in super::super) struct Fetched {
    stage: Stage,
    plugin: BuildDirectory,
    /// The version in `package.json`, else in the manifest.
    pub(in super::super) version: Option<String>,
    from: String,
    source: Source,
}

pub(super) fn run(
    context: &Context,
    source: &Path,
    args: &InstallArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let wanted = wanted(context, source)?;
    if args.pin && !matches!(wanted, Wanted::Npm(_)) {
        return Err(CliError::new(
            "--pin is for packages of npm only",
            "leave it out: a copy of a directory or an archive never changes by itself",
        ));
    }
    accept(args, &wanted, output)?;
    let fetched = fetch(context, &wanted, args.pin)?;
    let from = fetched.from.clone();
    let (planned, plugin) = install(context, fetched, args.force)?;
    let how = How {
        verb: "copied",
        from: format!("{from} to {}", word(&plugin.path)),
        again: format!("openclaw plugins enable {}", plugin.manifest.id),
    };
    tell(context, &planned, &plugin, &how, output)?;
    Ok(ExitCode::SUCCESS)
}

/// What a spec means: a path that exists, before anything else.
fn wanted(context: &Context, spec: &Path) -> Result<Wanted, CliError> {
    let text = spec.to_str().unwrap_or_default();
    for scheme in ["git:", "clawhub:"] {
        if text.starts_with(scheme) {
            return Err(CliError::new(
                format!(
                    "`{text}` cannot be installed: {scheme} is not supported for native plugins"
                ),
                "clone and build it, then install the build directory",
            ));
        }
    }
    let (local, only_archive) = match text.strip_prefix("npm-pack:") {
        Some("") => {
            return Err(CliError::new(
                "`npm-pack:` names no archive",
                "name one: `npm-pack:./window-1.0.0.tgz`",
            ));
        }
        Some(file) => (file, true),
        None => {
            let plain = text.strip_prefix("file:").unwrap_or(text);
            (
                plain
                    .strip_prefix("//")
                    .filter(|_| plain != text)
                    .unwrap_or(plain),
                false,
            )
        }
    };
    let path = tidy(&context.absolute(local.as_ref()));
    if path.is_dir() && !only_archive {
        return Ok(Wanted::Directory(path));
    }
    if path.exists() {
        return match Format::of(&path) {
            Some(format) => Ok(Wanted::Archive(path, format)),
            None => Err(CliError::new(
                format!(
                    "{} is no archive, and a plain file cannot be installed",
                    path.display()
                ),
                "name a build directory, or an archive of one: .zip, .tgz, .tar.gz or .tar",
            )),
        };
    }
    let looks_like_path = local != text
        || text.starts_with(['.', '/', '~'])
        || Format::of(&path).is_some()
        || [".so", ".dylib", ".dll", ".js", ".ts", ".mjs"]
            .iter()
            .any(|end| text.ends_with(end));
    if looks_like_path {
        return Err(CliError::new(
            format!("{} does not exist", path.display()),
            "name a build directory or an archive that exists",
        ));
    }
    match Spec::parse(text) {
        Ok(spec) => Ok(Wanted::Npm(spec)),
        Err(problem) => Err(CliError::new(
            format!("`{text}` is no path that exists and no package of npm: {problem}"),
            "name a directory, an archive, or a package: `name`, `name@1.2.3`, `@scope/name@tag`",
        )),
    }
}

/// Somebody takes the responsibility for a source that nobody checked.
fn accept(args: &InstallArgs, wanted: &Wanted, output: &mut Output) -> Result<(), CliError> {
    let stdin = io::stdin();
    let what = match wanted {
        Wanted::Directory(path) | Wanted::Archive(path, _) => path.display().to_string(),
        Wanted::Npm(spec) => format!("{} from npm", spec.text()),
    };
    output.talk(&format!(
        "{what} is checked by nobody; its code will run with all your rights"
    ));
    let mut missing = Vec::new();
    for (is_accepted, question, option) in [
        (args.force, "install it?", "--force"),
        (
            args.accept_capabilities,
            "may it run in every turn of the agent?",
            "--accept-capabilities",
        ),
    ] {
        let may_ask = stdin.is_terminal() && missing.is_empty();
        if is_accepted || (may_ask && consent::asked(question, &mut stdin.lock(), output)) {
            continue;
        }
        missing.push(option);
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(CliError::new(
        format!("{what} was not installed: it has to be accepted"),
        format!("look at it, then add {}", missing.join(" ")),
    ))
}

/// Brings what is wanted into a stage, and inspects it there. Runs nothing of it. Leaves nothing behind when it fails.
pub(in super::super) fn fetch(
    context: &Context,
    wanted: &Wanted,
    pin: bool,
) -> Result<Fetched, CliError> {
    let extensions_dir = &context.paths.extensions_dir;
    let missing: Vec<&Path> = extensions_dir
        .ancestors()
        .take_while(|path| !path.exists())
        .collect();
    let fetched = fetch_into(context, wanted, pin);
    if fetched.is_err() {
        // Only those that are empty go.
        for directory in missing {
            let _ = fs::remove_dir(directory);
        }
    }
    fetched
}

fn fetch_into(context: &Context, wanted: &Wanted, pin: bool) -> Result<Fetched, CliError> {
    if let Wanted::Directory(path) = wanted {
        // Who may change the source decides what is copied.
        source::read(path, &context.trust()?)?;
    }
    let extensions_dir = &context.paths.extensions_dir;
    let unwritable = |error: io::Error| CliError::io("write to", extensions_dir, &error);
    let mut stage = Stage::new(extensions_dir, LIMITS).map_err(unwritable)?;
    let (filled, from, mut source) = match wanted {
        Wanted::Directory(path) => {
            let from = path.display().to_string();
            (
                tree::copy(path, &mut stage),
                from,
                local(SourceKind::Path, path),
            )
        }
        Wanted::Archive(path, format) => {
            let from = path.display().to_string();
            let unpacked = archive::unpack(path, *format, &mut stage);
            (unpacked, from, local(SourceKind::Archive, path))
        }
        Wanted::Npm(spec) => {
            let packed = tempfile::tempdir().map_err(unwritable)?;
            let archive = npm::pack(spec, packed.path())?;
            let unpacked = archive::unpack(&archive, Format::TarGz, &mut stage);
            let source = Source {
                kind: SourceKind::Npm,
                source_path: None,
                spec: Some(spec.text()),
            };
            (unpacked, format!("npm, {}", spec.text()), source)
        }
    };
    let refused = |refused: Refused| {
        CliError::new(
            format!("{from} cannot be installed: {refused}"),
            "nothing was installed; take a build directory as `openclaw plugins build` makes it, or an archive of one",
        )
        .code("install/refused")
    };
    filled.map_err(refused)?;
    let directory = stage.plugin_dir().map_err(refused)?;
    let trust = context.trust()?;
    let plugin = BuildDirectory::read(&directory)
        .and_then(|plugin| plugin.check_trust(&trust).map(|()| plugin))
        .map_err(|error| {
            // The stage is gone when this is read.
            let told = |text: String| text.replace(&directory.display().to_string(), &from);
            CliError::new(told(chain(&error)), told(error.help())).code(error.code())
        })?;
    let version = package_version(&directory).or_else(|| plugin.manifest.version.clone());
    if let (Wanted::Npm(spec), true) = (wanted, pin) {
        let Some(version) = &version else {
            return Err(CliError::new(
                format!("`{}` has no version to pin", spec.text()),
                "install it without --pin",
            ));
        };
        source.spec = Some(spec.pinned(version).text());
    }
    Ok(Fetched {
        stage,
        plugin,
        version,
        from,
        source,
    })
}

fn local(kind: SourceKind, path: &Path) -> Source {
    Source {
        kind,
        source_path: Some(path.to_owned()),
        spec: None,
    }
}

fn package_version(directory: &Path) -> Option<String> {
    let text = fs::read(directory.join("package.json")).ok()?;
    let package: Value = serde_json::from_slice(&text).ok()?;
    package["version"].as_str().map(str::to_owned)
}

/// Puts a fetched plugin into place, and config and record with it.
pub(in super::super) fn install(
    context: &Context,
    fetched: Fetched,
    replace: bool,
) -> Result<(Planned, BuildDirectory), CliError> {
    let id = fetched.plugin.manifest.id.clone();
    let target = context.paths.extensions_dir.join(&id);
    if !replace && target.symlink_metadata().is_ok() {
        return Err(CliError::new(
            format!("plugin `{id}` is there already: {}", target.display()),
            format!("replace it with --force, or remove it: `openclaw plugins uninstall {id}`"),
        ));
    }
    let failed = |error: io::Error| CliError::io("write", &target, &error);
    let directory = fetched.plugin.path.clone();
    let placed = fetched.stage.place(&directory, &target).map_err(failed)?;
    let made = BuildDirectory::read(&target)
        .map_err(CliError::from)
        .and_then(|plugin| Ok((Plan::make(context, &plugin, false)?, plugin)));
    let (planned, plugin) = match made {
        Ok(made) => made,
        Err(error) => {
            placed.undo().map_err(failed)?;
            return Err(error);
        }
    };
    drop(placed);
    let native_dir = &context.paths.native_dir;
    let source = fetched.source;
    Installs::record(native_dir, &plugin, false, source, jiff::Timestamp::now())?;
    Ok((planned, plugin))
}

impl Fetched {
    /// Whether it is the plugin with this id.
    pub(in super::super) fn is_plugin(&self, id: &str) -> bool {
        self.plugin.manifest.id == id
    }

    /// Whether library and manifest are those of `other`.
    pub(in super::super) fn is_same(&self, other: &BuildDirectory) -> bool {
        self.plugin.sha256 == other.sha256 && self.plugin.manifest == other.manifest
    }
}
