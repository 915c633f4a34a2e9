//! Turns that go well, and turns that end early.

use openclaw_host::compaction::CompactionPolicy;
use openclaw_host::{
    Block, Cancel, CommitOutcome, HostSettings, Model, ModelError, ModelErrorKind, ModelInfo,
    ModelReply, ModelRequest, NoTools, Slot, Stop, Store, ToolOutcome, ToolSpec, Tools, TurnError,
    TurnRequest, Usage,
};
use serde_json::{Value, json};
use support::{Home, ScriptedModel, call, request, say, transcript, turn};

fn window() -> Home {
    Home::new().with_engine("window", Value::Null)
}

/// Roles of the message rows, in file order.
fn roles(lines: &[Value]) -> Vec<String> {
    let messages = lines.iter().filter(|line| line["type"] == "message");
    messages
        .map(|line| line["message"]["role"].as_str().unwrap().to_owned())
        .collect()
}

/// Conformance case 2; case Q-5: the first turn of a new session runs on the engine.
#[test]
fn first_turn_of_a_session_is_served_and_committed() {
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Ok(say("hello back"))]);
    let outcome = turn(&host, "hello", None, &mut model).unwrap();
    assert_eq!(outcome.reply, "hello back");
    assert_eq!(outcome.record.served.engine_id, "window");
    assert!(outcome.record.served.library_sha256.is_some());
    assert_eq!(outcome.record.commit, CommitOutcome::Committed);
    assert_eq!(outcome.record.substitution, None);
    assert_eq!(roles(&transcript(&host)), ["user", "assistant"]);
    let hooks: Vec<&str> = outcome
        .record
        .hooks
        .iter()
        .map(|hook| hook.hook.as_str())
        .collect();
    assert_eq!(hooks, ["assemble", "commitTurn", "maintain"]);
}

/// Conformance case 3.
#[test]
fn later_turn_calls_the_hooks_in_order_and_sees_the_history() {
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::done();
    turn(&host, "one", None, &mut model).unwrap();
    let outcome = turn(&host, "two", None, &mut model).unwrap();
    let hooks: Vec<&str> = outcome
        .record
        .hooks
        .iter()
        .map(|hook| hook.hook.as_str())
        .collect();
    assert_eq!(
        hooks,
        [
            "bootstrap",
            "maintain",
            "assemble",
            "commitTurn",
            "maintain"
        ]
    );
    assert_eq!(model.last_user_texts(), ["one", "two"]);
    assert_eq!(outcome.record.context.history_messages, 2);
}

/// Case D-5: the prompt stands once in what the model gets, also when the turn is tried again.
#[test]
fn current_message_reaches_the_model_once() {
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Err(ModelErrorKind::Refused), Ok(say("yes"))]);
    turn(&host, "only once", Some("t1"), &mut model).unwrap_err();
    let outcome = turn(&host, "only once", Some("t1"), &mut model).unwrap();
    assert_eq!(model.last_user_texts(), ["only once"]);
    assert_eq!(outcome.record.commit, CommitOutcome::Committed);
    assert_eq!(roles(&transcript(&host)), ["user", "assistant"]);
}

#[test]
fn engine_addition_stands_between_the_parts_of_the_system_prompt() {
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::new(1_000, []);
    let long = "a long message about nothing at all ".repeat(12);
    for index in 0..12 {
        turn(&host, &format!("{index}: {long}"), None, &mut model).unwrap();
    }
    let (system_prompt, messages) = model.requests.last().unwrap();
    let parts: Vec<&str> = system_prompt.split("\n\n").collect();
    assert_eq!(parts.first(), Some(&"You help."));
    assert_eq!(parts.last(), Some(&"Today is Friday."));
    assert_eq!(parts.len(), 3, "{system_prompt}");
    assert!(messages.len() < 23, "the window has dropped something");
}

