use serde_json::json;

use super::*;

mod laws;

fn after(text: &str, edits: &[Edit]) -> String {
    apply(text, edits).unwrap_or_else(|error| panic!("{error}: {:?}\n{text}", error.kind))
}

fn check(before: &str, edit: Edit, expected: &str) {
    assert_eq!(after(before, &[edit]), expected, "before: {before}");
}

fn link(id: &str, path: &str) -> [Edit; 3] {
    [
        Edit::append_unique(["plugins", "load", "paths"], path),
        Edit::set(["plugins", "entries", id, "enabled"], true),
        Edit::set(["plugins", "slots", "contextEngine"], id),
    ]
}

fn unlink(id: &str, path: &str) -> [Edit; 7] {
    [
        Edit::remove(["plugins", "slots", "contextEngine"]),
        Edit::remove_if_empty(["plugins", "slots"]),
        Edit::remove(["plugins", "entries", id]),
        Edit::remove_if_empty(["plugins", "entries"]),
        Edit::remove_from(["plugins", "load", "paths"], path),
        Edit::remove_if_empty(["plugins", "load", "paths"]),
        Edit::remove_if_empty(["plugins", "load"]),
    ]
}

/// Case C-1, C-2, C-10.
#[test]
fn link_and_unlink_give_the_same_bytes_again() {
    let texts = [
        "{\n    // mine\n    'agents': { defaults: { model: \"a/b\" } }, /* why */\n\n\tkey: \"${ACME_TOKEN}\",\n    plugins: {\n        allow: ['a'], // two\n    },\n    big: 12345678901234567890, e: 1e3, hex: 0x10, inf: -Infinity,\n}\n",
        "{\r\n  \"plugins\": {\r\n    \"enabled\": true\r\n  }\r\n}",
        "{\"a\":1,\"plugins\":{\"deny\":[]}}",
        "\u{feff}{ plugins: { enabled: true } } // end",
        "{ /* only a comment */ plugins: {\n  // here\n  deny: [] } }",
    ];
    for text in texts {
        let linked = after(text, &link("window", "/p/window"));
        assert_ne!(linked, text);
        assert_eq!(after(&linked, &link("window", "/p/window")), linked);
        assert_eq!(after(&linked, &unlink("window", "/p/window")), text);
    }
}

#[test]
fn parents_created_for_a_key_go_when_they_are_empty() {
    let text = "{\n  // mine\n}\n";
    let linked = after(text, &link("w", "/p"));
    let mut edits = unlink("w", "/p").to_vec();
    edits.push(Edit::remove_if_empty(["plugins"]));
    assert_eq!(after(&linked, &edits), text);
}

#[test]
fn new_keys_follow_their_neighbours() {
    let set = || Edit::set(["p", "on"], true);
    check("{ p: { a: 1 } }", set(), "{ p: { a: 1, on: true } }");
    check("{p:{a:1}}", set(), "{p:{a:1,on:true}}");
    check("{o: {a: 1}}", set(), "{o: {a: 1}, p: {on: true}}");
    check("{ o:1 }", set(), "{ o:1, p:{ on:true } }");
    check("{'p':{'a':1,},}", set(), "{'p':{'a':1,'on':true,},}");
    check(
        "{\n\t\"p\": {\n\t\t\"a\": 1 // one\n\t}\n}",
        set(),
        "{\n\t\"p\": {\n\t\t\"a\": 1, // one\n\t\t\"on\": true\n\t}\n}",
    );
    check(
        "{\n p: {\n  a: 1, /* one */ // two\n },\n}",
        set(),
        "{\n p: {\n  a: 1, /* one */ // two\n  on: true,\n },\n}",
    );
    check(
        "{\r\n   'x' : 1\r\n}\r\n",
        set(),
        "{\r\n   'x' : 1,\r\n   'p' : {\r\n      'on' : true\r\n   }\r\n}\r\n",
    );
    check(
        "{\n  p: {\n    a: 1 }\n}",
        set(),
        "{\n  p: {\n    a: 1,\n    on: true }\n}",
    );
    check(
        "{ p: { a: 'x', b: 'y' } }",
        Edit::set(["p", "c-d"], "it's \"so\"\n"),
        r#"{ p: { a: 'x', b: 'y', 'c-d': 'it\'s "so"\n' } }"#,
    );
}

/// Case C-5.
#[test]
fn empty_objects_take_a_first_key() {
    let set = || Edit::set(["plugins", "on"], true);
    check("{}", set(), "{\n  \"plugins\": {\n    \"on\": true\n  }\n}");
    check(
        "{\n  // only a comment\n}\n",
        set(),
        "{\n  // only a comment\n  \"plugins\": {\n    \"on\": true\n  }\n}\n",
    );
    check(
        "{ /* c */ }",
        set(),
        "{ /* c */ \"plugins\": { \"on\": true } }",
    );
    check(
        "{\n  plugins: {}\n}",
        set(),
        "{\n  plugins: {\n    on: true\n  }\n}",
    );
    check("{plugins:{ }}", set(), "{plugins:{on:true}}");
    check(
        "{\n  a: 1 // last, no comma\n}",
        set(),
        "{\n  a: 1, // last, no comma\n  plugins: {\n    on: true\n  }\n}",
    );
}

