//! The captured files that are played, and the plugins that each begins with.

/// What lies in a directory.
#[derive(Clone, Copy)]
pub(super) enum Made {
    /// An engine with this id.
    Engine(&'static str),
    /// An id and a kind.
    Kind(&'static str, &'static str),
    /// An engine with this id and a schema of its settings.
    Settings(&'static str, &'static str),
    /// A library of this id beside a manifest with this text.
    Manifest(&'static str, &'static str),
    /// A manifest alone.
    NoLibrary(&'static str),
    /// A library alone.
    NoManifest,
}

pub(super) struct Case {
    /// Name of the captured file.
    pub(super) name: &'static str,
    /// Directories below the current one, or below the home with `~/`.
    pub(super) plugins: &'static [(&'static str, Made)],
}

use Made::{Engine, Kind, Manifest, NoLibrary, NoManifest, Settings};

const LEVELS: &str = r#"{"type": "object", "additionalProperties": false, "properties": {
    "level": {"type": "integer", "maximum": 5}, "mode": {"enum": ["fast", "slow"]}}}"#;
const REQUIRED: &str =
    r#"{"type": "object", "required": ["level"], "properties": {"level": {"type": "integer"}}}"#;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "link-basic",
        plugins: &[("eng", Engine("eng-a"))],
    },
    Case {
        name: "copy-basic",
        plugins: &[("eng", Engine("eng-b"))],
    },
    Case {
        name: "records",
        plugins: &[("lnk", Engine("eng-l")), ("cpy", Engine("eng-c"))],
    },
    Case {
        name: "config-schema",
        plugins: &[("eng", Settings("eng-s", LEVELS))],
    },
    Case {
        name: "required-config",
        plugins: &[("eng", Settings("eng-r", REQUIRED))],
    },
    Case {
        name: "slots",
        plugins: &[
            ("e1", Engine("eng-1")),
            ("e2", Engine("eng-2")),
            ("mem", Kind("mem-1", "memory")),
        ],
    },
    Case {
        name: "policy",
        plugins: &[("e1", Engine("eng-1"))],
    },
    Case {
        name: "paths",
        plugins: &[
            ("with space/ünï-código 引擎", Engine("eng-u")),
            ("rel", Engine("eng-rel")),
            ("~/tilde", Engine("eng-tilde")),
        ],
    },
    Case {
        name: "extras",
        plugins: &[("e1", Engine("eng-1")), ("e2", Engine("eng-2"))],
    },
    Case {
        name: "bad-manifest",
        plugins: &[
            ("nomanifest", NoManifest),
            (
                "malformed",
                Manifest("eng-malformed", "{ \"id\": \"eng-malformed\",\n"),
            ),
            ("array", Manifest("eng-array", "[]")),
            (
                "noid",
                Manifest("eng-noid", r#"{"configSchema": {"type": "object"}}"#),
            ),
            (
                "noschema",
                Manifest(
                    "eng-noschema",
                    r#"{"id": "eng-noschema", "kind": "context-engine"}"#,
                ),
            ),
            (
                "badschema",
                Settings("eng-badschema", r#"{"type": "objekt"}"#),
            ),
            ("reserved", Engine("node-mcp")),
            (
                "missingentry",
                NoLibrary(r#"{"id": "eng-missingentry", "configSchema": {"type": "object"}}"#),
            ),
            ("mismatch", Engine("eng-mismatch")),
            ("badkind", Kind("eng-badkind", "nonsense")),
            (
                "badcat",
                Manifest(
                    "eng-badcat",
                    r#"{"id": "eng-badcat", "kind": "context-engine", "categories": ["nonsense"], "configSchema": {"type": "object"}}"#,
                ),
            ),
            ("space_id", Engine("has space")),
        ],
    },
];
