//! Where instances come from.

use super::engine::EngineInstance;
use super::project::Accepted;
use super::services::{HostServices, host_object};
use crate::abi::{EngineModuleRef, EngineObject, HostObject, Reply};
use crate::author::{ContextEngine, macros};
use crate::convert::reply_text;
use crate::model::{
    CreateContext, EngineError, ErrorCode, Info, ToolAnswer, ToolCall, ToolDescriptor,
};
use abi_stable::std_types::{RResult, RStr};
use serde::de::DeserializeOwned;
use std::fmt;

/// Makes instances of one engine: a library's, or one built into the host.
#[derive(Clone)]
pub struct EngineFactory {
    functions: Functions,
    accepted: Accepted,
}

#[derive(Clone, Copy)]
struct Functions {
    info: extern "C" fn() -> Reply,
    create: extern "C" fn(RStr<'_>, HostObject) -> RResult<EngineObject, crate::abi::EngineError>,
    tools: extern "C" fn() -> Reply,
    execute_tool: extern "C" fn(RStr<'_>, HostObject) -> Reply,
}

impl EngineFactory {
    /// The factory of a library whose layout has been checked, and what its engine says of itself. It must not be used
    /// after the library is closed.
    ///
    /// # Errors
    ///
    /// The engine panicked, or its descriptor cannot be read.
    pub fn of_module(module: EngineModuleRef) -> Result<(Self, Info), EngineError> {
        Self::new(Functions {
            info: module.info(),
            create: module.create(),
            tools: module.tools(),
            execute_tool: module.execute_tool(),
        })
    }

    /// The factory of an engine compiled into the host, and what it says of itself.
    ///
    /// # Errors
    ///
    /// As [`Self::of_module`].
    pub fn built_in<E: ContextEngine>() -> Result<(Self, Info), EngineError> {
        Self::new(Functions {
            info: macros::info::<E>,
            create: macros::create::<E>,
            tools: macros::tools::<E>,
            execute_tool: macros::execute_tool::<E>,
        })
    }

    fn new(functions: Functions) -> Result<(Self, Info), EngineError> {
        let info: Info = read("descriptor", (functions.info)())?;
        let accepted = Accepted::new(info.accepted_host_params.clone());
        Ok((
            Self {
                functions,
                accepted,
            },
            info,
        ))
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
        match (self.functions.create)(context.as_str().into(), host_object(services)) {
            RResult::ROk(object) => Ok(EngineInstance::new(object, self.accepted.clone())),
            RResult::RErr(error) => Err(error.into()),
        }
    }

    /// The agent tools the engine brings.
    ///
    /// # Errors
    ///
    /// The engine panicked, or its list cannot be read.
    pub fn tools(&self) -> Result<Vec<ToolDescriptor>, EngineError> {
        read("list of tools", (self.functions.tools)())
    }

    /// Runs a tool; needs no instance.
    ///
    /// # Errors
    ///
    /// The tool failed or panicked, or there is none of that name.
    pub fn execute_tool(
        &self,
        call: &ToolCall,
        services: impl HostServices,
    ) -> Result<ToolAnswer, EngineError> {
        let call = serde_json::to_string(call)?;
        read(
            "tool's answer",
            (self.functions.execute_tool)(call.as_str().into(), host_object(services)),
        )
    }
}

fn read<T: DeserializeOwned>(what: &str, reply: Reply) -> Result<T, EngineError> {
    let json = reply_text(reply)?;
    serde_json::from_str(&json).map_err(|error| {
        EngineError::new(
            ErrorCode::InvalidAnswer,
            format!("the {what} cannot be read: {error}"),
        )
    })
}

impl fmt::Debug for EngineFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineFactory")
    }
}
