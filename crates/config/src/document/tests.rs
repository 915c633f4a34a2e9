use super::*;
use crate::error::KeyProblem;
use crate::syntax::{MAX_DEPTH, SyntaxFault, SyntaxReason};

fn read_text(text: impl Into<Vec<u8>>) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openclaw.json");
    fs::write(&path, text.into()).unwrap();
    Config::read(&path)
}

fn kind(text: impl Into<Vec<u8>>) -> ConfigErrorKind {
    let error = read_text(text).unwrap_err();
    assert!(!error.help().is_empty());
    error.kind
}

fn syntax(text: impl Into<Vec<u8>>) -> SyntaxFault {
    match kind(text) {
        ConfigErrorKind::Syntax(fault) => fault,
        other => panic!("{other:?}"),
    }
}

/// Case C-11.
#[test]
fn only_a_missing_file_counts_as_empty() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Config::read(&folder.path().join("none/openclaw.json")).unwrap();
    assert!(missing.is_missing());
    assert!(missing.root().is_empty());
    assert_eq!(missing.plugins().unwrap(), Plugins::default());

    let error = Config::read(folder.path()).unwrap_err();
    assert!(matches!(error.kind, ConfigErrorKind::Directory));
    assert!(matches!(kind(""), ConfigErrorKind::Empty));
    let not_utf8 = kind(b"{\"a\": \"\xff\"}".as_slice());
    assert!(matches!(not_utf8, ConfigErrorKind::NotUtf8 { offset: 7 }));
    syntax(" \n");
    syntax("// nothing here");
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    let denied = read_failure(Path::new("/none/openclaw.json"), denied);
    assert!(matches!(denied, ConfigErrorKind::PermissionDenied));
}

/// Case C-11.
#[cfg(unix)]
#[test]
fn link_that_leads_nowhere_is_not_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("openclaw.json");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let error = Config::read(&link).unwrap_err();
    assert!(matches!(error.kind, ConfigErrorKind::Io(_)));
}

/// Case C-6.
#[test]
fn syntax_error_has_its_place_and_shows_no_value() {
    let text =
        "{\n  a: 1,\n  b: 2,\n  c: 3,\n  d: 4,\n  e: 5,\n  key: 'hunter2'\n  token: \"hunter2\"\n}";
    let fault = syntax(text);
    assert_eq!((fault.line, fault.column), (8, 3));
    assert_eq!(fault.excerpt, "token: \"…\"");
    let error = read_text(text).unwrap_err();
    let shown = format!("{error} {} {error:?} {}", error.kind, error.help());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("line 8, column 3"), "{shown}");
}

#[test]
fn syntax_errors_name_line_and_column() {
    let check = |text: &str, line: usize, column: usize| {
        let fault = syntax(text);
        assert_eq!((fault.line, fault.column), (line, column), "{text:?}");
    };
    check("{a: }", 1, 5);
    check("{\r\n a: 1\r\n b: 2}", 3, 2);
    check("{a: 1} x", 1, 8);
    check("{a: 1", 1, 6);
    check("\u{feff}{a: ?}", 1, 5);
    check("{a: 'x\n'}", 1, 7);
    check("{\n\n", 1, 2);
}

#[test]
fn key_given_twice_is_refused_with_its_place() {
    let fault = syntax("{\n  plugins: { allow: [], 'a': 1 },\n  \"plugins\": {}\n}");
    let duplicate = SyntaxReason::DuplicateKey(KeyPath::new(["plugins"]));
    assert_eq!((fault.line, fault.reason), (3, duplicate));
    let nested = syntax("{l: [0, {x: 1,\n x: 2}]}");
    let duplicate = SyntaxReason::DuplicateKey(KeyPath::new(["l", "1", "x"]));
    assert_eq!(
        (nested.line, nested.column, nested.reason),
        (2, 2, duplicate)
    );
}

