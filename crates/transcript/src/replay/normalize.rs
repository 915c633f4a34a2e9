//! Content is brought into one form, and what no model said or should hear again is left out.

use std::borrow::Cow;

use openclaw_interface::Role;
use serde_json::Value;

use super::draft::{Draft, Verdict};
use crate::blocks::{self, Fate, is_blank_text, is_reasoning};
use crate::json::Object;
use crate::message::{Content, Message, StopReason, is_call, is_type, read_call};

/// What a model answers when nobody is to hear it.
const SILENT: &str = "NO_REPLY";
/// What stands in for an answer whose stream failed before its first word.
const STREAM_FAILED: &str = "[assistant turn failed before producing content]";
/// What a person sees of an assistant but no API takes back.
const NOT_SAID: [&str; 5] = ["attachment", "attachment_error", "audio", "image", "video"];
const MEDIA_FIELDS: [&str; 4] = ["MediaPath", "MediaPaths", "MediaUrl", "MediaUrls"];

pub(super) fn normalize(draft: &mut Draft) {
    draft.each(|_, message| match message.role() {
        Role::User => user(message),
        Role::Assistant => assistant(message),
        Role::ToolResult => message
            .with_block_content()
            .map_or(Verdict::Keep, Verdict::Change),
        Role::Custom
        | Role::CompactionSummary
        | Role::BranchSummary
        | Role::BashExecution
        | Role::Other => Verdict::Keep,
    });
    drop_receipts(draft);
}

/// Blank texts go, and a message without anything else with them, unless it carries media.
fn user(message: &Message) -> Verdict {
    let object = message.object();
    let emptied = |object: &Object<'_>| {
        if MEDIA_FIELDS.iter().any(|field| is_filled(object, field)) {
            Verdict::Change(object.with("content", "\"\""))
        } else {
            Verdict::Drop
        }
    };
    match Content::read(object.get("content")) {
        Ok(Content::Text(text))
            if text.is_empty() && matches!(emptied(&object), Verdict::Change(_)) =>
        {
            Verdict::Keep
        }
        Ok(Content::Text(text)) if text.trim().is_empty() => emptied(&object),
        Ok(Content::Nothing) => emptied(&object),
        Ok(Content::Blocks(all)) => {
            let edited = blocks::edited(&object, |block| {
                if is_blank_text(block) {
                    Fate::Drop
                } else {
                    Fate::Keep
                }
            });
            match edited {
                Some(left) if left.is_empty() => emptied(&object),
                Some(left) => Verdict::Change(blocks::with_blocks(&object, &left)),
                None if all.is_empty() => emptied(&object),
                None if object
                    .get("content")
                    .is_some_and(|raw| raw.starts_with('{')) =>
                {
                    Verdict::Change(blocks::with_blocks(&object, &blocks::raw_blocks(&object)))
                }
                None => Verdict::Keep,
            }
        }
        Ok(Content::Text(_)) | Err(_) => Verdict::Keep,
    }
}

fn is_filled(object: &Object<'_>, field: &str) -> bool {
    object.filled(field).is_some()
        || object
            .get(field)
            .and_then(crate::json::array)
            .is_some_and(|list| !list.is_empty())
}

