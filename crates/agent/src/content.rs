//! What a transcript message says, as parts that any model dialect can carry. Reads only; never fails.

use std::collections::HashMap;

use openclaw_transcript::Message;
use serde_json::value::RawValue;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text, as written.
    Text(String),
    /// An image in base64.
    Image { data: String, mime_type: String },
    /// A tool call; the arguments are the JSON text of what the transcript has.
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// Reasoning, signatures, media and whatever else a transcript may hold.
    Other,
}

/// The members of a JSON object with their raw values; of several with one key the last, as everywhere in OpenClaw.
///
/// Raw, so that a number no machine can hold stays readable around.
#[derive(Default)]
pub(crate) struct Fields<'a>(HashMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// The members of an object; none when the text is something else.
    pub(crate) fn of(json: &'a str) -> Self {
        Self(serde_json::from_str(json).unwrap_or_default())
    }

    pub(crate) fn raw(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).map(|raw| raw.get())
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.raw(key)?).ok()
    }

    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.raw(key) == Some("true")
    }
}

/// The `content` of a message; a text counts as one block, a single block as a list of it.
pub(crate) fn parts(message: &Message) -> Vec<Part> {
    let fields = Fields::of(message.json());
    let Some(raw) = fields.raw("content") else {
        return Vec::new();
    };
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        return vec![Part::Text(text)];
    }
    if raw.starts_with('{') {
        return vec![part(raw)];
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
    blocks.into_iter().map(|block| part(block.get())).collect()
}

/// All text of a message in one string, a line break between blocks; summaries included.
pub(crate) fn text(message: &Message) -> String {
    let fields = Fields::of(message.json());
    let shown = ["summary", "command"]
        .into_iter()
        .find_map(|key| fields.text(key));
    shown.unwrap_or_else(|| joined(&parts(message)))
}

/// The text parts in one string, a line break between them.
pub(crate) fn joined(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    texts.join("\n")
}

impl Part {
    /// The text of a text part that is not empty.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            Self::Text(_) | Self::Image { .. } | Self::Call { .. } | Self::Other => None,
        }
    }
}

fn part(raw: &str) -> Part {
    let block = Fields::of(raw);
    let kind = block.text("type").unwrap_or_default();
    let part = match kind.as_str() {
        "text" => block.text("text").map(Part::Text),
        "image" => image(&block),
        "toolCall" | "toolUse" | "functionCall" | "tool_call" | "tool_use" | "function_call" => {
            call(&block)
        }
        _ => None,
    };
    part.unwrap_or(Part::Other)
}

fn image(block: &Fields<'_>) -> Option<Part> {
    Some(Part::Image {
        data: block.text("data")?,
        mime_type: block.text("mimeType")?,
    })
}

fn call(block: &Fields<'_>) -> Option<Part> {
    let raw = block.raw("arguments").or_else(|| block.raw("input"))?;
    // Some APIs keep arguments as text that is JSON; an empty text is a call without arguments.
    let arguments = match serde_json::from_str::<String>(raw) {
        Ok(text) if text.trim().is_empty() => "{}".to_owned(),
        Ok(text) => text,
        Err(_) if raw == "null" => "{}".to_owned(),
        Err(_) => raw.to_owned(),
    };
    Some(Part::Call {
        id: block.text("id")?,
        name: block.text("name")?.trim().to_owned(),
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: &[Part]) {
        let json = format!(r#"{{"role":"assistant","content":{content}}}"#);
        assert_eq!(
            parts(&Message::from_json(&json).unwrap()),
            expected,
            "{content}"
        );
    }

    #[test]
    fn every_shape_of_content_is_read() {
        let hi = || Part::Text("hi".to_owned());
        check("null", &[]);
        check("[]", &[]);
        check(r#""hi""#, &[hi()]);
        check(r#"{"type":"text","text":"hi"}"#, &[hi()]);
        check(
            r#"[{"type":"text","text":"hi"},{"type":"thinking","thinking":"hm"}]"#,
            &[hi(), Part::Other],
        );
        check(
            r#"[{"type":"image","data":"QQ==","mimeType":"image/png"},{"type":"image"}]"#,
            &[
                Part::Image {
                    data: "QQ==".to_owned(),
                    mime_type: "image/png".to_owned(),
                },
                Part::Other,
            ],
        );
    }

    #[test]
    fn arguments_keep_their_text() {
        let check = |arguments: &str, expected: &str| {
            let call = Part::Call {
                id: "c".to_owned(),
                name: "run".to_owned(),
                arguments: expected.to_owned(),
            };
            check(
                &format!(r#"[{{"type":"toolCall","id":"c","name":"run",{arguments}}}]"#),
                &[call],
            );
        };
        check(
            r#""arguments":{"z":1e999,"a":[ 2 ]}"#,
            r#"{"z":1e999,"a":[ 2 ]}"#,
        );
        check(r#""input":{"p":1}"#, r#"{"p":1}"#);
        check(r#""arguments":"{\"p\":1}""#, r#"{"p":1}"#);
        check(r#""arguments":"""#, "{}");
        check(r#""arguments":null"#, "{}");
    }

    #[test]
    fn a_summary_has_text_without_content() {
        let message =
            Message::from_json(r#"{"role":"compactionSummary","summary":"so far"}"#).unwrap();
        assert_eq!(text(&message), "so far");
    }
}
