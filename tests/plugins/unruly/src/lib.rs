//! An engine that misbehaves as its settings say: `{"assemble": "panic"}`, with `"when": "<text>"` only in turns whose
//! prompt holds the text. Without settings it passes everything through and keeps the keys of its commits. The variable
//! `UNRULY_INFO_PANICS` makes its descriptor panic.

use openclaw_interface::abi::Pick;
use openclaw_interface::model::{CommitParams, SessionParams};
use openclaw_interface::{
    AssembleRequest, Assembly, BootstrapResult, CommitResult, CommitStatus, ContextEngine,
    CreateContext, EngineError, Host, Info, LogLevel, MaintenanceResult, Messages, Role,
    export_engine,
};
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::PathBuf;

struct Unruly {
    settings: Map<String, Value>,
    /// Holds one empty file per committed turn.
    turns: Option<PathBuf>,
    host: Host,
}

export_engine!(Unruly);

/// A panic payload whose destructor panics, with such a payload again, this many times.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            std::panic::panic_any(Bomb(self.0 - 1));
        }
    }
}

/// Panics when dropped.
struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("a destructor panics");
    }
}

/// Ends the process in ways no guard can catch.
fn end_process(how: &str) {
    match how {
        "abort" => std::process::abort(),
        "exit" => std::process::exit(7),
        "panic-while-unwinding" => {
            let _second = PanicsInDrop;
            panic!("the first panic");
        }
        "stack-overflow" => {
            std::hint::black_box(recurse(1));
        }
        "segfault" => {
            let nowhere = std::hint::black_box(std::ptr::null_mut::<u8>());
            // SAFETY: there is none; crashing is the point.
            unsafe { nowhere.write_volatile(1) };
        }
        _ => {}
    }
}

fn recurse(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 512]);
    if room[0] == u64::MAX {
        return 0;
    }
    recurse(depth + 1) + room[depth as usize % 512]
}

/// Misbehaves when `settings` ask for it in `hook`; hands back a behaviour it does not know.
fn misbehave<'a>(
    settings: &'a Map<String, Value>,
    hook: &str,
) -> Result<Option<&'a str>, EngineError> {
    match settings.get(hook).and_then(Value::as_str) {
        Some("panic") => panic!("unruly panics in {hook}"),
        Some("panic-str") => std::panic::panic_any("unruly panics with a str"),
        Some("panic-number") => std::panic::panic_any(7),
        Some("bomb") => std::panic::panic_any(Bomb(3)),
        Some("error") => Err(EngineError::failed(format!("unruly fails in {hook}"))),
        other => Ok(other),
    }
}

impl Drop for Unruly {
    fn drop(&mut self) {
        if self.settings.get("drop").is_some() {
            panic!("unruly panics in drop");
        }
    }
}

impl ContextEngine for Unruly {
    const ID: &'static str = "unruly";

    fn info() -> Info {
        if std::env::var_os("UNRULY_INFO_PANICS").is_some() {
            panic!("unruly panics in info");
        }
        Info::new(Self::ID, "Unruly engine")
            .version(env!("CARGO_PKG_VERSION"))
            .durable_turns()
    }

    fn create(context: CreateContext, host: Host) -> Result<Self, EngineError> {
        misbehave(&context.settings, "create")?;
        Ok(Self {
            turns: context.agent_dir.map(|dir| dir.join("unruly")),
            settings: context.settings,
            host,
        })
    }

    fn bootstrap(&mut self, _params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        misbehave(&self.settings, "bootstrap")?;
        Ok(BootstrapResult {
            bootstrapped: true,
            ..BootstrapResult::default()
        })
    }

    fn maintain(&mut self, _params: &SessionParams) -> Result<MaintenanceResult, EngineError> {
        misbehave(&self.settings, "maintain")?;
        Ok(MaintenanceResult::default())
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        self.host.log(LogLevel::Debug, "unruly assembles");
        let messages = request.messages;
        let mut assembly = Assembly::pass_through(messages);
        if !self.is_meant(request)? {
            return Ok(assembly);
        }
        match misbehave(&self.settings, "assemble")? {
            Some("panic-on-a-thread") => {
                let ended = std::thread::spawn(|| panic!("unruly panics on a thread")).join();
                return Err(EngineError::failed(format!(
                    "a thread of the engine panicked: {}",
                    ended.is_err()
                )));
            }
            Some("ask-host") => {
                let answer = self.host.call("explode", "{}");
                return Err(answer
                    .err()
                    .unwrap_or_else(|| EngineError::failed("the host answered")));
            }
            Some(
                how @ ("abort" | "exit" | "panic-while-unwinding" | "stack-overflow" | "segfault"),
            ) => end_process(how),
            Some("index") => {
                let list = [messages.len()];
                assembly.estimated_tokens = list[messages.len() + 1] as u64;
            }
            Some("pick-out-of-range") => assembly.picks.push(Pick::input(u32::MAX)),
            Some("pick-twice") => assembly.picks.extend(assembly.picks.first().copied()),
            Some("foreign-pick") => assembly.picks.push(Pick { index: 0, kind: 7 }),
            Some("split-pair") => {
                let call = messages
                    .iter()
                    .position(|message| message.role() == Role::ToolResult);
                assembly
                    .picks
                    .retain(|pick| call.is_none_or(|at| pick.index as usize + 1 != at));
            }
            Some("everything-twice-as-large") => {
                let copies = messages
                    .iter()
                    .filter(|message| message.role() == Role::User);
                assembly.new_messages = copies.map(|message| message.json().to_owned()).collect();
                assembly
                    .picks
                    .extend((0..assembly.new_messages.len() as u32).map(Pick::new_message));
            }
            Some("bad-message") => {
                assembly.new_messages.push("{\"role\":\"user\"".into());
                assembly.picks.push(Pick::new_message(0));
            }
            Some("print") => {
                #[expect(clippy::print_stdout, reason = "printing is the misbehaviour")]
                {
                    println!("unruly prints");
                }
            }
            Some("nothing") => assembly = Assembly::default(),
            _ => {}
        }
        Ok(assembly)
    }

    fn commit_turn(
        &mut self,
        _messages: Messages<'_>,
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        misbehave(&self.settings, "commitTurn")?;
        let turns = self.turns.as_ref();
        let turns = turns.ok_or_else(|| EngineError::failed("no agent directory"))?;
        fs::create_dir_all(turns)?;
        let key = params.advancement_key.bytes();
        let name: String = key.map(|byte| format!("{byte:02x}")).collect();
        let status = match File::create_new(turns.join(name)) {
            Ok(file) => {
                file.sync_all()?;
                CommitStatus::Committed
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => CommitStatus::Duplicate,
            Err(error) => return Err(error.into()),
        };
        Ok(CommitResult { status })
    }

    fn dispose(&mut self) -> Result<(), EngineError> {
        misbehave(&self.settings, "dispose").map(drop)
    }
}

impl Unruly {
    /// Whether a turn is one to misbehave in.
    fn is_meant(&self, request: &AssembleRequest<'_>) -> Result<bool, EngineError> {
        let Some(text) = self.settings.get("when").and_then(Value::as_str) else {
            return Ok(true);
        };
        let prompt = request.params()?.prompt.as_deref();
        Ok(prompt.is_some_and(|prompt| prompt.contains(text)))
    }
}
