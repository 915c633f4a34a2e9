//! Engines replaced while a host runs.

mod generations;
mod refused;
mod under_load;
mod unload;

use openclaw_host::{Host, Reloaded};
use serde_json::{Value, json};
use support::{Build, Home, ScriptedModel, turn};

const ENGINE: &str = "unloadable";

/// A home whose engine says which build it is.
fn home(settings: Value) -> Home {
    Home::new().with_engine(ENGINE, settings)
}

fn put(home: &Home, build: &Build) {
    build.put(ENGINE, &home.plugin_dir(ENGINE));
}

/// The build that serves a turn, by what it adds to the system prompt, and its generation.
#[track_caller]
fn serving(host: &Host) -> (String, u64) {
    let mut model = ScriptedModel::done();
    let outcome = turn(host, "hello", None, &mut model).unwrap();
    let record = outcome.record;
    assert_eq!(record.substitution, None);
    let (system_prompt, _) = model.requests.last().unwrap();
    let build = system_prompt.split("build=").nth(1).unwrap();
    let build = build.split_whitespace().next().unwrap().to_owned();
    assert_eq!(record.served.version.as_deref(), Some(build.as_str()));
    (build, record.served.generation.unwrap())
}

#[track_caller]
fn replaced(host: &Host) -> u64 {
    match host.reload(ENGINE).unwrap() {
        Reloaded::Replaced { generation, .. } => generation,
        unchanged @ Reloaded::Unchanged { .. } => panic!("{unchanged:?}"),
    }
}

/// Nothing is set.
fn plain() -> Value {
    json!({})
}
