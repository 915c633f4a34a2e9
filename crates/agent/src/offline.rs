//! A model that asks nobody: it answers with what it saw of the request. The default when nothing is configured.

use openclaw_host::{
    Block, Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest, Stop,
};
use openclaw_transcript::{Message, Role, estimate, estimate_text};

use crate::content;
use crate::line::one_line;

/// Provider name of the offline model.
pub const OFFLINE_PROVIDER: &str = "offline";

/// Model id of the offline model.
pub const OFFLINE_MODEL: &str = "echo";

const LAST_CHARS: usize = 200;
const OLDEST_CHARS: usize = 60;

/// The offline model.
///
/// Says in its first line that no language model was asked, then how large the request was and how it begins and
/// ends. The same request always gets the same answer. Calls no tools, reports no usage, needs no network.
#[derive(Clone, Debug)]
pub struct OfflineModel {
    info: ModelInfo,
}

impl OfflineModel {
    /// A model with this context window, in tokens. The window is only what it claims; nothing is refused.
    #[must_use]
    pub fn new(context_window_tokens: u64) -> Self {
        let info = ModelInfo {
            provider: OFFLINE_PROVIDER.to_owned(),
            id: OFFLINE_MODEL.to_owned(),
            api: OFFLINE_PROVIDER.to_owned(),
            context_window_tokens,
            max_output_tokens: None,
        };
        Self { info }
    }
}

impl Model for OfflineModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        let text = answer(&request);
        for piece in text.split_inclusive(' ') {
            if (request.is_cancelled)() {
                return Err(ModelError {
                    provider: self.info.provider.clone(),
                    model: self.info.id.clone(),
                    kind: ModelErrorKind::Cancelled,
                    reason: "cancelled".to_owned(),
                });
            }
            on_text(piece);
        }
        Ok(ModelReply {
            content: vec![Block::Text(text)],
            stop: Stop::Stop,
            usage: None,
            response_id: None,
        })
    }
}

fn answer(request: &ModelRequest<'_>) -> String {
    let tokens: u64 = request
        .messages
        .iter()
        .map(|message| estimate(message))
        .fold(0, u64::saturating_add);
    let mut lines = vec![
        "This is the offline model; no language model was asked.".to_owned(),
        String::new(),
        format!(
            "I was given {} (about {tokens} tokens), {} and a system prompt of about {} tokens.",
            counted(request.messages.len(), "message"),
            counted(request.tools.len(), "tool"),
            estimate_text(request.system_prompt),
        ),
    ];
    let visible: Vec<Message> = request
        .messages
        .iter()
        .filter_map(|json| Message::from_json(json).ok())
        .collect();
    if let Some(oldest) = visible.first().filter(|_| visible.len() > 1) {
        lines.push(format!(
            "The oldest I can see ({}): {}",
            oldest.role().name(),
            quote(oldest, OLDEST_CHARS)
        ));
    }
    if let Some(last) = visible.iter().rfind(|message| message.role() == Role::User) {
        lines.push(format!("Your last message: {}", quote(last, LAST_CHARS)));
    }
    lines.join("\n")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn quote(message: &Message, max_chars: usize) -> String {
    let line = one_line(&content::text(message), max_chars);
    if line.is_empty() {
        "(no text)".to_owned()
    } else {
        format!("“{line}”")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respond(messages: &[&str]) -> (String, usize) {
        let request = ModelRequest {
            system_prompt: "Be kind.",
            messages,
            tools: &[],
            is_cancelled: &|| false,
        };
        let (mut streamed, mut pieces) = (String::new(), 0);
        let reply = OfflineModel::new(8_000).respond(request, &mut |text| {
            streamed.push_str(text);
            pieces += 1;
        });
        let reply = reply.unwrap();
        assert_eq!(reply.content, [Block::Text(streamed.clone())]);
        assert_eq!((reply.stop, reply.usage), (Stop::Stop, None));
        (streamed, pieces)
    }

    #[test]
    fn the_answer_says_what_it_is_and_what_was_seen() {
        let messages = [
            r#"{"role":"compactionSummary","summary":"Ada asked about bees."}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"And\nwasps?"}]}"#,
        ];
        let (text, pieces) = respond(&messages);
        assert_eq!(
            text,
            "This is the offline model; no language model was asked.\n\nI was given 3 messages (about 10 tokens), 0 \
             tools and a system prompt of about 2 tokens.\nThe oldest I can see (compactionSummary): “Ada asked about \
             bees.”\nYour last message: “And wasps?”"
        );
        assert!(pieces > 5, "{pieces}");
        assert_eq!(respond(&messages), (text, pieces));
    }

    /// Cases Q-8 and T-8.
    #[test]
    fn odd_and_long_messages_are_answered() {
        let long = format!(r#"{{"role":"user","content":"{}"}}"#, "漢".repeat(500));
        for (message, expected) in [
            (
                r#"{"role":"user","content":"see <|endoftext|>"}"#,
                "“see <|endoftext|>”".to_owned(),
            ),
            (r#"{"role":"user"}"#, "(no text)".to_owned()),
            (&long, format!("“{}…”", "漢".repeat(LAST_CHARS - 1))),
        ] {
            let (text, _) = respond(&[message]);
            assert!(
                text.ends_with(&format!("Your last message: {expected}")),
                "{text}"
            );
        }
        respond(&[]);
        respond(&["not JSON"]);
    }

    /// Case O-5.
    #[test]
    fn a_cancelled_request_stops_between_pieces() {
        let pieces = std::cell::Cell::new(0);
        let request = ModelRequest {
            system_prompt: "",
            messages: &[],
            tools: &[],
            is_cancelled: &|| pieces.get() == 2,
        };
        let error = OfflineModel::new(1)
            .respond(request, &mut |_| pieces.set(pieces.get() + 1))
            .unwrap_err();
        assert_eq!((error.kind, pieces.get()), (ModelErrorKind::Cancelled, 2));
    }
}
