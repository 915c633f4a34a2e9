//! Usage numbers: complete, and none that tell of a context that is gone.

use openclaw_interface::Role;

use super::draft::{Draft, Verdict};
use super::signatures::older_than_summary;
use crate::json::Object;
use crate::message::Message;

const FIELDS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];
const NONE: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;

/// Gives every assistant message whole usage numbers, and zeros to those from before the newest summary.
pub(super) fn complete(draft: &mut Draft) {
    let is_old = older_than_summary(draft);
    draft.each(|index, message| {
        if message.role() != Role::Assistant {
            return Verdict::Keep;
        }
        let old = is_old.as_ref().is_some_and(|is_old| is_old(index, message));
        let usage = if old {
            Some(NONE.to_owned())
        } else {
            completed(message)
        };
        let object = message.object();
        usage
            .filter(|usage| object.get("usage") != Some(usage))
            .map_or(Verdict::Keep, |usage| {
                Verdict::Change(object.with("usage", &usage))
            })
    });
}

/// The usage with all its fields; `None` when it has them.
fn completed(message: &Message) -> Option<String> {
    let object = message.object();
    let Some(usage) = object.get("usage").and_then(|raw| Object::read(raw).ok()) else {
        return Some(NONE.to_owned());
    };
    let numbers = FIELDS.map(|field| usage.integer(field));
    if numbers.iter().all(Option::is_some) {
        return None;
    }
    let parts = numbers.map(|number| number.unwrap_or(0).max(0));
    let total = numbers[4].unwrap_or_else(|| {
        parts[..4]
            .iter()
            .fold(0, |sum, part| sum.saturating_add(*part))
    });
    let values = [parts[0], parts[1], parts[2], parts[3], total].map(|number| number.to_string());
    let mut completed = usage.clone();
    for (field, value) in FIELDS.into_iter().zip(&values) {
        if usage.integer(field).is_none() {
            completed.set(field, value);
        }
    }
    Some(completed.write())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::run;

    fn said(members: &str) -> String {
        format!(r#"{{"role":"assistant","content":[]{members}}}"#)
    }

    #[track_caller]
    fn check(given: &str, expected: &str) {
        let (given, expected) = (said(given), said(expected));
        assert_eq!(run(complete, &[&given]), [expected.as_str()]);
        assert_eq!(run(complete, &[&expected]), [expected.as_str()]);
    }

    #[test]
    fn every_answer_has_all_numbers() {
        let none = format!(r#","usage":{NONE}"#);
        check("", &none);
        check(r#","usage":null"#, &none);
        check(
            r#","usage":{"output":2,"x":1,"input":3}"#,
            r#","usage":{"output":2,"x":1,"input":3,"cacheRead":0,"cacheWrite":0,"totalTokens":5}"#,
        );
        let whole =
            r#","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2}"#;
        check(whole, whole);
    }

    #[test]
    fn numbers_from_before_a_summary_are_zero() {
        let whole =
            r#","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2}"#;
        let summary = r#"{"role":"compactionSummary","summary":"S","timestamp":100}"#;
        let given = [
            summary.to_owned(),
            said(&format!("{whole},\"timestamp\":60")),
            said(&format!("{whole},\"timestamp\":160")),
        ];
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let zeroed = said(&format!(r#","usage":{NONE},"timestamp":60"#));
        assert_eq!(run(complete, &given), [summary, &zeroed, given[2]]);
    }
}
