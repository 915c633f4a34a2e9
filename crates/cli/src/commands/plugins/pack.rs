//! `openclaw plugins pack`: a build directory as one archive that `plugins install` takes, here and in OpenClaw.
//!
//! The same files make the same bytes: names in order, no times, no owners, and modes by what a file is.

use super::source;
use super::text::{file_name, shown, size, tidy, word};
use crate::args::PackArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use flate2::{Compression, GzBuilder};
use openclaw_loader::{BuildDirectory, MANIFEST_FILE};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The one directory in an archive, as npm has it.
const ROOT: &str = "package";
/// What is packed besides the library, where it is there. The record of the build is not: it names places on this machine.
const OTHER_FILES: [&str; 4] = [MANIFEST_FILE, "package.json", "index.js", "bridge.node"];
/// What installing an archive takes.
const MAX_FILE_BYTES: usize = 256 << 20;
/// Unknown system, so that the archive is the same on all of them.
const NO_SYSTEM: u8 = 255;

/// A file of an archive.
struct Packed {
    name: String,
    bytes: Vec<u8>,
    mode: u32,
}

pub(crate) fn run(
    context: &Context,
    args: &PackArgs,
    output: &mut Output,
) -> Result<ExitCode, CliError> {
    let path = tidy(&context.absolute(&args.source));
    let plugin = source::read(&path, &context.trust()?)?;
    let files = files(&plugin)?;
    let out = match &args.out {
        Some(out) => tidy(&context.absolute(out)),
        None => context.current_dir.join(archive_name(&plugin)),
    };
    if out.symlink_metadata().is_ok() {
        return Err(CliError::new(
            format!("there is something at {} already", out.display()),
            "remove it, or name another file with --out",
        ));
    }
    let archive = archive(&files).map_err(|error| CliError::io("pack", &path, &error))?;
    write(&out, &archive).map_err(|error| CliError::io("write", &out, &error))?;
    let sha256 = hash(&archive);
    let id = &plugin.manifest.id;
    let version = plugin.manifest.version.as_deref();
    let next = format!("openclaw plugins install {}", word(&out));
    output.line(&format!(
        "packed     {id} {}",
        version.unwrap_or("(no version)")
    ));
    for file in &files {
        output.line(&format!(
            "file       {}, {}",
            file.name,
            size(file.bytes.len() as u64)
        ));
    }
    output.line(&format!(
        "archive    {}, {}",
        out.display(),
        size(archive.len() as u64)
    ));
    output.line(&format!("sha256     {sha256}"));
    output.help(&format!("install it anywhere: `{next}`"));
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    output.document(&json!({
        "ok": true, "id": id, "version": version, "archive": shown(&out), "sha256": sha256, "bytes": archive.len(),
        "files": names, "librarySha256": plugin.sha256, "next": next,
    }));
    Ok(ExitCode::SUCCESS)
}

/// `<id>-<version>.tgz`, the id made safe as npm does it.
fn archive_name(plugin: &BuildDirectory) -> String {
    let safe = |text: &str| {
        let is_safe = |c: char| c.is_alphanumeric() || "._-+".contains(c);
        let text: String = text
            .chars()
            .map(|c| if is_safe(c) { c } else { '-' })
            .collect();
        text.trim_matches('-').to_owned()
    };
    let manifest = &plugin.manifest;
    let version = manifest.version.as_deref().unwrap_or("0.0.0");
    format!("{}-{}.tgz", safe(&manifest.id), safe(version))
}

/// The files of a build directory, in the order of their names. The library is the one that was inspected.
fn files(plugin: &BuildDirectory) -> Result<Vec<Packed>, CliError> {
    let library = file_name(&plugin.library);
    let others = OTHER_FILES.iter().map(|name| (*name).to_owned());
    let mut names: Vec<String> = others
        .filter(|name| plugin.path.join(name).is_file())
        .chain([library.clone()])
        .collect();
    names.sort();
    let mut files = Vec::new();
    for name in names {
        let path = plugin.path.join(&name);
        let bytes = fs::read(&path).map_err(|error| CliError::io("read", &path, &error))?;
        if bytes.len() > MAX_FILE_BYTES {
            return Err(CliError::new(
                format!(
                    "{} is too large to be installed: {}",
                    path.display(),
                    size(bytes.len() as u64)
                ),
                "strip the library: `strip = true` below `[profile.release]` in its Cargo.toml",
            ));
        }
        let is_library = name == library;
        if is_library && plugin.sha256 != hash(&bytes) {
            return Err(CliError::new(
                format!("{} was replaced while it was packed", path.display()),
                "run the command again when the build is done",
            ));
        }
        let is_code = is_library || name == "bridge.node";
        files.push(Packed {
            mode: if is_code { 0o755 } else { 0o644 },
            name,
            bytes,
        });
    }
    Ok(files)
}

fn archive(files: &[Packed]) -> io::Result<Vec<u8>> {
    let encoder = GzBuilder::new()
        .mtime(0)
        .operating_system(NO_SYSTEM)
        .write(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(encoder);
    for file in files {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(file.bytes.len() as u64);
        header.set_mode(file.mode);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        let path = PathBuf::from(ROOT).join(&file.name);
        archive.append_data(&mut header, path, file.bytes.as_slice())?;
    }
    archive.into_inner()?.finish()
}

/// Puts the archive into place, whole or not at all, and over nothing.
fn write(out: &Path, archive: &[u8]) -> io::Result<()> {
    let parent = out.parent().unwrap_or(out);
    let mut staged = tempfile::Builder::new()
        .prefix(".openclaw-pack-")
        .tempfile_in(parent)?;
    staged.write_all(archive)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        staged
            .as_file()
            .set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    staged.as_file().sync_all()?;
    staged
        .persist_noclobber(out)
        .map(drop)
        .map_err(|error| error.error)
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
