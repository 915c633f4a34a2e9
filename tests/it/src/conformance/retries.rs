//! Models that give no answer, and turns that are cancelled.

use super::hooks::{Lister, recorder};
use openclaw_host::{
    Cancel, Candidate, Candidates, ExecutionHost, HostSettings, Model, ModelError, ModelErrorKind,
    ModelInfo, ModelReply, ModelRequest, NoTools, TurnError, TurnEvent, TurnRequest, read_health,
};
use serde_json::json;
use std::time::Duration;
use support::{Home, ScriptedModel, call, request, say, transcript, turn};

const ATTEMPT: [&str; 3] = ["bootstrap#1", "maintain#1", "assemble#1 messages=2"];

/// A home with one turn behind it.
fn with_history(home: Home) -> Home {
    turn(&home.host(), "before", None, &mut ScriptedModel::done()).unwrap();
    home.clear_recording();
    home
}

/// Conformance case 20.
#[test]
fn model_that_refuses_leaves_the_message_and_no_commit() {
    let home = with_history(recorder(&json!({})));
    let host = home.host();
    let mut model = ScriptedModel::new(9_000, [Err(ModelErrorKind::Refused)]);
    let error = turn(&host, "hello", None, &mut model).unwrap_err();
    assert!(matches!(error, TurnError::Model(_)), "{error}");
    let expected = [&["factory#1"], &ATTEMPT[..], &["dispose#1"]].concat();
    assert_eq!(home.sequence(), expected);
    assert_eq!(host.store().backlog().unwrap(), []);
    assert_eq!(transcript(&host)[3]["message"]["content"], "hello");
    assert_eq!(home.waits(), []);
}

/// Conformance case 21.
#[test]
fn passing_trouble_repeats_the_attempt_with_one_engine_and_one_commit() {
    let home = with_history(recorder(&json!({})));
    let host = home.host();
    let trouble = [
        Err(ModelErrorKind::Server),
        Err(ModelErrorKind::Transport),
        Ok(say("at last")),
    ];
    let mut model = ScriptedModel::new(9_000, trouble);
    let mut notices = Vec::new();
    let outcome = host
        .turn(request("hello"), &mut model, &mut NoTools, &mut |event| {
            if let TurnEvent::Retry(retry) = event {
                notices.push((retry.wait, retry.is_fallback, retry.was_streaming));
            }
        })
        .unwrap();
    assert_eq!(outcome.reply, "at last");
    let expected = [
        &["factory#1"],
        &ATTEMPT[..],
        &ATTEMPT,
        &ATTEMPT,
        &["commitTurn#1 messages=2", "maintain#1", "dispose#1"],
    ]
    .concat();
    assert_eq!(home.sequence(), expected);
    let waits = [1, 2].map(Duration::from_secs);
    assert_eq!(home.waits(), waits);
    assert_eq!(notices, waits.map(|wait| (wait, false, false)));
    assert_eq!(outcome.record.failed_attempts.len(), 2);
    assert_eq!(transcript(&host).len(), 5, "the message is stored once");
}

/// The model is asked eight times within the window, and then the next one.
#[test]
fn fallback_answers_when_the_retries_are_used_up_and_its_facts_are_committed() {
    let home = with_history(recorder(&json!({})));
    let host = home.host();
    let mut first = ScriptedModel::new(9_000, (0..20).map(|_| Err(ModelErrorKind::Server)));
    let mut second = ScriptedModel::new(7_000, [Ok(say("from the second"))]).named("second");
    let candidate = |model| Candidate {
        model,
        host: ExecutionHost::embedded(),
    };
    let models = Candidates::new(candidate(&mut first), vec![candidate(&mut second)]);
    let outcome = host
        .turn(request("hello"), models, &mut NoTools, &mut |_| {})
        .unwrap();
    assert_eq!(outcome.reply, "from the second");
    assert_eq!((first.requests.len(), second.requests.len()), (8, 1));
    let waits: Vec<u64> = home.waits().iter().map(Duration::as_secs).collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
    assert_eq!(outcome.record.model.id, "second");
    assert_eq!(home.calls_of("factory").len(), 1);
    assert_eq!(home.calls_of("assemble").len(), 9);
    let commits = home.calls_of("commitTurn");
    assert_eq!(commits.len(), 1);
    let facts = &commits[0].params["runtimeContext"];
    assert_eq!(facts["modelId"], "second");
    assert_eq!(facts["modelContextWindow"], 7_000);
    let settings = &home.calls_of("assemble")[8].params["runtimeSettings"];
    assert_eq!(settings["runtime"]["mode"], "fallback");
    assert_eq!(settings["model"]["requested"], "script");
    assert_eq!(settings["model"]["resolved"], "second");
    assert_eq!(
        settings["diagnostics"]["fallbackReason"],
        "provider_unavailable"
    );
}

