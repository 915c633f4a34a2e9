//! The root module: what a library hands over first.

use super::object::{EngineObject, HostObject};
use super::value::{EngineError, Reply};
use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RResult, RStr};

/// Name of the exported static that holds the root module's header.
pub const ROOT_SYMBOL: &str = "OPENCLAW_ENGINE_ROOT_V1";

/// The functions of a library that need no instance.
///
/// Grows by fields behind the last one, each `missing_field(option)`.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = EngineModuleRef)))]
#[sabi(missing_field(panic))]
pub struct EngineModule {
    /// The descriptor, as the JSON object of [`Info`](crate::Info). Runs no engine code but `info`.
    pub info: extern "C" fn() -> Reply,
    /// Makes an instance from the JSON object of [`CreateContext`](crate::CreateContext).
    pub create: extern "C" fn(RStr<'_>, HostObject) -> RResult<EngineObject, EngineError>,
    /// The agent tools the engine brings, as a JSON list of [`ToolDescriptor`](crate::model::ToolDescriptor).
    pub tools: extern "C" fn() -> Reply,
    /// Runs a tool from the JSON object of [`ToolCall`](crate::model::ToolCall); needs no instance.
    #[sabi(last_prefix_field)]
    pub execute_tool: extern "C" fn(RStr<'_>, HostObject) -> Reply,
}

impl RootModule for EngineModuleRef {
    abi_stable::declare_root_module_statics! {EngineModuleRef}
    const BASE_NAME: &'static str = "openclaw_engine";
    const NAME: &'static str = "openclaw_engine";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
