//! An engine that writes down every call it gets, one JSON line each, and behaves as its settings say.
//!
//! - `log`: the file. A call is written when it begins and, with `"ended": true`, when it ends.
//! - `hooks.<hook>`: `"fail"`, `"panic"`, `"until-cancelled"` or, for `compact`, its answer. For `maintain` also
//!   `{"until": "<file>"}`. For `assemble` `{"drop": n}`: leaves out the oldest n messages for each `compact` in the
//!   log; `{"messages": [..], "addition": ".."}`: its own answer; `{"fail": n}`: fails at its n-th call of an instance.
//! - `services.<hook>`: `[name, params]` of a service to call; the answer is written down.
//!
//! What it says of itself is patched into the library: `DESCRIPTOR`.

use openclaw_interface::abi::Pick;
use openclaw_interface::model::{
    CommitParams, CompactParams, CompactResult, ErrorCode, SessionParams,
};
use openclaw_interface::{
    AssembleRequest, Assembly, BootstrapResult, CommitResult, CommitStatus, ContextEngine,
    CreateContext, EngineError, Host, Info, MaintenanceResult, Messages, export_engine,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

const DESCRIPTOR_BYTES: usize = 1024;

/// A JSON object that the descriptor gets in addition, behind the marker. A test writes over it in a copy of the library.
#[used]
static DESCRIPTOR: [u8; DESCRIPTOR_BYTES] = {
    let marker = b"recorder-descriptor:{}";
    let mut bytes = [b' '; DESCRIPTOR_BYTES];
    let mut index = 0;
    while index < marker.len() {
        bytes[index] = marker[index];
        index += 1;
    }
    bytes
};

struct Recorder {
    settings: Map<String, Value>,
    instance: usize,
    assembled: u64,
    host: Host,
}

export_engine!(Recorder);

fn lines(log: &str) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines = text.lines().map(serde_json::from_str);
    lines.filter_map(Result::ok).collect()
}

impl Recorder {
    fn log(&self) -> &str {
        self.settings["log"].as_str().unwrap_or_default()
    }

    fn write(&self, mut line: Value) -> Result<(), EngineError> {
        line["instance"] = self.instance.into();
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log())?;
        Ok(file.write_all(format!("{line}\n").as_bytes())?)
    }

    fn how(&self, hook: &str) -> &Value {
        let hooks = self.settings.get("hooks");
        hooks.and_then(|it| it.get(hook)).unwrap_or(&Value::Null)
    }

    /// Writes a call down and misbehaves.
    fn called(&mut self, hook: &str, line: Value) -> Result<(), EngineError> {
        let mut begun = line;
        begun["hook"] = hook.into();
        let services = self.settings.get("services");
        if let Some(service) = services.and_then(|it| it.get(hook)) {
            let name = service[0].as_str().unwrap_or_default();
            let answer = self.host.call(name, &service[1].to_string());
            begun["service"] = match answer {
                Ok(answer) => serde_json::from_str(&answer)?,
                Err(error) => json!({ "error": error.message }),
            };
        }
        self.write(begun)?;
        let how = self.how(hook).clone();
        match how.as_str() {
            Some("fail") => return Err(EngineError::failed(format!("recorder fails in {hook}"))),
            Some("panic") => panic!("recorder panics in {hook}"),
            Some("until-cancelled") => {
                while !self.host.is_cancelled() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                self.write(json!({ "hook": hook, "ended": true, "cancelled": true }))?;
                return Err(EngineError::new(ErrorCode::Cancelled, "cancelled"));
            }
            _ => {}
        }
        if let Some(file) = how.get("until").and_then(Value::as_str) {
            while !Path::new(file).exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.write(json!({ "hook": hook, "ended": true, "cancelled": self.host.is_cancelled() }))
    }
}

