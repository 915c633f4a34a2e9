//! The last step before a request: what the one model that is asked cannot take.

use openclaw_interface::Role;

use super::draft::{Draft, Verdict};
use super::render;
use crate::blocks::{self, Fate, is_reasoning};
use crate::json::Object;
use crate::message::{Message, is_type};
use crate::repair::Piece;

/// What is told of an answer that failed.
pub(super) const FAILED: &str = "[This turn failed before it completed. Do not redo its work without confirming with the user first.]";
const NO_IMAGE: &str = "(image omitted: model does not support images)";
const NO_TOOL_IMAGE: &str = "(tool image omitted: model does not support images)";

/// The model that a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Who offers the model.
    pub provider: &'a str,
    /// The model.
    pub model: &'a str,
    /// Whether it takes images.
    pub images: bool,
    /// Whether the API lets a request end with an assistant message.
    pub prefill: bool,
}

/// The list as a model gets it: user messages, assistant messages and results only.
///
/// Summaries, notes and shell executions become user messages. Of a failed answer only its failing is told. Reasoning of
/// another model becomes text. Expects a list that [`replay`](super::replay) or [`pair`](crate::pair) has been over.
///
/// Source: legacy engine, "From transcript rows to messages" and "Transport-level last repairs".
#[must_use]
pub fn for_request(messages: &[Message], target: Target<'_>) -> Vec<Piece> {
    let mut draft = Draft::of(messages, 0);
    draft.each(|_, message| render::for_model(message));
    draft.each(|_, message| tell_failure(message));
    draft.each(|_, message| speak_foreign_thoughts(message, target));
    if !target.images {
        draft.each(|_, message| omit_images(message));
    }
    if !target.prefill {
        let end = draft
            .messages()
            .iter()
            .rposition(|message| message.role() != Role::Assistant)
            .map_or(0, |last| last + 1);
        draft.retain(|index, _| index < end);
    }
    draft.pieces()
}

/// A failed answer with text becomes a sentence that it failed; without text, or with calls, it goes.
fn tell_failure(message: &Message) -> Verdict {
    if message.role() != Role::Assistant {
        return Verdict::Keep;
    }
    let object = message.object();
    let said = blocks::texts(&object)
        .iter()
        .any(|text| !text.trim().is_empty());
    if !message.failed() {
        let empty = blocks::as_blocks(&object).is_empty() && object.get("providerReplay").is_none();
        return if empty { Verdict::Drop } else { Verdict::Keep };
    }
    if !message.calls().is_empty() || !said {
        return Verdict::Drop;
    }
    let told = blocks::as_blocks(&object) == [blocks::text_block(FAILED)];
    if told {
        Verdict::Keep
    } else {
        Verdict::Change(blocks::with_text(&object, FAILED))
    }
}

fn speak_foreign_thoughts(message: &Message, target: Target<'_>) -> Verdict {
    if message.role() != Role::Assistant || !blocks::mentions(message, "thinking") {
        return Verdict::Keep;
    }
    let object = message.object();
    let is_other =
        |field: &str, asked: &str| object.filled(field).is_some_and(|made| made != asked);
    if !is_other("provider", target.provider) && !is_other("model", target.model) {
        return Verdict::Keep;
    }
    let edited = blocks::edited(&object, |block| match block.filled("thinking") {
        _ if !is_reasoning(block) => Fate::Keep,
        Some(thought) => Fate::Become(blocks::text_block(&thought)),
        None => Fate::Drop,
    });
    match edited {
        None => Verdict::Keep,
        Some(left) if left.is_empty() => Verdict::Drop,
        Some(left) => Verdict::Change(blocks::with_blocks(&object, &left)),
    }
}

