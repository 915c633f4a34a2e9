//! Kills a host while its engine rewrites the transcript or gets what it is owed: nothing is half, lost or doubled.
//!
//! The host runs in a child process, which is this test binary again.

mod deliveries;
mod rewrites;

use openclaw_host::{
    Ambient, Host, HostSettings, NoTools, PluginSource, Slot, Store, Trust, TurnRequest,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{ScriptedModel, build_directory, request};

/// What a child is to do, as JSON.
const TASK: &str = "OPENCLAW_TEST_TURN";

/// A home whose turns run in processes of their own.
struct Home {
    directory: tempfile::TempDir,
    plugin: PathBuf,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let plugin = build_directory("unruly", directory.path());
        Self { directory, plugin }
    }

    fn native_dir(&self) -> PathBuf {
        self.directory.path().join("native")
    }

    /// A process that runs one turn.
    fn turn(&self, session_key: &str, turn_id: &str, settings: &Value) -> Command {
        let task = json!({
            "nativeDir": self.native_dir(), "pluginDir": self.plugin, "settings": settings,
            "sessionKey": session_key, "turnId": turn_id,
        });
        let own = std::env::current_exe().expect("a test knows its own path");
        let mut command = Command::new(own);
        command
            .args(["--exact", "kill::one_turn_in_a_child", "--nocapture"])
            .env(TASK, task.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs one turn to its end and says how long it took.
    fn finish(&self, session_key: &str, turn_id: &str, settings: &Value) -> Duration {
        let started = Instant::now();
        let ended = self.turn(session_key, turn_id, settings).status();
        assert!(ended.expect("a child can be run").success(), "{turn_id}");
        started.elapsed()
    }

    fn store(&self) -> Store {
        let path = HostSettings::store_path(&self.native_dir(), "main");
        let store = Store::open(&path, ambient()).expect("the store opens without repair");
        store.verify().expect("the store is sound");
        store
    }

    /// Ids of the turns the engine has stored.
    fn committed(&self) -> Vec<String> {
        let turns = self.native_dir().join("agents/main/unruly");
        let files = std::fs::read_dir(turns).into_iter().flatten().flatten();
        let text = |hex: &str| {
            let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16);
            let bytes = (0..hex.len()).step_by(2).map(digits);
            let bytes = bytes.collect::<Result<Vec<u8>, _>>().expect("hex digits");
            String::from_utf8(bytes).expect("a key is text")
        };
        let mut ids: Vec<String> = files
            .map(|file| text(&file.file_name().to_string_lossy()))
            .collect();
        ids.sort();
        ids
    }
}

/// Ids that no other process gives out.
fn ambient() -> Ambient {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let own = std::process::id();
    let started = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    Ambient::new(
        || 1_777_629_600_000,
        move || format!("{started}-{own}-{}", NEXT.fetch_add(1, Ordering::Relaxed)),
    )
}

/// The child's side. A test run of its own has no task, and nothing to do.
#[test]
fn one_turn_in_a_child() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let task: Value = serde_json::from_str(&task).expect("a task is JSON");
    let text = |name: &str| task[name].as_str().expect("a task is complete").to_owned();
    let host = Host::open(HostSettings {
        native_dir: text("nativeDir").into(),
        agent_id: "main".into(),
        workspace_dir: None,
        slot: Slot::Engine("unruly".into()),
        plugins: vec![PluginSource {
            id: "unruly".into(),
            directory: text("pluginDir").into(),
            settings: task["settings"].clone(),
            trust: Trust::default(),
        }],
        strict: false,
        lane_wait: Duration::from_secs(20),
        handover_wait: Duration::ZERO,
        leaked_generations: 1,
        compaction: openclaw_host::compaction::CompactionPolicy::default(),
        ambient: ambient(),
    })
    .expect("the store opens");
    let turn = TurnRequest {
        session_key: text("sessionKey"),
        turn_id: Some(text("turnId")),
        ..request(&text("turnId"))
    };
    let outcome = host.turn(turn, &mut ScriptedModel::done(), &mut NoTools, &mut |_| {});
    outcome.expect("the turn ends");
}

/// User texts of a session's active path with the number of assistant messages behind each, and the entry ids of the user
/// messages.
fn conversation(store: &Store, session_key: &str) -> (Vec<(String, usize)>, Vec<String>) {
    let session = store
        .session(session_key)
        .expect("the store can be read")
        .expect("the session is there");
    let (mut turns, mut ids) = (Vec::<(String, usize)>::new(), Vec::new());
    for entry in store.path_of(&session).expect("the path can be read") {
        let Some(message) = entry.row.message() else {
            continue;
        };
        let json: Value = serde_json::from_str(message.json()).expect("a message is JSON");
        if json["role"] == "user" {
            turns.push((json["content"].as_str().expect("text").to_owned(), 0));
            ids.push(entry.row.id().expect("an id").to_owned());
        } else {
            turns.last_mut().expect("a user speaks first").1 += 1;
        }
    }
    (turns, ids)
}

/// Names in the directory of the agent.
fn agent_files(native_dir: &Path) -> Vec<String> {
    let files = std::fs::read_dir(native_dir.join("agents/main"));
    let names = files.into_iter().flatten().flatten();
    names
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect()
}
