//! Chat, as Ollama speaks: the body of a request, and its answer.

mod answer;
#[cfg(test)]
mod tests;

use openclaw_host::{ModelInfo, ModelRequest};
use serde_json::{Map, Value, json};

use super::dialect::Reader;
use super::failure::Failure;
use super::history::{Call, Image, Item, Said, history};
use super::openai;

pub(super) fn reader() -> Box<dyn Reader> {
    Box::new(answer::Answer::default())
}

pub(super) fn body(
    info: &ModelInfo,
    request: ModelRequest<'_>,
    accepts_images: bool,
) -> Result<String, Failure> {
    let mut messages = Vec::new();
    if !request.system_prompt.is_empty() {
        messages.push(json!({"role": "system", "content": request.system_prompt}));
    }
    let history = history(request.messages, accepts_images)?;
    messages.extend(history.into_iter().map(message));
    // Without its size the server would cut the prompt to a few thousand tokens, in silence.
    let mut options = json!({"num_ctx": info.context_window_tokens});
    if let Some(limit) = info.max_output_tokens {
        options["num_predict"] = limit.into();
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), info.id.clone().into());
    body.insert("messages".to_owned(), messages.into());
    body.insert("stream".to_owned(), true.into());
    if !request.tools.is_empty() {
        body.insert(
            "tools".to_owned(),
            request.tools.iter().map(openai::tool).collect(),
        );
    }
    body.insert("options".to_owned(), options);
    Ok(Value::Object(body).to_string())
}

fn message(said: Said) -> Value {
    match said {
        Said::User(items) => {
            let texts = items.iter().filter_map(|item| match item {
                Item::Text(text) => Some(text.as_str()),
                Item::Image(_) => None,
            });
            let content = texts.collect::<Vec<_>>().join("\n");
            let images = items.iter().filter_map(|item| match item {
                Item::Image(image) => Some(image),
                Item::Text(_) => None,
            });
            with_images(json!({"role": "user", "content": content}), images)
        }
        Said::Assistant { text, calls } => {
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                let call = |call: &Call| json!({"function": {"name": call.name, "arguments": super::object(&call.arguments)}});
                message["tool_calls"] = calls.iter().map(call).collect();
            }
            message
        }
        Said::Result(result) => {
            let message = json!({"role": "tool", "content": result.text, "tool_name": result.name});
            with_images(message, result.images.iter())
        }
    }
}

fn with_images<'a>(mut message: Value, images: impl Iterator<Item = &'a Image>) -> Value {
    let images: Vec<&str> = images.map(|image| image.data.as_str()).collect();
    if !images.is_empty() {
        message["images"] = images.into();
    }
    message
}