/// Conformance case 4.
#[test]
fn tool_call_and_result_are_stored_and_committed_as_they_come() {
    struct Lister(Vec<ToolSpec>);
    impl Tools for Lister {
        fn specs(&self) -> &[ToolSpec] {
            &self.0
        }
        fn run(&mut self, name: &str, _arguments: &Value, _cancel: &Cancel) -> ToolOutcome {
            ToolOutcome {
                text: format!("{name}: README.md"),
                ..ToolOutcome::default()
            }
        }
    }
    let spec = ToolSpec {
        name: "ls".into(),
        description: "Lists files".into(),
        parameters: json!({}),
    };
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Ok(call("c1", "ls")), Ok(say("one file"))]);
    let outcome = host
        .turn(
            request("list"),
            &mut model,
            &mut Lister(vec![spec]),
            &mut |_| {},
        )
        .unwrap();
    assert_eq!(outcome.reply, "one file");
    assert_eq!(outcome.record.model.requests, 2);
    assert_eq!(
        roles(&transcript(&host)),
        ["user", "assistant", "toolResult", "assistant"]
    );
    let (_, messages) = model.requests.last().unwrap();
    assert_eq!(messages[2]["content"][0]["text"], "ls: README.md");
    drop(host);
    assert_eq!(committed_messages(&home), 4);
}

/// Messages the window engine has stored.
fn committed_messages(home: &Home) -> usize {
    let host = home.host();
    let lines = transcript(&host);
    let result = host.recommit("agent:main:main").unwrap();
    assert_eq!((result.committed, result.duplicates), (0, 1));
    roles(&lines).len()
}

#[test]
fn unknown_tool_is_answered_with_an_error_the_model_can_read() {
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Ok(call("c1", "fly")), Ok(say("I cannot fly"))]);
    assert_eq!(
        turn(&host, "fly", None, &mut model).unwrap().reply,
        "I cannot fly"
    );
    let result = &transcript(&host)[3]["message"];
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "Tool fly not found");
}

#[test]
fn model_that_only_calls_tools_is_stopped() {
    let home = window();
    let host = home.host();
    let script = (0..60).map(|index| Ok(call(&format!("c{index}"), "ls")));
    let error = turn(
        &host,
        "loop",
        None,
        &mut ScriptedModel::new(100_000, script),
    )
    .unwrap_err();
    assert!(matches!(error, TurnError::EndlessTools(50)), "{error}");
}

/// Case D-3; conformance case 20.
#[test]
fn failed_turn_keeps_the_message_and_commits_nothing() {
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Err(ModelErrorKind::Refused), Ok(say("fine"))]);
    let error = turn(&host, "first", None, &mut model).unwrap_err();
    assert!(matches!(error, TurnError::Model(_)));
    assert!(error.help().contains("openclaw.json"));
    assert_eq!(host.store().backlog().unwrap(), []);
    turn(&host, "second", None, &mut model).unwrap();
    assert_eq!(model.last_user_texts(), ["first", "second"]);
    assert_eq!(host.recommit("agent:main:main").unwrap().duplicates, 1);
}

/// Case D-2.
#[test]
fn repeated_turn_id_hands_out_the_stored_reply() {
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::new(100_000, [Ok(say("the answer"))]);
    turn(&host, "question", Some("t1"), &mut model).unwrap();
    drop(host);
    let host = home.host();
    let outcome = turn(&host, "question", Some("t1"), &mut model).unwrap();
    assert!(outcome.is_repeat);
    assert_eq!(outcome.reply, "the answer");
    assert_eq!(model.requests.len(), 1);
    assert_eq!(roles(&transcript(&host)), ["user", "assistant"]);
}

#[test]
fn turn_id_of_another_message_or_an_abandoned_turn_is_refused() {
    let home = window();
    let host = home.host();
    let mut model = ScriptedModel::new(
        100_000,
        [Ok(say("a")), Err(ModelErrorKind::Refused), Ok(say("b"))],
    );
    turn(&host, "one", Some("t1"), &mut model).unwrap();
    assert!(matches!(
        turn(&host, "other", Some("t1"), &mut model),
        Err(TurnError::TurnIdTaken(_))
    ));
    turn(&host, "two", Some("t2"), &mut model).unwrap_err();
    assert!(matches!(
        turn(&host, "other", Some("t2"), &mut model),
        Err(TurnError::TurnIdTaken(_))
    ));
    turn(&host, "three", None, &mut model).unwrap();
    let error = turn(&host, "two", Some("t2"), &mut model).unwrap_err();
    assert!(matches!(error, TurnError::MovedOn(_)), "{error}");
    assert_eq!(model.requests.len(), 3);
}

