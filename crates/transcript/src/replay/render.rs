//! What messages of the house's own roles say to a model.

use openclaw_interface::Role;

use super::draft::Verdict;
use crate::blocks;
use crate::json::{self, Object};
use crate::message::Message;

const COMPACTION: &str =
    "The conversation history before this point was compacted into the following summary:";
const BRANCH: &str =
    "The following is a summary of a branch that this conversation came back from:";

/// A user message in place of a summary, a note or a shell execution; other roles stay, unknown ones are dropped, and so
/// are executions kept from the model.
///
/// Source: legacy engine, "From transcript rows to messages".
pub(super) fn for_model(message: &Message) -> Verdict {
    let object = message.object();
    let summary = || object.string("summary").unwrap_or_default();
    let content = match message.role() {
        Role::User | Role::Assistant | Role::ToolResult => return Verdict::Keep,
        Role::Other => return Verdict::Drop,
        Role::BashExecution if message.excluded() => return Verdict::Drop,
        Role::CompactionSummary => one_text(&format!(
            "{COMPACTION}\n\n<summary>\n{}\n</summary>",
            summary()
        )),
        Role::BranchSummary => one_text(&format!("{BRANCH}\n\n<summary>\n{}</summary>", summary())),
        Role::Custom => {
            let mut all = blocks::as_blocks(&object);
            all.retain(|raw| !Object::read(raw).is_ok_and(|block| blocks::is_blank_text(&block)));
            if all.is_empty() {
                return Verdict::Drop;
            }
            format!("[{}]", all.join(","))
        }
        Role::BashExecution => one_text(&shell(&object)),
    };
    let timestamp = message.timestamp_ms().map(|ms| ms.to_string());
    let mut members = vec![("role", "\"user\""), ("content", content.as_str())];
    members.extend(timestamp.as_deref().map(|ms| ("timestamp", ms)));
    Verdict::Change(json::object(members))
}

fn one_text(text: &str) -> String {
    format!("[{}]", blocks::text_block(text))
}

fn shell(message: &Object<'_>) -> String {
    let field = |name: &str| message.string(name).unwrap_or_default();
    let mut text = format!("Ran `{}`\n", field("command"));
    let output = field("output");
    if output.is_empty() {
        text.push_str("(no output)");
    } else {
        text.push_str(&format!("```\n{output}\n```"));
    }
    match message.integer("exitCode") {
        _ if message.is_true("cancelled") => text.push_str("\n\n(command cancelled)"),
        Some(code) if code != 0 => text.push_str(&format!("\n\nCommand exited with code {code}")),
        _ => {}
    }
    if let Some(path) = message
        .filled("fullOutputPath")
        .filter(|_| message.is_true("truncated"))
    {
        text.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::run_each;

    fn rendered(json: &str) -> String {
        run_each(for_model, &[json]).concat()
    }

    fn user(text: &str) -> String {
        format!(
            r#"{{"role":"user","content":[{}]}}"#,
            blocks::text_block(text)
        )
    }

    #[test]
    fn summaries_stand_between_tags() {
        let after = rendered(
            r#"{"role":"compactionSummary","summary":"S","tokensBefore":9,"timestamp":7}"#,
        );
        assert!(
            after.ends_with(r#"\n\n<summary>\nS\n</summary>"}],"timestamp":7}"#),
            "{after}"
        );
        let after = rendered(r#"{"role":"branchSummary","summary":"S"}"#);
        assert!(
            after.ends_with(r#"\n\n<summary>\nS</summary>"}]}"#),
            "{after}"
        );
    }

    #[test]
    fn notes_keep_their_content() {
        assert_eq!(
            rendered(r#"{"role":"custom","customType":"n","content":"a"}"#),
            user("a")
        );
        let block = r#"{"type":"image","x":1.50}"#;
        let after = rendered(&format!(r#"{{"role":"custom","content":[{block}]}}"#));
        assert_eq!(after, format!(r#"{{"role":"user","content":[{block}]}}"#));
        for blank in ["[]", r#"" ""#, r#"[{"type":"text","text":""}]"#] {
            assert_eq!(
                rendered(&format!(r#"{{"role":"custom","content":{blank}}}"#)),
                ""
            );
        }
    }

    #[test]
    fn shell_executions_tell_how_they_ended() {
        let shell = |members: &str| {
            rendered(&format!(
                r#"{{"role":"bashExecution","command":"ls"{members}}}"#
            ))
        };
        assert_eq!(
            shell(r#","output":"a\n","exitCode":0"#),
            user("Ran `ls`\n```\na\n\n```")
        );
        assert_eq!(
            shell(r#","output":"","exitCode":2,"truncated":true,"fullOutputPath":"o.txt""#),
            user(
                "Ran `ls`\n(no output)\n\nCommand exited with code 2\n\n[Output truncated. Full output: o.txt]"
            )
        );
        assert_eq!(
            shell(r#","output":"","exitCode":2,"cancelled":true,"fullOutputPath":"o.txt""#),
            user("Ran `ls`\n(no output)\n\n(command cancelled)")
        );
    }

    #[test]
    fn what_is_not_for_the_model_goes() {
        let given = [
            r#"{"role":"bashExecution","command":"ls","output":"","excludeFromContext":true}"#,
            r#"{"role":"system","content":"x"}"#,
            r#"{"role":"user","content":"x"}"#,
        ];
        assert_eq!(run_each(for_model, &given), given[2..]);
    }
}
