//! Captured scenarios that are not played, and why.

const TYPED: &str = "the answer has no such shape in the typed contract";
const ANSWER: &str = "the recorder has no setting for this answer yet";
const SUCCESSOR: &str = "no scenario changes its session yet";
const TIMED: &str = "the order behind the reply depends on time";
const MANUAL: &str = "is no turn, or follows a compaction by hand that is not played here yet";
const CHILD: &str = "no child runs in a scenario yet";
const HELPER: &str = "this host has no run outside a logical turn yet";
const MODELS: &str = "a scenario has one model yet";
const SERVICE: &str = "a scenario calls no service yet";
const KILL: &str = "a scenario runs in the process of the test";

/// Names and reasons.
pub(super) const NOT_PLAYED: &[(&str, &str)] = &[
    ("factory returns object violating the contract", TYPED),
    ("factory returns null", TYPED),
    ("assemble result without messages array", TYPED),
    ("commitTurn returns duplicate", ANSWER),
    ("commitTurn returns an unknown status", TYPED),
    ("commitTurn returns null on replay", TYPED),
    ("recovery after the two above", TYPED),
    (
        "provider overflow, compact delegates to the built-in compactor",
        SERVICE,
    ),
    (
        "provider overflow, owning engine rotates to a successor session",
        SUCCESSOR,
    ),
    ("turn after that rotation", SUCCESSOR),
    ("background maintenance mode, first turn", TIMED),
    ("background maintenance mode, next turn", TIMED),
    ("manual compaction rotating to a successor", MANUAL),
    (
        "manual compaction returning a successor bound to another session key",
        MANUAL,
    ),
    ("manual compaction, compact throws", MANUAL),
    ("ordinary turn while the engine is quarantined", MANUAL),
    ("manual compaction while the engine is quarantined", MANUAL),
    (
        "subagent spawn, isolated; child turn; completion announcement turn in the parent",
        CHILD,
    ),
    (
        "subagent spawn with lightContext and isolated context",
        CHILD,
    ),
    ("subagent spawn, prepareSubagentSpawn throws", CHILD),
    ("helper run inside a turn, engine with afterTurn", HELPER),
    ("helper run, engine without afterTurn", HELPER),
    (
        "helper run, engine without transcript semantics, afterTurn and ingestBatch",
        HELPER,
    ),
    ("model fallback to a second model", MODELS),
    ("turn maintenance rewrites the first user entry", SERVICE),
    (
        "next turn after that rewrite, engine reads with its old cursor",
        SERVICE,
    ),
    (
        "bootstrap maintenance rewrites while the admitted user entry is already stored (gateway path)",
        SERVICE,
    ),
    ("turn after that", SERVICE),
    ("process killed while commitTurn is running", KILL),
    ("first turn after that restart", KILL),
];
