//! The tools of an embedded agent: files of the workspace, and commands.
//!
//! Each failure is a text that tells the model what to do next. File tools stay in the workspace, whatever a path or a
//! link says. `exec` starts in the workspace and gets no secret from this process, but a command has the rights of the
//! user; where that is too much, do not offer it.
//!
//! Half arguments, as a broken stream leaves them, are refused whole: nothing is done with a part.

mod apply_patch;
mod arguments;
mod edit;
mod exec;
mod ls;
mod patch;
mod places;
mod process;
mod read;
#[cfg(test)]
mod testing;
mod write;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use openclaw_host::{Cancel, ToolOutcome, ToolSpec, Tools};
use serde_json::Value;

use crate::secret::ApiKey;
use crate::utf16::utf16_len;
use crate::workspace::{AccessError, Workspace};
use arguments::Arguments;
use exec::Jobs;
use places::Places;

/// What the tools may touch.
#[derive(Clone)]
pub struct ToolSettings {
    /// Where files are read and written and commands start.
    pub workspace: Workspace,
    /// Directories elsewhere that may be read, such as those of skills.
    pub readable: Vec<Workspace>,
    /// What `~` means in a path to read.
    pub home: Option<PathBuf>,
    /// The environment of this process. Commands get the harmless part of it.
    pub environment: Vec<(OsString, OsString)>,
    /// Keys that no result may show, wherever a tool came across them.
    pub secrets: Vec<ApiKey>,
    /// How long a command may run that names no timeout.
    pub exec_timeout: Duration,
}

/// Names of all tools, in the order in which they are offered.
pub const TOOL_NAMES: [&str; 7] = [
    "ls",
    "read",
    "edit",
    "write",
    "apply_patch",
    "exec",
    "process",
];

/// The tools on offer. Dropping the set ends all its background commands.
pub struct ToolSet {
    tools: Vec<Box<dyn Tool>>,
    specs: Vec<ToolSpec>,
    secrets: Vec<ApiKey>,
}

/// One tool.
trait Tool: Send {
    fn spec(&self) -> ToolSpec;

    fn run(&mut self, arguments: &Arguments<'_>, cancel: &Cancel) -> Result<String, ToolFailure>;
}

/// Why a call came to nothing, in words for the model.
#[derive(Debug, PartialEq, Eq)]
struct ToolFailure(String);

impl From<AccessError> for ToolFailure {
    fn from(error: AccessError) -> Self {
        Self(error.to_string())
    }
}

fn fail<T>(text: impl Into<String>) -> Result<T, ToolFailure> {
    Err(ToolFailure(text.into()))
}

fn spec(name: &str, description: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    }
}

impl ToolSet {
    /// The tools whose names `is_offered` takes.
    #[must_use]
    pub fn new(settings: &ToolSettings, is_offered: impl Fn(&str) -> bool) -> Self {
        let places = Places::new(settings);
        let jobs = Jobs::default();
        let all: [Box<dyn Tool>; TOOL_NAMES.len()] = [
            Box::new(ls::Ls(places.clone())),
            Box::new(read::Read(places.clone())),
            Box::new(edit::Edit(places.clone())),
            Box::new(write::Write(places.clone())),
            Box::new(apply_patch::ApplyPatch(places)),
            Box::new(exec::Exec::new(settings, jobs.clone())),
            Box::new(process::Process(jobs)),
        ];
        let (mut tools, mut specs) = (Vec::new(), Vec::new());
        for tool in all {
            let spec = tool.spec();
            if is_offered(&spec.name) {
                tools.push(tool);
                specs.push(spec);
            }
        }
        Self {
            tools,
            specs,
            secrets: settings.secrets.clone(),
        }
    }
}

impl Tools for ToolSet {
    fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn run(&mut self, name: &str, arguments: &Value, cancel: &Cancel) -> ToolOutcome {
        let at = self.specs.iter().position(|spec| spec.name == name);
        let result = match at {
            Some(at) => Arguments::of(name, arguments)
                .and_then(|arguments| self.tools[at].run(&arguments, cancel)),
            None => {
                let names: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
                fail(format!(
                    "there is no tool `{name}`; there are: {}",
                    names.join(", ")
                ))
            }
        };
        let is_error = result.is_err();
        let (Ok(text) | Err(ToolFailure(text))) = result;
        let secrets = self.secrets.iter().filter(|secret| secret.is_telling());
        let text = secrets.fold(text, |text, secret| secret.hide_in(&text));
        ToolOutcome {
            text,
            is_error,
            ..ToolOutcome::default()
        }
    }
}

/// What a tool's schema takes of the context: chars of its parameters as JSON.
#[must_use]
pub fn schema_chars(tool: &ToolSpec) -> usize {
    utf16_len(&tool.parameters.to_string())
}

#[cfg(test)]
mod tests {
    use super::testing::Bench;
    use super::*;
    use serde_json::json;

    #[test]
    fn every_tool_has_a_schema_whose_size_is_known() {
        let bench = Bench::new();
        let names: Vec<&str> = bench
            .tools
            .specs()
            .iter()
            .map(|spec| spec.name.as_str())
            .collect();
        assert_eq!(names, TOOL_NAMES);
        for spec in bench.tools.specs() {
            assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
            assert!(
                schema_chars(spec) > 50 && schema_chars(spec) < 2_000,
                "{}",
                spec.name
            );
            let required = spec.parameters["required"].as_array().unwrap();
            for name in required {
                assert!(
                    spec.parameters["properties"]
                        .get(name.as_str().unwrap())
                        .is_some(),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn tools_that_are_not_offered_cannot_be_called() {
        let bench = Bench::new();
        let mut tools = ToolSet::new(&bench.settings, |name| name == "ls");
        let outcome = tools.run("exec", &json!({"command": "true"}), &Cancel::new());
        assert!(outcome.is_error);
        assert_eq!(outcome.text, "there is no tool `exec`; there are: ls");
    }

    #[test]
    fn keys_show_in_no_result() {
        let key = |key: &str| ApiKey::new(key).unwrap();
        let mut bench =
            Bench::with(|settings| settings.secrets = vec![key("made-up-key"), key("e")]);
        bench.file("env", "KEY=made-up-key e");
        assert_eq!(bench.ok("read", json!({"path": "env"})), "KEY=*** e");
        let shown = bench.fails("exec", json!({"command": "cat env; exit 1"}));
        assert_eq!(shown, "KEY=*** e\n\n[exit code 1]");
        assert_eq!(bench.text("env"), "KEY=made-up-key e");
    }

    /// Case P-8.
    #[test]
    fn half_arguments_do_nothing_and_say_so() {
        let mut bench = Bench::new();
        for spec in bench.tools.specs().to_vec() {
            for half in [
                json!("{\"path\":\"a"),
                json!(null),
                json!([1]),
                json!({}),
                json!({"path": 1, "command": 2}),
            ] {
                let outcome = bench.tools.run(&spec.name, &half, &Cancel::new());
                // Listing the workspace needs no argument.
                if spec.name == "ls" && half == json!({}) {
                    continue;
                }
                assert!(outcome.is_error, "{} {half}: {}", spec.name, outcome.text);
                assert!(
                    outcome.text.starts_with(&spec.name),
                    "{} {half}: {}",
                    spec.name,
                    outcome.text
                );
            }
        }
        assert_eq!(bench.names(), [""; 0]);
    }
}
