//! The active path and the context it gives.

use crate::support::{Tally, field, json_lines, list, oracle, parsed, text};
use openclaw_transcript::{
    ActivePath, Context, Link, ModelRef, PathFaultKind, Row, active_path, context, parse,
};
use serde_json::{Value, json};

#[test]
fn path_leaf_and_append_parent_are_those_of_the_original() {
    oracle("transcript tree", |captured, tally| {
        for case in list(&captured.golden("transcript-tree")) {
            let rows = rows(case);
            compare_path(tally, case, &rows, &path(&rows));
        }
    });
}

#[test]
fn context_of_a_path_is_that_of_the_original() {
    oracle("transcript context", |captured, tally| {
        for case in list(&captured.golden("transcript-tree")) {
            let rows = rows(case);
            let path = path(&rows);
            let path: Vec<&Row> = path.rows.iter().map(|&row| &rows[row]).collect();
            compare_context(tally, case, &context(&path));
        }
    });
}

fn rows(case: &Value) -> Vec<Row> {
    let transcript = parse(&json_lines(list(field(case, "entries"))));
    let name = text(case, "name");
    assert_eq!(transcript.faults, [], "{name}");
    transcript.rows
}

fn path(rows: &[Row]) -> ActivePath {
    let links: Vec<Link> = rows.iter().map(Row::link).collect();
    active_path(&links)
}

fn compare_path(tally: &mut Tally, case: &Value, rows: &[Row], path: &ActivePath) {
    let name = text(case, "name");
    let ids: Vec<_> = path.rows.iter().map(|&row| rows[row].id()).collect();
    let leaf = path.leaf.and_then(|row| rows[row].id());
    let misled = path
        .faults
        .iter()
        .any(|fault| matches!(fault.kind, PathFaultKind::UnknownLeafTarget { .. }));
    for (member, actual) in [
        ("activeEntryIds", json!(ids)),
        ("leafId", json!(leaf)),
        ("appendParentId", json!(path.append_parent)),
        ("hasInvalidLeafControl", json!(misled)),
    ] {
        tally.same(name, member, field(case, member), &actual);
    }
}

fn compare_context(tally: &mut Tally, case: &Value, context: &Context) {
    let (name, expected) = (text(case, "name"), field(case, "context"));
    let messages: Vec<_> = context
        .messages
        .iter()
        .map(|message| short(&parsed(name, &message.json)))
        .collect();
    for (member, actual) in [
        ("messages", json!(messages)),
        ("thinkingLevel", json!(context.thinking_level)),
        ("model", context.model.as_ref().map_or(Value::Null, model)),
    ] {
        tally.same(name, member, field(expected, member), &actual);
    }
}

/// A message as the recording writes it: role and text.
fn short(message: &Value) -> String {
    let said = message.get("content").or_else(|| message.get("summary"));
    let said = match said {
        Some(Value::Array(blocks)) => blocks.iter().map(|block| text(block, "text")).collect(),
        Some(Value::String(said)) => said.clone(),
        other => panic!("neither text nor blocks: {other:?}"),
    };
    format!("{}:{said}", text(message, "role"))
}

/// A model as the recording writes it: without the members it does not know.
fn model(model: &ModelRef) -> Value {
    let members = [("provider", &model.provider), ("modelId", &model.model)];
    let known = members.into_iter().filter_map(|(name, value)| {
        let value = value.as_deref()?;
        Some((name.to_owned(), Value::from(value)))
    });
    Value::Object(known.collect())
}
