//! Engines that break a promise about turns are found out, by the probe that names it.

use super::{link, plugin, window};
use crate::home::{Home, select};
use serde_json::{Value, json};

/// The document of `plugins validate` for the engine `name` with settings, and whether the command succeeded.
fn validated(name: &str, settings: Value) -> (Value, bool) {
    let home = Home::new();
    let directory = select(&home, name, name, settings);
    let args = ["plugins", "validate", "--json", "--call-timeout", "30"].map(AsRef::as_ref);
    let mut command = home.command(args.into_iter().chain([directory.as_os_str()]));
    let ran = home.finish(&mut command);
    (ran.json(), ran.code == 0)
}

/// Names of the probes with this outcome.
fn with_outcome<'a>(document: &'a Value, outcome: &str) -> Vec<&'a str> {
    let probes = document["probes"].as_array().expect("it is a list");
    let those = probes.iter().filter(|probe| probe["outcome"] == outcome);
    those.map(|probe| probe["name"].as_str().unwrap()).collect()
}

const ALL: [&str; 10] = [
    "turn-undisturbed",
    "commit-first",
    "commit-duplicate",
    "commit-second-instance",
    "commit-second-process",
    "commit-other-payload",
    "commit-acknowledged",
    "commit-killed",
    "fence-bootstrap",
    "fence-unfinished-turn",
];

/// Conformance: `atomic-idempotent-v1` and `before-current-turn-entry-v1`, one lie for each promise.
#[test]
fn each_lie_is_found_out_by_the_probe_that_names_it() {
    for (lie, probe, found) in [
        ("duplicate-at-first", "commit-first", "answered `duplicate`"),
        (
            "always-committed",
            "commit-duplicate",
            "answered `committed`",
        ),
        (
            "remembers-per-instance",
            "commit-second-instance",
            "by another instance",
        ),
        (
            "forgets-on-restart",
            "commit-second-process",
            "by another process",
        ),
        (
            "overwrites",
            "commit-other-payload",
            "expected in the system prompt addition",
        ),
        (
            "acknowledges-early",
            "commit-acknowledged",
            "killed right after turn 2 was acknowledged",
        ),
        (
            "writes-at-dispose",
            "commit-acknowledged",
            "answered `committed`",
        ),
        ("commits-in-halves", "commit-killed", "ms into commitTurn"),
        (
            "stores-at-bootstrap",
            "fence-bootstrap",
            "behind bootstrap and maintain",
        ),
        (
            "shows-the-unfinished-turn",
            "fence-unfinished-turn",
            "its prompt in the system prompt addition",
        ),
        (
            "repeats-the-prompt",
            "fence-unfinished-turn",
            "the host alone must add it",
        ),
    ] {
        let (document, is_valid) = validated("liar", json!({ "lie": lie }));
        assert_eq!(
            with_outcome(&document, "failed"),
            [probe],
            "{lie}: {document:#}"
        );
        assert!(!is_valid && document["ok"] == false, "{lie}");
        assert_eq!(document["semantics"]["probe"], probe, "{lie}");
        let reason = document["semantics"]["reason"].as_str().unwrap();
        assert!(reason.contains(found), "{lie}: {reason}");
        assert!(!reason.contains('\n'), "{lie}: {reason}");
    }
}

#[test]
fn honest_engines_pass_every_probe() {
    for name in ["liar", "window"] {
        let (document, is_valid) = validated(name, json!({}));
        assert!(is_valid, "{document:#}");
        assert_eq!(with_outcome(&document, "passed"), ALL, "{document:#}");
    }
}

/// What differs without being disturbed cannot be compared, which is not the engine's fault.
#[test]
fn engine_whose_answers_differ_anyway_gets_the_benefit_of_the_doubt() {
    let (document, is_valid) = validated("liar", json!({ "lie": "differs-each-time" }));
    assert!(is_valid, "{document:#}");
    let expected = &ALL[5..];
    let probes = document["probes"].as_array().unwrap();
    let unclear = probes.iter().filter(|probe| {
        let reason = probe["reason"].as_str().unwrap_or_default();
        reason.contains("two undisturbed runs already get different answers")
    });
    let unclear: Vec<&str> = unclear
        .map(|probe| probe["name"].as_str().unwrap())
        .collect();
    assert_eq!(unclear, expected, "{document:#}");
}

