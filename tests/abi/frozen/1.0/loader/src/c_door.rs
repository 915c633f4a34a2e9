//! The second door: an engine behind `openclaw_engine.h`, made to look like one behind the root module.
//!
//! Reads the table a library hands over, checks it before anything in it is called, and puts the engine behind the same
//! trait object. Messages reach the engine as the host holds them; everything that comes back is copied and checked.

mod host;
mod sink;
mod text;

use crate::error::LoadErrorKind;
use abi_stable::erased_types::TD_Opaque;
use abi_stable::std_types::{RResult, RSlice, RStr};
use host::HostLease;
use openclaw_interface::abi::{
    self, AssembleOut, AssembleReq, Engine, Engine_TO, EngineObject, HostObject, MessagesReq,
    MsgView, Reply, c,
};
use openclaw_interface::hosting::{EngineFactory, EngineSource};
use openclaw_interface::model::TranscriptSemantics;
use openclaw_interface::{EngineError, ErrorCode, Info, guard};
use serde::Deserialize;
use serde_json::value::RawValue;
use sink::Answer;
use std::borrow::Cow;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr;

/// The factory of the engine that `entry` hands over, and what it says of itself.
///
/// # Safety
///
/// `entry` is the exported function of a library that stays open, and the library keeps what `openclaw_engine.h` asks of
/// it.
///
/// # Errors
///
/// The table is unusable, or the engine failed to describe itself.
pub(crate) unsafe fn open(entry: c::Entry) -> Result<(EngineFactory, Info), LoadErrorKind> {
    // SAFETY: the caller's promise; the function takes nothing.
    let table = unsafe { entry() };
    // SAFETY: the header lets the function answer nothing but NULL or static data that begins with its size.
    let functions = unsafe { read_table(table) }?;
    let has_commit = functions.all.commit_turn.is_some();
    let (factory, info) = EngineFactory::of_source(functions).map_err(LoadErrorKind::Describe)?;
    let promise = info.transcript_semantics.as_ref();
    if !has_commit && promise.is_some_and(TranscriptSemantics::commits_idempotently) {
        let problem = "info.transcriptSemantics promises durable turns, and ce_engine_api.commit_turn is NULL";
        return Err(LoadErrorKind::Contract(vec![problem.to_owned()]));
    }
    Ok((factory, info))
}

/// A library's functions; the required ones are there.
#[derive(Clone, Copy)]
struct Functions {
    info_json: c::Describe,
    create: c::CreateFn,
    destroy: unsafe extern "C" fn(*mut c_void),
    assemble: c::Hook,
    /// All of them, what the library does not have as `None`.
    all: c::EngineApi,
}

/// Copies a table, and nothing beyond the size it states.
///
/// # Safety
///
/// `table` is NULL, or as many readable bytes as the number in its first four says.
unsafe fn read_table(table: *const c::EngineApi) -> Result<Functions, LoadErrorKind> {
    const POINTER_BYTES: usize = size_of::<usize>();
    let refused = |problem: String| Err(LoadErrorKind::Contract(vec![problem]));
    if table.is_null() {
        return refused(format!("{} answers NULL", c::ENTRY_SYMBOL));
    }
    // SAFETY: the caller's promise.
    let size = unsafe { table.cast::<u32>().read_unaligned() };
    if size > c::MAX_TABLE_BYTES {
        return refused(format!(
            "ce_engine_api.size is {size}, the limit is {}",
            c::MAX_TABLE_BYTES
        ));
    }
    let required = offset_of!(c::EngineApi, bootstrap);
    if (size as usize) < required {
        return refused(format!(
            "ce_engine_api.size is {size}, the required functions info_json, create, destroy and assemble end at \
             {required}"
        ));
    }
    let mut all = c::EngineApi::default();
    let known = (size as usize).min(size_of::<c::EngineApi>());
    // A pointer of which only a part is there is not there.
    let known = known - known % POINTER_BYTES;
    // SAFETY: `known` is at most the size of either side; bytes of a table are functions or NULL, as in `EngineApi`.
    unsafe {
        ptr::copy_nonoverlapping(
            table.cast::<u8>(),
            ptr::from_mut(&mut all).cast::<u8>(),
            known,
        );
    }
    match (all.info_json, all.create, all.destroy, all.assemble) {
        (Some(info_json), Some(create), Some(destroy), Some(assemble)) => Ok(Functions {
            info_json,
            create,
            destroy,
            assemble,
            all,
        }),
        (info_json, create, destroy, assemble) => {
            let missing = [
                ("info_json", info_json.is_none()),
                ("create", create.is_none()),
                ("destroy", destroy.is_none()),
                ("assemble", assemble.is_none()),
            ];
            let missing = missing.into_iter().filter(|(_, is_missing)| *is_missing);
            Err(LoadErrorKind::Contract(
                missing
                    .map(|(name, _)| format!("ce_engine_api.{name} is NULL, it is required"))
                    .collect(),
            ))
        }
    }
}

