//! The session's model as the writer of summaries.

use serde_json::json;

use super::extractive::Extractive;
use super::summariser::{Summariser, SummariserLimits, SummaryError, SummaryRequest};
use crate::model::{Block, Model, ModelError, ModelErrorKind, ModelReply, ModelRequest};

/// Provider name of the model that asks nobody.
const OFFLINE: &str = "offline";

/// Asks a model, without tools.
pub struct ModelSummariser<'m> {
    model: &'m mut dyn Model,
}

impl<'m> ModelSummariser<'m> {
    /// Summaries by this model.
    pub fn new(model: &'m mut dyn Model) -> Self {
        Self { model }
    }
}

/// The writer of summaries for a session with this model: the model, or a rule when the model asks nobody.
pub fn summariser_for<'m>(model: &'m mut dyn Model) -> Box<dyn Summariser + 'm> {
    if model.info().provider == OFFLINE {
        Box::new(Extractive)
    } else {
        Box::new(ModelSummariser::new(model))
    }
}

impl Summariser for ModelSummariser<'_> {
    fn limits(&self) -> SummariserLimits {
        let info = self.model.info();
        SummariserLimits {
            window_tokens: info.context_window_tokens,
            max_output_tokens: info.max_output_tokens,
        }
    }

    fn summarise(&mut self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        let message = json!({ "role": "user", "content": request.prompt }).to_string();
        let request = ModelRequest {
            system_prompt: request.system_prompt,
            messages: &[&message],
            tools: &[],
            is_cancelled: request.should_stop,
        };
        let reply = self.model.respond(request, &mut |_| {}).map_err(of_model)?;
        let text = text_of(&reply);
        if text.trim().is_empty() {
            return Err(SummaryError::Empty);
        }
        Ok(text)
    }
}

fn text_of(reply: &ModelReply) -> String {
    let texts = reply.content.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Thinking(_) | Block::ToolCall { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn of_model(error: ModelError) -> SummaryError {
    let reason = error.to_string();
    match error.kind {
        ModelErrorKind::Cancelled => SummaryError::Cancelled,
        ModelErrorKind::ContextOverflow => SummaryError::TooLarge { reason },
        ModelErrorKind::Transport | ModelErrorKind::Server => SummaryError::Passing {
            reason,
            retry_after: None,
        },
        ModelErrorKind::RateLimited { retry_after } => SummaryError::Passing {
            reason,
            retry_after,
        },
        // Waiting again as long would block the session.
        ModelErrorKind::Timeout
        | ModelErrorKind::Unreachable
        | ModelErrorKind::Unauthorized
        | ModelErrorKind::Refused
        | ModelErrorKind::BadAnswer => SummaryError::Lasting { reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::Purpose;
    use crate::model::{ModelInfo, Stop};

    struct Scripted(ModelInfo, Vec<Result<ModelReply, ModelErrorKind>>);

    impl Scripted {
        fn new(provider: &str, answers: Vec<Result<ModelReply, ModelErrorKind>>) -> Self {
            let info = ModelInfo {
                provider: provider.into(),
                id: "m".into(),
                api: "a".into(),
                context_window_tokens: 1_000,
                max_output_tokens: Some(9),
            };
            Self(info, answers)
        }
    }

    impl Model for Scripted {
        fn info(&self) -> &ModelInfo {
            &self.0
        }

        fn respond(
            &mut self,
            request: ModelRequest<'_>,
            _: &mut dyn FnMut(&str),
        ) -> Result<ModelReply, ModelError> {
            assert_eq!(request.messages, [r#"{"role":"user","content":"\"x\""}"#]);
            self.1.remove(0).map_err(|kind| ModelError {
                provider: "p".into(),
                model: "m".into(),
                kind,
                reason: "why".into(),
            })
        }
    }

    fn ask(model: &mut dyn Model) -> Result<String, SummaryError> {
        ModelSummariser::new(model).summarise(&SummaryRequest {
            purpose: Purpose::History,
            system_prompt: "",
            prompt: "\"x\"",
            messages: &[],
            conversation: "",
            previous_summary: None,
            max_output_tokens: 1,
            should_stop: &|| false,
        })
    }

    /// Cases L-15 and S-2.
    #[test]
    fn each_answer_of_a_model_has_its_meaning() {
        let reply = |content| {
            Ok(ModelReply {
                content,
                stop: Stop::Stop,
                usage: None,
                response_id: None,
            })
        };
        let mut model = Scripted::new(
            "p",
            vec![
                reply(vec![
                    Block::Thinking("t".into()),
                    Block::Text("a".into()),
                    Block::Text("b".into()),
                ]),
                reply(vec![Block::Text(" ".into())]),
                Err(ModelErrorKind::Unauthorized),
                Err(ModelErrorKind::Server),
                Err(ModelErrorKind::ContextOverflow),
                Err(ModelErrorKind::Cancelled),
            ],
        );
        assert_eq!(ask(&mut model), Ok("a\nb".into()));
        assert_eq!(ask(&mut model), Err(SummaryError::Empty));
        let error = ask(&mut model).unwrap_err();
        assert!(
            !error.may_pass() && error.to_string().contains("why"),
            "{error}"
        );
        assert!(ask(&mut model).unwrap_err().may_pass());
        assert!(matches!(
            ask(&mut model),
            Err(SummaryError::TooLarge { .. })
        ));
        assert_eq!(ask(&mut model), Err(SummaryError::Cancelled));
    }

    #[test]
    fn a_model_that_asks_nobody_gets_a_rule_instead() {
        assert!(summariser_for(&mut Scripted::new(OFFLINE, vec![])).is_extractive());
        assert!(!summariser_for(&mut Scripted::new("p", vec![])).is_extractive());
    }
}
