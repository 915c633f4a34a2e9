//! Reads `openclaw.json` and edits it in place.
//!
//! Finds the file, reads it as JSON5, gives typed views of the parts this host uses, and changes single
//! values while every other byte stays as it is. Knows nothing above the file: no plugins, no turns. Takes
//! environment and current directory as arguments and prints nothing.
//!
//! # Invariants
//!
//! - Only a file that does not exist counts as an empty config; whatever else cannot be read is an error.
//! - A file that does not parse is never written.
//! - A new text replaces the old one only after it was read again and means what was planned.
//! - A write puts down what the caller asked for and nothing else: no defaults, no resolved `${VAR}`.
//! - No error, `Debug` or `Display` of this crate shows a value from the file, except names and paths.
//!
//! # Cannot guard
//!
//! An editor that saves the file between our read and our rename, without taking the lock, loses its change;
//! the text it replaced is then in `openclaw.json.bak`.
//!
//! # Example
//!
//! ```
//! use openclaw_config::{apply, Edit};
//!
//! let before = "{\n  // mine\n  plugins: { allow: ['a'] },\n}\n";
//! let after = apply(before, &[Edit::append_unique(["plugins", "allow"], "b")])?;
//! assert_eq!(after, "{\n  // mine\n  plugins: { allow: ['a', 'b'] },\n}\n");
//! # Ok::<(), openclaw_config::EditError>(())
//! ```
#![forbid(unsafe_code)]

mod compaction;
mod document;
mod edit;
mod enablement;
mod error;
mod excerpt;
mod history;
mod key_path;
mod lock;
mod models;
mod native;
mod paths;
mod placeholder;
mod plugins;
mod prompt;
mod section;
mod spans;
mod syntax;
mod tools;
mod write;

pub use compaction::Compaction;
pub use document::Config;
pub use edit::{Edit, EditError, EditErrorKind, apply};
pub use enablement::{DisabledReason, EnabledReason, Enablement, Origin, Slot};
pub use error::{ConfigError, ConfigErrorKind, KeyFault, KeyProblem};
pub use history::HistorySettings;
pub use key_path::KeyPath;
pub use models::{AgentDefaults, Endpoint, Model, ModelChoice, ModelRef, Models, Provider};
pub use native::{NativeSettings, NativeSettingsRead};
pub use paths::{Paths, PathsError, PathsErrorKind, expand, resolve};
pub use placeholder::{PlaceholderError, Secret, Template};
pub use plugins::{
    DEFAULT_CONTEXT_ENGINE, DEFAULT_MEMORY, Entry, Plugins, SlotChoice, Slots, same_id,
};
pub use prompt::PromptSettings;
pub use syntax::{MAX_DEPTH, SyntaxFault, SyntaxReason};
pub use tools::ToolPolicy;
pub use write::{Outcome, WriteError, WriteErrorKind, WriteOptions, edit_file};
