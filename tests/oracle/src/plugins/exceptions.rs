//! What is not played, what is left out, and what differs.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Whether the command succeeded.
    Exit,
    /// The plugins section that was captured behind the command.
    Config,
}

/// An effect of a step that is meant to be the other one.
pub(super) struct Differs {
    pub(super) case: &'static str,
    /// Number of the command in its file, from 1.
    pub(super) step: usize,
    pub(super) effect: Effect,
    /// How its row in `docs/differences.md` begins.
    pub(super) row: &'static str,
}

pub(super) const DIFFERS: &[Differs] = &[
    exit("link-basic", 1, CONSENT),
    exit("link-basic", 2, CONSENT),
    exit("config-schema", 5, SETTINGS),
    exit("config-schema", 6, SETTINGS),
    exit("config-schema", 12, "settings of a plugin that is disabled"),
    config("slots", 8, "`kind: \"memory\"` at install"),
    exit("policy", 9, "ids that no plugin has"),
    exit("policy", 11, "ids that no plugin has"),
    exit("bad-manifest", 17, MANIFESTS),
    exit("bad-manifest", 18, MANIFESTS),
    config("bad-manifest", 23, MANIFESTS),
];

const CONSENT: &str = "consent for a link";
const SETTINGS: &str = "settings that break a schema";
const MANIFESTS: &str = "unknown `categories`; ids with spaces or capitals";

const fn exit(case: &'static str, step: usize, row: &'static str) -> Differs {
    let effect = Effect::Exit;
    Differs {
        case,
        step,
        effect,
        row,
    }
}

const fn config(case: &'static str, step: usize, row: &'static str) -> Differs {
    let effect = Effect::Config;
    Differs {
        case,
        step,
        effect,
        row,
    }
}

/// Captured file or `*`, beginning of the command line, reason.
pub(super) const LEFT_OUT: &[(&str, &str, &str)] = &[
    (
        "bad-manifest",
        "openclaw plugins install -l --force --accept-capabilities ./tsentry",
        SCRIPTS,
    ),
    (
        "bad-manifest",
        "openclaw plugins install -l --force --accept-capabilities ./nopkg",
        PACKAGE,
    ),
    (
        "bad-manifest",
        "openclaw plugins install -l --force --accept-capabilities ./badpkg",
        PACKAGE,
    ),
    (
        "bad-manifest",
        "openclaw plugins install -l --force --accept-capabilities ./noext",
        PACKAGE,
    ),
    (
        "bad-manifest",
        "openclaw plugins install -l --force --accept-capabilities ./emptyext",
        PACKAGE,
    ),
    (
        "bad-manifest",
        "openclaw plugins install -l --force --accept-capabilities ./escape",
        PACKAGE,
    ),
    (
        "bad-manifest",
        "openclaw plugins install --force --accept-capabilities ./mismatch/index.js",
        SCRIPTS,
    ),
    (
        "config-schema",
        "openclaw agent",
        "asks a model; `cli/` tests turns with settings that do not fit",
    ),
    (
        "extras",
        "openclaw plugins install -l --force --accept-capabilities ./e1.tgz",
        "needs an archive made by hand",
    ),
    (
        "policy",
        "openclaw plugins reload",
        "a row says that no gateway is needed",
    ),
    ("records", "openclaw plugins doctor", RENAMED),
    ("slots", "openclaw plugins doctor", RENAMED),
    ("paths", "openclaw plugins doctor", RENAMED),
    (
        "*",
        "openclaw config validate",
        "there is no such command: a row says what is there instead",
    ),
    (
        "*",
        "openclaw plugins registry",
        "there is no registry: a row says why",
    ),
    (
        "copy-basic",
        "ls -la",
        "lists modes and times; `cli/plugins/copies.rs` tries the mode",
    ),
];

const RENAMED: &str = "loads libraries, and those here are good enough for all but that; `cli/plugins` loads real ones";
const PACKAGE: &str = "is about package.json, which a build directory does not need";
const SCRIPTS: &str = "is about modules in JavaScript, which have no counterpart in a library";

/// Captured file and reason.
pub(super) const NOT_PLAYED: &[(&str, &str)] = &[
    (
        "archives",
        "needs archives made by hand: `cli/plugins/hostile_archives.rs` and its neighbours make them",
    ),
    (
        "authoring",
        "native plugins are written, built and packed in another way: rows on `plugins init` and the like",
    ),
    ("broken-runtime", SCRIPTS),
    (
        "copy-links",
        "links are refused as a row says; `cli/plugins/copies.rs` tries them",
    ),
    (
        "discovery",
        "its directories are not in the capture, and it is about files and workspaces of JavaScript",
    ),
    (
        "doctor-engine",
        "`openclaw doctor` has its own row; `cli/doctor.rs` tries it",
    ),
    (
        "env",
        "the capture does not hold the environment of its commands",
    ),
    (
        "functions-discovery",
        "was made by calling functions: there are no command lines",
    ),
    (
        "functions-install-path",
        "was made by calling functions: there are no command lines",
    ),
    ("npm-specs", "asks a registry"),
    ("readonly-state", "needs another user"),
    (
        "safety",
        "needs files of another user; `cli/plugins/trust.rs` tries modes",
    ),
];
