//! Which hooks an engine gets, in which order, scenario by scenario.
//!
//! Every captured scenario is played or stands in [`NOT_PLAYED`] with the reason. One that is played has the captured
//! order, or another one that a row of `docs/differences.md` explains.

mod not_played;

use crate::support::{field, list, oracle, text};
use ::support::{Home, ScriptedModel, call, request, say, turn};
use not_played::NOT_PLAYED;
use openclaw_host::{ModelErrorKind, ModelReply, NoTools, Slot, TurnKind, TurnRequest};
use serde_json::{Value, json};

const DIFFERENCES: &str = include_str!("../../../docs/differences.md");

/// An order that this host means to have in place of the captured one.
struct Difference {
    /// How its row in `docs/differences.md` begins.
    row: &'static str,
    hooks: &'static [&'static str],
}

/// A turn behind another one, as the captured scenario has it.
struct Scenario {
    name: &'static str,
    descriptor: Value,
    /// How hooks behave in the turn before; a process of its own runs it.
    hooks_before: Value,
    hooks: Value,
    /// Whether the engine that the configuration asks for is there.
    is_registered: bool,
    difference: Option<Difference>,
    script: Vec<Result<ModelReply, ModelErrorKind>>,
    kind: TurnKind,
    is_first: bool,
}

fn scenario(name: &'static str) -> Scenario {
    Scenario {
        name,
        descriptor: json!({}),
        hooks_before: json!({}),
        hooks: json!({}),
        is_registered: true,
        difference: None,
        script: vec![Ok(say("done"))],
        kind: TurnKind::Message,
        is_first: false,
    }
}

fn scenarios() -> Vec<Scenario> {
    let overflow = || vec![Err(ModelErrorKind::ContextOverflow), Ok(say("fits"))];
    let tools = || vec![Ok(call("c1", "ls")), Ok(say("done"))];
    vec![
        Scenario {
            is_first: true,
            ..scenario("first turn of a brand-new session (local run)")
        },
        scenario("second turn of a session (local run)"),
        Scenario {
            is_first: true,
            script: tools(),
            ..scenario("turn with one tool call, engine does not own compaction, new session")
        },
        Scenario {
            descriptor: json!({ "ownsCompaction": true }),
            script: tools(),
            ..scenario("turn with one tool call, engine owns compaction")
        },
        Scenario {
            script: vec![Err(ModelErrorKind::Refused)],
            ..scenario("model request rejected (not retryable)")
        },
        Scenario {
            script: (0..20).map(|_| Err(ModelErrorKind::Server)).collect(),
            ..scenario("model request fails with server errors until retries are used up")
        },
        Scenario {
            script: overflow(),
            ..scenario("provider overflow, compact reports not compacted")
        },
        Scenario {
            hooks: json!({ "compact": { "ok": true, "compacted": true } }),
            script: overflow(),
            ..scenario("provider overflow, compact reports compacted")
        },
        Scenario {
            hooks: json!({ "compact": "fail" }),
            script: overflow(),
            ..scenario("provider overflow, compact throws")
        },
        Scenario {
            kind: TurnKind::Heartbeat,
            ..scenario("heartbeat turn")
        },
        Scenario {
            descriptor: json!({ "acceptedHostParams": [] }),
            ..scenario("acceptedHostParams is an empty list")
        },
    ]
}

/// Scenarios in which the commit is not what the host hopes for, or a turn comes to no end.
fn endings() -> Vec<Scenario> {
    let fails = || json!({ "commitTurn": "fail" });
    vec![
        Scenario {
            is_first: true,
            hooks: fails(),
            ..scenario("commitTurn throws")
        },
        Scenario {
            hooks_before: fails(),
            hooks: fails(),
            ..scenario("next turn, commitTurn still throws")
        },
        Scenario {
            hooks_before: fails(),
            ..scenario("next turn, commitTurn works again")
        },
        Scenario {
            script: vec![Err(ModelErrorKind::Cancelled)],
            ..scenario("run aborted by the user while the model call is pending")
        },
    ]
}

