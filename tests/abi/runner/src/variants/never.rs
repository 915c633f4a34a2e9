//! What no minor version may do: each side refuses the other.

use super::edits::*;
use super::{Bump, Loads, Variant, never};

pub(super) const VARIANTS: &[Variant] = &[
    never(
        "prefix-moved-up",
        &[
            edit(
                OBJECT,
                "    #[sabi(last_prefix_field)]\n    fn call_json(&mut self,",
                "    fn call_json(&mut self,",
            ),
            edit(
                OBJECT,
                "    fn dispose(&mut self) -> Reply;",
                "    #[sabi(last_prefix_field)]\n    fn dispose(&mut self) -> Reply;",
            ),
        ],
        &[
            "Engine: ",
            "prefix up to `call_json`",
            "prefix up to `dispose`",
        ],
    ),
    never(
        "prefix-moved-down",
        &[
            edit(
                OBJECT,
                "    #[sabi(last_prefix_field)]\n    fn call_json(&self,",
                "    fn call_json(&self,",
            ),
            edit(
                OBJECT,
                LAST_OF_HOST,
                "    fn call_json(&self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n    /// New.\n    #[sabi(last_prefix_field)]\n    fn clock(&self) -> u64 { 5 }\n",
            ),
        ],
        &["Host: ", "prefix up to `call_json`", "prefix up to `clock`"],
    ),
    never(
        "insert-method",
        &[edit(
            OBJECT,
            "    fn compact(&mut self,",
            concat!(
                "    fn tidy(&mut self) -> Reply { ",
                unsupported_body!("tidy"),
                " }\n    /// Old.\n    fn compact(&mut self,"
            ),
        )],
        &["Engine: ", "`compact`", "`tidy`"],
    ),
    // Beside the tree these two only append; beside a release with `append-method` they do not.
    Variant {
        row: "allowed",
        loads: Loads::Yes,
        ..never(
            "append-other-signature",
            &[edit(
                OBJECT,
                LAST_OF_ENGINE,
                concat!(
                    "    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n",
                    "    /// New.\n    fn tidy(&mut self) -> Reply { ",
                    unsupported_body!("tidy"),
                    " }\n"
                ),
            )],
            &[],
        )
    },
    Variant {
        row: "allowed",
        bump: Bump::Minors(2),
        loads: Loads::Yes,
        ..never(
            "insert-into-appended",
            &[edit(
                OBJECT,
                LAST_OF_ENGINE,
                concat!(
                    "    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n",
                    "    /// Newer, in the wrong place.\n    fn sort(&mut self) -> Reply { ",
                    unsupported_body!("sort"),
                    " }\n    /// New.\n    fn tidy(&mut self, _params_json: RStr<'_>) -> Reply { ",
                    unsupported_body!("tidy"),
                    " }\n"
                ),
            )],
            &[],
        )
    },
    never(
        "reorder-methods",
        &[
            edit(OBJECT, "fn bootstrap(&mut self,", "fn between(&mut self,"),
            edit(OBJECT, "fn maintain(&mut self,", "fn bootstrap(&mut self,"),
            edit(OBJECT, "fn between(&mut self,", "fn maintain(&mut self,"),
        ],
        &["Engine: ", "`bootstrap`", "`maintain`"],
    ),
    never(
        "rename-method",
        &[
            edit(
                OBJECT,
                "    fn dispose(&mut self) -> Reply;",
                "    fn finish(&mut self) -> Reply;",
            ),
            edit(
                SHIM,
                "    fn dispose(&mut self) -> Reply {",
                "    fn finish(&mut self) -> Reply {",
            ),
            edit(
                C_DOOR,
                "    fn dispose(&mut self) -> Reply {",
                "    fn finish(&mut self) -> Reply {",
            ),
            edit(INSTANCE, "self.object.dispose()", "self.object.finish()"),
        ],
        &["Engine: ", "`dispose`", "`finish`"],
    ),
    never(
        "insert-host-method",
        &[edit(
            OBJECT,
            "    fn count_tokens(&self,",
            "    fn clock(&self) -> u64 { 5 }\n    /// Old.\n    fn count_tokens(&self,",
        )],
        &["Host: ", "`count_tokens`", "`clock`"],
    ),
    never(
        "reorder-root-fields",
        &[
            edit(MODULE, "pub info: extern", "pub between: extern"),
            edit(MODULE, "pub tools: extern", "pub info: extern"),
            edit(MODULE, "pub between: extern", "pub tools: extern"),
        ],
        &["EngineModule: ", "`info`", "`tools`"],
    ),
    never(
        "insert-root-field",
        &[
            edit(
                MODULE,
                "    pub tools: extern",
                "    pub health: extern \"C\" fn() -> u32,\n    /// Old.\n    pub tools: extern",
            ),
            edit(
                EXPORT,
                "        tools: tools::<E>,\n",
                "        tools: tools::<E>,\n        health,\n",
            ),
            edit(
                EXPORT,
                "/// Constructs the root module.\n",
                "extern \"C\" fn health() -> u32 { 9 }\n\n/// Constructs the root module.\n",
            ),
        ],
        &["EngineModule: ", "`tools`", "`health`"],
    ),
    never(
        "reorder-struct-fields",
        &[
            edit(VALUE, "    pub index: u32,\n", "    pub between: u32,\n"),
            edit(VALUE, "    pub kind: u32,\n", "    pub index: u32,\n"),
            edit(VALUE, "    pub between: u32,\n", "    pub kind: u32,\n"),
        ],
        &["Pick: ", "`index`", "`kind`"],
    ),
    // -- New major only, made by a minor.
    never(
        "grow-struct-in-slice",
        &[
            edit(
                VALUE,
                "    pub tokens: u32,\n",
                "    pub tokens: u32,\n    /// New.\n    pub weight: u32,\n",
            ),
            edit(
                "interface/src/model/message.rs",
                "            tokens,\n        })",
                "            tokens,\n            weight: 0,\n        })",
            ),
        ],
        &["MsgView: ", "`weight`"],
    ),
    never(
        "grow-struct-in-list",
        &[
            edit(
                VALUE,
                "    pub kind: u32,\n",
                "    pub kind: u32,\n    /// New.\n    pub weight: u32,\n",
            ),
            edit(
                VALUE,
                "            kind: Self::INPUT,\n",
                "            kind: Self::INPUT,\n            weight: 0,\n",
            ),
            edit(
                VALUE,
                "            kind: Self::NEW,\n",
                "            kind: Self::NEW,\n            weight: 0,\n",
            ),
            edit(
                C_DOOR_SINK,
                "Pick { index, kind }",
                "Pick { index, kind, weight: 0 }",
            ),
        ],
        &["Pick: ", "`weight`"],
    ),
    never(
        "grow-answer",
        &[
            edit(
                VALUE,
                "    pub estimated_tokens: u64,\n",
                "    pub estimated_tokens: u64,\n    /// New.\n    pub weight: u64,\n",
            ),
            edit(
                SHIM,
                "        estimated_tokens: assembly.estimated_tokens,\n",
                "        estimated_tokens: assembly.estimated_tokens,\n        weight: 0,\n",
            ),
            edit(
                C_DOOR_SINK,
                "Ok(AssembleOut {\n",
                "Ok(AssembleOut {\n            weight: 0,\n",
            ),
        ],
        &["AssembleOut: ", "`weight`", "`system_prompt_addition`"],
    ),
    // The same size and place: nothing but the type tells.
    never(
        "change-field-type",
        &[
            edit(VALUE, "    pub kind: u32,\n", "    pub kind: i32,\n"),
            edit(
                VALUE,
                "    const INPUT: u32 = 0;",
                "    const INPUT: i32 = 0;",
            ),
            edit(VALUE, "    const NEW: u32 = 1;", "    const NEW: i32 = 1;"),
            edit(
                C_DOOR_SINK,
                "Pick { index, kind }",
                "Pick { index, kind: kind as i32 }",
            ),
        ],
        &["Pick.kind: ", "u32", "i32"],
    ),
    never(
        "change-parameters",
        &[
            edit(
                OBJECT,
                "    fn compact(&mut self, params_json: RStr<'_>) -> Reply;",
                "    fn compact(&mut self, params_json: RStr<'_>, flags: u32) -> Reply;",
            ),
            edit(
                SHIM,
                "    fn compact(&mut self, params_json: RStr<'_>) -> Reply {",
                "    fn compact(&mut self, params_json: RStr<'_>, _flags: u32) -> Reply {",
            ),
            edit(
                C_DOOR,
                "    fn compact(&mut self, params_json: RStr<'_>) -> Reply {",
                "    fn compact(&mut self, params_json: RStr<'_>, _flags: u32) -> Reply {",
            ),
            edit(
                INSTANCE,
                "object.compact(params.into())",
                "object.compact(params.into(), 0)",
            ),
        ],
        &["Engine.compact: ", "u32"],
    ),
    never(
        "change-parameter-type",
        &[
            edit(
                OBJECT,
                "    fn compact(&mut self, params_json: RStr<'_>) -> Reply;",
                "    fn compact(&mut self, params_json: RString) -> Reply;",
            ),
            edit(
                OBJECT,
                "use abi_stable::std_types::{RBox, RResult, RStr};",
                "use abi_stable::std_types::{RBox, RResult, RStr, RString};",
            ),
            edit(
                SHIM,
                "    fn compact(&mut self, params_json: RStr<'_>) -> Reply {",
                "    fn compact(&mut self, params_json: RString) -> Reply {",
            ),
            edit(
                C_DOOR,
                "    fn compact(&mut self, params_json: RStr<'_>) -> Reply {",
                "    fn compact(&mut self, params_json: abi_stable::std_types::RString) -> Reply {",
            ),
        ],
        &["Engine.compact: ", "RString", "RStr"],
    ),
    never(
        "change-answer",
        &[
            edit(
                OBJECT,
                "    fn count_tokens(&self, text: RStr<'_>) -> u64;",
                "    fn count_tokens(&self, text: RStr<'_>) -> u32;",
            ),
            edit(
                SERVICES,
                "    fn count_tokens(&self, text: RStr<'_>) -> u64 {\n        guard::run(|| self.0.count_tokens(&text))",
                "    fn count_tokens(&self, text: RStr<'_>) -> u32 {\n        guard::run(|| self.0.count_tokens(&text) as u32)",
            ),
            edit(
                SERVICES,
                "unwrap_or_else(|_| NoServices.count_tokens(&text))",
                "unwrap_or_else(|_| NoServices.count_tokens(&text) as u32)",
            ),
            edit(
                AUTHOR_HOST,
                "self.0.0.count_tokens(text.into())",
                "u64::from(self.0.0.count_tokens(text.into()))",
            ),
            edit(
                C_DOOR_HOST,
                "services.0.count_tokens(RStr::from(text.as_ref()))",
                "u64::from(services.0.count_tokens(RStr::from(text.as_ref())))",
            ),
        ],
        &["Host.count_tokens: ", "u64", "u32"],
    ),
    never(
        "change-root-function",
        &[
            edit(
                MODULE,
                "    pub tools: extern \"C\" fn() -> Reply,",
                "    pub tools: extern \"C\" fn() -> RResult<u64, EngineError>,",
            ),
            edit(
                EXPORT,
                "        tools: tools::<E>,\n",
                "        tools: other_tools,\n",
            ),
            edit(
                EXPORT,
                "/// Constructs the root module.\n",
                "extern \"C\" fn other_tools() -> RResult<u64, crate::abi::EngineError> { RResult::ROk(0) }\n\n/// Constructs the root module.\n",
            ),
            edit(
                FACTORY,
                "            tools: module.tools(),\n",
                "            tools: macros::tools::<Nobody>,\n",
            ),
            edit(
                FACTORY,
                "impl EngineFactory {\n",
                "struct Nobody;\nimpl ContextEngine for Nobody {\n    const ID: &'static str = \"nobody\";\n    fn info() -> Info { Info::default() }\n    fn create(_: CreateContext, _: crate::Host) -> Result<Self, EngineError> { Ok(Self) }\n    fn assemble(&mut self, _: &crate::AssembleRequest<'_>) -> Result<crate::Assembly, EngineError> { Err(EngineError::failed(\"\")) }\n    fn tools() -> Vec<ToolDescriptor> { vec![ToolDescriptor { name: \"probe_tool\".into(), ..ToolDescriptor::default() }] }\n}\nimpl EngineFactory {\n",
            ),
        ],
        &["EngineModule.tools: ", "u64", "RString"],
    ),
    Variant {
        bump: Bump::Major,
        row: "major",
        loads: Loads::No("load/contract-version", &["contract"]),
        ..never("major-version", &[], &[])
    },
    Variant {
        bump: Bump::MajorOfCrateOnly,
        row: "major",
        loads: Loads::No("load/contract-version", &["contract"]),
        ..never("major-version-not-in-note", &[], &[])
    },
    Variant {
        bump: Bump::None,
        ..never(
            "rename-without-version",
            &[
                edit(OBJECT, "fn cancelled(&self)", "fn stopped(&self)"),
                edit(SERVICES, "fn cancelled(&self)", "fn stopped(&self)"),
                edit(AUTHOR_HOST, "self.0.0.cancelled()", "self.0.0.stopped()"),
                edit(
                    C_DOOR_HOST,
                    "services.0.cancelled()",
                    "services.0.stopped()",
                ),
            ],
            &["Host: ", "`cancelled`", "`stopped`"],
        )
    },
    // The macro behind a trait does not see it.
    Variant {
        loads: Loads::NotBuilt(&["method `tidy` is not a member of trait `Engine`"]),
        ..never(
            "cfg-on-method",
            &[edit(
                OBJECT,
                LAST_OF_ENGINE,
                concat!(
                    "    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n",
                    "    /// New.\n    #[cfg(any())]\n    fn tidy(&mut self, _params_json: RStr<'_>) -> Reply { ",
                    unsupported_body!("tidy"),
                    " }\n"
                ),
            )],
            &[],
        )
    },
];
