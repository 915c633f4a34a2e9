//! Where the edits of variants go.

/// Replaces the one place in a file where a text stands.
pub(crate) struct Edit {
    pub(crate) file: &'static str,
    pub(crate) find: &'static str,
    pub(crate) put: &'static str,
}

pub(super) const MODULE: &str = "interface/src/abi/module.rs";
pub(super) const OBJECT: &str = "interface/src/abi/object.rs";
pub(super) const VALUE: &str = "interface/src/abi/value.rs";
pub(super) const CONVERT: &str = "interface/src/convert.rs";
pub(super) const EXPORT: &str = "interface/src/author/export.rs";
pub(super) const AUTHOR: &str = "interface/src/author/engine.rs";
pub(super) const AUTHOR_HOST: &str = "interface/src/author/host.rs";
pub(super) const SHIM: &str = "interface/src/author/shim.rs";
pub(super) const INSTANCE: &str = "interface/src/hosting/engine.rs";
pub(super) const FACTORY: &str = "interface/src/hosting/module.rs";
pub(super) const SERVICES: &str = "interface/src/hosting/services.rs";
pub(super) const ERROR: &str = "interface/src/model/error.rs";
pub(super) const INFO: &str = "interface/src/model/info.rs";
pub(super) const PARAMS: &str = "interface/src/model/params.rs";
pub(super) const RESULT: &str = "interface/src/model/result.rs";
pub(super) const ROLE: &str = "interface/src/model/role.rs";
pub(super) const C_DOOR: &str = "loader/src/c_door.rs";
pub(super) const C_DOOR_HOST: &str = "loader/src/c_door/host.rs";
pub(super) const C_DOOR_SINK: &str = "loader/src/c_door/sink.rs";
pub(super) const ENGINE: &str = "engine/src/lib.rs";
pub(super) const HOST: &str = "host/src/main.rs";

pub(super) const LAST_OF_ENGINE: &str =
    "    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n";
pub(super) const LAST_OF_HOST: &str =
    "    fn call_json(&self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n";

pub(super) const fn edit(file: &'static str, find: &'static str, put: &'static str) -> Edit {
    Edit { file, find, put }
}

/// The body of a method that says it is not there.
macro_rules! unsupported_body {
    ($name:literal) => {
        concat!(
            "abi_stable::std_types::RResult::RErr(EngineError { code: crate::abi::ErrCode(3), message: \"",
            $name,
            " is not implemented\".into(), location: \"\".into() })"
        )
    };
}