#[test]
fn blank_message_is_refused_and_nothing_is_stored() {
    let home = window();
    let host = home.host();
    let error = turn(&host, " \n", None, &mut ScriptedModel::done()).unwrap_err();
    assert!(matches!(error, TurnError::BlankText));
    assert_eq!(host.store().sessions().unwrap(), []);
}

#[test]
fn thinking_is_stored_and_not_part_of_the_reply() {
    let home = window();
    let host = home.host();
    let reply = ModelReply {
        content: vec![Block::Thinking("hm".into()), Block::Text("yes".into())],
        stop: Stop::Length,
        usage: None,
        response_id: Some("r1".into()),
    };
    let outcome = turn(
        &host,
        "think",
        None,
        &mut ScriptedModel::new(9_000, [Ok(reply)]),
    )
    .unwrap();
    assert_eq!(outcome.reply, "yes");
    let stored = &transcript(&host)[2]["message"];
    assert_eq!(stored["content"][0]["thinking"], "hm");
    assert_eq!(
        (&stored["stopReason"], &stored["responseId"]),
        (&json!("length"), &json!("r1"))
    );
}

#[test]
fn slot_that_is_off_or_disabled_runs_the_built_in_engine_without_a_warning() {
    for slot in [
        Slot::Default,
        Slot::Off,
        Slot::Disabled {
            engine_id: "window".into(),
            reason: "denied".into(),
        },
    ] {
        let mut home = window();
        home.set_slot(slot.clone());
        let outcome = turn(&home.host(), "hello", None, &mut ScriptedModel::done()).unwrap();
        assert_eq!(outcome.record.served.engine_id, "legacy");
        assert_eq!(outcome.record.substitution, None);
        assert_eq!(outcome.record.asked.reason, slot.reason());
        assert_eq!(outcome.record.commit, CommitOutcome::NotOwed);
    }
}

#[test]
fn turns_are_not_offered_to_the_built_in_engine() {
    let home = Home::new();
    let host = home.host();
    turn(&host, "hello", None, &mut ScriptedModel::done()).unwrap();
    assert!(matches!(
        host.recommit("agent:main:main"),
        Err(TurnError::NoEngine)
    ));
}

/// An engine that was not selected for a while gets what it missed.
#[test]
fn engine_is_offered_the_turns_it_missed() {
    let mut home = window();
    home.set_slot(Slot::Off);
    let host = home.host();
    for text in ["one", "two"] {
        turn(&host, text, None, &mut ScriptedModel::done()).unwrap();
    }
    drop(host);
    home.set_slot(Slot::Engine("window".into()));
    let host = home.host();
    let first = host.recommit("agent:main:main").unwrap();
    assert_eq!((first.committed, first.duplicates), (2, 0));
    let second = host.recommit("agent:main:main").unwrap();
    assert_eq!((second.committed, second.duplicates), (0, 2));
}

/// Cases F-10 and O-3: a session has one turn at a time, between processes too; others go on.
#[test]
fn second_turn_in_a_session_is_refused_and_other_sessions_go_on() {
    /// A model that runs turns of another host while it answers.
    struct Meanwhile<'a>(&'a Home, ScriptedModel, Vec<Result<String, String>>);
    impl Model for Meanwhile<'_> {
        fn info(&self) -> &ModelInfo {
            self.1.info()
        }
        fn respond(
            &mut self,
            request: ModelRequest<'_>,
            on_text: &mut dyn FnMut(&str),
        ) -> Result<ModelReply, ModelError> {
            let other = self.0.host();
            for session in ["agent:main:main", "agent:main:other"] {
                let request = TurnRequest {
                    session_key: session.into(),
                    ..support::request("meanwhile")
                };
                let outcome = other.turn(
                    request,
                    &mut ScriptedModel::done(),
                    &mut NoTools,
                    &mut |_| {},
                );
                self.2.push(
                    outcome
                        .map(|it| it.reply)
                        .map_err(|error| error.to_string()),
                );
            }
            self.1.respond(request, on_text)
        }
    }
    let home = window();
    let host = home.host();
    let mut model = Meanwhile(&home, ScriptedModel::done(), Vec::new());
    turn(&host, "hello", None, &mut model).unwrap();
    let [same, other] = model.2.as_slice() else {
        panic!("{:?}", model.2)
    };
    assert!(
        same.as_ref()
            .unwrap_err()
            .contains("running a turn in session `agent:main:main`"),
        "{same:?}"
    );
    assert_eq!(other.as_deref(), Ok("done"));
    assert_eq!(roles(&transcript(&host)), ["user", "assistant"]);
    let path = HostSettings::store_path(&home.native_dir(), "main");
    let reader = Store::open_to_read(&path, home.ambient()).unwrap().unwrap();
    assert_eq!(reader.sessions().unwrap().len(), 2);
}

