//! Signatures of reasoning: what another provider signed, what is out of date, and reasoning without any.

use openclaw_interface::Role;

use super::draft::{Draft, Verdict};
use super::policy::Signatures;
use super::reasoning;
use crate::base64;
use crate::blocks::{self, Fate, is_reasoning};
use crate::json::Object;
use crate::message::{Message, is_type};

const SIGNATURE_FIELDS: [&str; 3] = ["thinkingSignature", "signature", "thought_signature"];

/// Takes thought signatures out that the provider cannot have made.
pub(super) fn drop_foreign(message: &Message, which: Signatures) -> Verdict {
    let skip = which == Signatures::Keep
        || message.role() != Role::Assistant
        || !(blocks::mentions(message, "thought_signature")
            || blocks::mentions(message, "thoughtSignature"));
    if skip {
        return Verdict::Keep;
    }
    let fields: &[&str] = match which {
        Signatures::Base64Only => &["thought_signature", "thoughtSignature"],
        Signatures::Keep | Signatures::NoMessageIds => &["thought_signature"],
    };
    let is_foreign = |block: &Object<'_>, field: &str| {
        let text = block.string(field);
        match which {
            Signatures::Keep => false,
            Signatures::NoMessageIds => text.is_some_and(|text| text.starts_with("msg_")),
            Signatures::Base64Only => {
                block.get(field).is_some() && !text.is_some_and(|text| base64::is_base64(&text))
            }
        }
    };
    let object = message.object();
    let edited = blocks::edited(&object, |block| {
        let foreign: Vec<&str> = fields
            .iter()
            .copied()
            .filter(|field| is_foreign(block, field))
            .collect();
        without(block, &foreign).map_or(Fate::Keep, Fate::Become)
    });
    edited.map_or(Verdict::Keep, |left| {
        Verdict::Change(blocks::with_blocks(&object, &left))
    })
}

/// Takes the signatures out of reasoning that is not newer than the newest compaction summary: what they sign is gone.
pub(super) fn drop_stale(draft: &mut Draft) {
    let Some(is_old) = older_than_summary(draft) else {
        return;
    };
    draft.each(|index, message| {
        if message.role() != Role::Assistant
            || !is_old(index, message)
            || !blocks::mentions(message, "thinking")
        {
            return Verdict::Keep;
        }
        let object = message.object();
        let edited = blocks::edited(&object, |block| {
            if !is_type(block, "thinking") {
                return Fate::Keep;
            }
            without(block, &SIGNATURE_FIELDS).map_or(Fate::Keep, Fate::Become)
        });
        edited.map_or(Verdict::Keep, |left| {
            Verdict::Change(blocks::with_blocks(&object, &left))
        })
    });
}

/// Whether a message is at or before the newest compaction summary: by its time, by its place when there is none.
/// `None` when there is no summary.
pub(super) fn older_than_summary(
    draft: &Draft,
) -> Option<impl Fn(usize, &Message) -> bool + use<>> {
    let messages = draft.messages();
    let at = messages
        .iter()
        .rposition(|message| message.role() == Role::CompactionSummary);
    let (at, summarized_ms) = match at {
        Some(at) => (at, messages[at].timestamp_ms()),
        None => (0, draft.lead().summarized_ms?),
    };
    Some(
        move |index: usize, message: &Message| match (message.timestamp_ms(), summarized_ms) {
            (Some(said_ms), Some(summarized_ms)) => said_ms <= summarized_ms,
            _ => index < at,
        },
    )
}

/// Drops reasoning without a usable signature. The newest assistant message is left alone while its turn goes on.
pub(super) fn drop_unsigned(draft: &mut Draft, is_over: bool) {
    let going_on = going_on(draft.messages()).filter(|_| !is_over);
    draft.each(|index, message| {
        if Some(index) == going_on {
            return Verdict::Keep;
        }
        reasoning::without(message, |block| is_reasoning(block) && !is_signed(block))
    });
}

