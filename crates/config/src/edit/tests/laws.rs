//! Laws over generated documents.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::edit::{Edit, apply, plan};
use crate::{spans, syntax};

mod outside;

type Place = (Vec<String>, std::ops::Range<usize>);

/// A document and the byte range of each value in it, by path.
#[derive(Debug, Clone, Default)]
struct Written {
    text: String,
    scalars: Vec<Place>,
    objects: Vec<Place>,
    arrays: Vec<Place>,
}

#[derive(Debug, Clone)]
enum Node {
    Scalar(&'static str),
    Object(Vec<(&'static str, Node)>),
    Array(Vec<Node>),
}

const SCALARS: &[&str] = &[
    "1",
    "-2.5",
    "1e3",
    "0x1F",
    ".5",
    "+7",
    "Infinity",
    "12345678901234567890",
    "true",
    "null",
    "\"\"",
    "'it\\'s'",
    "\"a // b\"",
    "'{[,'",
    "\"${TOKEN}\"",
    "\"\\u00e9\\n\"",
    "'two\\\n lines'",
];
const KEYS: &[&str] = &[
    "a",
    "b",
    "plugins",
    "'c d'",
    "\"e\"",
    "$f",
    "\"paths\"",
    "'it\\'s'",
];
const GAPS: &[&str] = &[
    "",
    "",
    " ",
    " ",
    "\n",
    "\n  ",
    "\r\n\t",
    " /* c, } */ ",
    " // ] c\n",
    "\n   // d\n ",
    "/* x\n y */",
    "\n\n    ",
];

/// What a text may be made of by accident.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "a",
    "'",
    "\"",
    "\\",
    "//",
    "/*",
    "*/",
    "\n",
    "\r",
    " ",
    "0x",
    "-",
    ".",
    "1",
    "é",
    "\u{2028}",
    "\u{feff}",
    "\\u0061",
    "{a: 1, ",
    "plugins: {",
    "'\\\r\n'",
    "null",
];

fn node() -> impl Strategy<Value = Node> {
    let scalar = prop::sample::select(SCALARS).prop_map(Node::Scalar);
    scalar.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            members(inner.clone()).prop_map(Node::Object),
            vec(inner, 0..4).prop_map(Node::Array),
        ]
    })
}

fn members(inner: impl Strategy<Value = Node>) -> impl Strategy<Value = Vec<(&'static str, Node)>> {
    let keys = prop::sample::subsequence(KEYS, 0..5);
    (keys, vec(inner, 5)).prop_map(|(keys, nodes)| keys.into_iter().zip(nodes).collect())
}

fn document() -> impl Strategy<Value = Written> {
    let choices = vec((prop::sample::select(GAPS), any::<bool>()), 12..40);
    (members(node()), choices).prop_map(|(mut members, choices)| {
        members.push(("last", Node::Scalar("'one'")));
        let mut choices = choices.into_iter().cycle();
        let mut written = Written::default();
        let mut path = Vec::new();
        gap(&mut written, &mut choices);
        write(
            &Node::Object(members),
            &mut written,
            &mut choices,
            &mut path,
        );
        gap(&mut written, &mut choices);
        written
    })
}

type Choices<'c> = dyn Iterator<Item = (&'static str, bool)> + 'c;

fn gap(out: &mut Written, choices: &mut Choices<'_>) {
    let gap = choices.next().map_or("", |(gap, _)| gap);
    // A comment that touches a bare word is refused as `Unsupported`.
    if gap.starts_with('/') && out.text.ends_with(|c: char| c.is_alphanumeric()) {
        out.text.push(' ');
    }
    out.text.push_str(gap);
}

