//! Under which key a result is remembered.

use std::collections::{BTreeSet, HashMap};

use openclaw_interface::Role;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::base64;
use crate::blocks;
use crate::message::Message;

/// A result's name among the decisions, and what its text is known by.
pub(super) struct Key {
    /// What it would be remembered under if nothing else had that key; `None` when it has neither id nor time.
    pub(super) base: Option<String>,
    pub(super) key: String,
    pub(super) source_hash: String,
}

/// The key of each result; `None` for other messages.
///
/// - `ambiguous`: keys that stood for several results at some time; those met here are added. Their results are told apart
///   by their text, so that a later one of the same key does not take over an earlier one's decision.
pub(super) fn of_messages(
    messages: &[Message],
    ambiguous: &mut BTreeSet<String>,
) -> Vec<Option<Key>> {
    let bases: Vec<Option<String>> = messages.iter().map(base).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for base in bases.iter().flatten() {
        let count = counts.entry(base).or_default();
        *count += 1;
        if *count == 2 {
            ambiguous.insert(base.clone());
        }
    }
    let mut occurrences: HashMap<String, usize> = HashMap::new();
    messages
        .iter()
        .zip(&bases)
        .map(|(message, base)| {
            if message.role() != Role::ToolResult {
                return None;
            }
            let source_hash = hash(message);
            let key = match base {
                Some(base) if !ambiguous.contains(base) => base.clone(),
                _ => {
                    let name = base.as_deref().unwrap_or("tool");
                    let fallback = format!("fallback:{name}:text:{source_hash}");
                    let occurrence = occurrences.entry(fallback.clone()).or_default();
                    *occurrence += 1;
                    format!("{fallback}:{}", *occurrence - 1)
                }
            };
            Some(Key {
                base: base.clone(),
                key,
                source_hash,
            })
        })
        .collect()
}

fn base(message: &Message) -> Option<String> {
    if message.role() != Role::ToolResult {
        return None;
    }
    match (message.result_of(), message.timestamp_ms()) {
        (Some(id), Some(ms)) => Some(format!("tool:{id}:{ms}")),
        (Some(id), None) => Some(format!("tool:{id}")),
        (None, Some(ms)) => Some(format!("timestamp:{ms}")),
        (None, None) => None,
    }
}

/// The hash of a result's texts: SHA-256 of their JSON list, in URL-safe base64.
fn hash(message: &Message) -> String {
    let object = message.object();
    let texts: Vec<Value> = blocks::texts(&object)
        .into_iter()
        .map(|text| Value::from(text.into_owned()))
        .collect();
    base64::url_safe(&Sha256::digest(Value::from(texts).to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::message;

    fn result(members: &str, text: &str) -> Message {
        let block = blocks::text_block(text);
        message(&format!(
            r#"{{"role":"toolResult","content":[{block}]{members}}}"#
        ))
    }

    fn keys(messages: &[Message], ambiguous: &mut BTreeSet<String>) -> Vec<String> {
        let keys = of_messages(messages, ambiguous);
        keys.into_iter().flatten().map(|key| key.key).collect()
    }

    #[test]
    fn a_result_is_known_by_its_call_and_time() {
        let messages = [
            result(r#","toolCallId":"a","timestamp":7"#, "x"),
            result(r#","toolCallId":"a","timestamp":8"#, "x"),
            result(r#","toolCallId":"b""#, "x"),
            result(r#","timestamp":7"#, "x"),
            message(r#"{"role":"user","content":"x"}"#),
        ];
        let mut ambiguous = BTreeSet::new();
        let found = keys(&messages, &mut ambiguous);
        assert_eq!(found, ["tool:a:7", "tool:a:8", "tool:b", "timestamp:7"]);
        assert!(ambiguous.is_empty());
    }

    #[test]
    fn results_of_one_key_are_told_apart_by_their_text() {
        let one = || result(r#","toolCallId":"a""#, "one");
        let messages = [
            one(),
            result(r#","toolCallId":"a""#, "two"),
            one(),
            result("", "one"),
        ];
        let mut ambiguous = BTreeSet::new();
        let found = keys(&messages, &mut ambiguous);
        assert_eq!(ambiguous, BTreeSet::from(["tool:a".to_owned()]));
        let distinct: BTreeSet<&String> = found.iter().collect();
        assert_eq!(distinct.len(), 4, "{found:?}");
        assert!(
            found[2].ends_with(":1") && found[3].starts_with("fallback:tool:text:"),
            "{found:?}"
        );
        // Once ambiguous, always: the key of a result must not change when the other is gone.
        assert_eq!(keys(&messages[..1], &mut ambiguous), found[..1]);
    }
}
