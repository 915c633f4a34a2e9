//! `openclaw.plugin.json`: what is known of a plugin without running it.

use crate::depth;
use crate::error::{LoadError, LoadErrorKind};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Name of the manifest in a build directory.
pub const MANIFEST_FILE: &str = "openclaw.plugin.json";

const SIZE_LIMIT_BYTES: u64 = 256 * 1024;
const ID_LIMIT_BYTES: usize = 128;
pub(crate) const RESERVED_IDS: [&str; 4] = ["legacy", "none", "node-mcp", "__proto__"];

/// A manifest that can be used. Unknown keys are ignored, optional keys of a wrong type count as absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Plugin id, and the id of the engine it brings.
    pub id: String,
    /// Name for people; the id where the manifest has none.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Version of the plugin.
    pub version: Option<String>,
    /// Whether installing it selects the context-engine slot.
    pub is_context_engine: bool,
    /// JSON Schema of the plugin's settings; an object.
    pub config_schema: Value,
}

impl Manifest {
    /// Reads the manifest of a build directory.
    ///
    /// # Errors
    ///
    /// The manifest is missing, too large, no JSON5, or lacks a usable `id` or `configSchema`.
    pub fn read(directory: &Path) -> Result<Self, LoadError> {
        let path = directory.join(MANIFEST_FILE);
        let text = read_text(&path).map_err(|kind| kind.at(&path))?;
        Self::parse(&text).map_err(|kind| kind.at(&path))
    }

    /// Parses a manifest's text.
    ///
    /// # Errors
    ///
    /// As [`Self::read`], without the file.
    pub fn parse(text: &str) -> Result<Self, LoadErrorKind> {
        if let Some(problem) = depth::problem(text) {
            return Err(LoadErrorKind::ManifestSyntax(problem));
        }
        let body = text.trim_start_matches('\u{feff}');
        let value: Value = json5::from_str(body).map_err(|error| syntax_error(body, &error))?;
        let Value::Object(fields) = value else {
            return Err(LoadErrorKind::ManifestSyntax("it is not an object".into()));
        };
        let id = plugin_id(&fields)?;
        Ok(Self {
            name: text_field(&fields, "name").unwrap_or_else(|| id.clone()),
            description: text_field(&fields, "description"),
            version: text_field(&fields, "version"),
            is_context_engine: is_context_engine(fields.get("kind")),
            config_schema: config_schema(&fields)?,
            id,
        })
    }
}

/// What the reader has to say, and where.
fn syntax_error(body: &str, error: &json5::Error) -> LoadErrorKind {
    let what = match error.code() {
        Some(code) => code.to_string(),
        None => "a number or an escape sequence is not valid".to_owned(),
    };
    // For a text that ends too soon the reader names the outermost bracket.
    let (what, position) = match what.strip_prefix("EOF") {
        Some(parsing) => (format!("the file ends while{parsing}"), None),
        None => (what, error.position()),
    };
    let at = position.unwrap_or_else(|| json5::Position::from_offset(body.trim_end().len(), body));
    LoadErrorKind::ManifestSyntax(format!(
        "{what} (line {}, column {})",
        at.line + 1,
        at.column + 1
    ))
}

/// Opens a regular file; opening a pipe would wait for a writer.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if path.metadata()?.is_file() {
        File::open(path)
    } else {
        let reason = "it is not a regular file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
    }
}

fn read_text(path: &Path) -> Result<String, LoadErrorKind> {
    let file = open_regular(path).map_err(LoadErrorKind::Unreadable)?;
    let bytes = file.metadata().map_err(LoadErrorKind::Unreadable)?.len();
    if bytes > SIZE_LIMIT_BYTES {
        return Err(LoadErrorKind::ManifestTooLarge {
            bytes,
            limit: SIZE_LIMIT_BYTES,
        });
    }
    let mut text = String::new();
    file.take(SIZE_LIMIT_BYTES)
        .read_to_string(&mut text)
        .map_err(LoadErrorKind::Unreadable)?;
    Ok(text)
}

fn plugin_id(fields: &Map<String, Value>) -> Result<String, LoadErrorKind> {
    let wrong = |problem: String| {
        Err(LoadErrorKind::ManifestField {
            field: "id",
            problem,
        })
    };
    let id = match fields.get("id") {
        None => return wrong("is missing".into()),
        Some(Value::String(id)) if !id.trim().is_empty() => id.trim(),
        Some(other) => return wrong(format!("is {other}, not a non-blank string")),
    };
    if RESERVED_IDS.contains(&id.to_ascii_lowercase().as_str()) {
        return wrong(format!("`{id}` is reserved"));
    }
    let is_word =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if id.len() > ID_LIMIT_BYTES || id.starts_with(['.', '-', '_']) || !id.chars().all(is_word) {
        let shown: String = id.chars().take(40).collect();
        return wrong(format!(
            "`{shown}` is no engine id: lower-case letters, digits, `-`, `_` and `.`, at most {ID_LIMIT_BYTES} bytes"
        ));
    }
    Ok(id.to_owned())
}