fn seen(params: &impl Serialize, messages: Option<Messages<'_>>) -> Result<Value, EngineError> {
    let mut line = json!({ "params": serde_json::to_value(params)? });
    if let Some(messages) = messages {
        let texts = messages.iter().map(|it| serde_json::from_str(it.json()));
        line["messages"] = texts.collect::<Result<Vec<Value>, _>>()?.into();
    }
    Ok(line)
}

impl ContextEngine for Recorder {
    const ID: &'static str = "recorder";

    fn info() -> Info {
        let own = Info::new(Self::ID, "Recorder engine")
            .version(env!("CARGO_PKG_VERSION"))
            .durable_turns();
        // The bytes may not be those that were compiled.
        let patched = std::hint::black_box(&DESCRIPTOR);
        let text = String::from_utf8_lossy(patched);
        let object = text.split_once(':').map(|(_, object)| object.trim_end());
        let added: Map<String, Value> = object
            .and_then(|object| serde_json::from_str(object).ok())
            .unwrap_or_default();
        let mut whole = serde_json::to_value(&own).unwrap_or_default();
        for (key, value) in added {
            whole[key] = value;
        }
        serde_json::from_value(whole).unwrap_or(own)
    }

    fn create(context: CreateContext, host: Host) -> Result<Self, EngineError> {
        let mut recorder = Self {
            settings: context.settings,
            instance: 0,
            assembled: 0,
            host,
        };
        let made = lines(recorder.log())
            .iter()
            .filter(|line| line["hook"] == "factory" && line["ended"].is_null())
            .count();
        recorder.instance = made + 1;
        recorder.called("factory", json!({}))?;
        Ok(recorder)
    }

    fn bootstrap(&mut self, params: &SessionParams) -> Result<BootstrapResult, EngineError> {
        self.called("bootstrap", seen(params, None)?)?;
        Ok(BootstrapResult {
            bootstrapped: true,
            ..BootstrapResult::default()
        })
    }

    fn maintain(&mut self, params: &SessionParams) -> Result<MaintenanceResult, EngineError> {
        self.called("maintain", seen(params, None)?)?;
        Ok(MaintenanceResult::default())
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        let messages = request.messages;
        let mut line = seen(request.params()?, Some(messages))?;
        line["tokenBudget"] = request.token_budget.into();
        self.called("assemble", line)?;
        self.assembled += 1;
        let how = self.how("assemble").clone();
        if how["fail"].as_u64() == Some(self.assembled) {
            return Err(EngineError::failed("recorder fails in assemble"));
        }
        let mut assembly = Assembly::pass_through(messages);
        if let Some(step) = how["drop"].as_u64() {
            let lines = lines(self.log());
            let compactions = lines
                .iter()
                .filter(|line| line["hook"] == "compact" && line["ended"].is_null());
            let dropped = compactions.count() * usize::try_from(step).unwrap_or(0);
            assembly.picks.drain(..dropped.min(messages.len()));
        }
        if let Some(own) = how["messages"].as_array() {
            assembly.new_messages = own.iter().map(Value::to_string).collect();
            assembly.picks = (0..own.len() as u32).map(Pick::new_message).collect();
            assembly.system_prompt_addition = how["addition"].as_str().map(str::to_owned);
        }
        Ok(assembly)
    }

    fn commit_turn(
        &mut self,
        messages: Messages<'_>,
        params: &CommitParams,
    ) -> Result<CommitResult, EngineError> {
        self.called("commitTurn", seen(params, Some(messages))?)?;
        Ok(CommitResult {
            status: CommitStatus::Committed,
        })
    }

    fn compact(&mut self, params: &CompactParams) -> Result<CompactResult, EngineError> {
        self.called("compact", seen(params, None)?)?;
        let how = self.how("compact").clone();
        if how.is_object() {
            return Ok(serde_json::from_value(how)?);
        }
        Ok(CompactResult {
            ok: true,
            reason: Some("nothing to compact".into()),
            ..CompactResult::default()
        })
    }

    fn dispose(&mut self) -> Result<(), EngineError> {
        self.called("dispose", json!({}))
    }
}