impl EngineSource for Functions {
    fn info(&self) -> Reply {
        small("info", |answer| {
            // SAFETY: the function of an open library; the sink outlives the call.
            unsafe { (self.info_json)(answer) }
        })
    }

    fn create(
        &self,
        context_json: &str,
        host: HostObject,
    ) -> RResult<EngineObject, abi::EngineError> {
        let made = guard::run(|| create(self, context_json, host));
        match made.unwrap_or_else(|panic| Err(panic.into())) {
            Ok(engine) => RResult::ROk(Engine_TO::from_value(engine, TD_Opaque)),
            Err(error) => RResult::RErr(error.into()),
        }
    }

    fn tools(&self) -> Reply {
        match self.all.tools_json {
            Some(tools) => small("tools", |answer| {
                // SAFETY: as in `info`.
                unsafe { tools(answer) }
            }),
            None => RResult::ROk("[]".into()),
        }
    }

    fn execute_tool(&self, call_json: &str, host: HostObject) -> Reply {
        #[derive(Deserialize)]
        struct Call<'a> {
            #[serde(borrow)]
            name: Cow<'a, str>,
        }
        let call: Call<'_> = match read(call_json) {
            Ok(call) => call,
            Err(error) => return RResult::RErr(error.into()),
        };
        let Some(execute_tool) = self.all.execute_tool else {
            return RResult::RErr(EngineError::unsupported(&call.name).into());
        };
        let request = c::Request {
            method: call.name.as_ref().into(),
            ..request(call_json)
        };
        let host = HostLease::new(host);
        small("executeTool", |answer| {
            // SAFETY: as in `info`; request and host outlive the call.
            unsafe { execute_tool(host.as_ptr(), &request, answer) }
        })
    }
}

fn create(
    functions: &Functions,
    context_json: &str,
    host: HostObject,
) -> Result<CEngine, EngineError> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Context<'a> {
        #[serde(borrow)]
        settings: Option<&'a RawValue>,
        agent_dir: Option<String>,
        workspace_dir: Option<String>,
    }
    let context: Context<'_> = read(context_json)?;
    let request = c::Create {
        size: size_of::<c::Create<'_>>() as u32,
        reserved: 0,
        context_json: context_json.into(),
        settings_json: context.settings.map_or("{}", RawValue::get).into(),
        agent_dir: context.agent_dir.as_deref().unwrap_or_default().into(),
        workspace_dir: context.workspace_dir.as_deref().unwrap_or_default().into(),
    };
    let host = HostLease::new(host);
    let mut instance = ptr::null_mut();
    let mut answer = Answer::small("factory");
    // SAFETY: the function of an open library; all that is pointed to outlives the call, and `host` the instance.
    let status = unsafe {
        (functions.create)(
            &request,
            host.as_ptr(),
            answer.as_sink(),
            ptr::from_mut(&mut instance),
        )
    };
    // Whatever else is wrong: what says it was made has to be destroyed.
    let engine = (status == c::OK).then(|| CEngine {
        functions: *functions,
        instance,
        _host: host,
    });
    answer.json(status)?;
    engine.ok_or_else(|| EngineError::failed("the factory made nothing"))
}

