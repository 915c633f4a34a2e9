//! The last remedy for a context that is too large: tool results in the transcript are cut to what a request may hold.

use super::TurnError;
use super::admission::Admitted;
use crate::compaction::result_limit_units;
use crate::history::Held;
use crate::store::RewriteRequest;
use openclaw_interface::Role;
use openclaw_transcript::truncate_tool_text;
use serde_json::Value;
use std::collections::HashMap;

impl Admitted<'_> {
    /// Cuts the tool results that are larger than one may be, by a rewrite: what was stored stays off the path. Answers how
    /// many; none the second time.
    ///
    /// Source: turn pipeline, "Provider overflow inside a turn".
    pub(super) fn truncate_results(&mut self) -> Result<usize, TurnError> {
        let turn = &self.turn;
        let limit = result_limit_units(self.facts.budget_tokens);
        let start = {
            let store = turn.host.store();
            store.context_start(&turn.session, turn.session.path_length)?
        };
        let path = turn
            .host
            .store()
            .path_between(&turn.session, start..turn.session.path_length)?;
        let results = path.iter().filter_map(|entry| entry.held());
        let cut: Vec<(Held, String)> = results
            .filter(|held| held.role == Role::ToolResult)
            .filter_map(|held| cut(&held.json, limit).map(|short| (held, short)))
            .collect();
        if cut.is_empty() {
            return Ok(0);
        }
        let replacements = cut.iter().map(|(held, short)| (&*held.id, &**short));
        let request = RewriteRequest::replacing(replacements);
        let rewritten = turn.host.store().rewrite(&turn.session.id, &request);
        if let Err(error) = rewritten {
            tracing::warn!(turn = turn.turn_id, reason = %error, "tool results were not cut");
            return Ok(0);
        }
        let short: HashMap<&str, &str> = cut
            .iter()
            .map(|(held, short)| (&*held.json, &**short))
            .collect();
        for held in &mut self.pending {
            if let Some(short) = short.get(&*held.json) {
                *held = Held::made(held.role, *short);
            }
        }
        let count = cut.len();
        self.turn.record.mends.push(format!(
            "{count} tool results were cut to {limit} characters: the context did not fit the model"
        ));
        self.read_again()?;
        Ok(count)
    }
}

/// A tool result with its texts cut; `None` when it may stay.
fn cut(json: &str, limit: u64) -> Option<String> {
    let mut message: Value = serde_json::from_str(json).ok()?;
    let mut is_cut = false;
    let mut shorten = |text: &mut String| {
        let short = truncate_tool_text(text, limit);
        is_cut |= short != *text;
        *text = short;
    };
    match message.get_mut("content")? {
        Value::String(text) => shorten(text),
        Value::Array(blocks) => {
            for block in blocks {
                if let Some(Value::String(text)) = block.get_mut("text") {
                    shorten(text);
                }
            }
        }
        _ => {}
    }
    is_cut.then(|| message.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_that_are_too_long_are_cut() {
        let long = "a line\n".repeat(2_000);
        let message = serde_json::json!({
            "role": "toolResult",
            "toolCallId": "c",
            "content": [{ "type": "text", "text": long }, { "type": "text", "text": "short" }],
        });
        let short = cut(&message.to_string(), 4_000).unwrap();
        let read: Value = serde_json::from_str(&short).unwrap();
        assert!(read["content"][0]["text"].as_str().unwrap().len() <= 4_000);
        assert_eq!(read["content"][1]["text"], "short");
        assert_eq!(cut(&short, 4_000), None, "once is enough");
    }
}