/// A sentence in place of images; one for several in a row.
fn omit_images(message: &Message) -> Verdict {
    let sentence = match message.role() {
        Role::User => NO_IMAGE,
        Role::ToolResult => NO_TOOL_IMAGE,
        _ => return Verdict::Keep,
    };
    if !blocks::mentions(message, "image") {
        return Verdict::Keep;
    }
    let object = message.object();
    let is_image = |block: &Object<'_>| is_type(block, "image");
    let mut after_image = false;
    let edited = blocks::edited(&object, |block| {
        let repeated = std::mem::replace(&mut after_image, is_image(block));
        match (is_image(block), repeated) {
            (false, _) => Fate::Keep,
            (true, true) => Fate::Drop,
            (true, false) => Fate::Become(blocks::text_block(sentence)),
        }
    });
    edited.map_or(Verdict::Keep, |left| {
        Verdict::Change(blocks::with_blocks(&object, &left))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::{message, texts_of};

    const TARGET: Target<'_> = Target {
        provider: "p",
        model: "m",
        images: true,
        prefill: true,
    };

    fn sent(given: &[&str], target: Target<'_>) -> Vec<String> {
        let messages: Vec<Message> = given.iter().map(|json| message(json)).collect();
        texts_of(&messages, for_request(&messages, target))
    }

    #[test]
    fn of_a_failed_answer_only_its_failing_is_told() {
        let given = [
            r#"{"role":"user","content":"u"}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"half"}],"stopReason":"aborted"}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":" "}],"stopReason":"error"}"#,
            r#"{"role":"assistant","content":[]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"toolCall","id":"a","name":"n","arguments":{}}],"stopReason":"error"}"#,
        ];
        let sentence = blocks::text_block(FAILED);
        let told =
            format!(r#"{{"role":"assistant","content":[{sentence}],"stopReason":"aborted"}}"#);
        assert_eq!(sent(&given, TARGET), [given[0], &told]);
        assert_eq!(sent(&[given[0], &told], TARGET), [given[0], &told]);
    }

    #[test]
    fn thoughts_of_another_model_become_text() {
        let given = |members: &str| {
            format!(
                r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"t","thinkingSignature":"s"}},{{"type":"redacted_thinking","data":"d"}}]{members}}}"#
            )
        };
        for own in [given(""), given(r#","provider":"p","model":"m""#)] {
            assert_eq!(sent(&[&own], TARGET), [own.as_str()]);
        }
        let other = given(r#","provider":"p","model":"old""#);
        let text = r#"{"role":"assistant","content":[{"type":"text","text":"t"}],"provider":"p","model":"old"}"#;
        assert_eq!(sent(&[&other], TARGET), [text]);
    }

    #[test]
    fn a_model_without_eyes_is_told_of_images() {
        let blind = Target {
            images: false,
            ..TARGET
        };
        let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
        let given = [
            format!(
                r#"{{"role":"user","content":[{image},{image},{{"type":"text","text":"x"}},{image}]}}"#
            ),
            format!(r#"{{"role":"toolResult","toolCallId":"a","content":[{image}]}}"#),
        ];
        let (omitted, text) = (blocks::text_block(NO_IMAGE), blocks::text_block("x"));
        let expected = [
            format!(r#"{{"role":"user","content":[{omitted},{text},{omitted}]}}"#),
            format!(
                r#"{{"role":"toolResult","toolCallId":"a","content":[{}]}}"#,
                blocks::text_block(NO_TOOL_IMAGE)
            ),
        ];
        assert_eq!(sent(&[&given[0], &given[1]], blind), expected);
        assert_eq!(sent(&[&given[0], &given[1]], TARGET), given);
    }

    #[test]
    fn an_api_that_refuses_prefill_gets_no_trailing_answer() {
        let given = [
            r#"{"role":"user","content":"u"}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#,
        ];
        let strict = Target {
            prefill: false,
            ..TARGET
        };
        assert_eq!(sent(&given, strict), given[..1]);
        assert_eq!(sent(&given[1..], strict), [""; 0]);
        assert_eq!(sent(&given, TARGET), given);
    }
}
