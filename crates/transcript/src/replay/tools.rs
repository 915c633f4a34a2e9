//! Calls of tools that are not there, and what a result carries besides its content.

use std::collections::HashSet;

use openclaw_interface::Role;

use super::draft::{Draft, Verdict};
use crate::blocks::{self, Fate};
use crate::message::{Message, is_call, read_call};

/// Drops calls of tools that are not among the known ones and that nothing answers; an answered pair stays.
pub(super) fn drop_unknown(draft: &mut Draft, known: &[&str]) {
    let known: HashSet<&str> = known.iter().copied().collect();
    let answered: HashSet<String> = draft
        .messages()
        .iter()
        .filter_map(|message| message.result_of().map(str::to_owned))
        .collect();
    draft.each(|_, message| {
        let is_lost = |id: &str, name: &str| !known.contains(name) && !answered.contains(id);
        if !message
            .calls()
            .iter()
            .any(|call| is_lost(&call.id, &call.name))
        {
            return Verdict::Keep;
        }
        let object = message.object();
        let edited = blocks::edited(&object, |block| {
            let lost =
                is_call(block) && read_call(block).is_ok_and(|call| is_lost(&call.id, &call.name));
            if lost { Fate::Drop } else { Fate::Keep }
        });
        match edited {
            None => Verdict::Keep,
            Some(left) if left.is_empty() => Verdict::Drop,
            Some(left) => Verdict::Change(blocks::with_blocks(&object, &left)),
        }
    });
}

/// Takes `details` out of results: they are for people and programs.
pub(super) fn drop_details(message: &Message) -> Verdict {
    if message.role() != Role::ToolResult || !blocks::mentions(message, "details") {
        return Verdict::Keep;
    }
    let mut object = message.object();
    if object.remove("details") {
        Verdict::Change(object.write())
    } else {
        Verdict::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::{run, run_each};

    #[test]
    fn unanswered_calls_of_unknown_tools_go() {
        let call = |id: &str, name: &str| {
            format!(r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{}}}}"#)
        };
        let said = |blocks: &[String]| {
            format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","))
        };
        let result = r#"{"role":"toolResult","toolCallId":"b","content":[]}"#;
        let mixed = said(&[call("a", "gone"), call("b", "gone"), call("c", "read")]);
        let lost = said(&[call("d", "gone")]);
        assert_eq!(
            run(
                |draft| drop_unknown(draft, &["read"]),
                &[&mixed, result, &lost]
            ),
            [&said(&[call("b", "gone"), call("c", "read")]), result]
        );
    }

    #[test]
    fn details_go_from_results_only() {
        let given = [
            r#"{"role":"toolResult","toolCallId":"a","details":{"secret":1},"content":[]}"#,
            r#"{"role":"toolResult","toolCallId":"details","content":[]}"#,
            r#"{"role":"custom","details":{"x":1},"content":[]}"#,
        ];
        let expected = [
            r#"{"role":"toolResult","toolCallId":"a","content":[]}"#,
            given[1],
            given[2],
        ];
        assert_eq!(run_each(drop_details, &given), expected);
    }
}
