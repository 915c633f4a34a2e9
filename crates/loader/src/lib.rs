//! Turns a path into a vetted engine library.
//!
//! Reads the manifest, inspects the library file, checks who may write it, opens a private copy, compares layouts and
//! checks what the engine says of itself. Does not know turns, sessions or the config file, and prints nothing.
//!
//! # Invariants
//!
//! - No plugin code runs before the manifest, [`inspect`] and the trust checks have passed.
//! - What was inspected is what runs: the file is read once, and the bytes that passed are what gets loaded.
//! - A library stays open for as long as a factory or instance of it lives, and then as well, unless its author says that
//!   it may go, its engine never failed, and the system confirms that it is gone. A reload opens another private copy.
//! - One broken plugin never hides another: [`discover`] returns plugins *and* faults.
//!
//! # Safety
//!
//! A loaded library runs with all rights of this process. The checks catch mistakes, not malice.

mod c_door;
mod depth;
mod directory;
mod discover;
mod engines;
mod error;
mod generation;
mod inspect;
mod libraries;
mod library;
mod manifest;
mod plugin;
mod settings;
mod steps;
mod trust;
mod validate;
mod watch;

pub use directory::{BuildDirectory, library_file_name};
pub use discover::{Discovery, discover};
pub use engines::{engine_in, engines_in};
pub use error::{LoadError, LoadErrorKind};
pub use inspect::{InspectFault, LibraryFacts, inspect};
pub use libraries::{Census, Libraries, Scratch};
pub use manifest::{MANIFEST_FILE, Manifest};
pub use plugin::{Plugin, Vetted};
pub use settings::check_settings;
pub use steps::Steps;
pub use trust::{Provenance, Trust, TrustFault, check_file};
pub use watch::{Watch, WatchError};
