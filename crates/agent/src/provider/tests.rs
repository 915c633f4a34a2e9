//! The client against a server on the loopback interface.

mod answers;
mod faults;
pub(super) mod server;

use std::cell::Cell;
use std::sync::mpsc::channel;
use std::time::Duration;

use openclaw_host::{Block, ModelErrorKind, Stop, ToolSpec, Usage};

use super::*;
use crate::secret::{ApiKey, Header};
use server::{Server, Step, answer, events, hang_up, send, send_and_hang, server};

const KEY: &str = "made-up-key";
const HELLO: &str = r#"{"role":"user","content":"Hello"}"#;
const HI: &str = r#"{"id":"r1","choices":[{"delta":{"content":"Hi"}}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

/// One request to a scripted server.
pub(super) struct Outcome {
    pub(super) reply: Result<ModelReply, ModelError>,
    pub(super) streamed: Vec<String>,
    pub(super) server: Server,
}

/// The same question in another dialect.
pub(super) fn ask_in(dialect: Dialect, script: Vec<Step>) -> Outcome {
    ask_with(script, |settings| settings.dialect = dialect, &[], &|| {
        false
    })
}

fn ask(script: Vec<Step>) -> Outcome {
    ask_with(script, |_| {}, &[], &|| false)
}

fn ask_with(
    script: Vec<Step>,
    set: impl FnOnce(&mut ProviderSettings),
    tools: &[ToolSpec],
    is_cancelled: &dyn Fn() -> bool,
) -> Outcome {
    let server = server(script);
    let mut settings =
        ProviderSettings::new(Dialect::OpenAi, "acme", &server.base_url, "m1", 8_000);
    settings.api_key = ApiKey::new(KEY);
    set(&mut settings);
    let mut model = ProviderModel::new(settings).unwrap();
    assert!(!format!("{model:?}").contains(KEY));

    let request = ModelRequest {
        system_prompt: "Be kind.",
        messages: &[HELLO],
        tools,
        is_cancelled,
    };
    let mut streamed = Vec::new();
    let reply = model.respond(request, &mut |text| streamed.push(text.to_owned()));
    Outcome {
        reply,
        streamed,
        server,
    }
}

impl Outcome {
    #[track_caller]
    pub(super) fn fails(self, kind: ModelErrorKind) -> String {
        let error = self.reply.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(!format!("{error:?} {error}").contains(KEY), "{error}");
        error.reason
    }

    pub(super) fn text(&self) -> String {
        let reply = self.reply.as_ref().unwrap();
        let [Block::Text(text)] = reply.content.as_slice() else {
            panic!("not one text: {reply:?}")
        };
        assert_eq!(*text, self.streamed.concat());
        text.clone()
    }
}