/// An instance.
struct CEngine {
    functions: Functions,
    instance: *mut c_void,
    /// Goes after the instance is destroyed.
    _host: HostLease,
}

/// The members of a request that have a place of their own in it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Typed {
    session_id: String,
    session_key: Option<String>,
    advancement_key: String,
    is_heartbeat: bool,
    token_budget: Option<u64>,
}

impl Typed {
    fn request<'a>(&'a self, params_json: &'a str, messages: &'a [MsgView<'a>]) -> c::Request<'a> {
        c::Request {
            is_heartbeat: u32::from(self.is_heartbeat),
            messages: RSlice::from_slice(messages),
            token_budget: self.token_budget.unwrap_or(0),
            session_id: self.session_id.as_str().into(),
            session_key: self.session_key.as_deref().unwrap_or_default().into(),
            advancement_key: self.advancement_key.as_str().into(),
            ..request(params_json)
        }
    }
}

/// A request with parameters and nothing else.
fn request(params_json: &str) -> c::Request<'_> {
    c::Request {
        size: size_of::<c::Request<'_>>() as u32,
        is_heartbeat: 0,
        params_json: params_json.into(),
        messages: RSlice::EMPTY,
        token_budget: 0,
        session_id: RStr::empty(),
        session_key: RStr::empty(),
        advancement_key: RStr::empty(),
        method: RStr::empty(),
    }
}

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, EngineError> {
    serde_json::from_str(json).map_err(|error| {
        EngineError::new(
            ErrorCode::InvalidParams,
            format!("cannot read the parameters: {error}"),
        )
    })
}

/// Runs a function that answers JSON.
fn small(name: &'static str, call: impl FnOnce(*mut c::Sink) -> i32) -> Reply {
    let answered = guard::run(|| {
        let mut answer = Answer::small(name);
        let status = call(answer.as_sink());
        answer.json(status)
    });
    match answered.unwrap_or_else(|panic| Err(panic.into())) {
        Ok(json) => RResult::ROk(json.into()),
        Err(error) => RResult::RErr(error.into()),
    }
}

/// The answer of a hook that has none.
fn done() -> Reply {
    RResult::ROk("null".into())
}

/// `reply`, with `null` for a hook that rightly wrote nothing.
fn nothing(reply: Reply) -> Reply {
    match reply {
        RResult::ROk(_) => done(),
        RResult::RErr(_) => reply,
    }
}

impl CEngine {
    fn call(&mut self, name: &'static str, hook: c::Hook, request: &c::Request<'_>) -> Reply {
        small(name, |answer| {
            // SAFETY: the hook and the instance belong to one open library; request and sink outlive the call, and
            // `&mut self` keeps calls apart.
            unsafe { hook(self.instance, request, answer) }
        })
    }

