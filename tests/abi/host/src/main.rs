//! A small host: loads the build directories it is given, uses every part of the contract once, and prints what it saw,
//! a fact a line. Variants put more in at the marks.

use openclaw_interface::hosting::{EngineInstance, HostServices};
use openclaw_interface::model::{AssembleParams, CommitParams, CreateContext, ToolCall};
use openclaw_interface::{EngineError, LogLevel, Message, Role};
use openclaw_loader::{Libraries, LoadError, Plugin, Trust, Vetted};
use std::path::Path;

struct Services;

impl HostServices for Services {
    fn log(&self, level: LogLevel, message: &str) {
        fact("log", format!("{level:?} {message}"));
    }

    fn is_cancelled(&self) -> bool {
        true
    }

    fn count_tokens(&self, text: &str) -> u64 {
        text.len() as u64 / 4
    }

    fn call(&self, service: &str, params_json: &str) -> Result<String, EngineError> {
        match service {
            "echo" => Ok(params_json.to_owned()),
            // mark: services
            _ => Err(EngineError::unsupported(service)),
        }
    }
}

fn fact(name: &str, value: impl std::fmt::Display) {
    println!("{name}\t{}", value.to_string().replace('\n', " "));
}

fn answer<T: std::fmt::Debug>(name: &str, answer: Result<T, EngineError>) {
    match answer {
        Ok(value) => fact(name, format!("{value:?}")),
        Err(error) => fact(name, format!("{:?}", error.code)),
    }
}

fn load(directory: &str, private: &str) -> Result<Plugin, LoadError> {
    let libraries = Libraries::below(Path::new(private));
    Vetted::read(Path::new(directory), &serde_json::Value::Null, &Trust::default())?.load(&libraries)
}

fn refused(error: &LoadError) {
    fact("refused", error.code());
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    fact("text", text);
    fact("help", error.help());
}

fn assemble(engine: &mut EngineInstance) {
    let messages = [
        Message::new("a", Role::User, 3, r#"{"role":"user"}"#),
        Message::new("b", Role::from_name("novel"), 4, r#"{"role":"novel"}"#),
        Message::new("c", Role::BashExecution, 5, r#"{"role":"bashExecution"}"#),
    ];
    #[allow(unused_mut, reason = "variants add to it")]
    let mut params = AssembleParams::default();
    // mark: params
    match engine.assemble(&messages, Some(1 << 40), &params) {
        Ok(assembly) => {
            let picks = assembly.picks.iter();
            let picks = picks.map(|pick| format!("{}/{}", pick.kind, pick.index));
            fact("picks", picks.collect::<Vec<_>>().join(" "));
            fact("new", assembly.new_messages.join(" "));
            fact("estimate", assembly.estimated_tokens);
            fact(
                "addition",
                assembly.system_prompt_addition.unwrap_or_default(),
            );
            fact("unknown", format!("{:?}", assembly.extra.other));
            // mark: assembly
        }
        Err(error) => fact("assemble", error),
    }
}

fn use_plugin(plugin: &Plugin) -> Result<(), EngineError> {
    fact("name", &plugin.info.name);
    let mut engine = plugin.factory.create(&CreateContext::default(), Services)?;
    assemble(&mut engine);
    let params = CommitParams {
        advancement_key: "k".into(),
        ..CommitParams::default()
    };
    let message = [Message::new("d", Role::Assistant, 1, "{}")];
    answer("commit", engine.commit_turn(&message, &params));
    answer("commit again", engine.commit_turn(&message, &params));
    answer("ping", engine.call("ping", "{}"));
    answer("newest", engine.call("newest", "{}"));
    answer("bootstrap", engine.bootstrap(&Default::default()));
    for tool in plugin.factory.tools()? {
        let call = ToolCall {
            name: tool.name,
            ..ToolCall::default()
        };
        answer(
            "tool",
            plugin
                .factory
                .execute_tool(&call, Services)
                .map(|answer| answer.text),
        );
    }
    // mark: engine
    answer("dispose", engine.dispose());
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [private, directories @ ..] = arguments.as_slice() else {
        panic!("give a private directory, and build directories")
    };
    for directory in directories {
        match load(directory, private) {
            Ok(plugin) => {
                if let Err(error) = use_plugin(&plugin) {
                    fact("failed", error);
                }
            }
            Err(error) => refused(&error),
        }
        fact("end", directory);
    }
}
