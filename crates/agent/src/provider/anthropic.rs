//! Messages, as Anthropic speaks: the body of a request, and its answer.

mod answer;
#[cfg(test)]
mod tests;

use openclaw_host::{ModelInfo, ModelRequest};
use serde_json::{Map, Value, json};

use super::dialect::Reader;
use super::failure::Failure;
use super::history::{Call, CallResult, Image, Item, Said, history};

/// Tokens an answer may take when nobody says; the dialect wants a number.
const DEFAULT_OUTPUT_TOKENS: u64 = 8_192;
/// The first message has to be a user's; a cut history may begin with an answer.
const CONTINUED: &str = "[the conversation goes on]";

pub(super) fn reader() -> Box<dyn Reader> {
    Box::new(answer::Answer::default())
}

pub(super) fn body(
    info: &ModelInfo,
    request: ModelRequest<'_>,
    accepts_images: bool,
) -> Result<String, Failure> {
    let half_window = (info.context_window_tokens / 2).max(1);
    let limit = info.max_output_tokens;
    let limit = limit.unwrap_or(DEFAULT_OUTPUT_TOKENS.min(half_window));
    let mut body = Map::new();
    body.insert("model".to_owned(), info.id.clone().into());
    body.insert("max_tokens".to_owned(), limit.into());
    if !request.system_prompt.is_empty() {
        let system = marked(json!({"type": "text", "text": request.system_prompt}));
        body.insert("system".to_owned(), json!([system]));
    }
    let messages = messages(request.messages, accepts_images)?;
    body.insert("messages".to_owned(), messages.into());
    body.insert("stream".to_owned(), true.into());
    if !request.tools.is_empty() {
        let tool = |tool: &openclaw_host::ToolSpec| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters});
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    Ok(Value::Object(body).to_string())
}

/// A block up to which the provider may keep what it read.
fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

fn messages(messages: &[&str], accepts_images: bool) -> Result<Vec<Value>, Failure> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for said in history(messages, accepts_images)? {
        let (role, blocks) = match said {
            Said::User(items) => ("user", items.into_iter().map(item).collect()),
            Said::Assistant { text, calls } => ("assistant", assistant(&text, &calls)),
            Said::Result(result) => ("user", vec![tool_result(result)]),
        };
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    if turns.first().is_some_and(|(role, _)| *role == "assistant") {
        turns.insert(0, ("user", vec![text(CONTINUED)]));
    }
    if let Some(last) = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut()) {
        *last = marked(last.take());
    }
    let message = |(role, content)| json!({"role": role, "content": Value::Array(content)});
    Ok(turns.into_iter().map(message).collect())
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn item(item: Item) -> Value {
    match item {
        Item::Text(words) => text(&words),
        Item::Image(picture) => image(&picture),
    }
}

fn image(image: &Image) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": image.data}})
}

fn assistant(words: &str, calls: &[Call]) -> Vec<Value> {
    // The dialect refuses texts of white space.
    let said = Some(words).filter(|words| !words.trim().is_empty() || calls.is_empty());
    let call = |call: &Call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": super::object(&call.arguments)});
    said.map(text)
        .into_iter()
        .chain(calls.iter().map(call))
        .collect()
}

fn tool_result(result: CallResult) -> Value {
    let mut content = vec![text(&result.text)];
    content.extend(result.images.iter().map(image));
    let mut block = json!({"type": "tool_result", "tool_use_id": result.id, "content": content});
    if result.is_error {
        block["is_error"] = true.into();
    }
    block
}