/// Case C-7.
#[test]
fn lists_are_appended_to_and_never_replaced() {
    let append = || Edit::append_unique(["l"], "c");
    check(
        "{\"l\": [\"a\", \"b\"]}",
        append(),
        "{\"l\": [\"a\", \"b\", \"c\"]}",
    );
    check("{l:['a','b']}", append(), "{l:['a','b','c']}");
    check("{l: ['c', 'b']}", append(), "{l: ['c', 'b']}");
    check("{l: []}", append(), "{l: [\"c\"]}");
    check(
        "{\n  l: [\n    'a', // first\n    'b',\n  ],\n}",
        append(),
        "{\n  l: [\n    'a', // first\n    'b',\n    'c',\n  ],\n}",
    );
    check(
        "{\n  l: [\n    // none yet\n  ]\n}",
        append(),
        "{\n  l: [\n    // none yet\n    \"c\"\n  ]\n}",
    );
}

#[test]
fn removal_takes_one_comma_and_the_comment_behind() {
    let remove = || Edit::remove(["b"]);
    check("{ a: 1, b: 2, c: 3 }", remove(), "{ a: 1, c: 3 }");
    check("{ a: 1, b: 2 }", remove(), "{ a: 1 }");
    check("{ a: 1, b: 2, }", remove(), "{ a: 1, }");
    check("{ b: 2 }", remove(), "{}");
    check("{ b: 2, }", remove(), "{}");
    check("{ b: 2, c: 3 }", remove(), "{ c: 3 }");
    check("{\n  b: 2\n}", remove(), "{}");
    check(
        "{\n  a: 1, // a\n  b: 2 // b\n}",
        remove(),
        "{\n  a: 1 // a\n}",
    );
    check(
        "{\n  a: 1,\n  b: {\n    x: 1,\n  },\n}",
        remove(),
        "{\n  a: 1,\n}",
    );
    check("{ a: 1, // a\n  b: 2 }", remove(), "{ a: 1 // a\n   }");
    check("{ a: 1\n, b: 2\n}", remove(), "{ a: 1\n\n}");
    check("{\n  // why b\n  b: 2,\n}", remove(), "{\n  // why b\n}");
    check("{ a: 1 }", remove(), "{ a: 1 }");
}

/// Case N-4, N-5.
#[test]
fn equal_items_go_and_others_stay() {
    let remove = || Edit::remove_from(["l"], "x");
    check("{l: ['x', 'a', 'x']}", remove(), "{l: ['a']}");
    check(
        "{\n  l: [\n    'a',\n    'x'\n  ]\n}",
        remove(),
        "{\n  l: [\n    'a'\n  ]\n}",
    );
    check("{l: ['x']}", remove(), "{l: []}");
    check("{l: ['a']}", remove(), "{l: ['a']}");
    check("{}", remove(), "{}");
}

/// Case N-17.
#[test]
fn edit_that_changes_nothing_returns_the_same_text() {
    let text = "{ plugins: { load: { paths: ['/p'] }, on: 0x10, }, }\n";
    check(
        text,
        Edit::append_unique(["plugins", "load", "paths"], "/p"),
        text,
    );
    check(text, Edit::set(["plugins", "on"], 16), text);
    check(text, Edit::remove(["none", "such"]), text);
    check(text, Edit::remove_if_empty(["plugins"]), text);
}

/// Case C-14.
#[test]
fn strict_json_stays_strict_json() {
    let texts = [
        "{}",
        "{\"a\": 1}",
        "{\n    \"plugins\": {\"allow\": []}\n}",
        "{\n  \"plugins\": {\n    \"load\": {\n      \"paths\": [\n        \"x\"\n      ]\n    }\n  }\n}",
    ];
    for text in texts {
        let linked = after(text, &link("it's-1", "/p \"q\""));
        serde_json::from_str::<Value>(&linked).unwrap();
        let unlinked = after(&linked, &unlink("it's-1", "/p \"q\""));
        serde_json::from_str::<Value>(&unlinked).unwrap();
    }
}

#[test]
fn replacing_keeps_the_quotes_of_the_old_value() {
    check(
        "{a: 'x', \"b\": \"y\"}",
        Edit::set(["a"], "z"),
        "{a: 'z', \"b\": \"y\"}",
    );
    check(
        "{a: \"x\", b: 'y'}",
        Edit::set(["a"], "z"),
        "{a: \"z\", b: 'y'}",
    );
    check(
        "{\n  a: 1, // c\n}",
        Edit::set(["a"], json!({"k": [1, {"l": null}]})),
        "{\n  a: {\n    k: [\n      1,\n      {\n        l: null,\n      },\n    ],\n  }, // c\n}",
    );
}

/// Case C-15.
#[test]
fn value_of_another_type_in_the_way_is_refused() {
    let check = |text: &str, edit: Edit, at: &[&str], wanted: &'static str| {
        let error = apply(text, &[edit]).unwrap_err();
        let at = KeyPath::new(at.iter().copied());
        assert_eq!(error.kind, EditErrorKind::WrongType { at, wanted });
    };
    check("{a: 1}", Edit::set(["a", "b"], 1), &["a"], "an object");
    check("{a: {}}", Edit::append_unique(["a"], 1), &["a"], "a list");
    check("{a: null}", Edit::remove(["a", "b"]), &["a"], "an object");
    check("[]", Edit::set(["a"], 1), &[], "an object");
}

#[test]
fn text_that_cannot_be_edited_is_refused() {
    let kind = |text: &str, edit: Edit| apply(text, &[edit]).unwrap_err().kind;
    assert_eq!(
        kind("{}", Edit::remove::<&str>([])),
        EditErrorKind::EmptyPath
    );
    assert!(matches!(
        kind("{a: }", Edit::remove(["a"])),
        EditErrorKind::Syntax(_)
    ));
    for odd_key in ["{\n  \\u0061: 1 }", "{\n  a/* c */: 1 }"] {
        let place = EditErrorKind::Unsupported { line: 2, column: 3 };
        assert_eq!(kind(odd_key, Edit::set(["b"], 1)), place);
    }
}