/// Scenarios in which an engine cannot serve, or stops serving.
fn failures() -> Vec<Scenario> {
    let needs = json!({ "requiredCapabilities": ["thread-bootstrap-projection"] });
    let differs = |row, hooks| Some(Difference { row, hooks });
    let failed = "11, 12, 14: bootstrap, maintain or assemble fail";
    vec![
        Scenario {
            is_first: true,
            hooks: json!({ "factory": "fail" }),
            ..scenario("factory throws")
        },
        Scenario {
            is_registered: false,
            ..scenario("engine id not registered")
        },
        Scenario {
            is_first: true,
            difference: differs(
                "1, 2: a first turn",
                &["factory", "assemble", "commitTurn", "maintain", "dispose"],
            ),
            ..scenario("first turn of a brand-new session (gateway chat)")
        },
        Scenario {
            is_first: true,
            descriptor: json!({ "transcriptSemantics": {} }),
            difference: differs("6, 7: engine without promises", &[]),
            ..scenario("engine without transcript semantics")
        },
        Scenario {
            is_first: true,
            descriptor: json!({ "hostRequirements": { "agent-run": needs } }),
            difference: differs("10: unmet host requirement", &[]),
            ..scenario("host requirement not met by the host")
        },
        Scenario {
            hooks: json!({ "bootstrap": "fail" }),
            difference: differs(failed, &["factory", "bootstrap", "dispose"]),
            ..scenario("bootstrap throws")
        },
        Scenario {
            hooks: json!({ "maintain": "fail" }),
            difference: differs(failed, &["factory", "bootstrap", "maintain", "dispose"]),
            ..scenario("maintain throws (both bootstrap and turn)")
        },
        Scenario {
            hooks: json!({ "assemble": "fail" }),
            difference: differs(
                failed,
                &["factory", "bootstrap", "maintain", "assemble", "dispose"],
            ),
            ..scenario("assemble throws")
        },
    ]
}

/// Names of the hooks that an engine got in a scenario.
fn replayed(scenario: Scenario) -> Vec<String> {
    let mut home = Home::new().with_recorder(&scenario.descriptor, &scenario.hooks_before);
    if !scenario.is_registered {
        home.set_slot(Slot::Engine("nobody".into()));
    }
    if !scenario.is_first {
        let host = home.host();
        turn(&host, "before", None, &mut ScriptedModel::done()).expect("a turn before is answered");
    }
    home.set_recorder(&scenario.hooks, &json!({}));
    let host = home.host();
    home.clear_recording();
    let mut model = ScriptedModel::new(100_000, scenario.script);
    let request = TurnRequest {
        kind: scenario.kind,
        ..request("hello")
    };
    // A scenario may end without a reply.
    let _ = host.turn(request, &mut model, &mut NoTools, &mut |_| {});
    home.calls().into_iter().map(|call| call.hook).collect()
}

/// `assemble#1 messages=2` without its numbers.
fn hook_name(call: &Value) -> String {
    let name = call.as_str().and_then(|call| call.split('#').next());
    name.unwrap_or_default().to_owned()
}

#[test]
fn hooks_come_in_the_captured_order() {
    oracle("hook order", |captured, tally| {
        let file = captured.json("openclaw-calls/sequences.json");
        let sequences = list(field(&file, "sequences"));
        let mut names: Vec<&str> = NOT_PLAYED.iter().map(|(name, _)| *name).collect();
        for mut scenario in [scenarios(), endings(), failures()].into_iter().flatten() {
            let name = scenario.name;
            names.push(name);
            let found = sequences.iter().find(|it| text(it, "scenario") == name);
            let found = found.unwrap_or_else(|| panic!("no scenario `{name}` was captured"));
            let captured: Vec<String> = list(field(found, "calls")).iter().map(hook_name).collect();
            let expected = match scenario.difference.take() {
                None => captured,
                Some(Difference { row, hooks }) => {
                    let is_explained = DIFFERENCES.contains(&format!("\n| {row} |"));
                    tally.same(name, "row in docs/differences.md", true, is_explained);
                    tally.same(name, "is a difference", true, captured != hooks);
                    hooks.iter().copied().map(str::to_owned).collect()
                }
            };
            tally.same(name, "hooks", expected, replayed(scenario));
        }
        let mut all: Vec<&str> = sequences.iter().map(|it| text(it, "scenario")).collect();
        all.sort_unstable();
        names.sort_unstable();
        tally.same("all", "played or with a reason, once", all, names);
    });
}
