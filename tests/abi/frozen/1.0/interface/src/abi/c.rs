//! The second door: the types of `openclaw_engine.h`, byte for byte.
//!
//! What each member means stands in the header, which is the contract; a test compares sizes and offsets of the two.
//! Texts that the host hands over are [`RStr`], which lies in memory like `ce_str`; texts that come back are pointer and
//! length, because nothing is known of them yet.

use super::value::MsgView;
use abi_stable::std_types::{RSlice, RStr};
use std::ffi::c_void;

/// Name of the exported function.
pub const ENTRY_SYMBOL: &str = "openclaw_engine_c_v1";

/// `CE_OK`.
pub const OK: i32 = 0;
/// `CE_FAILED`.
pub const FAILED: i32 = 1;
/// `CE_UNSUPPORTED`.
pub const UNSUPPORTED: i32 = 3;
/// `CE_INVALID_PARAMS`.
pub const INVALID_PARAMS: i32 = 4;
/// `CE_GONE`.
pub const GONE: i32 = 6;
/// `CE_INVALID_ANSWER`.
pub const INVALID_ANSWER: i32 = 7;

/// `CE_MAX_ANSWER_BYTES`.
pub const MAX_ANSWER_BYTES: usize = 64 << 20;
/// `CE_MAX_NEW_MESSAGES`.
pub const MAX_NEW_MESSAGES: usize = 65_536;
/// `CE_MAX_ERROR_BYTES`.
pub const MAX_ERROR_BYTES: usize = 4096;
/// `CE_MAX_LOG_BYTES`.
pub const MAX_LOG_BYTES: usize = 16_384;
/// `CE_MAX_TABLE_BYTES`.
pub const MAX_TABLE_BYTES: u32 = 65_536;

/// `ce_request`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its own size in bytes.
    pub size: u32,
    /// 1 when the run was a heartbeat.
    pub is_heartbeat: u32,
    /// The parameters.
    pub params_json: RStr<'a>,
    /// `messages` and `message_count`.
    pub messages: RSlice<'a, MsgView<'a>>,
    /// Tokens the prompt may take; 0 when not known.
    pub token_budget: u64,
    /// Id of the transcript.
    pub session_id: RStr<'a>,
    /// Name of the session.
    pub session_key: RStr<'a>,
    /// Name of the logical turn.
    pub advancement_key: RStr<'a>,
    /// Name of a hook or tool.
    pub method: RStr<'a>,
}

/// `ce_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Create<'a> {
    /// Its own size in bytes.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// Everything.
    pub context_json: RStr<'a>,
    /// The plugin's settings.
    pub settings_json: RStr<'a>,
    /// Directory of the agent's state.
    pub agent_dir: RStr<'a>,
    /// Directory the agent works in.
    pub workspace_dir: RStr<'a>,
}

/// Takes a text from the engine.
pub type Take = unsafe extern "C" fn(*mut Sink, *const u8, usize) -> i32;

/// `ce_sink`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    /// Its own size in bytes.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// Appends to the answer.
    pub write: Take,
    /// Says why the hook fails.
    pub error: unsafe extern "C" fn(*mut Sink, i32, *const u8, usize) -> i32,
    /// Takes a message of the assembled list.
    pub pick: unsafe extern "C" fn(*mut Sink, u32, u32) -> i32,
    /// Takes a message the engine made.
    pub new_message: Take,
    /// Takes text for the system prompt.
    pub prompt_addition: Take,
    /// Takes the engine's guess.
    pub estimated_tokens: unsafe extern "C" fn(*mut Sink, u64) -> i32,
}

/// `ce_receive`.
pub type Receive = unsafe extern "C" fn(*mut c_void, *const u8, usize);

/// `ce_host`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Its own size in bytes.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// Takes a line for the log.
    pub log: unsafe extern "C" fn(*const Host, u32, *const u8, usize),
    /// Whether to end early.
    pub cancelled: unsafe extern "C" fn(*const Host) -> i32,
    /// Tokens of a text.
    pub count_tokens: unsafe extern "C" fn(*const Host, *const u8, usize) -> u64,
    /// Calls a service.
    pub call_json: CallService,
}

/// `ce_host.call_json`: host, service, parameters, receiver and its context.
pub type CallService = unsafe extern "C" fn(
    *const Host,
    *const u8,
    usize,
    *const u8,
    usize,
    Option<Receive>,
    *mut c_void,
) -> i32;

/// `ce_hook`.
pub type Hook = unsafe extern "C" fn(*mut c_void, *const Request<'_>, *mut Sink) -> i32;

/// A function that only writes JSON.
pub type Describe = unsafe extern "C" fn(*mut Sink) -> i32;

/// `ce_engine_api.create`.
pub type CreateFn =
    unsafe extern "C" fn(*const Create<'_>, *const Host, *mut Sink, *mut *mut c_void) -> i32;

/// `ce_engine_api.execute_tool`.
pub type ExecuteTool = unsafe extern "C" fn(*const Host, *const Request<'_>, *mut Sink) -> i32;

/// `ce_engine_api`. All zeros is a table without functions.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct EngineApi {
    /// Its own size in bytes.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// Required.
    pub info_json: Option<Describe>,
    /// Required.
    pub create: Option<CreateFn>,
    /// Required.
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    /// Required. See [`ContextEngine`](crate::ContextEngine) for this and the hooks below.
    pub assemble: Option<Hook>,
    /// Takes a session over.
    pub bootstrap: Option<Hook>,
    /// Tidies up.
    pub maintain: Option<Hook>,
    /// Takes one message.
    pub ingest: Option<Hook>,
    /// Takes the messages of a run.
    pub ingest_batch: Option<Hook>,
    /// Takes the snapshot after a run.
    pub after_turn: Option<Hook>,
    /// Stores an accepted turn.
    pub commit_turn: Option<Hook>,
    /// Makes the context smaller.
    pub compact: Option<Hook>,
    /// Prepares for a child session.
    pub prepare_subagent_spawn: Option<Hook>,
    /// Takes a preparation back.
    pub rollback_subagent_spawn: Option<Hook>,
    /// Hears that a child session ended.
    pub on_subagent_ended: Option<Hook>,
    /// Says goodbye.
    pub dispose: Option<Hook>,
    /// A hook by name.
    pub call_json: Option<Hook>,
    /// The tools the engine brings.
    pub tools_json: Option<Describe>,
    /// Runs a tool.
    pub execute_tool: Option<ExecuteTool>,
}

/// The exported function.
pub type Entry = unsafe extern "C" fn() -> *const EngineApi;