    /// Calls a hook whose parameters are those of a session.
    fn session_hook(
        &mut self,
        name: &'static str,
        hook: Option<c::Hook>,
        params_json: &str,
        messages: &[MsgView<'_>],
    ) -> Reply {
        let Some(hook) = hook else {
            return RResult::RErr(EngineError::unsupported(name).into());
        };
        match read::<Typed>(params_json) {
            Ok(typed) => self.call(name, hook, &typed.request(params_json, messages)),
            Err(error) => RResult::RErr(error.into()),
        }
    }

    fn assembled(&mut self, assemble: AssembleReq<'_>) -> Result<AssembleOut, EngineError> {
        let typed: Typed = read(&assemble.params_json)?;
        let messages = assemble.messages.as_slice();
        let request = c::Request {
            token_budget: assemble.token_budget,
            ..typed.request(assemble.params_json.as_str(), messages)
        };
        let mut answer = Answer::assembly(messages.len());
        // SAFETY: as in `call`.
        let status =
            unsafe { (self.functions.assemble)(self.instance, &request, answer.as_sink()) };
        answer.assembled(status)
    }
}

impl Drop for CEngine {
    fn drop(&mut self) {
        // SAFETY: the instance was made by `create` of the same library and is not used again; `host` is still there.
        unsafe { (self.functions.destroy)(self.instance) }
    }
}

impl Engine for CEngine {
    fn bootstrap(&mut self, params_json: RStr<'_>) -> Reply {
        let hook = self.functions.all.bootstrap;
        self.session_hook("bootstrap", hook, &params_json, &[])
    }

    fn maintain(&mut self, params_json: RStr<'_>) -> Reply {
        let hook = self.functions.all.maintain;
        self.session_hook("maintain", hook, &params_json, &[])
    }

    fn ingest(&mut self, request: MessagesReq<'_>) -> Reply {
        let hook = self.functions.all.ingest;
        let messages = request.messages.as_slice();
        self.session_hook("ingest", hook, &request.params_json, messages)
    }

    fn ingest_batch(&mut self, request: MessagesReq<'_>) -> Reply {
        let hook = self.functions.all.ingest_batch;
        let messages = request.messages.as_slice();
        self.session_hook("ingestBatch", hook, &request.params_json, messages)
    }

    fn after_turn(&mut self, request: MessagesReq<'_>) -> Reply {
        let hook = self.functions.all.after_turn;
        let messages = request.messages.as_slice();
        nothing(self.session_hook("afterTurn", hook, &request.params_json, messages))
    }

    fn commit_turn(&mut self, request: MessagesReq<'_>) -> Reply {
        let hook = self.functions.all.commit_turn;
        let messages = request.messages.as_slice();
        self.session_hook("commitTurn", hook, &request.params_json, messages)
    }

    fn assemble(&mut self, request: AssembleReq<'_>) -> RResult<AssembleOut, abi::EngineError> {
        let assembled = guard::run(|| self.assembled(request));
        match assembled.unwrap_or_else(|panic| Err(panic.into())) {
            Ok(out) => RResult::ROk(out),
            Err(error) => RResult::RErr(error.into()),
        }
    }

    fn compact(&mut self, params_json: RStr<'_>) -> Reply {
        let hook = self.functions.all.compact;
        self.session_hook("compact", hook, &params_json, &[])
    }

    fn prepare_subagent_spawn(&mut self, params_json: RStr<'_>) -> Reply {
        let hook = self.functions.all.prepare_subagent_spawn;
        self.session_hook("prepareSubagentSpawn", hook, &params_json, &[])
    }

    fn rollback_subagent_spawn(&mut self, handle_json: RStr<'_>) -> Reply {
        match self.functions.all.rollback_subagent_spawn {
            Some(hook) => nothing(self.call("rollback", hook, &request(handle_json.as_str()))),
            None => done(),
        }
    }

    fn on_subagent_ended(&mut self, params_json: RStr<'_>) -> Reply {
        let hook = self.functions.all.on_subagent_ended;
        nothing(self.session_hook("onSubagentEnded", hook, &params_json, &[]))
    }

    fn dispose(&mut self) -> Reply {
        match self.functions.all.dispose {
            Some(hook) => nothing(self.call("dispose", hook, &request("{}"))),
            None => done(),
        }
    }

    fn call_json(&mut self, method: RStr<'_>, params_json: RStr<'_>) -> Reply {
        let Some(hook) = self.functions.all.call_json else {
            return RResult::RErr(EngineError::unsupported(&method).into());
        };
        let request = c::Request {
            method,
            ..request(params_json.as_str())
        };
        self.call("call", hook, &request)
    }
}
