//! Which hooks an engine gets, in which order, scenario by scenario.
//!
//! Scenarios in which this host means to differ are not among them; `docs/differences.md` lists those, with their cases.

use crate::support::{field, list, oracle, text};
use ::support::{Home, ScriptedModel, call, request, say, turn};
use openclaw_host::{ModelErrorKind, ModelReply, NoTools, TurnKind, TurnRequest};
use serde_json::{Value, json};

/// A turn behind another one, as the captured scenario has it.
struct Scenario {
    name: &'static str,
    descriptor: Value,
    hooks: Value,
    script: Vec<Result<ModelReply, ModelErrorKind>>,
    kind: TurnKind,
    is_first: bool,
}

fn scenario(name: &'static str) -> Scenario {
    Scenario {
        name,
        descriptor: json!({}),
        hooks: json!({}),
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

/// Names of the hooks that an engine got in a scenario.
fn replayed(scenario: Scenario) -> Vec<String> {
    let home = Home::new().with_recorder(&scenario.descriptor, &scenario.hooks);
    let host = home.host();
    if !scenario.is_first {
        turn(&host, "before", None, &mut ScriptedModel::done()).expect("a turn before is answered");
    }
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
        for scenario in scenarios() {
            let name = scenario.name;
            let found = sequences.iter().find(|it| text(it, "scenario") == name);
            let found = found.unwrap_or_else(|| panic!("no scenario `{name}` was captured"));
            let expected: Vec<String> = list(field(found, "calls")).iter().map(hook_name).collect();
            tally.same(name, "hooks", expected, replayed(scenario));
        }
    });
}
