//! Engines written in C: compiled here, loaded and called like any other.

mod broken;
mod example;
mod hooks;
mod layout;

use openclaw_interface::hosting::{EngineInstance, HostServices, NoServices};
use openclaw_interface::model::{AssembleParams, CreateContext};
use openclaw_interface::{Assembly, EngineError, LogLevel, Message, Role};
use openclaw_loader::{LoadError, Plugin, library_file_name};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use support::load;

/// From the root of the tree.
fn place(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// The C compiler; one is needed to build this tree at all.
fn cc() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".into())
}

/// Whether there is a compiler of that name; says so when not. The full check sets `OPENCLAW_COMPILERS_REQUIRED`, and then
/// it has to be there.
fn has_compiler(name: &str) -> bool {
    let has = Command::new(name)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !has {
        let is_required = std::env::var_os("OPENCLAW_COMPILERS_REQUIRED").is_some();
        assert!(!is_required, "there is no {name}");
        println!("skipped: there is no {name}");
    }
    has
}

/// Runs a compiler with the header in reach.
fn compile(compiler: &str, arguments: &[&str], source: &Path, output: &Path) {
    let run = Command::new(compiler)
        .args(arguments)
        .arg("-I")
        .arg(place("crates/interface/include"))
        .arg(source)
        .arg("-o")
        .arg(output)
        .output()
        .unwrap_or_else(|error| panic!("a C compiler is needed, {compiler} does not run: {error}"));
    assert!(
        run.status.success(),
        "{compiler}: {}",
        String::from_utf8_lossy(&run.stderr)
    );
}

const LIBRARY: [&str; 5] = ["-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-O0"];

/// A build directory of engine `id`, compiled from `source`.
fn built(home: &Path, id: &str, source: &Path, definitions: &[&str]) -> PathBuf {
    let directory = home.join(id);
    fs::create_dir_all(&directory).unwrap();
    let library = directory.join(library_file_name(&id.replace('-', "_")));
    let arguments = [&LIBRARY[..], definitions].concat();
    compile(&cc(), &arguments, source, &library);
    let manifest = json!({ "id": id, "configSchema": { "type": "object" } });
    fs::write(directory.join("openclaw.plugin.json"), manifest.to_string()).unwrap();
    directory
}

fn odd_source() -> PathBuf {
    place("tests/it/src/c_door/odd.c")
}

/// The engine that does what its settings say, spoilt by `definitions`.
fn load_odd(definitions: &[&str]) -> Result<Plugin, LoadError> {
    let home = tempfile::tempdir().unwrap();
    load(&built(home.path(), "odd", &odd_source(), definitions))
}

/// Keeps what an engine logs.
#[derive(Clone, Default)]
struct Services(Arc<Mutex<Vec<(LogLevel, String)>>>);

impl Services {
    fn lines(&self) -> Vec<(LogLevel, String)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl HostServices for Services {
    fn log(&self, level: LogLevel, message: &str) {
        self.0.lock().unwrap().push((level, message.to_owned()));
    }

    fn is_cancelled(&self) -> bool {
        true
    }

    fn count_tokens(&self, text: &str) -> u64 {
        NoServices.count_tokens(text) + 40
    }

    fn call(&self, service: &str, params_json: &str) -> Result<String, EngineError> {
        match service {
            "echo" => Ok(format!("echo {params_json}")),
            "panic" => panic!("the service panics"),
            _ => Err(EngineError::unsupported(service)),
        }
    }
}

/// An instance that does `what`.
fn odd(plugin: &Plugin, what: &str, services: impl HostServices) -> EngineInstance {
    try_odd(plugin, what, services).unwrap()
}

fn try_odd(
    plugin: &Plugin,
    what: &str,
    services: impl HostServices,
) -> Result<EngineInstance, EngineError> {
    let context = CreateContext {
        settings: json!({ "do": what }).as_object().unwrap().clone(),
        ..CreateContext::default()
    };
    plugin.factory.create(&context, services)
}

/// What an instance that does `what` answers for two messages.
fn assemble(plugin: &Plugin, what: &str) -> Result<Assembly, EngineError> {
    odd(plugin, what, Services::default()).assemble(
        &two_messages(),
        Some(500),
        &AssembleParams::default(),
    )
}

fn two_messages() -> [Message<'static>; 2] {
    [
        Message::new("a", Role::User, 3, r#"{"role":"user","content":"hi"}"#),
        Message::new(
            "b",
            Role::Assistant,
            4,
            r#"{"role":"assistant","content":[]}"#,
        ),
    ]
}
