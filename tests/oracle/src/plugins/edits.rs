//! The edits by hand of the captured runs: Python statements on the configuration `c`, as far as those go.

use serde_json::{Map, Value};

/// Applies `c["a"]["b"]=<literal>` and `c["a"].pop("b")`, several with `; ` between them.
///
/// # Panics
///
/// A statement is another one.
pub(super) fn apply(config: &mut Value, statements: &str) {
    let plain = statements
        .replace(".setdefault(\"slots\",{})", "[\"slots\"]")
        .replace("True", "true")
        .replace("False", "false");
    for statement in plain.split("; ") {
        if let Some((place, value)) = statement.split_once("]=") {
            let value =
                serde_json::from_str(value).unwrap_or_else(|error| panic!("{statement}: {error}"));
            *at(config, &keys(place)) = value;
        } else {
            let (place, key) = statement
                .split_once(".pop(")
                .unwrap_or_else(|| panic!("`{statement}` is no known edit"));
            let key = keys(key).join("");
            if let Some(object) = at(config, &keys(place)).as_object_mut() {
                object.shift_remove(&key);
            }
        }
    }
}

/// The texts in quotation marks.
fn keys(place: &str) -> Vec<&str> {
    place.split('"').skip(1).step_by(2).collect()
}

fn at<'c>(config: &'c mut Value, keys: &[&str]) -> &'c mut Value {
    keys.iter().fold(config, |value, key| {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        &mut value[*key]
    })
}
