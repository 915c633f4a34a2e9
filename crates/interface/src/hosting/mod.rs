//! The host's side: engines as safe objects, services as a safe trait.
//!
//! Every answer is copied out of the engine's memory before the call returns. A factory and its instances keep the library
//! they came from.

mod answer;
mod engine;
mod module;
mod project;
mod services;

pub use answer::AssemblyView;
pub use engine::EngineInstance;
pub use module::{EngineFactory, EngineSource};
pub use services::{HostServices, NoServices};
