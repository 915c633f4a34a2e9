//! A host in memory, for testing an engine without any gateway.
//!
//! Runs turns as a host does, with a fresh instance for each operation, and checks what a host would mend or refuse:
//! picks that name nothing, torn pairs, an answer over budget, a commit that is not idempotent. A broken rule panics
//! with the rule's name, so that a test fails where the engine is wrong. With the feature `testing`.
//!
//! ```
//! # use openclaw_interface::*;
//! # struct Newest;
//! # impl ContextEngine for Newest {
//! #     const ID: &'static str = "newest";
//! #     fn info() -> Info { Info::new(Self::ID, "Newest") }
//! #     fn create(_: CreateContext, _: Host) -> Result<Self, EngineError> { Ok(Self) }
//! #     fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
//! #         let count = request.messages.len();
//! #         Ok(Assembly::keeping(request.messages, count.saturating_sub(2)..count))
//! #     }
//! # }
//! use openclaw_interface::testing::{TestHost, assistant, user};
//!
//! let mut host = TestHost::<Newest>::new();
//! host.add(user("one"));
//! host.add(assistant("two"));
//! host.add(user("three"));
//! assert_eq!(host.shown(), ["two", "three"]);
//! ```

use crate::ContextEngine;
use crate::author::LogLevel;
use crate::hosting::{EngineFactory, EngineInstance, HostServices};
use crate::model::{
    AssembleParams, Assembly, CommitParams, CommitStatus, CreateContext, EngineError, Info,
    Message, Role, SessionParams,
};
use serde_json::{Value, json};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A message made for a test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestMessage {
    id: String,
    role: Role,
    tokens: u32,
    json: String,
}

impl TestMessage {
    /// A message from its JSON object; a token for each four bytes, rounded up.
    ///
    /// # Panics
    ///
    /// `json` is no object with a `role`.
    #[must_use]
    pub fn new(json: &Value) -> Self {
        let role = json["role"].as_str().expect("a message has a role");
        let text = json.to_string();
        let tokens = u32::try_from(text.len().div_ceil(4)).expect("a test message is small");
        Self {
            id: String::new(),
            role: Role::from_name(role),
            tokens,
            json: text,
        }
    }

    /// The same with a number of tokens.
    #[must_use]
    pub fn tokens(mut self, tokens: u32) -> Self {
        self.tokens = tokens;
        self
    }

    fn view(&self) -> Message<'_> {
        Message::new(&self.id, self.role, self.tokens, &self.json)
    }

    /// The text of the message, or its tool call or result in short.
    fn text(&self) -> String {
        let json: Value = serde_json::from_str(&self.json).unwrap_or_default();
        let part = |block: &Value| match block["type"].as_str() {
            Some("toolCall") => format!("call {}", block["id"].as_str().unwrap_or_default()),
            _ => block["text"].as_str().unwrap_or_default().to_owned(),
        };
        match &json["content"] {
            Value::String(text) => text.clone(),
            Value::Array(blocks) => blocks.iter().map(part).collect::<Vec<_>>().join(" "),
            _ => String::new(),
        }
    }

    fn calls(&self) -> Vec<String> {
        let json: Value = serde_json::from_str(&self.json).unwrap_or_default();
        let blocks = json["content"].as_array().cloned().unwrap_or_default();
        let calls = blocks.iter().filter(|block| block["type"] == "toolCall");
        calls
            .filter_map(|block| block["id"].as_str().map(str::to_owned))
            .collect()
    }

    fn answers(&self) -> Option<String> {
        let json: Value = serde_json::from_str(&self.json).unwrap_or_default();
        json["toolCallId"].as_str().map(str::to_owned)
    }
}

/// What a user says.
#[must_use]
pub fn user(text: &str) -> TestMessage {
    TestMessage::new(&json!({ "role": "user", "content": text }))
}

/// What the model says.
#[must_use]
pub fn assistant(text: &str) -> TestMessage {
    TestMessage::new(&json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }))
}

/// A message in which the model calls tools, by the ids of the calls.
#[must_use]
pub fn calls(ids: &[&str]) -> TestMessage {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "type": "toolCall", "id": id, "name": "tool", "arguments": {} }))
        .collect();
    TestMessage::new(&json!({ "role": "assistant", "content": calls }))
}

/// The result of a call.
#[must_use]
pub fn result(id: &str, text: &str) -> TestMessage {
    TestMessage::new(&json!({
        "role": "toolResult", "toolCallId": id, "toolName": "tool", "isError": false,
        "content": [{ "type": "text", "text": text }],
    }))
}