fn write(node: &Node, out: &mut Written, choices: &mut Choices<'_>, path: &mut Vec<String>) {
    let (open, close, items): (_, _, Vec<(Option<&str>, &Node)>) = match node {
        Node::Scalar(text) => {
            let start = out.text.len();
            out.text.push_str(text);
            out.scalars.push((path.clone(), start..out.text.len()));
            return;
        }
        Node::Object(members) => (
            '{',
            '}',
            members.iter().map(|(k, n)| (Some(*k), n)).collect(),
        ),
        Node::Array(items) => ('[', ']', items.iter().map(|n| (None, n)).collect()),
    };
    let start = out.text.len();
    out.text.push(open);
    for (index, (key, node)) in items.iter().enumerate() {
        if index > 0 {
            out.text.push(',');
        }
        gap(out, choices);
        match key {
            Some(key) => {
                out.text.push_str(key);
                gap(out, choices);
                out.text.push(':');
                gap(out, choices);
                path.push(plain(key));
            }
            None => path.push(String::from("[]")),
        }
        write(node, out, choices, path);
        path.pop();
        gap(out, choices);
    }
    if !items.is_empty() && choices.next().is_some_and(|(_, comma)| comma) {
        out.text.push(',');
    }
    gap(out, choices);
    out.text.push(close);
    let place = (path.clone(), start..out.text.len());
    let kept = match node {
        Node::Array(_) => &mut out.arrays,
        Node::Object(_) | Node::Scalar(_) => &mut out.objects,
    };
    kept.push(place);
}

/// The key without quotes and escapes.
fn plain(key: &str) -> String {
    key.trim_matches(['"', '\'']).replace("\\'", "'").to_owned()
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        "[\"'\\\\\\n/*,{}\u{2028}]{0,6}".prop_map(Value::from),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((".{0,4}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn path() -> impl Strategy<Value = Vec<String>> {
    let known = prop::sample::select(KEYS).prop_map(plain);
    vec(prop_oneof![4 => known, 1 => ".{0,3}"], 1..4)
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => (path(), value()).prop_map(|(path, value)| Edit::Set { path, value }),
        2 => path().prop_map(|path| Edit::Remove { path }),
        1 => path().prop_map(|path| Edit::RemoveIfEmpty { path }),
        2 => (path(), value()).prop_map(|(path, value)| Edit::AppendUnique { path, value }),
        1 => (path(), value()).prop_map(|(path, value)| Edit::RemoveFrom { path, value }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn edited_text_means_what_was_planned(document in document(), edits in vec(edit(), 1..5)) {
        let mut intended = syntax::parse(&document.text).expect("generated text is JSON5");
        let mut possible = Vec::new();
        for edit in edits {
            if plan::changes(&mut intended, &edit).is_ok() {
                possible.push(edit);
            }
        }
        let edited = apply(&document.text, &possible);
        prop_assert!(edited.is_ok(), "{edited:?}");
        let edited = edited.unwrap_or_default();
        prop_assert_eq!(syntax::parse(&edited), Ok(intended));
        let again: Vec<Edit> = possible
            .last()
            .filter(|edit| !matches!(edit, Edit::RemoveIfEmpty { .. }))
            .cloned()
            .into_iter()
            .collect();
        prop_assert_eq!(apply(&edited, &again), Ok(edited), "second time changes nothing");
    }

    #[test]
    fn any_text_is_edited_or_refused(
        text in prop_oneof![
            ".{0,40}",
            vec(prop::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat()),
        ],
        edit in edit(),
    ) {
        if let Ok(edited) = apply(&text, &[edit]) {
            prop_assert!(syntax::parse(&edited).is_ok());
        }
        spans::line_of(&text, &["a".to_owned(), "0".to_owned()]);
    }

    #[test]
    fn set_on_a_scalar_leaves_all_other_bytes_alone(
        document in document(),
        value in value(),
        pick in any::<prop::sample::Index>(),
    ) {
        let reachable: Vec<_> = document
            .scalars
            .iter()
            .filter(|(path, _)| !path.iter().any(|key| key == "[]"))
            .collect();
        let (path, range) = reachable[pick.index(reachable.len())];
        let edit = Edit::Set { path: path.clone(), value };
        let edited = apply(&document.text, &[edit]);
        prop_assert!(edited.is_ok(), "{edited:?}");
        let edited = edited.unwrap_or_default();
        prop_assert!(edited.starts_with(&document.text[..range.start]));
        prop_assert!(edited.ends_with(&document.text[range.end..]));
    }
}