fn assistant(message: &Message) -> Verdict {
    let object = message.object();
    if is_for_people_only(&object) {
        return Verdict::Drop;
    }
    if let Some(text) = object.string("content") {
        if is_silent(&text) || text.trim().is_empty() || (message.failed() && text == STREAM_FAILED)
        {
            return Verdict::Drop;
        }
        return Verdict::Change(blocks::with_text(&object, &text));
    }
    let raw = blocks::raw_blocks(&object);
    let is_list = object
        .get("content")
        .is_some_and(|raw| raw.starts_with('['));
    if says_nothing(&object, &raw)
        && (message.stop_reason() == Some(StopReason::Error)
            || is_empty_stop(message, &object, &raw))
    {
        return Verdict::Drop;
    }
    let mut silenced = false;
    let edited = blocks::edited(&object, |block| {
        let silent =
            is_type(block, "text") && block.string("text").is_some_and(|text| is_silent(&text));
        silenced |= silent;
        if silent || NOT_SAID.iter().any(|kind| is_type(block, kind)) {
            Fate::Drop
        } else {
            Fate::Keep
        }
    });
    let left = edited.as_deref().map_or_else(
        || raw.clone(),
        |left| left.iter().map(Cow::as_ref).collect(),
    );
    let only_reasoning = !left.is_empty()
        && left.iter().all(|raw| {
            Object::read(raw).is_ok_and(|block| is_reasoning(&block) || goes_later(&block))
        });
    let emptied = edited.is_some() && left.is_empty();
    if emptied
        || (only_reasoning && (silenced || message.stop_reason() == Some(StopReason::Length)))
    {
        return Verdict::Drop;
    }
    if edited.is_some() || !is_list {
        return Verdict::Change(blocks::with_blocks(&object, &left));
    }
    Verdict::Keep
}

/// Whether a later step takes the block out: beside reasoning it is as good as gone.
fn goes_later(block: &Object<'_>) -> bool {
    is_blank_text(block) || (is_call(block) && read_call(block).is_err())
}

/// Replies of commands and copies of what was delivered: a person saw them, no model said them.
fn is_for_people_only(message: &Object<'_>) -> bool {
    let is = |field: &str, value: &str| message.string(field).is_some_and(|text| text == value);
    let by_host = is("provider", "openclaw")
        && (is("model", "delivery-mirror") || is("model", "gateway-injected"));
    by_host
        || message
            .get("openclawDeliveryMirror")
            .is_some_and(|mark| !matches!(mark, "null" | "false"))
}

fn is_silent(text: &str) -> bool {
    text.trim() == SILENT
}

fn says_nothing(message: &Object<'_>, blocks: &[&str]) -> bool {
    blocks.is_empty()
        || Content::read(message.get("content")).is_ok_and(|content| content.is_text(STREAM_FAILED))
}

fn is_empty_stop(message: &Message, object: &Object<'_>, blocks: &[&str]) -> bool {
    blocks.is_empty()
        && message.stop_reason() == Some(StopReason::Stop)
        && used_nothing(object)
        && object.get("providerReplay").is_none()
}

/// Whether no model was paid for a message. No usage at all counts as zeros, which is what a replay makes of it.
fn used_nothing(message: &Object<'_>) -> bool {
    let Some(usage) = message.get("usage").and_then(|raw| Object::read(raw).ok()) else {
        return true;
    };
    ["input", "output", "cacheRead", "cacheWrite", "totalTokens"]
        .iter()
        .all(|field| usage.integer(field).unwrap_or(0) <= 0)
}

/// Drops an assistant message that says again what the one before it said, and that no model was asked for: a receipt
/// of a delivery that lost its mark.
fn drop_receipts(draft: &mut Draft) {
    let mut before: Option<Value> = None;
    let messages = draft.messages();
    let repeats: Vec<bool> = (0..messages.len())
        .map(|index| {
            let message = &messages[index];
            let candidate = index > 0
                && message.role() == Role::Assistant
                && messages[index - 1].role() == Role::Assistant
                && message.stop_reason() == Some(StopReason::Stop)
                && message.calls().is_empty()
                && messages[index - 1].calls().is_empty()
                && used_nothing(&message.object());
            if !candidate {
                before = None;
                return false;
            }
            // Several receipts in a row are compared with the answer they repeat.
            let said = before.take().or_else(|| content(&messages[index - 1]));
            let repeats = said.is_some() && said == content(message);
            before = said.filter(|_| repeats);
            repeats
        })
        .collect();
    if repeats.contains(&true) {
        draft.retain(|index, _| !repeats[index]);
    }
}

