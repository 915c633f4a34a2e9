//! The only place that opens a library.

mod mismatch;

use crate::c_door;
use crate::error::LoadErrorKind;
use crate::inspect::InspectFault;
use abi_stable::abi_stability::abi_checking::{
    CheckingGlobals, check_layout_compatibility_with_globals,
};
use abi_stable::abi_stability::stable_abi_trait::StableAbi;
use abi_stable::library::{AbiHeaderRef, LibHeader};
use abi_stable::type_layout::TypeLayout;
use libloading::Library;
use mismatch::Mismatches;
use openclaw_interface::Info;
use openclaw_interface::abi::{EngineModuleRef, ROOT_SYMBOL, c};
use openclaw_interface::hosting::EngineFactory;
use openclaw_interface::{CONTRACT_MAJOR, CONTRACT_MINOR};
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Opens `bytes` as a library, from a private copy below `private_dir` that no earlier load has used, and checks its
/// types. The library stays open until the process ends.
///
/// # Errors
///
/// No copy could be made, the system refused it, or its types are not ours. A refused library that was opened stays
/// open, unused.
pub(crate) fn open(
    bytes: &[u8],
    name: &str,
    private_dir: &Path,
) -> Result<(EngineFactory, Info), LoadErrorKind> {
    let library = open_copy(bytes, name, private_dir)?;
    // Never closed: instances, answers and thread-locals of the library may live as long as the process.
    let library: &'static Library = Box::leak(Box::new(library));
    if let Some(entry) = c_entry(library) {
        // SAFETY: the library stays open; that it keeps the header's rules is what trusting a plugin means.
        return unsafe { c_door::open(entry) };
    }
    let header = root_header(library)?;
    check_layout(header)?;
    // SAFETY: the layouts have just been found compatible.
    let module = unsafe { header.unchecked_layout::<EngineModuleRef>() }
        .map_err(|error| LoadErrorKind::Open(first_line(&error.to_string())))?;
    EngineFactory::of_module(module).map_err(LoadErrorKind::Describe)
}

fn open_copy(bytes: &[u8], name: &str, private_dir: &Path) -> Result<Library, LoadErrorKind> {
    let directory = private_directory(private_dir).map_err(LoadErrorKind::Copy)?;
    let path = directory.path().join(name);
    write_copy(&path, bytes).map_err(LoadErrorKind::Copy)?;
    // The copy's name goes with `directory`; its pages stay mapped.
    load(&path)
}

fn private_directory(parent: &Path) -> io::Result<tempfile::TempDir> {
    fs::create_dir_all(parent)?;
    tempfile::Builder::new()
        .prefix("library-")
        .tempdir_in(parent)
}

fn write_copy(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o500);
    options.open(path)?.write_all(bytes)
}

#[cfg(unix)]
fn load(path: &Path) -> Result<Library, LoadErrorKind> {
    use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: the file was inspected; that its constructors do no harm is what trusting a plugin means.
    unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
        .map(Library::from)
        .map_err(|error| LoadErrorKind::Open(system_reason(&error, path)))
}

#[cfg(not(unix))]
fn load(path: &Path) -> Result<Library, LoadErrorKind> {
    // SAFETY: as above.
    unsafe { Library::new(path) }.map_err(|error| LoadErrorKind::Open(system_reason(&error, path)))
}

/// The function of a library that has the C door only.
fn c_entry(library: &'static Library) -> Option<c::Entry> {
    // SAFETY: only asked whether it is there.
    let root = unsafe { library.get::<*const u8>(ROOT_SYMBOL.as_bytes()) };
    if root.is_ok() {
        return None;
    }
    // SAFETY: the symbol, when it is there, is a function of this type: its name says so.
    let entry = unsafe { library.get::<c::Entry>(c::ENTRY_SYMBOL.as_bytes()) };
    entry.ok().map(|entry| *entry)
}

fn root_header(library: &'static Library) -> Result<&'static LibHeader, LoadErrorKind> {
    // SAFETY: the symbol, when it is there, is a static `LibHeader`; `AbiHeaderRef` is a reference to its first field,
    // valid for as long as the library is open, which is for ever.
    let header = unsafe { library.get::<AbiHeaderRef>(ROOT_SYMBOL.as_bytes()) };
    let header = header.map_err(|error| LoadErrorKind::Open(first_line(&error.to_string())))?;
    header
        .upgrade()
        .map_err(|error| LoadErrorKind::Layout(first_line(&error.to_string())))
}

/// Versions first. Then accepts when either side's types contain the other's: an older library lacks methods that have
/// default bodies, a newer one has methods this host does not call.
fn check_layout(header: &LibHeader) -> Result<(), LoadErrorKind> {
    let version = contract_version(header)?;
    let ours: &'static TypeLayout = <EngineModuleRef as StableAbi>::LAYOUT;
    let theirs = header
        .layout()
        .ok_or_else(|| LoadErrorKind::Layout("it carries no layout".into()))?;
    // Each check has its own globals: the shared ones would keep references into the library.
    let check = |a, b| check_layout_compatibility_with_globals(a, b, &CheckingGlobals::new());
    let (Err(newer), Err(older)) = (check(ours, theirs), check(theirs, ours)) else {
        return Ok(());
    };
    let mismatches = Mismatches::fewest(&newer, &older);
    Err(LoadErrorKind::Layout(format!(
        "it speaks contract {version}, this host {CONTRACT_MAJOR}.{CONTRACT_MINOR}; {mismatches}"
    )))
}

/// The library's contract version as the layouts carry it, which is what a note cannot promise.
fn contract_version(header: &LibHeader) -> Result<String, LoadErrorKind> {
    let text = header.version_strings().version.as_str();
    let mut numbers = text.split('.').map(str::parse::<u16>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        let text = first_line(text);
        return Err(LoadErrorKind::Layout(format!(
            "its contract version cannot be read: `{text}`"
        )));
    };
    if major == CONTRACT_MAJOR {
        return Ok(format!("{major}.{minor}"));
    }
    Err(LoadErrorKind::Inspect(InspectFault::ContractVersion {
        found_major: major,
        found_minor: minor,
    }))
}

/// What the system's loader said, without the path of the private copy, which tells the user nothing.
fn system_reason(error: &libloading::Error, copy: &Path) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    first_line(&text.replace(&format!("{}: ", copy.display()), ""))
}

fn first_line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(500)
        .collect()
}