/// A request that fails behind a tool is made again with what the tool said: no tool runs twice.
#[test]
fn retry_behind_a_tool_goes_on_from_the_transcript() {
    let home = recorder(&json!({}));
    let host = home.host();
    let script = [
        Ok(call("c1", "ls")),
        Err(ModelErrorKind::Timeout),
        Ok(say("one file")),
    ];
    let mut model = ScriptedModel::new(100_000, script);
    host.turn(request("list"), &mut model, &mut Lister::new(), &mut |_| {})
        .unwrap();
    assert_eq!(model.requests[1].1, model.requests[2].1);
    let commit = &home.calls_of("commitTurn")[0];
    assert_eq!(
        commit.roles(),
        ["user", "assistant", "toolResult", "custom", "assistant"]
    );
}

/// A model whose turn is cancelled while it answers; it does not notice, or says so.
struct Cancelling(ScriptedModel, Cancel, Option<ModelErrorKind>);

impl Model for Cancelling {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn respond(
        &mut self,
        request: ModelRequest<'_>,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelError> {
        assert!(!(request.is_cancelled)());
        self.1.cancel();
        assert!((request.is_cancelled)());
        if let Some(kind) = self.2 {
            self.0 = ScriptedModel::new(9_000, [Err(kind)]);
        }
        self.0.respond(request, on_text)
    }
}

/// Conformance case 22.
#[test]
fn cancelled_turn_has_no_commit_and_the_engine_says_goodbye() {
    for kind in [
        None,
        Some(ModelErrorKind::Cancelled),
        Some(ModelErrorKind::Server),
    ] {
        let home = with_history(recorder(&json!({})));
        let host = home.host();
        let request = request("hello");
        let mut model = Cancelling(ScriptedModel::done(), request.cancel.clone(), kind);
        let error = host
            .turn(request, &mut model, &mut NoTools, &mut |_| {})
            .unwrap_err();
        assert!(matches!(error, TurnError::Cancelled), "{error}");
        let expected = [&["factory#1"], &ATTEMPT[..], &["dispose#1"]].concat();
        assert_eq!(home.sequence(), expected, "{kind:?}");
        assert_eq!(host.store().backlog().unwrap(), []);
        assert_eq!(transcript(&host)[3]["message"]["content"], "hello");
        let health = read_health(&HostSettings::health_dir(&home.native_dir()));
        assert_eq!(health, []);
    }
}

/// An engine that ends a call because the turn is cancelled has not failed.
#[test]
fn engine_that_stops_for_a_cancel_is_not_set_aside() {
    for hook in ["bootstrap", "maintain", "assemble"] {
        let mut home = with_history(recorder(&json!({})));
        home.set_recorder(&json!({ hook: "until-cancelled" }), &json!({}));
        let host = home.host();
        let request = request("hello");
        let cancel = request.cancel.clone();
        let recording = home.recording();
        let error = std::thread::scope(|scope| {
            scope.spawn(move || {
                let has_begun = |text: String| text.contains(&format!("\"hook\":\"{hook}\""));
                while !std::fs::read_to_string(&recording).is_ok_and(has_begun) {
                    std::thread::yield_now();
                }
                cancel.cancel();
            });
            let mut model = ScriptedModel::done();
            let ended = host.turn(request, &mut model, &mut NoTools, &mut |_| {});
            assert!(model.requests.is_empty());
            ended.unwrap_err()
        });
        assert!(matches!(error, TurnError::Cancelled), "{hook}: {error}");
        assert_eq!(
            home.sequence().last().map(String::as_str),
            Some("dispose#1")
        );
        let health = read_health(&HostSettings::health_dir(&home.native_dir()));
        assert_eq!(health, [], "{hook}");
    }
}

#[test]
fn wait_for_a_retry_ends_with_a_cancel() {
    let home = recorder(&json!({}));
    let cancel = Cancel::new();
    let request = TurnRequest {
        cancel: cancel.clone(),
        ..request("hello")
    };
    let mut model = ScriptedModel::new(9_000, [Err(ModelErrorKind::Server)]);
    let error = home
        .host()
        .turn(request, &mut model, &mut NoTools, &mut |event| {
            if let TurnEvent::Retry(_) = event {
                cancel.cancel();
            }
        })
        .unwrap_err();
    assert!(matches!(error, TurnError::Cancelled), "{error}");
    assert_eq!(model.requests.len(), 1);
}
