//! The engine that writes down its calls, and what it wrote.

use crate::home::Home;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A call as the engine saw it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Hook name; `factory` for making the instance.
    pub hook: String,
    /// Number of the instance, from 1.
    pub instance: u64,
    /// Parameters without messages.
    pub params: Value,
    /// The messages that came with it.
    pub messages: Vec<Value>,
    /// Budget of `assemble`.
    pub token_budget: Option<u64>,
    /// What the host's service answered, where one was called.
    pub service: Value,
    /// Whether this is the end of a call rather than its beginning.
    pub is_end: bool,
    /// At the end: whether the call was to end early.
    pub was_cancelled: bool,
}

impl Call {
    fn read(line: &str) -> Self {
        let line: Value = serde_json::from_str(line).expect("the recorder writes JSON");
        Self {
            hook: line["hook"].as_str().unwrap_or_default().to_owned(),
            instance: line["instance"].as_u64().unwrap_or_default(),
            params: line["params"].clone(),
            messages: line["messages"].as_array().cloned().unwrap_or_default(),
            token_budget: line["tokenBudget"].as_u64(),
            service: line["service"].clone(),
            is_end: line["ended"] == true,
            was_cancelled: line["cancelled"] == true,
        }
    }

    /// The names of its parameters.
    #[must_use]
    pub fn keys(&self) -> Vec<&str> {
        let object = self.params.as_object();
        object
            .map(|object| object.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }

    /// The roles of its messages.
    #[must_use]
    pub fn roles(&self) -> Vec<&str> {
        let roles = self.messages.iter().map(|message| message["role"].as_str());
        roles.map(Option::unwrap_or_default).collect()
    }
}

impl Home {
    /// Puts the recorder into the slot.
    ///
    /// - `descriptor`: what it says of itself in addition to its id, name and promises.
    /// - `hooks`: how its hooks behave.
    ///
    /// # Panics
    ///
    /// The descriptor has no room in the library.
    #[must_use]
    pub fn with_recorder(self, descriptor: &Value, hooks: &Value) -> Self {
        const MARKER: &[u8] = b"recorder-descriptor:";
        let settings = json!({ "log": self.recording(), "hooks": hooks });
        let home = self.with_engine("recorder", settings);
        let library = crate::library("recorder");
        let name = library.file_name().expect("a library has a name");
        let path = home.plugin_directory("recorder").join(name);
        let mut bytes = fs::read(&path).expect("the copy can be read");
        let found = bytes.windows(MARKER.len()).position(|it| it == MARKER);
        let at = found.expect("the library has the marker") + MARKER.len();
        let text = descriptor.to_string();
        let room = 1024 - MARKER.len();
        assert!(text.len() <= room, "{} bytes for {room}", text.len());
        let slot = &mut bytes[at..at + room];
        slot.fill(b' ');
        slot[..text.len()].copy_from_slice(text.as_bytes());
        fs::write(&path, bytes).expect("the copy can be written");
        home
    }

    /// Changes how the recorder's hooks behave, and which services they call: the next host has it so.
    pub fn set_recorder(&mut self, hooks: &Value, services: &Value) {
        let settings = json!({ "log": self.recording(), "hooks": hooks, "services": services });
        self.set_settings(&settings);
    }

    /// Where the recorder writes.
    #[must_use]
    pub fn recording(&self) -> PathBuf {
        self.path().join("calls.jsonl")
    }

    /// Beginnings and ends of all calls, in order.
    ///
    /// # Panics
    ///
    /// What was written is no recording.
    #[must_use]
    pub fn call_ends(&self) -> Vec<Call> {
        let text = fs::read_to_string(self.recording()).unwrap_or_default();
        text.lines().map(Call::read).collect()
    }

    /// All calls, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        let mut calls = self.call_ends();
        calls.retain(|call| !call.is_end);
        calls
    }

    /// The calls of one hook, in order.
    #[must_use]
    pub fn calls_of(&self, hook: &str) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| call.hook == hook);
        calls
    }

    /// The calls in the words of captured sequences: `assemble#1 messages=2`. Instances are counted from the first.
    #[must_use]
    pub fn sequence(&self) -> Vec<String> {
        let words = |call: &Call| match &*call.hook {
            "assemble" | "commitTurn" => {
                let (hook, instance) = (&call.hook, call.instance);
                format!("{hook}#{instance} messages={}", call.messages.len())
            }
            hook => format!("{hook}#{}", call.instance),
        };
        self.calls().iter().map(words).collect()
    }

    /// Forgets what was written so far.
    pub fn clear_recording(&self) {
        // It may not have been written yet.
        let _ = fs::remove_file(self.recording());
    }
}
