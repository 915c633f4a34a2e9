//! Finds test plugins, makes temporary homes and transcripts. For tests only.

#![forbid(unsafe_code)]

mod plugins;

pub use plugins::{build_directory, library};