#[test]
fn engine_that_fails_crashes_or_hangs_fails_a_probe_with_what_it_said() {
    let signal = if cfg!(target_os = "linux") {
        "signal: 6 (SIGABRT)"
    } else {
        "signal"
    };
    for (name, settings, texts) in [
        (
            "unruly",
            json!({ "create": "panic" }),
            vec![
                "making an instance failed",
                "unruly panics in create",
                "unruly/src/lib.rs:",
            ],
        ),
        (
            "unruly",
            json!({ "assemble": "panic" }),
            vec!["assemble of turn 1 failed", "unruly panics in assemble"],
        ),
        (
            "unruly",
            json!({ "bootstrap": "panic" }),
            vec!["bootstrap failed", "unruly panics in bootstrap"],
        ),
        (
            "unruly",
            json!({ "commitTurn": "panic" }),
            vec!["commitTurn of turn 1 failed", "unruly panics in commitTurn"],
        ),
        (
            "unruly",
            json!({ "commitTurn": "error" }),
            vec!["unruly fails in commitTurn"],
        ),
        (
            "unruly",
            json!({ "assemble": "stack-overflow" }),
            vec!["ended in assemble of turn 1", "overflowed its stack"],
        ),
        (
            "liar",
            json!({ "lie": "aborts" }),
            vec!["ended in commitTurn of turn 1", signal],
        ),
    ] {
        let (document, is_valid) = validated(name, settings.clone());
        assert!(!is_valid, "{settings}");
        assert_eq!(
            with_outcome(&document, "failed"),
            ["turn-undisturbed"],
            "{document:#}"
        );
        let reason = document["semantics"]["reason"].as_str().unwrap();
        for text in texts {
            assert!(reason.contains(text), "{settings}: {text:?} in {reason}");
        }
    }
}

#[test]
fn engine_that_hangs_is_killed_and_named() {
    let home = Home::new();
    select(&home, "liar", "liar", json!({ "lie": "hangs" }));
    home.run("plugins validate plugins/liar --call-timeout 1")
        .fails()
        .shows(&["commitTurn of turn 1 did not end within 1 seconds"]);
}

#[test]
fn text_says_what_was_checked_and_what_to_do() {
    let home = Home::new();
    window(&home);
    let ran = home.run("plugins validate window").succeeds().shows(&[
        "ok      manifest   window 0.1.0 in ~~/here/window",
        "ok      contract   the library speaks 1.0, this host 1.0",
        "ok      settings   the defaults, which satisfy the manifest's schema",
        "ok      engine     Sliding window 0.1.0, loaded in a process of its own",
        "ok      probe      commit-killed          a commit that is killed is whole or absent",
        "valid · ",
    ]);
    assert_eq!(
        ran.stdout.matches("ok      probe").count(),
        10,
        "{}",
        ran.stdout
    );
    assert!(!home.state_dir().exists(), "nothing is left behind");
    let lie = json!({ "lie": "always-committed" });
    select(&home, "liar", "liar", lie);
    let config = home.config();
    home.run("plugins validate plugins/liar").fails().shows(&[
        "ok      settings   those of openclaw.json",
        "error   probe      commit-duplicate",
        "note    probe      commit-killed          not tried: it builds on",
        "not valid: commit-duplicate failed, so turns would run on legacy",
        "help: each probe compares",
    ]);
    assert_eq!(home.config(), config);
}

#[test]
fn engine_that_promises_nothing_is_valid_and_told_what_that_means() {
    let home = Home::new();
    select(&home, "liar", "liar", json!({}));
    let mut command = home.command(["plugins", "validate", "plugins/liar", "--json"]);
    let ran = home.finish(command.env("LIAR_DECLARES_NOTHING", "1"));
    let document = ran.succeeds().json();
    assert_eq!(document["semantics"], json!({ "state": "notDeclared" }));
    assert_eq!(with_outcome(&document, "notApplicable"), ALL[1..]);
}

#[test]
fn library_that_cannot_be_loaded_is_refused_with_its_code() {
    let home = Home::new();
    // Its engine says that it is another one than the note.
    plugin(&home, "other", "");
    let ran = home.run("plugins validate other --json").fails();
    assert_eq!(ran.json()["error"]["code"], "load/contract");
    ran.shows(&["info.id is `window`, note and manifest say `other`"]);
    home.run("plugins validate nothing-here")
        .fails()
        .shows(&["there is nothing at this path"]);
    let mut command = home.command(["plugins", "validate", "window", "--json"]);
    window(&home);
    let ran = home.finish(command.env("OPENCLAW_CONFIG_PATH", home.path("no.json")));
    ran.succeeds();
}

#[test]
fn bad_settings_are_refused_before_anything_runs() {
    let home = Home::new();
    select(&home, "liar", "liar", json!({ "lie": "sometimes" }));
    let ran = home.run("plugins validate plugins/liar --json").fails();
    assert_eq!(ran.json()["error"]["code"], "load/settings");
}

#[test]
fn installing_says_what_the_promises_are_worth_and_refuses_nothing() {
    let home = Home::new();
    link(&home, &window(&home))
        .succeeds()
        .shows(&["promises kept, 10 probes passed"]);
    let directory = select(
        &home,
        "liar",
        "window",
        json!({ "lie": "always-committed" }),
    );
    let ran = link(&home, &directory).succeeds().shows(&[
        "promises semantics probe failed: commit-duplicate:",
        "warning: the engine is installed and loads, but turns do not run through it",
    ]);
    assert!(ran.stdout.contains("liar is now selected"), "{ran:#?}");
    let other = plugin(&home, "other", "");
    link(&home, &other)
        .succeeds()
        .shows(&["promises not probed: cannot load plugin `other`"]);
}
