//! The binary face of the contract: `repr(C)` values and trait objects, and nothing else.
//!
//! Frozen once released. Authors and hosts do not use this module: [`author`](crate::author) and
//! [`hosting`](crate::hosting) are its two safe sides. Both a library and its host compile these types from their own
//! copy of this crate; the loader compares the layouts before it believes them. [`c`] is the second door, for libraries
//! that are not written in Rust.

pub mod c;
mod module;
mod note;
mod object;
mod value;

pub use module::{EngineModule, EngineModuleRef, ROOT_SYMBOL};
pub use note::{NOTE_OWNER, Note, NoteFacts, PanicStrategy};
pub use object::{Engine, Engine_TO, EngineObject, Host, Host_TO, HostObject};
pub use value::{
    AssembleOut, AssembleReq, EngineError, ErrCode, MessagesReq, MsgView, Pick, Reply, RoleCode,
};
