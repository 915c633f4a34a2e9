//! `openclaw plugins`.

mod build;
mod build_first;
mod copies;
mod hostile_archives;
mod init;
mod inspect;
mod install;
mod install_config;
mod list;
mod npm;
mod pack;
mod probing;
mod switch;
mod trust;
mod uninstall;
mod validate;
mod which_library;
mod wrong_directory;
mod zips;

use crate::home::{Home, Ran, write};
use std::fs;
use std::path::{Path, PathBuf};

const MANIFEST: &str = "openclaw.plugin.json";

fn link(home: &Home, directory: &Path) -> Ran {
    let args = ["plugins", "install", "-l"].map(AsRef::as_ref);
    home.finish(&mut home.command(args.into_iter().chain([directory.as_os_str()])))
}

/// A build directory of the `window` plugin.
fn window(home: &Home) -> PathBuf {
    support::build_directory("window", &home.path(""))
}

/// A build directory whose engine has another id, with `fields` beside `id` and `configSchema` in its manifest. Good
/// enough for all that runs no engine.
fn plugin(home: &Home, id: &str, fields: &str) -> PathBuf {
    let manifest = format!("{{id: '{id}', configSchema: {{type: 'object'}}, {fields}}}");
    plugin_with_manifest(home, id, &manifest)
}

fn plugin_with_manifest(home: &Home, id: &str, manifest: &str) -> PathBuf {
    let directory = home.path(id);
    write(&directory.join(MANIFEST), manifest);
    fs::copy(support::library("window"), directory.join(LIBRARY)).expect("a library can be copied");
    patch_note(&directory, 80, &[0; 128]);
    patch_note(&directory, 80, id.as_bytes());
    directory
}

const LIBRARY: &str = if cfg!(target_vendor = "apple") {
    "libwindow.dylib"
} else {
    "libwindow.so"
};

/// Overwrites part of the note of the library in a build directory: 8 is the contract's major version, 12 the panic
/// strategy, 80 the engine id.
fn patch_note(directory: &Path, offset: usize, with: &[u8]) {
    let library = directory.join(LIBRARY);
    let mut bytes = fs::read(&library).expect("a library can be read");
    let owner = b"OpenClaw\0\0\0\0OCENGINE";
    let note = bytes
        .windows(owner.len())
        .position(|window| window == owner)
        .expect("the library has a note");
    let at = note + 12 + offset;
    bytes[at..at + with.len()].copy_from_slice(with);
    fs::write(&library, bytes).expect("a library can be written");
}
