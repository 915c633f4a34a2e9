//! Puts the sources of the contract into the command, so that `plugins init` makes a crate that needs no checkout.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let workspace = here.join("../..").canonicalize()?;
    let interface = workspace.join("crates/interface");
    let mut files = Vec::new();
    collect(&interface.join("src"), &mut files)?;
    files.extend(["build.rs", "README.md", "Cargo.toml"].map(|name| interface.join(name)));
    let licences = ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| workspace.join(name));
    let from_interface = files.iter().map(|file| (&interface, file));
    let from_workspace = licences.iter().map(|file| (&workspace, file));
    let mut text = String::from("&[\n");
    for (root, file) in from_interface.chain(from_workspace) {
        let name = file.strip_prefix(root).unwrap_or(file);
        let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let name = name.join("/");
        let _ = writeln!(text, "    ({name:?}, include_str!({file:?})),");
        println!("cargo::rerun-if-changed={}", file.display());
    }
    text.push_str("]\n");
    println!(
        "cargo::rerun-if-changed={}",
        interface.join("src").display()
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("interface.rs"), text)
}

/// The files below a directory, in the order of their names.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
