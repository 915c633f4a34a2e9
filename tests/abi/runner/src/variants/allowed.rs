//! What a minor version may do: no side notices.

use super::edits::*;
use super::{Ability, Bump, Variant, allowed};

pub(super) const VARIANTS: &[Variant] = &[
    allowed(
        "append-method",
        &[
            edit(
                OBJECT,
                LAST_OF_ENGINE,
                concat!(
                    "    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n",
                    "    /// New.\n    fn tidy(&mut self, _params_json: RStr<'_>) -> Reply { ",
                    unsupported_body!("tidy"),
                    " }\n"
                ),
            ),
            edit(
                AUTHOR,
                "    const ID: &'static str;\n",
                "    const ID: &'static str;\n    /// New.\n    fn tidy(&mut self) -> Result<u32, EngineError> { Err(EngineError::unsupported(\"tidy\")) }\n",
            ),
            edit(
                SHIM,
                "impl<E: ContextEngine> Engine for Shim<E> {\n",
                "impl<E: ContextEngine> Engine for Shim<E> {\n    fn tidy(&mut self, _: RStr<'_>) -> Reply { reply(self.call(|engine| engine.tidy())) }\n",
            ),
            edit(
                INSTANCE,
                "impl EngineInstance {\n",
                "impl EngineInstance {\n    /// New.\n    pub fn tidy(&mut self) -> Result<u32, EngineError> { answer(reply_text(self.object.tidy(\"{}\".into()))) }\n",
            ),
            edit(
                ENGINE,
                "    // mark: hooks\n",
                "    fn tidy(&mut self) -> Result<u32, EngineError> { Ok(7) }\n    // mark: hooks\n",
            ),
            edit(
                HOST,
                "    // mark: engine\n",
                "    answer(\"tidy\", engine.tidy());\n    // mark: engine\n",
            ),
        ],
        &[Ability {
            fact: "tidy",
            both: "7",
            host_only: "Unsupported",
            engine_only: "",
        }],
    ),
    Variant {
        bump: Bump::Minors(2),
        after: Some("append-method"),
        ..allowed(
            "append-two-methods",
            &[
                edit(
                    OBJECT,
                    "    /// New.\n    fn tidy(&mut self,",
                    "    /// New.\n    fn tidy(&mut self, // earlier\n",
                ),
                edit(
                    OBJECT,
                    concat!(unsupported_body!("tidy"), " }\n"),
                    concat!(
                        unsupported_body!("tidy"),
                        " }\n    /// Newer.\n    fn sort(&mut self) -> Reply { ",
                        unsupported_body!("sort"),
                        " }\n"
                    ),
                ),
                edit(
                    INSTANCE,
                    "impl EngineInstance {\n",
                    "impl EngineInstance {\n    /// Newer.\n    pub fn sort(&mut self) -> Result<u32, EngineError> { answer(reply_text(self.object.sort())) }\n",
                ),
                edit(
                    SHIM,
                    "impl<E: ContextEngine> Engine for Shim<E> {\n",
                    "impl<E: ContextEngine> Engine for Shim<E> {\n    fn sort(&mut self) -> Reply { reply(Ok(8)) }\n",
                ),
                edit(
                    HOST,
                    "    // mark: engine\n",
                    "    answer(\"sort\", engine.sort());\n    // mark: engine\n",
                ),
            ],
            &[Ability {
                fact: "sort",
                both: "8",
                host_only: "Unsupported",
                engine_only: "",
            }],
        )
    },
    allowed(
        "append-host-method",
        &[
            edit(
                OBJECT,
                LAST_OF_HOST,
                "    fn call_json(&self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n    /// New.\n    fn clock(&self) -> u64 { 5 }\n",
            ),
            edit(
                SERVICES,
                "impl<S: HostServices> Host for Guarded<S> {\n",
                "impl<S: HostServices> Host for Guarded<S> {\n    fn clock(&self) -> u64 { 1000 }\n",
            ),
            edit(
                AUTHOR_HOST,
                "impl Host {\n",
                "impl Host {\n    /// New.\n    pub fn clock(&self) -> u64 { self.0.0.clock() }\n",
            ),
            edit(
                ENGINE,
                "        // mark: report\n",
                "        report.push(format!(\"clock {}\", self.host.clock()));\n        // mark: report\n",
            ),
        ],
        &[Ability {
            fact: "addition",
            both: "4 tokens, cancelled: true, clock 1000",
            host_only: "",
            engine_only: "4 tokens, cancelled: true, clock 5",
        }],
    ),
    allowed(
        "append-root-field",
        &[
            edit(
                MODULE,
                "    pub execute_tool: extern \"C\" fn(RStr<'_>, HostObject) -> Reply,\n",
                "    pub execute_tool: extern \"C\" fn(RStr<'_>, HostObject) -> Reply,\n    /// New.\n    #[sabi(missing_field(option))]\n    pub health: extern \"C\" fn() -> u32,\n",
            ),
            edit(
                EXPORT,
                "        execute_tool: execute_tool::<E>,\n",
                "        execute_tool: execute_tool::<E>,\n        health,\n",
            ),
            edit(
                EXPORT,
                "/// Constructs the root module.\n",
                "extern \"C\" fn health() -> u32 { 9 }\n\n/// Constructs the root module.\n",
            ),
            edit(
                FACTORY,
                "    pub fn of_module(module: EngineModuleRef) -> Result<(Self, Info), EngineError> {\n",
                "    pub fn of_module(module: EngineModuleRef) -> Result<(Self, Info), EngineError> {\n        println!(\"health\\t{:?}\", module.health().map(|health| health()));\n",
            ),
        ],
        &[Ability {
            fact: "health",
            both: "Some(9)",
            host_only: "None",
            engine_only: "",
        }],
    ),
    allowed(
        "new-json-key",
        &[
            edit(
                PARAMS,
                "pub struct AssembleParams {\n",
                "pub struct AssembleParams {\n    /// New.\n    #[serde(skip_serializing_if = \"Option::is_none\")]\n    pub novelty: Option<u32>,\n",
            ),
            edit(
                RESULT,
                "pub struct AssemblyExtra {\n",
                "pub struct AssemblyExtra {\n    /// New.\n    #[serde(skip_serializing_if = \"Option::is_none\")]\n    pub novelty: Option<u32>,\n",
            ),
            edit(
                INFO,
                "pub struct Info {\n",
                "pub struct Info {\n    /// New.\n    #[serde(default, skip_serializing_if = \"Option::is_none\")]\n    pub novelty: Option<u32>,\n",
            ),
            edit(
                ENGINE,
                "        // mark: info\n",
                "        info.novelty = Some(1);\n",
            ),
            edit(
                ENGINE,
                "        // mark: assembly\n",
                "        assembly.extra.novelty = Some(2);\n",
            ),
            edit(
                ENGINE,
                "        // mark: report\n",
                "        report.push(format!(\"novelty {:?}\", _request.params()?.novelty));\n",
            ),
            edit(
                HOST,
                "    // mark: params\n",
                "    params.novelty = Some(3);\n",
            ),
            edit(
                HOST,
                "            // mark: assembly\n",
                "            fact(\"novelty\", format!(\"{:?}\", assembly.extra.novelty));\n",
            ),
            edit(
                HOST,
                "    // mark: engine\n",
                "    fact(\"info\", format!(\"{:?}\", plugin.info.novelty));\n",
            ),
        ],
        &[
            Ability {
                fact: "novelty",
                both: "Some(2)",
                host_only: "None",
                engine_only: "",
            },
            Ability {
                fact: "info",
                both: "Some(1)",
                host_only: "None",
                engine_only: "",
            },
            Ability {
                fact: "addition",
                both: "4 tokens, cancelled: true, novelty Some(3)",
                host_only: "",
                engine_only: "4 tokens, cancelled: true, novelty None",
            },
            Ability {
                fact: "new",
                both: "",
                host_only: r#"{"seen":["a user","b other","c bashExecution"],"budget":1099511627776,"unknown":["novelty"]}"#,
                engine_only: "",
            },
            Ability {
                fact: "unknown",
                both: "",
                host_only: "",
                engine_only: r#"{"novelty": Number(2)}"#,
            },
        ],
    ),
    allowed(
        "new-call-name",
        &[
            edit(
                ENGINE,
                "            // mark: call\n",
                "            \"newest\" => Ok(\"{}\".into()),\n",
            ),
            edit(
                ENGINE,
                "        // mark: report\n",
                "        report.push(format!(\"{:?}\", self.host.call(\"newest\", \"{}\").map_err(|error| error.code)));\n",
            ),
            edit(
                HOST,
                "            // mark: services\n",
                "            \"newest\" => Ok(\"{}\".into()),\n",
            ),
        ],
        &[
            Ability {
                fact: "newest",
                both: "\"{}\"",
                host_only: "",
                engine_only: "\"{}\"",
            },
            Ability {
                fact: "addition",
                both: "4 tokens, cancelled: true, Ok(\"{}\")",
                host_only: "",
                engine_only: "4 tokens, cancelled: true, Err(Unsupported)",
            },
        ],
    ),
    allowed(
        "new-open-value",
        &[
            edit(
                ROLE,
                "    /// A role this version does not know.\n    Other,\n",
                "    /// New.\n    Novel,\n    /// A role this version does not know.\n    Other,\n",
            ),
            edit(
                ROLE,
                "            _ => Self::Other,\n",
                "            \"novel\" => Self::Novel,\n            _ => Self::Other,\n",
            ),
            edit(
                ROLE,
                "            Self::Other => \"other\",\n",
                "            Self::Novel => \"novel\",\n            Self::Other => \"other\",\n",
            ),
            edit(
                CONVERT,
                "            Role::Other => u32::MAX,\n",
                "            Role::Novel => 7,\n            Role::Other => u32::MAX,\n",
            ),
            edit(
                CONVERT,
                "            _ => Self::Other,\n",
                "            7 => Self::Novel,\n            _ => Self::Other,\n",
            ),
            edit(
                ERROR,
                "    /// A code this version does not know.\n    Other(u32),\n",
                "    /// New.\n    Novel,\n    /// A code this version does not know.\n    Other(u32),\n",
            ),
            edit(
                CONVERT,
                "            ErrorCode::Other(code) => code,\n",
                "            ErrorCode::Novel => 1000,\n            ErrorCode::Other(code) => code,\n",
            ),
            edit(
                CONVERT,
                "            other => Self::Other(other),\n",
                "            1000 => Self::Novel,\n            other => Self::Other(other),\n",
            ),
            edit(
                ENGINE,
                "            // mark: call\n",
                "            \"newest\" => Err(EngineError::new(openclaw_interface::ErrorCode::Novel, \"new\")),\n",
            ),
        ],
        &[
            Ability {
                fact: "newest",
                both: "Novel",
                host_only: "",
                engine_only: "Other(1000)",
            },
            Ability {
                fact: "new",
                both: r#"{"seen":["a user","b novel","c bashExecution"],"budget":1099511627776,"unknown":[]}"#,
                host_only: "",
                engine_only: "",
            },
        ],
    ),
    // The way to change a struct without a new major: a new struct and a new method beside the old.
    allowed(
        "new-struct-beside",
        &[
            edit(
                VALUE,
                "/// Why a hook failed.\n#[repr(C)]\n",
                "/// New.\n#[repr(C)]\n#[derive(StableAbi, Clone, Debug)]\npub struct Weight {\n    /// New.\n    pub of: RString,\n    /// New.\n    pub grams: u64,\n}\n\n/// Why a hook failed.\n#[repr(C)]\n",
            ),
            edit(
                OBJECT,
                LAST_OF_ENGINE,
                "    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply;\n    /// New.\n    fn weigh(&mut self, weight: crate::abi::Weight) -> crate::abi::Weight { weight }\n",
            ),
            edit(
                SHIM,
                "impl<E: ContextEngine> Engine for Shim<E> {\n",
                "impl<E: ContextEngine> Engine for Shim<E> {\n    fn weigh(&mut self, mut weight: crate::abi::Weight) -> crate::abi::Weight { weight.grams += 1; weight }\n",
            ),
            edit(
                "interface/src/abi/mod.rs",
                "    AssembleOut, ",
                "    Weight, AssembleOut, ",
            ),
            edit(
                INSTANCE,
                "impl EngineInstance {\n",
                "impl EngineInstance {\n    /// New.\n    pub fn weigh(&mut self) -> u64 { self.object.weigh(crate::abi::Weight { of: \"it\".into(), grams: 4 }).grams }\n",
            ),
            edit(
                HOST,
                "    // mark: engine\n",
                "    fact(\"weight\", engine.weigh());\n",
            ),
        ],
        &[Ability {
            fact: "weight",
            both: "5",
            host_only: "4",
            engine_only: "",
        }],
    ),
    allowed("minor-number-only", &[], &[]),
];