fn config_schema(fields: &Map<String, Value>) -> Result<Value, LoadErrorKind> {
    match fields.get("configSchema") {
        Some(schema @ Value::Object(_)) => Ok(schema.clone()),
        Some(_) => Err(LoadErrorKind::ManifestField { field: "configSchema", problem: "is not an object".into() }),
        None => Err(LoadErrorKind::ManifestField {
            field: "configSchema",
            problem: r#"is missing; without settings it is {"type": "object", "additionalProperties": false}"#.into(),
        }),
    }
}

fn is_context_engine(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::String(kind)) => kind == "context-engine",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "context-engine"),
        _ => false,
    }
}

fn text_field(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields
        .get(key)?
        .as_str()
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        Manifest::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn manifest_in_json5_is_read() {
        let manifest = Manifest::parse(
            "{ // words\n id: 'e1', kind: ['memory', 'context-engine'], version: 7, name: ' My engine ', configSchema: {}, }",
        )
        .unwrap();
        assert_eq!(manifest.id, "e1");
        assert_eq!(manifest.name, "My engine");
        assert_eq!(manifest.version, None);
        assert!(manifest.is_context_engine);
    }

    /// Case M-5.
    #[test]
    fn odd_ids_are_refused_with_the_allowed_form() {
        let long = format!("{{id: '{}', configSchema: {{}}}}", "x".repeat(300));
        for (text, expected) in [
            ("{id: 7, configSchema: {}}", "`id` is 7"),
            ("{id: '', configSchema: {}}", "not a non-blank string"),
            ("{configSchema: {}}", "`id` is missing"),
            ("{id: '../x', configSchema: {}}", "no engine id"),
            ("{id: 'a b', configSchema: {}}", "no engine id"),
            ("{id: 'ÄÖ', configSchema: {}}", "no engine id"),
            ("{id: 'legacy', configSchema: {}}", "reserved"),
            ("{id: '__proto__', configSchema: {}}", "reserved"),
            (long.as_str(), "at most 128 bytes"),
        ] {
            assert!(
                problem(text).contains(expected),
                "{text}: {}",
                problem(text)
            );
        }
    }

    /// Cases M-1 and M-3.
    #[test]
    fn broken_manifests_say_what_and_where() {
        assert!(
            problem("{id: 'a',\n configSchema: {").contains("line 2"),
            "{}",
            problem("{id: 'a',\n configSchema: {")
        );
        assert!(problem("[]").contains("not an object"));
        assert!(problem("{id: 'a'}").contains("additionalProperties"));
        assert!(
            problem("{id: 'a', configSchema: true}").contains("`configSchema` is not an object")
        );
    }

    /// Case M-1.
    #[test]
    fn cut_manifest_is_named_with_the_place_where_it_ends() {
        for text in [
            "{",
            "{id: 'a'",
            "{id: 'a',\n  kind: 'context-eng",
            "{id: 'a',\n configSchema: {",
        ] {
            let end = text.lines().last().unwrap().len();
            let (line, column) = (text.lines().count(), end + 1);
            let problem = problem(text);
            assert!(problem.contains("the file ends while"), "{text}: {problem}");
            let place = format!("(line {line}, column {column})");
            assert!(problem.ends_with(&place), "{text}: {problem}");
        }
    }

    /// Case M-1.
    #[cfg(unix)]
    #[test]
    fn manifest_that_is_a_pipe_is_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(MANIFEST_FILE);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let error = Manifest::read(directory.path()).unwrap_err();
        let LoadErrorKind::Unreadable(reason) = &error.kind else {
            panic!("{error:?}")
        };
        assert_eq!(reason.to_string(), "it is not a regular file");
    }

    /// Case M-6.
    #[test]
    fn large_manifest_names_size_and_limit() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(MANIFEST_FILE), " ".repeat(300 * 1024)).unwrap();
        let error = Manifest::read(directory.path()).unwrap_err();
        assert_eq!(error.code(), "load/manifest-too-large");
        assert!(
            error
                .kind
                .to_string()
                .contains("307200 bytes, the limit is 262144")
        );
    }

    /// Case F-14.
    #[test]
    fn deeply_nested_manifest_is_an_error() {
        let deep = format!("{{id: 'a', configSchema: {}", "[".repeat(100_000));
        assert!(problem(&deep).contains("nested deeper than 256 levels"));
    }
}