#[test]
fn turn_id_that_is_no_id_is_refused() {
    let host = Home::new().host();
    for id in ["", "  ", "a\nb", &"x".repeat(513)] {
        let error = turn(&host, "hello", Some(id), &mut ScriptedModel::done()).unwrap_err();
        assert!(matches!(error, TurnError::BadTurnId), "{id:?}: {error}");
    }
    turn(
        &host,
        "hello",
        Some(&"é".repeat(512)),
        &mut ScriptedModel::done(),
    )
    .unwrap();
}

/// Case T-3: what does not fit alone does not push out what does.
#[test]
fn one_message_larger_than_the_budget_leaves_the_others() {
    for home in [window(), Home::new()] {
        // What is left out for one turn is the matter here, not what a summary makes of it.
        let uncompacted = CompactionPolicy {
            automatic: false,
            ..CompactionPolicy::default()
        };
        let host = home.compacting(uncompacted).host();
        let huge = "far too many words ".repeat(3_000);
        let mut model = ScriptedModel::new(4_000, [Ok(say("small")), Ok(say(&huge))]);
        turn(&host, "first", None, &mut model).unwrap();
        turn(&host, "second", None, &mut model).unwrap();
        let record = turn(&host, "third", None, &mut model).unwrap().record;
        assert_eq!(
            model.last_user_texts(),
            ["first", "second", "third"],
            "{record:?}"
        );
        assert!(
            record.mends.iter().any(|mend| mend.contains("alone")),
            "{:?}",
            record.mends
        );
    }
}

/// Case L-8: a message that leaves no room for history is sent, and that is said with numbers.
#[test]
fn message_that_fills_the_window_is_said() {
    let without_compact = Home::new().with_engine("unruly", json!({}));
    for home in [window(), without_compact, Home::new()] {
        let host = home.host();
        let mut model = ScriptedModel::new(2_000, []);
        turn(&host, "first", None, &mut model).unwrap();
        let record = turn(&host, &"word ".repeat(5_000), None, &mut model)
            .unwrap()
            .record;
        assert!(
            record
                .mends
                .iter()
                .any(|mend| mend.contains("no room for history")),
            "{:?}",
            record.mends
        );
        assert_eq!(record.compactions, [], "no summary can help");
    }
}

#[test]
fn empty_answer_is_no_answer() {
    let home = window();
    let host = home.host();
    let empty = ModelReply {
        content: Vec::new(),
        stop: Stop::Stop,
        usage: None,
        response_id: None,
    };
    let blank = ModelReply {
        content: vec![Block::Text(String::new())],
        ..empty.clone()
    };
    let mut model = ScriptedModel::new(9_000, [Ok(empty), Ok(blank), Ok(say("now"))]);
    for _ in 0..2 {
        let error = turn(&host, "hello", Some("t"), &mut model).unwrap_err();
        assert!(error.to_string().contains("empty"), "{error}");
    }
    assert_eq!(
        turn(&host, "hello", Some("t"), &mut model).unwrap().reply,
        "now"
    );
}

#[test]
fn absurd_usage_numbers_do_not_overflow() {
    let home = window();
    let host = home.host();
    let usage = Usage {
        input_tokens: u64::MAX,
        output_tokens: u64::MAX,
        cache_read_tokens: 1,
        cache_write_tokens: 1,
    };
    let reply = ModelReply {
        usage: Some(usage),
        ..say("fine")
    };
    let outcome = turn(
        &host,
        "hello",
        None,
        &mut ScriptedModel::new(9_000, [Ok(reply)]),
    )
    .unwrap();
    assert_eq!(outcome.record.model.input_tokens, Some(u64::MAX));
    assert_eq!(
        transcript(&host)[2]["message"]["usage"]["totalTokens"],
        u64::MAX
    );
}
