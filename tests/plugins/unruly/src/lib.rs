//! An engine that misbehaves as its settings say: `{"assemble": "panic"}`. Without settings it passes everything
//! through and acknowledges every commit.

#![forbid(unsafe_code)]

use openclaw_interface::abi::Pick;
use openclaw_interface::model::{CommitParams, SessionParams};
use openclaw_interface::{
    AssembleRequest, Assembly, BootstrapResult, CommitResult, CommitStatus, ContextEngine,
    CreateContext, EngineError, Host, Info, LogLevel, MaintenanceResult, Messages, Role,
    export_engine,
};
use serde_json::{Map, Value};

struct Unruly {
    settings: Map<String, Value>,
    host: Host,
}

export_engine!(Unruly);

/// A panic payload whose destructor panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload's destructor panics too");
    }
}

/// Misbehaves when `settings` ask for it in `hook`; hands back a behaviour it does not know.
fn misbehave<'a>(
    settings: &'a Map<String, Value>,
    hook: &str,
) -> Result<Option<&'a str>, EngineError> {
    match settings.get(hook).and_then(Value::as_str) {
        Some("panic") => panic!("unruly panics in {hook}"),
        Some("bomb") => std::panic::panic_any(Bomb),
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
        Info::new(Self::ID, "Unruly engine")
            .version(env!("CARGO_PKG_VERSION"))
            .durable_turns()
    }

    fn create(context: CreateContext, host: Host) -> Result<Self, EngineError> {
        misbehave(&context.settings, "create")?;
        Ok(Self {
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
        match misbehave(&self.settings, "assemble")? {
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
            Some("nothing") => assembly = Assembly::default(),
            _ => {}
        }
        Ok(assembly)
    }

    fn commit_turn(
        &mut self,
        _messages: Messages<'_>,
        _params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        misbehave(&self.settings, "commitTurn")?;
        Ok(CommitResult {
            status: CommitStatus::Committed,
        })
    }

    fn dispose(&mut self) -> Result<(), EngineError> {
        misbehave(&self.settings, "dispose").map(drop)
    }
}
