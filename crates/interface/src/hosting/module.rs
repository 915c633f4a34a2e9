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
use std::sync::Arc;

/// Makes instances of one engine: a library's, or one built into the host.
#[derive(Clone)]
pub struct EngineFactory {
    source: Arc<dyn EngineSource>,
    accepted: Accepted,
}

/// The functions of an engine that need no instance, behind whichever door it stands. Any thread may call them, at the
/// same time. See [`EngineModule`](crate::abi::EngineModule) for what each takes and answers.
pub trait EngineSource: Send + Sync {
    /// The descriptor.
    fn info(&self) -> Reply;
    /// Makes an instance.
    fn create(
        &self,
        context_json: &str,
        host: HostObject,
    ) -> RResult<EngineObject, crate::abi::EngineError>;
    /// The agent tools the engine brings.
    fn tools(&self) -> Reply;
    /// Runs a tool.
    fn execute_tool(&self, call_json: &str, host: HostObject) -> Reply;
}

struct Functions {
    info: extern "C" fn() -> Reply,
    create: extern "C" fn(RStr<'_>, HostObject) -> RResult<EngineObject, crate::abi::EngineError>,
    tools: extern "C" fn() -> Reply,
    execute_tool: extern "C" fn(RStr<'_>, HostObject) -> Reply,
}

impl EngineSource for Functions {
    fn info(&self) -> Reply {
        (self.info)()
    }

    fn create(
        &self,
        context_json: &str,
        host: HostObject,
    ) -> RResult<EngineObject, crate::abi::EngineError> {
        (self.create)(context_json.into(), host)
    }

    fn tools(&self) -> Reply {
        (self.tools)()
    }

    fn execute_tool(&self, call_json: &str, host: HostObject) -> Reply {
        (self.execute_tool)(call_json.into(), host)
    }
}

/// A source and what it needs to stay.
struct Kept<L> {
    source: Arc<dyn EngineSource>,
    /// Goes last.
    _library: L,
}

impl<L: Send + Sync> EngineSource for Kept<L> {
    fn info(&self) -> Reply {
        self.source.info()
    }

    fn create(
        &self,
        context_json: &str,
        host: HostObject,
    ) -> RResult<EngineObject, crate::abi::EngineError> {
        self.source.create(context_json, host)
    }

    fn tools(&self) -> Reply {
        self.source.tools()
    }

    fn execute_tool(&self, call_json: &str, host: HostObject) -> Reply {
        self.source.execute_tool(call_json, host)
    }
}

impl EngineFactory {
    /// The factory of a library whose layout has been checked, and what its engine says of itself. The library must stay
    /// open for as long as the factory and its instances live; [`Self::kept_by`] sees to that.
    ///
    /// # Errors
    ///
    /// The engine panicked, or its descriptor cannot be read.
    pub fn of_module(module: EngineModuleRef) -> Result<(Self, Info), EngineError> {
        Self::of_source(Functions {
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
        Self::of_source(Functions {
            info: macros::info::<E>,
            create: macros::create::<E>,
            tools: macros::tools::<E>,
            execute_tool: macros::execute_tool::<E>,
        })
    }

    /// The factory of an engine behind another door, and what it says of itself.
    ///
    /// # Errors
    ///
    /// As [`Self::of_module`].
    pub fn of_source(source: impl EngineSource + 'static) -> Result<(Self, Info), EngineError> {
        let info: Info = read("descriptor", source.info())?;
        let accepted = Accepted::new(info.accepted_host_params.clone());
        let source = Arc::new(source);
        Ok((Self { source, accepted }, info))
    }

    /// The same factory, which holds `library` until it and the last instance it made are gone.
    #[must_use]
    pub fn kept_by(self, library: impl Send + Sync + 'static) -> Self {
        let source = Kept {
            source: self.source,
            _library: library,
        };
        Self {
            source: Arc::new(source),
            accepted: self.accepted,
        }
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
        match self.source.create(&context, host_object(services)) {
            RResult::ROk(object) => Ok(EngineInstance::new(
                object,
                self.accepted.clone(),
                Arc::clone(&self.source),
            )),
            RResult::RErr(error) => Err(error.into()),
        }
    }

    /// The agent tools the engine brings.
    ///
    /// # Errors
    ///
    /// The engine panicked, or its list cannot be read.
    pub fn tools(&self) -> Result<Vec<ToolDescriptor>, EngineError> {
        read("list of tools", self.source.tools())
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
            self.source.execute_tool(&call, host_object(services)),
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
