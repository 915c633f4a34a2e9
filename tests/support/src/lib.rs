//! Finds test plugins, makes hosts in temporary homes and models that follow a script. For tests only.

#![forbid(unsafe_code)]

mod home;
mod model;
mod plugins;

pub use home::{Home, request, transcript, turn};
pub use model::{ScriptedModel, call, say};
pub use plugins::{build_directory, library};
