//! Cases of the transcript's semantics, by their numbers, with an engine that writes down what it is offered and answered.

mod cited;
mod compaction;
mod degraded;
mod delivery;
mod fence;
mod hooks;
mod kinds;
mod maintenance;
mod outbox;
mod retries;
mod rewrite;

use openclaw_host::Host;
use openclaw_interface::model::service::DeltaRequest;
use serde_json::{Value, json};
use std::fs;
use support::Home;

const SESSION: &str = "agent:main:main";

/// A home whose engine reports.
struct Reporting {
    home: Home,
    path: String,
}

impl Reporting {
    /// - `settings`: what the engine does besides.
    fn new(settings: Value) -> Self {
        let home = Home::new();
        let path = home.path().join("report").display().to_string();
        let home = home.with_engine("unruly", Value::Null);
        let mut reporting = Self { home, path };
        reporting.set(settings);
        reporting
    }

    /// Changes what the engine does: the next host has it.
    fn set(&mut self, mut settings: Value) {
        settings["report"] = self.path.as_str().into();
        self.home.set_settings(&settings);
    }

    /// The lines written since the last look.
    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        fs::remove_file(&self.path).ok();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// A visible read without a fence.
fn delta(host: &Host, cursor: Option<&str>) -> Value {
    let mut request = DeltaRequest {
        cursor: cursor.map(str::to_owned),
        ..DeltaRequest::default()
    };
    request.session_target.session_key = Some(SESSION.into());
    let answer = host.store().delta("main", &request).unwrap();
    serde_json::from_str(&answer).unwrap()
}

/// Texts of the user messages in a page.
fn users(page: &Value) -> Vec<&str> {
    let entries = page["entries"].as_array().unwrap();
    let users = entries.iter().filter(|entry| entry["role"] == "user");
    users
        .map(|entry| entry["message"]["content"].as_str().unwrap())
        .collect()
}

/// Asks for visible messages.
fn asking_delta(with: &Value) -> Value {
    json!({ "ask": "transcript.delta", "with": with })
}
