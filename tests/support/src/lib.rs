//! Finds test plugins, makes hosts in temporary homes and models that follow a script. For tests only.

#![forbid(unsafe_code)]

mod builds;
mod home;
mod kills;
mod model;
mod plugins;
mod provider;
mod recorder;

pub use builds::Build;
pub use home::{Home, import, request, transcript, turn, turn_in};
pub use kills::Kills;
pub use model::{ScriptedModel, call, say};
pub use plugins::{build_directory, library, load};
pub use provider::{Lister, refusal};
pub use recorder::Call;