/// The content of a message as values, in which the order of members does not count; `None` when it has none.
fn content(message: &Message) -> Option<Value> {
    let value: Value = serde_json::from_str(message.object().get("content")?).ok()?;
    value
        .as_array()
        .is_some_and(|blocks| !blocks.is_empty())
        .then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::{message, run};

    #[track_caller]
    fn check(given: &[&str], expected: &[&str]) {
        assert_eq!(run(normalize, given), expected);
        assert_eq!(run(normalize, expected), expected, "normalizing twice");
    }

    #[test]
    fn blank_user_texts_go_and_media_stay() {
        check(
            &[
                r#"{"role":"user","content":" \n"}"#,
                r#"{"role":"user"}"#,
                r#"{"role":"user","content":[]}"#,
                r#"{"role":"user","content":[{"type":"text","text":" "},{"type":"image","data":"A"}],"x":1}"#,
                r#"{"role":"user","content":[{"type":"text","text":""}],"MediaPath":"a.png"}"#,
                r#"{"role":"user","content":"","MediaPaths":["a.png"]}"#,
                r#"{"role":"user","content":" hi "}"#,
            ],
            &[
                r#"{"role":"user","content":[{"type":"image","data":"A"}],"x":1}"#,
                r#"{"role":"user","content":"","MediaPath":"a.png"}"#,
                r#"{"role":"user","content":"","MediaPaths":["a.png"]}"#,
                r#"{"role":"user","content":" hi "}"#,
            ],
        );
    }

    #[test]
    fn silence_is_not_said_again() {
        check(
            &[
                r#"{"role":"assistant","content":"NO_REPLY"}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":" NO_REPLY "}]}"#,
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"NO_REPLY"}]}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"NO_REPLY"},{"type":"text","text":"so"}]}"#,
            ],
            &[r#"{"role":"assistant","content":[{"type":"text","text":"so"}]}"#],
        );
    }

    #[test]
    fn what_only_people_saw_goes() {
        check(
            &[
                r#"{"role":"assistant","content":[{"type":"text","text":"x"}],"provider":"openclaw","model":"gateway-injected"}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"x"}],"openclawDeliveryMirror":{"id":1}}"#,
                r#"{"role":"assistant","content":[{"type":"video"},{"type":"attachment_error"}]}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"audio"}],"provider":"openclaw","model":"m"}"#,
            ],
            &[
                r#"{"role":"assistant","content":[{"type":"text","text":"x"}],"provider":"openclaw","model":"m"}"#,
            ],
        );
    }

    #[test]
    fn answers_that_never_began_go() {
        let zero = r#""usage":{"input":0,"output":0}"#;
        check(
            &[
                r#"{"role":"assistant","content":[],"stopReason":"error"}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"[assistant turn failed before producing content]"}],"stopReason":"error"}"#,
                &format!(r#"{{"role":"assistant","content":[],"stopReason":"stop",{zero}}}"#),
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x"}],"stopReason":"length"}"#,
            ],
            &[],
        );
    }

    #[test]
    fn content_becomes_a_list() {
        check(
            &[
                r#"{"role":"assistant","content":"a \"b\"","x":1}"#,
                r#"{"role":"assistant","content":{"type":"text","text":"a"}}"#,
                r#"{"role":"user","content":{"type":"text","text":"a"}}"#,
                r#"{"role":"toolResult","toolCallId":"c","content":"r"}"#,
            ],
            &[
                r#"{"role":"assistant","content":[{"type":"text","text":"a \"b\""}],"x":1}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"a"}]}"#,
                r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#,
                r#"{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"r"}]}"#,
            ],
        );
    }

    #[test]
    fn a_receipt_of_the_answer_before_it_goes() {
        let said = |text: &str, usage: &str| {
            format!(
                r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"stopReason":"stop","usage":{{"input":{usage}}}}}"#
            )
        };
        let given = [
            said("a", "1"),
            said("a", "0"),
            said("a", "0"),
            said("b", "0"),
            said("b", "2"),
        ];
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        check(&given, &[given[0], given[3], given[4]]);
        let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"x","arguments":{}}],"stopReason":"stop","usage":{"input":0}}"#;
        check(&[call, call], &[call, call]);
        assert!(used_nothing(&message(call).object()));
    }
}
