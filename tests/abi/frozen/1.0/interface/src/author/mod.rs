//! The engine author's side: a safe trait, the host's services, and one macro.

mod engine;
mod export;
mod host;
mod shim;

pub use engine::{AssembleRequest, ContextEngine};
pub use host::{Host, LogLevel};

/// What [`export_engine!`](crate::export_engine) needs in the author's crate.
#[doc(hidden)]
pub mod macros {
    pub use super::export::{
        RootHeader, RootResult, create, execute_tool, header, info, root, tools,
    };
}

pub(crate) use shim::object;