/// A host in memory with one session.
pub struct TestHost<E> {
    factory: EngineFactory,
    info: Info,
    context: CreateContext,
    services: Services,
    messages: Vec<TestMessage>,
    turns: usize,
    engine: PhantomData<E>,
}

/// A service of the host as a function: takes and answers a JSON object.
type Service = Box<dyn Fn(&str) -> Result<String, EngineError> + Send + Sync>;

#[derive(Clone, Default)]
struct Services {
    logs: Arc<Mutex<Vec<(LogLevel, String)>>>,
    offered: Arc<Mutex<Vec<(String, Service)>>>,
}

impl<E: ContextEngine> TestHost<E> {
    /// A host with an empty session and no directory.
    ///
    /// # Panics
    ///
    /// The engine does not describe itself.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a default that panics surprises"
    )]
    pub fn new() -> Self {
        let (factory, info) = EngineFactory::built_in::<E>().expect("the engine describes itself");
        assert_eq!(info.id, E::ID, "rule: info.id is the engine's ID");
        assert!(!info.name.trim().is_empty(), "rule: info.name is not blank");
        Self {
            factory,
            info,
            context: CreateContext::default(),
            services: Services::default(),
            messages: Vec::new(),
            turns: 0,
            engine: PhantomData,
        }
    }

    /// Sets the plugin's settings.
    ///
    /// # Panics
    ///
    /// They are no object.
    #[must_use]
    pub fn settings(mut self, settings: Value) -> Self {
        self.context.settings = settings
            .as_object()
            .expect("settings are an object")
            .clone();
        self
    }

    /// Sets the directory of the agent's state.
    #[must_use]
    pub fn agent_dir(mut self, directory: &Path) -> Self {
        self.context.agent_dir = Some(directory.to_owned());
        self
    }

    /// Offers a service.
    #[must_use]
    pub fn offer(
        self,
        name: &str,
        service: impl Fn(&str) -> Result<String, EngineError> + Send + Sync + 'static,
    ) -> Self {
        lock(&self.services.offered).push((name.to_owned(), Box::new(service)));
        self
    }

    /// Puts a message at the end of the session without telling the engine.
    pub fn add(&mut self, mut message: TestMessage) {
        message.id = format!("entry-{}", self.messages.len());
        self.messages.push(message);
    }

    /// A fresh instance.
    ///
    /// # Errors
    ///
    /// The engine's factory failed.
    pub fn instance(&self) -> Result<EngineInstance, EngineError> {
        self.factory.create(&self.context, self.services.clone())
    }

    /// Assembles the session within `budget` tokens and checks the answer.
    ///
    /// # Panics
    ///
    /// The engine fails or breaks a rule.
    #[must_use]
    pub fn assemble(&self, budget: Option<u64>) -> Assembly {
        let mut engine = self.instance().expect("the engine can be made");
        let views: Vec<Message<'_>> = self.messages.iter().map(TestMessage::view).collect();
        let params = AssembleParams {
            session_id: "session".into(),
            ..AssembleParams::default()
        };
        let assembly = engine
            .assemble(&views, budget, &params)
            .expect("assemble answers");
        engine.dispose().expect("dispose answers");
        self.check(&assembly, budget);
        assembly
    }

    /// The texts the model would get without a budget.
    ///
    /// # Panics
    ///
    /// As [`Self::assemble`].
    #[must_use]
    pub fn shown(&self) -> Vec<String> {
        self.texts(&self.assemble(None))
    }

    /// The texts the model would get within a budget.
    ///
    /// # Panics
    ///
    /// As [`Self::assemble`].
    #[must_use]
    pub fn shown_within(&self, budget: u64) -> Vec<String> {
        self.texts(&self.assemble(Some(budget)))
    }

    /// One whole turn: bootstrap when there is history, assemble, the user's text and the model's reply, commit, and the
    /// same commit once more, which must be a duplicate.
    ///
    /// # Panics
    ///
    /// The engine fails or breaks a rule.
    pub fn turn(&mut self, text: &str, reply: &str) {
        if !self.messages.is_empty() {
            let params = SessionParams {
                session_id: "session".into(),
                ..SessionParams::default()
            };
            let bootstrap = self
                .instance()
                .expect("the engine can be made")
                .bootstrap(&params);
            assert!(
                bootstrap
                    .as_ref()
                    .err()
                    .is_none_or(EngineError::is_unsupported),
                "bootstrap: {bootstrap:?}"
            );
        }
        let _ = self.assemble(None);
        let start = self.messages.len();
        self.add(user(text));
        self.add(assistant(reply));
        self.turns += 1;
        if self.info.transcript_semantics.is_some() {
            let status = self.commit(start);
            assert_eq!(
                status,
                CommitStatus::Committed,
                "rule: the first commit of a turn is `committed`"
            );
            let again = self.commit(start);
            assert_eq!(
                again,
                CommitStatus::Duplicate,
                "rule: the same key again is `duplicate`, on any instance"
            );
        }
    }

    /// Lines the engine has logged.
    #[must_use]
    pub fn logs(&self) -> Vec<(LogLevel, String)> {
        lock(&self.services.logs).clone()
    }

    fn commit(&self, start: usize) -> CommitStatus {
        let mut engine = self.instance().expect("the engine can be made");
        let views: Vec<Message<'_>> = self.messages[start..]
            .iter()
            .map(TestMessage::view)
            .collect();
        let mut params = CommitParams {
            advancement_key: format!("turn-{}", self.turns),
            session_id: "session".into(),
            ..CommitParams::default()
        };
        params
            .admission
            .entry_id
            .clone_from(&self.messages[start].id);
        params.terminal.entry_id = self
            .messages
            .last()
            .map(|message| message.id.clone())
            .unwrap_or_default();
        engine
            .commit_turn(&views, &params)
            .expect("commit_turn answers")
            .status
    }

    fn texts(&self, assembly: &Assembly) -> Vec<String> {
        self.picked(assembly)
            .iter()
            .map(TestMessage::text)
            .collect()
    }

    fn picked(&self, assembly: &Assembly) -> Vec<TestMessage> {
        let fresh: Vec<TestMessage> = assembly
            .new_messages
            .iter()
            .map(|json| {
                TestMessage::new(
                    &serde_json::from_str(json).expect("rule: a new message is a JSON object"),
                )
            })
            .collect();
        let list = |is_input: bool| if is_input { &self.messages } else { &fresh };
        let pick = |pick: &crate::abi::Pick| {
            assert!(
                pick.is_input() || pick.is_new_message(),
                "rule: a pick names one of the two lists, not {pick:?}"
            );
            let found = list(pick.is_input()).get(pick.index as usize);
            found
                .unwrap_or_else(|| {
                    panic!("rule: a pick names a message that is there, not {pick:?}")
                })
                .clone()
        };
        assembly.picks.iter().map(pick).collect()
    }

    fn check(&self, assembly: &Assembly, budget: Option<u64>) {
        let mut inputs: Vec<u32> = assembly
            .picks
            .iter()
            .filter(|pick| pick.is_input())
            .map(|pick| pick.index)
            .collect();
        let count = inputs.len();
        inputs.sort_unstable();
        inputs.dedup();
        assert_eq!(inputs.len(), count, "rule: no message is taken twice");
        let picked = self.picked(assembly);
        let tokens: u64 = picked.iter().map(|message| u64::from(message.tokens)).sum();
        if let Some(budget) = budget {
            assert!(
                tokens <= budget,
                "rule: the answer fits the budget; {tokens} tokens for {budget}"
            );
        }
        let mut open: Vec<String> = Vec::new();
        for message in &picked {
            match message.answers() {
                Some(id) => {
                    let at = open.iter().position(|call| *call == id);
                    open.remove(at.unwrap_or_else(|| {
                        panic!("rule: a result stands behind its call; `{id}` does not")
                    }));
                }
                None => {
                    assert_eq!(
                        open,
                        [] as [String; 0],
                        "rule: every call has its result directly behind it"
                    );
                    open = message.calls();
                }
            }
        }
        assert_eq!(
            open,
            [] as [String; 0],
            "rule: every call has its result directly behind it"
        );
    }
}

impl HostServices for Services {
    fn log(&self, level: LogLevel, message: &str) {
        lock(&self.logs).push((level, message.to_owned()));
    }

    fn is_cancelled(&self) -> bool {
        false
    }

    fn count_tokens(&self, text: &str) -> u64 {
        text.len().div_ceil(4) as u64
    }

    fn call(&self, service: &str, params_json: &str) -> Result<String, EngineError> {
        let offered = lock(&self.offered);
        let found = offered.iter().find(|(name, _)| name == service);
        found.map_or_else(
            || Err(EngineError::unsupported(service)),
            |(_, service)| service(params_json),
        )
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