/// Case F-14.
#[test]
fn deep_nesting_is_refused_and_200_levels_are_not() {
    let nested = |depth: usize| format!("{{a: {}{}}}", "[".repeat(depth), "]".repeat(depth));
    for depth in [10_000, MAX_DEPTH] {
        let fault = syntax(nested(depth));
        assert_eq!(fault.reason, SyntaxReason::TooDeep);
        assert_eq!((fault.line, fault.column), (1, 5 + MAX_DEPTH - 1));
    }
    read_text(nested(200)).unwrap();
    let config = read_text(nested(MAX_DEPTH - 1)).unwrap();
    assert_eq!(config.line_of(&KeyPath::new(["a", "0", "0"])), Some(1));
    let objects = |depth: usize| format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth));
    read_text(objects(MAX_DEPTH)).unwrap();
    assert_eq!(syntax(objects(MAX_DEPTH + 1)).reason, SyntaxReason::TooDeep);
    let brackets_in_text = format!("{{a: '{0}', /* {0} */ b: 1 // {0}\n}}", "[".repeat(9000));
    read_text(brackets_in_text).unwrap();
    syntax("[".repeat(10_000));
    syntax("{a: '");
    syntax("{ /* ");
    syntax("{ // ");
}

#[test]
fn odd_numbers_and_a_byte_order_mark_are_read() {
    let config = read_text(
        "\u{feff}{ a: 0x10, b: Infinity, c: 12345678901234567890, d: .5, e: +1, f: 1e3, g: NaN, h: -0x1, i: 1e400 }",
    )
    .unwrap();
    let number = |key: &str| config.get(&[key]).unwrap().to_string();
    let shown = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(number);
    let expected = [
        "16",
        "null",
        "12345678901234567890",
        "0.5",
        "1",
        "1000.0",
        "null",
        "-1",
        "null",
    ];
    assert_eq!(shown, expected);
    assert!(config.text().unwrap().starts_with(BOM));
}

#[test]
fn root_that_is_no_object_is_refused() {
    for text in ["[]", "1", "null", "'{}'"] {
        match kind(text) {
            ConfigErrorKind::Invalid(faults) => assert_eq!(faults[0].key, KeyPath::default()),
            other => panic!("{other:?}"),
        }
    }
}

/// Case C-15.
#[test]
fn faults_name_key_line_and_wanted_type() {
    let config = read_text(
        "{\n  plugins: {\n    slots: { contextEngine: { a: 1 } },\n    enabled: 'yes',\n    allow: ['a', 1],\n    extra: 1,\n    entries: { w: { config: [], hooks: { timeoutMs: 600001 } } },\n  },\n}",
    );
    let error = config.unwrap().plugins().unwrap_err();
    let ConfigErrorKind::Invalid(faults) = &error.kind else {
        panic!("{error:?}");
    };
    let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "`plugins.slots.contextEngine` (line 3) must be a string, found an object",
            "`plugins.enabled` (line 4) must be true or false, found a string",
            "`plugins.allow.1` (line 5) must be a string, found a number",
            "`plugins.extra` (line 6) is not a known key",
            "`plugins.entries.w.hooks.timeoutMs` (line 7) must be at most 600000",
            "`plugins.entries.w.config` (line 7) must be an object, found a list",
        ]
    );
    assert!(matches!(faults[3].problem, KeyProblem::Unknown { known } if known.contains(&"load")));
}

/// Case C-12.
#[test]
fn part_from_another_file_is_named() {
    let path = Path::new("/c/openclaw.json");
    let check = |text: &str, key: &[&str]| {
        let config = Config::from_text(path, text.to_owned()).unwrap();
        match config.plugins().unwrap_err().kind {
            ConfigErrorKind::Included { key: found, file } => {
                assert_eq!(found, KeyPath::new(key.iter().copied()));
                assert_eq!(file, Path::new("/c/plugins.json5"));
            }
            other => panic!("{other:?}"),
        }
    };
    check("{plugins: {$include: './plugins.json5'}}", &["plugins"]);
    check("{$include: ['plugins.json5', 'b']}", &[]);
    let elsewhere = "{plugins: {}, models: {$include: 'x'}}".to_owned();
    Config::from_text(path, elsewhere)
        .unwrap()
        .plugins()
        .unwrap();
}

/// Case C-2.
#[test]
fn debug_output_shows_nothing_of_the_content() {
    let text = "{plugins: {entries: {w: {config: {key: 'hunter2'}}}}, models: {providers: {p: {apiKey: 'hunter2'}}}}";
    let config = read_text(text).unwrap();
    let (plugins, models) = (config.plugins().unwrap(), config.models().unwrap());
    let shown = format!("{config:?} {plugins:?} {models:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

/// Case M-1.
#[cfg(unix)]
#[test]
fn pipe_and_device_are_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("openclaw.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/null")] {
        let error = Config::read(path).unwrap_err();
        assert_eq!(error.code(), "config/not-a-file");
    }
}
