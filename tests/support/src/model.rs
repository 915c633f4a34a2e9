//! A model that follows a script.

use openclaw_host::{
    Block, Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest, Stop, Usage,
};
use serde_json::Value;
use std::collections::VecDeque;

/// Answers in the order of its script, then repeats `done`. Keeps every request.
pub struct ScriptedModel {
    info: ModelInfo,
    script: VecDeque<Result<ModelReply, ModelErrorKind>>,
    /// System prompt and messages of each request.
    pub requests: Vec<(String, Vec<Value>)>,
}

impl ScriptedModel {
    /// A model with a window, and what it answers.
    #[must_use]
    pub fn new(
        context_window_tokens: u64,
        script: impl IntoIterator<Item = Result<ModelReply, ModelErrorKind>>,
    ) -> Self {
        let info = ModelInfo {
            provider: "scripted".into(),
            id: "script".into(),
            api: "scripted".into(),
            context_window_tokens,
            max_output_tokens: None,
        };
        Self {
            info,
            script: script.into_iter().collect(),
            requests: Vec::new(),
        }
    }

    /// The same with another id.
    #[must_use]
    pub fn named(mut self, id: &str) -> Self {
        self.info.id = id.to_owned();
        self
    }

    /// The same at a provider, spoken to in a dialect.
    #[must_use]
    pub fn at(mut self, provider: &str, api: &str) -> Self {
        self.info.provider = provider.to_owned();
        self.info.api = api.to_owned();
        self
    }

    /// A model that always says `done`.
    #[must_use]
    pub fn done() -> Self {
        Self::new(100_000, [])
    }

    /// Texts of the user messages of the last request.
    ///
    /// # Panics
    ///
    /// Nothing was asked.
    #[must_use]
    pub fn last_user_texts(&self) -> Vec<String> {
        let (_, messages) = self.requests.last().expect("the model was asked");
        let users = messages.iter().filter(|message| message["role"] == "user");
        users
            .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// An answer that says something and ends.
#[must_use]
pub fn say(text: &str) -> ModelReply {
    ModelReply {
        content: vec![Block::Text(text.to_owned())],
        stop: Stop::Stop,
        usage: Some(Usage {
            input_tokens: 10,
            output_tokens: 2,
            ..Usage::default()
        }),
        response_id: None,
    }
}

/// An answer that calls a tool.
#[must_use]
pub fn call(id: &str, name: &str) -> ModelReply {
    let call = Block::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: serde_json::json!({ "path": "." }),
    };
    ModelReply {
        content: vec![call],
        stop: Stop::ToolUse,
        usage: None,
        response_id: None,
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        let messages = request
            .messages
            .iter()
            .map(|message| serde_json::from_str(message).expect("a message is JSON"));
        self.requests
            .push((request.system_prompt.to_owned(), messages.collect()));
        let reply = self.script.pop_front().unwrap_or_else(|| Ok(say("done")));
        if let Ok(reply) = &reply {
            for block in &reply.content {
                if let Block::Text(text) = block {
                    on_text(text);
                }
            }
        }
        reply.map_err(|kind| ModelError {
            provider: "scripted".into(),
            model: "script".into(),
            kind,
            reason: "the script says so".into(),
        })
    }
}
