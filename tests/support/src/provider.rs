//! What a provider would find wrong with a request, and a tool to make requests with.

use openclaw_host::{Cancel, ToolOutcome, ToolSpec, Tools};
use serde_json::{Value, json};

/// A tool `ls` that answers with a text.
pub struct Lister {
    specs: [ToolSpec; 1],
    text: String,
}

impl Lister {
    /// - `text`: what it answers.
    #[must_use]
    pub fn saying(text: impl Into<String>) -> Self {
        let spec = ToolSpec {
            name: "ls".into(),
            description: "Lists files".into(),
            parameters: json!({}),
        };
        Self {
            specs: [spec],
            text: text.into(),
        }
    }
}

impl Tools for Lister {
    fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn run(&mut self, _name: &str, _arguments: &Value, _cancel: &Cancel) -> ToolOutcome {
        ToolOutcome {
            text: self.text.clone(),
            ..ToolOutcome::default()
        }
    }
}

/// Why a provider would refuse these messages; `None` when it takes them.
///
/// - `api`: the dialect; what it wants of neighbours and of the first message.
#[must_use]
pub fn refusal(messages: &[Value], api: &str) -> Option<String> {
    let role = |message: &Value| message["role"].as_str().unwrap_or("none").to_owned();
    let mut due: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if role(message) == "toolResult" {
            if due.is_empty() || message["toolCallId"] != due.remove(0).as_str() {
                return Some(format!(
                    "message {index} is a result of no call before it: {message}"
                ));
            }
            continue;
        }
        if !due.is_empty() {
            return Some(format!(
                "calls {due:?} have no results before message {index}"
            ));
        }
        let known = [
            "user",
            "assistant",
            "custom",
            "compactionSummary",
            "branchSummary",
            "bashExecution",
        ];
        if !known.contains(&&*role(message)) {
            return Some(format!("message {index} has the role {}", role(message)));
        }
        due = calls(message);
        if role(message) == "assistant" && message["content"].as_array().is_none_or(Vec::is_empty) {
            return Some(format!("message {index} is empty: {message}"));
        }
    }
    if !due.is_empty() {
        return Some(format!("calls {due:?} have no results"));
    }
    let asks_for_order = ["openai-completions", "anthropic-messages"].contains(&api);
    let neighbours = |two: &[Value]| role(&two[0]) == "assistant" && role(&two[1]) == "assistant";
    if asks_for_order && messages.windows(2).any(neighbours) {
        return Some("two assistant messages stand side by side".into());
    }
    if api == "openai-completions"
        && messages
            .first()
            .is_some_and(|first| role(first) == "assistant")
    {
        return Some("an assistant message comes first".into());
    }
    None
}

/// Ids of a message's calls.
fn calls(message: &Value) -> Vec<String> {
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "toolCall")
        .map(|block| block["id"].as_str().unwrap_or_default().to_owned())
        .collect()
}
