//! The contract between context engines and their hosts.
//!
//! An engine author implements [`ContextEngine`], writes [`export_engine!`] once and ships one `cdylib`. A host sees
//! engines through [`hosting`]. Between the two lies [`abi`], which neither of them touches. This crate does no I/O, has
//! no logic of its own and knows no host.
//!
//! # Invariants
//!
//! - No panic leaves an engine: every method, the factory and the destructor run inside [`guard`].
//! - Messages are borrowed, answers are picks: no message is copied on its way in or out.
//! - The version of this crate is the version of the contract. It is not the version of the product.
//!
//! # Safety
//!
//! A panic while another one unwinds, a stack overflow, `abort`, `exit` and an endless loop cannot be caught inside a
//! process.
//!
//! # Example
//!
//! An engine that keeps the newest ten messages:
//!
//! ```
//! use openclaw_interface::{
//!     AssembleRequest, Assembly, ContextEngine, CreateContext, EngineError, Host, Info, export_engine,
//! };
//!
//! struct Newest;
//!
//! impl ContextEngine for Newest {
//!     const ID: &'static str = "newest";
//!
//!     fn info() -> Info {
//!         Info::new(Self::ID, "Newest ten messages").version("1.0.0")
//!     }
//!
//!     fn create(_context: CreateContext, _host: Host) -> Result<Self, EngineError> {
//!         Ok(Self)
//!     }
//!
//!     fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
//!         let count = request.messages.len();
//!         Ok(Assembly::keeping(request.messages, count.saturating_sub(10)..count))
//!     }
//! }
//!
//! export_engine!(Newest);
//! # fn main() {}
//! ```

#[expect(
    non_local_definitions,
    reason = "the macros behind the ABI types write such code"
)]
pub mod abi;
pub mod author;
mod convert;
pub mod guard;
pub mod hosting;
pub mod model;
#[cfg(feature = "testing")]
pub mod testing;

pub use author::{AssembleRequest, ContextEngine, Host, LogLevel};
pub use model::{
    Assembly, BootstrapResult, CommitResult, CommitStatus, CompactResult, CreateContext,
    EngineError, ErrorCode, Info, MaintenanceResult, Message, Messages, Role,
};

/// Major version of the contract this crate speaks. Libraries of another major are refused.
pub const CONTRACT_MAJOR: u16 = 1;

/// Minor version of the contract this crate speaks.
pub const CONTRACT_MINOR: u16 = 0;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
