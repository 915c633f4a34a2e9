//! Chat completions: the body of a request, and its answer.

mod answer;
#[cfg(test)]
mod tests;

use openclaw_host::{ModelInfo, ModelRequest, ToolSpec};
use serde_json::{Map, Value, json};

use super::dialect::Reader;
use super::failure::Failure;
use super::history::{Call, Image, Item, Said, history};

pub(super) fn reader() -> Box<dyn Reader> {
    Box::new(answer::Answer::default())
}

pub(super) fn body(
    info: &ModelInfo,
    request: ModelRequest<'_>,
    accepts_images: bool,
) -> Result<String, Failure> {
    let mut body = Map::new();
    body.insert("model".to_owned(), info.id.clone().into());
    body.insert(
        "messages".to_owned(),
        messages(request.system_prompt, request.messages, accepts_images)?.into(),
    );
    body.insert("stream".to_owned(), true.into());
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        body.insert("tool_choice".to_owned(), "auto".into());
    }
    if let Some(limit) = info.max_output_tokens {
        body.insert("max_completion_tokens".to_owned(), limit.into());
    }
    Ok(Value::Object(body).to_string())
}

pub(super) fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec {
        name,
        description,
        parameters,
    } = tool;
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

fn messages(
    system_prompt: &str,
    messages: &[&str],
    accepts_images: bool,
) -> Result<Vec<Value>, Failure> {
    let mut out = Vec::new();
    if !system_prompt.is_empty() {
        out.push(json!({"role": "system", "content": system_prompt}));
    }
    // The dialect has no place for images in results, so they follow the last result of a run.
    let mut held_images = Vec::new();
    for said in history(messages, accepts_images)? {
        if let Said::Result(result) = said {
            out.push(json!({"role": "tool", "content": result.text, "tool_call_id": result.id}));
            held_images.extend(result.images.iter().map(image_part));
            continue;
        }
        release(&mut held_images, &mut out);
        match said {
            Said::User(items) => out.push(user(user_content(&items))),
            Said::Assistant { text, calls } => out.push(assistant(text, &calls)),
            Said::Result(_) => {}
        }
    }
    release(&mut held_images, &mut out);
    Ok(out)
}

fn release(held_images: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !held_images.is_empty() {
        let mut content = vec![text_part("Attached image(s) from tool result:")];
        content.append(held_images);
        out.push(user(content.into()));
    }
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

/// One text as it is; several parts as a list.
fn user_content(items: &[Item]) -> Value {
    if let [Item::Text(text)] = items {
        return text.as_str().into();
    }
    let part = |item: &Item| match item {
        Item::Text(text) => text_part(text),
        Item::Image(image) => image_part(image),
    };
    items.iter().map(part).collect()
}

fn assistant(text: String, calls: &[Call]) -> Value {
    let mut wire = Map::new();
    wire.insert("role".to_owned(), "assistant".into());
    let content = if text.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    wire.insert("content".to_owned(), content);
    if !calls.is_empty() {
        let call = |call: &Call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        };
        wire.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    }
    wire.into()
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_part(image: &Image) -> Value {
    let Image { data, mime_type } = image;
    json!({"type": "image_url", "image_url": {"url": format!("data:{mime_type};base64,{data}")}})
}
