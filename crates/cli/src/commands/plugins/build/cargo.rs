//! Asks cargo what a crate is, and has it built.

use super::super::text::word;
use crate::context::variable;
use crate::error::CliError;
use crate::output::Output;
use openclaw_loader::MANIFEST_FILE;
use serde::Deserialize;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Cargo, at work on one crate.
#[derive(Debug)]
pub(super) struct Cargo {
    program: OsString,
    crate_dir: PathBuf,
}

/// A package as cargo describes it.
#[derive(Debug, Deserialize)]
pub(super) struct Package {
    id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) description: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

/// The part of cargo's messages that is read.
#[derive(Debug, Deserialize)]
struct Artifact {
    package_id: String,
    target: Target,
    filenames: Vec<PathBuf>,
}

impl Target {
    fn is_cdylib(&self) -> bool {
        self.kind.iter().any(|kind| kind == "cdylib")
    }
}

impl Package {
    fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    fn has_cdylib(&self) -> bool {
        self.targets.iter().any(Target::is_cdylib)
    }
}

impl Cargo {
    /// The cargo in `$CARGO`, or else the one on the search path.
    pub(super) fn of_crate(crate_dir: &Path) -> Self {
        Self {
            program: variable("CARGO").unwrap_or_else(|| "cargo".into()),
            crate_dir: crate_dir.to_owned(),
        }
    }

    /// The package of the crate and cargo's target directory.
    pub(super) fn package(&self, output: &mut Output) -> Result<(Package, PathBuf), CliError> {
        let result = self
            .command(&["metadata", "--no-deps", "--format-version=1"])
            .output()
            .map_err(|error| self.cannot_run(&error))?;
        if !result.status.success() {
            output.talk(String::from_utf8_lossy(&result.stderr).trim_end());
            return Err(CliError::new(
                format!("cargo cannot read {}", self.manifest_path().display()),
                "mend what cargo reports above",
            ));
        }
        let metadata: Metadata = serde_json::from_slice(&result.stdout).map_err(|error| {
            let text = format!(
                "cargo's description of {} is unclear: {error}",
                self.crate_dir.display()
            );
            CliError::new(text, "set CARGO to a cargo of Rust 1.95 or later")
        })?;
        let wanted = self.manifest_path().canonicalize().ok();
        let is_wanted = |package: &Package| package.manifest_path.canonicalize().ok() == wanted;
        let (mut own, others): (Vec<_>, Vec<_>) =
            metadata.packages.into_iter().partition(is_wanted);
        match own.pop() {
            Some(package) if package.has_cdylib() => Ok((package, metadata.target_directory)),
            Some(package) => Err(no_engine(
                format!(
                    "crate {} in {} makes no cdylib",
                    package.name,
                    self.crate_dir.display()
                ),
                &others,
                "add `[lib] crate-type = [\"cdylib\"]` to its Cargo.toml, or build an engine's crate",
            )),
            None => Err(no_engine(
                format!(
                    "{} is a workspace without a crate of its own",
                    self.crate_dir.display()
                ),
                &others,
                "build the engine's crate",
            )),
        }
    }

    /// Builds the library and returns its path. What cargo has to say goes to stderr.
    pub(super) fn build(&self, package: &Package) -> Result<PathBuf, CliError> {
        let mut child = self
            .command(&[
                "build",
                "--release",
                "--lib",
                "--message-format=json-render-diagnostics",
            ])
            .args(["--package", &package.id])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| self.cannot_run(&error))?;
        let mut libraries = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            // Whatever is no artifact, or is printed by a build script, is of no interest.
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                let artifact = serde_json::from_slice::<Artifact>(&line);
                let own = artifact
                    .ok()
                    .filter(|it| it.package_id == package.id && it.target.is_cdylib());
                libraries.extend(own.into_iter().flat_map(|artifact| artifact.filenames));
            }
        }
        let status = child.wait().map_err(|error| self.cannot_run(&error))?;
        if !status.success() {
            return Err(CliError::new(
                format!(
                    "cargo could not build {} ({status}); nothing was written",
                    package.name
                ),
                "mend what cargo reports above",
            ));
        }
        let suffix = std::env::consts::DLL_SUFFIX;
        libraries.retain(|path| path.to_string_lossy().ends_with(suffix));
        libraries.pop().ok_or_else(|| {
            CliError::new(
                format!(
                    "cargo built {} and reported no `{suffix}` library",
                    package.name
                ),
                "build for this machine: remove `build.target` from cargo's configuration",
            )
        })
    }

    fn manifest_path(&self) -> PathBuf {
        self.crate_dir.join("Cargo.toml")
    }

    /// Cargo run in the crate's directory, so that the configuration and the toolchain written there count.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .arg("--manifest-path")
            .arg(self.manifest_path())
            .current_dir(&self.crate_dir);
        command
    }

    fn cannot_run(&self, error: &io::Error) -> CliError {
        CliError::new(
            format!("cannot run {}: {error}", Path::new(&self.program).display()),
            "install Rust from https://rustup.rs, or set CARGO to the cargo to use",
        )
    }
}

/// `text`, the crates beside it that do make a cdylib, and how to build one; `help` when there is none.
fn no_engine(text: String, packages: &[Package], help: &str) -> CliError {
    let mut engines: Vec<_> = packages.iter().filter(|it| it.has_cdylib()).collect();
    engines.sort_by_key(|it| !it.directory().join(MANIFEST_FILE).exists());
    let Some(first) = engines.first() else {
        return CliError::new(text, help);
    };
    let found: Vec<_> = engines
        .iter()
        .map(|it| format!("{} in {}", it.name, it.directory().display()))
        .collect();
    CliError::new(
        format!(
            "{text}; crates beside it that make a cdylib: {}",
            found.join(", ")
        ),
        format!(
            "{help}, such as `openclaw plugins build {}`",
            word(first.directory())
        ),
    )
}
