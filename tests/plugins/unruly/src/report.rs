//! Asks the host and writes down what came of it.

use crate::Unruly;
use openclaw_interface::EngineError;
use serde_json::{Map, Value, json};
use std::fs::OpenOptions;
use std::io::Write;

impl Unruly {
    /// Asks what the settings of a hook say, and adds a line to the report.
    pub(crate) fn report(
        &self,
        hook: &str,
        session_id: &str,
        offered: Option<&Vec<String>>,
    ) -> Result<(), EngineError> {
        let mut line = json!({ "hook": hook, "session": session_id });
        if let Some(offered) = offered {
            line["offered"] = json!(offered);
        }
        let asked = self.settings.get(hook).and_then(Value::as_object);
        let service = asked.and_then(|asked| asked.get("ask")?.as_str());
        let mut failure = None;
        if let (Some(asked), Some(service)) = (asked, service) {
            let with = asked.get("with").and_then(Value::as_object);
            let params = params(with.cloned().unwrap_or_default(), session_id);
            match self.host.call(service, &params.to_string()) {
                Ok(answer) => line["answer"] = serde_json::from_str(&answer)?,
                Err(error) => {
                    line["error"] = error.message.as_str().into();
                    failure = asked.contains_key("hand-on").then_some(error);
                }
            }
        }
        if let Some(path) = self.settings.get("report").and_then(Value::as_str) {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let written = file.and_then(|mut file| writeln!(file, "{line}"));
            written.map_err(|error| EngineError::failed(format!("no report: {error}")))?;
        }
        failure.map_or(Ok(()), |error| Err(EngineError::failed(error.message)))
    }
}

fn params(mut with: Map<String, Value>, session_id: &str) -> Value {
    if !with.contains_key("sessionTarget") {
        with.insert("sessionTarget".into(), json!({ "sessionId": session_id }));
    }
    Value::Object(with)
}
