//! Where instances come from.

use super::engine::EngineInstance;
use super::services::{HostServices, host_object};
use crate::abi::{EngineModuleRef, EngineObject, HostObject, Reply};
use crate::author::{ContextEngine, macros};
use crate::convert::reply_text;
use crate::model::{CreateContext, EngineError, ErrorCode, Info};
use abi_stable::std_types::{RResult, RStr};

/// Makes instances of one engine: a library's, or one built into the host.
#[derive(Clone, Copy)]
pub struct EngineFactory {
    info: extern "C" fn() -> Reply,
    create: extern "C" fn(RStr<'_>, HostObject) -> RResult<EngineObject, crate::abi::EngineError>,
}

impl EngineFactory {
    /// The factory of a library whose layout has been checked. It must not be used after the library is closed.
    #[must_use]
    pub fn of_module(module: EngineModuleRef) -> Self {
        Self {
            info: module.info(),
            create: module.create(),
        }
    }

    /// The factory of an engine compiled into the host.
    #[must_use]
    pub fn built_in<E: ContextEngine>() -> Self {
        Self {
            info: macros::info::<E>,
            create: macros::create::<E>,
        }
    }

    /// What the engine says of itself.
    ///
    /// # Errors
    ///
    /// The engine panicked, or its descriptor cannot be read.
    pub fn info(&self) -> Result<Info, EngineError> {
        let json = reply_text((self.info)())?;
        serde_json::from_str(&json).map_err(|error| {
            EngineError::new(
                ErrorCode::InvalidAnswer,
                format!("the descriptor cannot be read: {error}"),
            )
        })
    }

    /// Makes an instance.
    ///
    /// # Errors
    ///
    /// The factory failed or panicked.
    pub fn create(
        &self,
        context: &CreateContext,
        services: impl HostServices,
    ) -> Result<EngineInstance, EngineError> {
        let context = serde_json::to_string(context)?;
        match (self.create)(context.as_str().into(), host_object(services)) {
            RResult::ROk(object) => Ok(EngineInstance::new(object)),
            RResult::RErr(error) => Err(error.into()),
        }
    }
}

impl std::fmt::Debug for EngineFactory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EngineFactory")
    }
}
