//! Reasoning items of the responses family, which their provider knows by id and takes back only together with what
//! followed them.

use openclaw_interface::Role;

use super::draft::{Draft, Verdict};
use crate::blocks::{self, Fate, is_reasoning};
use crate::json::{self, Object};
use crate::message::{Message, is_call};

/// Takes out what refers to items the provider no longer has, or has only with their other half.
///
/// - `switched`: the messages before this one were made by another model; their reasoning items are unknown to this one.
pub(super) fn mend(draft: &mut Draft, switched: usize) {
    draft.each(|index, message| mend_one(message, index < switched));
}

fn mend_one(message: &Message, foreign: bool) -> Verdict {
    if message.role() != Role::Assistant {
        return Verdict::Keep;
    }
    let object = message.object();
    let raw = blocks::raw_blocks(&object);
    let items: Vec<bool> = raw
        .iter()
        .map(|raw| Object::read(raw).is_ok_and(|block| is_item(&block)))
        .collect();
    // The last block that is no reasoning: an item behind it has lost what followed it.
    let last_said = raw
        .iter()
        .rposition(|raw| Object::read(raw).is_ok_and(|block| !is_reasoning(&block)));
    let keeps = |at: usize| !foreign && last_said.is_some_and(|last| at < last);
    let first_item = (0..raw.len()).find(|at| items[*at] && keeps(*at));
    let mut at = 0;
    let edited = blocks::edited(&object, |block| {
        let place = at;
        at += 1;
        if items[place] && !keeps(place) {
            return Fate::Drop;
        }
        let linked = first_item.is_some_and(|first| first < place);
        unlinked_call(block)
            .filter(|_| !linked)
            .map_or(Fate::Keep, Fate::Become)
    });
    match edited {
        None => Verdict::Keep,
        Some(left) if left.is_empty() => Verdict::Drop,
        Some(left) => Verdict::Change(blocks::with_blocks(&object, &left)),
    }
}

/// Whether a block is reasoning that stands for an item at the provider.
fn is_item(block: &Object<'_>) -> bool {
    let Some(signature) = block
        .string("thinkingSignature")
        .filter(|_| is_reasoning(block))
    else {
        return false;
    };
    Object::read(&signature)
        .ok()
        .and_then(|item| item.string("id").map(|id| id.starts_with("rs_")))
        .unwrap_or_else(|| signature.starts_with("rs_"))
}

/// A call without the id of its own item; `None` when it names none.
fn unlinked_call(block: &Object<'_>) -> Option<String> {
    let id = block.string("id").filter(|_| is_call(block))?;
    let (call, item) = id.split_once('|')?;
    item.starts_with("fc_")
        .then(|| block.with("id", &json::quote(call)))
}

/// Gives results the ids of their calls, which an unlinked call has changed.
pub(super) fn follow(draft: &mut Draft) {
    let mut calls: Vec<String> = Vec::new();
    draft.each(|_, message| {
        if message.role() == Role::Assistant {
            calls = message.calls().iter().map(|call| call.id.clone()).collect();
        }
        let Some(id) = message.result_of() else {
            return Verdict::Keep;
        };
        let call = id.split('|').next().unwrap_or(id);
        if calls.iter().any(|known| known == id) || !calls.iter().any(|known| known == call) {
            return Verdict::Keep;
        }
        let (object, call) = (message.object(), json::quote(call));
        Verdict::Change(object.with("toolCallId", &call))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::run;

    const ITEM: &str =
        r#"{"type":"thinking","thinking":"","thinkingSignature":"{\"id\":\"rs_1\"}"}"#;
    const LOOSE: &str = r#"{"type":"thinking","thinking":"t","thinkingSignature":"c2ln"}"#;
    const CALL: &str = r#"{"type":"toolCall","id":"call_1|fc_1","name":"n","arguments":{}}"#;
    const UNLINKED: &str = r#"{"type":"toolCall","id":"call_1","name":"n","arguments":{}}"#;

    fn said(blocks: &[&str]) -> String {
        format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","))
    }

    fn result(id: &str) -> String {
        format!(r#"{{"role":"toolResult","toolCallId":"{id}","content":[]}}"#)
    }

    #[track_caller]
    fn check(switched: usize, given: &[String], expected: &[String]) {
        let step = |draft: &mut Draft| {
            mend(draft, switched);
            follow(draft);
        };
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        assert_eq!(run(step, &given), expected);
    }

    #[test]
    fn an_item_and_its_call_stay_together() {
        let pair = [said(&[ITEM, CALL]), result("call_1|fc_1")];
        check(0, &pair, &pair);
    }

    #[test]
    fn items_of_another_model_go_and_their_calls_stand_alone() {
        let pair = [said(&[ITEM, CALL]), result("call_1|fc_1")];
        check(1, &pair, &[said(&[UNLINKED]), result("call_1")]);
        check(1, &[said(&[ITEM])], &[]);
    }

    #[test]
    fn half_a_link_is_no_link() {
        check(
            0,
            &[said(&[CALL]), result("call_1|fc_1")],
            &[said(&[UNLINKED]), result("call_1")],
        );
        check(0, &[said(&[CALL, ITEM])], &[said(&[UNLINKED])]);
        check(0, &[said(&[ITEM])], &[]);
    }

    #[test]
    fn reasoning_that_is_no_item_is_left_alone() {
        let loose = [said(&[LOOSE]), said(&[LOOSE, UNLINKED]), result("call_1")];
        check(3, &loose, &loose);
    }
}