/// The newest assistant message, when at most results follow it.
fn going_on(messages: &[Message]) -> Option<usize> {
    let last = messages
        .iter()
        .rposition(|message| message.role() != Role::ToolResult)?;
    (messages[last].role() == Role::Assistant).then_some(last)
}

fn is_signed(block: &Object<'_>) -> bool {
    let opaque = is_type(block, "redacted_thinking") && block.filled("data").is_some();
    opaque
        || SIGNATURE_FIELDS
            .iter()
            .any(|field| block.filled(field).is_some())
}

/// The block without these members; `None` when it has none of them.
fn without(block: &Object<'_>, fields: &[&str]) -> Option<String> {
    if !fields.iter().any(|field| block.get(field).is_some()) {
        return None;
    }
    let mut block = block.clone();
    for field in fields {
        block.remove(field);
    }
    Some(block.write())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::{run, run_each};

    fn said(block: &str, members: &str) -> String {
        format!(
            r#"{{"role":"assistant","content":[{block},{{"type":"text","text":"x"}}]{members}}}"#
        )
    }

    #[test]
    fn signatures_no_provider_of_this_kind_makes_go() {
        let block =
            |members: &str| said(&format!(r#"{{"type":"toolCall","id":"a"{members}}}"#), "");
        let given = [
            block(r#","thought_signature":"msg_01""#),
            block(r#","thought_signature":"c2ln","thoughtSignature":"c2ln""#),
            block(r#","thoughtSignature":"msg!""#),
            block(r#","thoughtSignature":7"#),
        ];
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let plain = block("");
        let after = |which| run_each(|message| drop_foreign(message, which), &given);
        assert_eq!(after(Signatures::Keep), given);
        assert_eq!(
            after(Signatures::NoMessageIds),
            [&plain, given[1], given[2], given[3]]
        );
        // `msg_01` is base64 in the URL-safe alphabet.
        assert_eq!(
            after(Signatures::Base64Only),
            [given[0], given[1], &plain, &plain]
        );
    }

    const SIGNED: &str = r#"{"type":"thinking","thinking":"t","thinkingSignature":"s"}"#;
    const UNSIGNED: &str = r#"{"type":"thinking","thinking":"t"}"#;

    #[test]
    fn reasoning_from_before_a_summary_loses_its_signature() {
        let summary = r#"{"role":"compactionSummary","summary":"S","timestamp":100}"#;
        let given = [
            said(SIGNED, ""),
            summary.to_owned(),
            said(SIGNED, r#","timestamp":100"#),
            said(SIGNED, r#","timestamp":101"#),
            said(SIGNED, ""),
        ];
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let expected = [
            said(UNSIGNED, ""),
            summary.to_owned(),
            said(UNSIGNED, r#","timestamp":100"#),
        ];
        let after = run(drop_stale, &given);
        assert_eq!(after[..3], expected);
        assert_eq!(after[3..], given[3..]);
        assert_eq!(run(drop_stale, &given[2..]), given[2..]);
    }

    #[test]
    fn unsigned_reasoning_goes_unless_its_turn_goes_on() {
        let user = r#"{"role":"user","content":"u"}"#;
        let result = r#"{"role":"toolResult","toolCallId":"a","content":[]}"#;
        let (unsigned, plain) = (
            said(UNSIGNED, ""),
            r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#,
        );
        assert_eq!(
            run(|draft| drop_unsigned(draft, false), &[&unsigned, user]),
            [plain, user]
        );
        assert_eq!(
            run(
                |draft| drop_unsigned(draft, false),
                &[&unsigned, result, user]
            ),
            [plain, result, user]
        );
        for going_on in [&[user, unsigned.as_str()][..], &[user, &unsigned, result]] {
            assert_eq!(run(|draft| drop_unsigned(draft, false), going_on), going_on);
        }
        let signed = said(SIGNED, "");
        let opaque = said(r#"{"type":"redacted_thinking","data":"d"}"#, "");
        assert_eq!(
            run(
                |draft| drop_unsigned(draft, false),
                &[&signed, &opaque, user]
            ),
            [&signed, &opaque, user]
        );
    }
}
