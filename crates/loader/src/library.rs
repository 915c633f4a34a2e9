//! The only place that opens a library.

mod mismatch;

use crate::c_door;
use crate::error::LoadErrorKind;
use crate::generation::Mapping;
use crate::inspect::InspectFault;
use crate::libraries::Libraries;
use crate::steps::Steps;
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
use std::sync::Arc;

/// What is opened.
pub(crate) struct Image<'a> {
    /// The bytes that were inspected.
    pub(crate) bytes: &'a [u8],
    /// File name.
    pub(crate) name: &'a str,
    /// Whether its note says that it may be unmapped.
    pub(crate) is_unloadable: bool,
}

/// An engine's factory, what the engine says of itself, and the library both are in.
pub(crate) type Opened = (EngineFactory, Info, Arc<Mapping>);

/// Opens a library from a private copy that no earlier load has used, and checks its types. The library stays open for as
/// long as the factory and its instances live.
///
/// # Errors
///
/// No copy could be made, the system refused it, or its types are not ours.
pub(crate) fn open(
    image: &Image<'_>,
    libraries: &Libraries,
    steps: &mut Steps,
) -> Result<Opened, LoadErrorKind> {
    let mapping = Arc::new(open_copy(image, libraries, steps)?);
    let (factory, info) = if let Some(entry) = c_entry(mapping.library()) {
        // The header promises its authors that the library stays open.
        mapping.keep();
        steps.time("describe", || {
            // SAFETY: the library stays open; that it keeps the header's rules is what trusting a plugin means.
            unsafe { c_door::open(entry) }
        })?
    } else {
        let module = steps.time("check layout", || root_module(mapping.library()))?;
        let described = steps.time("describe", || EngineFactory::of_module(module));
        described.map_err(|error| {
            mapping.keep();
            LoadErrorKind::Describe(error)
        })?
    };
    Ok((factory.kept_by(Arc::clone(&mapping)), info, mapping))
}

fn open_copy(
    image: &Image<'_>,
    libraries: &Libraries,
    steps: &mut Steps,
) -> Result<Mapping, LoadErrorKind> {
    let (scratch, path) = steps
        .time("copy", || {
            let scratch = libraries.scratch()?;
            let path = scratch.path().join(image.name);
            write_copy(&path, image.bytes)?;
            Ok((scratch, path))
        })
        .map_err(LoadErrorKind::Copy)?;
    let library = steps.time("open", || load(&path))?;
    // The copy's name goes; its pages stay mapped.
    drop(scratch);
    let bytes = image.bytes.len() as u64;
    Ok(Mapping::new(
        library,
        path,
        bytes,
        image.is_unloadable,
        libraries,
    ))
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

/// Whether the library that was opened from `path` is still mapped.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn is_mapped(path: &Path) -> bool {
    use libloading::os::unix::{Library as UnixLibrary, RTLD_NOW};
    const RTLD_NOLOAD: i32 = 4;
    // SAFETY: opens nothing that is not open already, and runs nothing.
    unsafe { UnixLibrary::open(Some(path), RTLD_NOLOAD | RTLD_NOW) }.is_ok()
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn is_mapped(_path: &Path) -> bool {
    true
}

/// The function of a library that has the C door only.
fn c_entry(library: &Library) -> Option<c::Entry> {
    // SAFETY: only asked whether it is there.
    let root = unsafe { library.get::<*const u8>(ROOT_SYMBOL.as_bytes()) };
    if root.is_ok() {
        return None;
    }
    // SAFETY: the symbol, when it is there, is a function of this type: its name says so.
    let entry = unsafe { library.get::<c::Entry>(c::ENTRY_SYMBOL.as_bytes()) };
    entry.ok().map(|entry| *entry)
}

/// The root module, when its types are ours. What is reached through it is there for as long as the library is open.
fn root_module(library: &Library) -> Result<EngineModuleRef, LoadErrorKind> {
    let header = root_header(library)?;
    check_layout(header)?;
    // SAFETY: the layouts have just been found compatible.
    unsafe { header.unchecked_layout::<EngineModuleRef>() }
        .map_err(|error| LoadErrorKind::Open(first_line(&error.to_string())))
}

fn root_header(library: &Library) -> Result<&'static LibHeader, LoadErrorKind> {
    // SAFETY: the symbol, when it is there, is a static `LibHeader`; `AbiHeaderRef` is a reference to its first field,
    // valid for as long as the library is open. It does not leave this module.
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
