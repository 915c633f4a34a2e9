//! What a C engine gets and answers, hook by hook.

use super::{Services, assemble, load_odd, odd, try_odd, two_messages};
use openclaw_interface::abi::Pick;
use openclaw_interface::hosting::NoServices;
use openclaw_interface::model::{
    AssembleParams, BatchParams, CommitParams, CompactParams, SessionParams, SpawnHandle,
    SpawnParams, SubagentEndedParams, ToolCall,
};
use openclaw_interface::{CommitStatus, EngineError, ErrorCode, LogLevel};
use serde_json::{Value, json};

/// Nothing is copied on the way in: the engine sees the host's own addresses.
#[test]
fn engine_sees_the_hosts_own_records() {
    let plugin = load_odd(&[]).unwrap();
    let messages = two_messages();
    let params = AssembleParams {
        session_id: "s-1".into(),
        session_key: Some("agent:main:main".into()),
        prompt: Some("ü".into()),
        ..AssembleParams::default()
    };
    let seen = odd(&plugin, "see", NoServices)
        .assemble(&messages, Some(500), &params)
        .unwrap();
    let seen = Value::Object(seen.extra.other);
    let address = |pointer: *const u8| json!((pointer as usize).to_string());
    assert_eq!(seen["json"], address(messages[0].json().as_ptr()));
    assert_eq!(seen["records"], address(messages.as_ptr().cast()));
    assert_eq!((&seen["count"], &seen["id"]), (&json!("2"), &json!("a")));
    assert_eq!((&seen["role"], &seen["tokens"]), (&json!("0"), &json!("3")));
    assert_eq!(seen["budget"], "500");
    assert_eq!(seen["sessionKey"], "agent:main:main");
    assert_eq!(seen["params"]["prompt"], "ü");
}

#[test]
fn whole_answer_of_assemble_arrives() {
    let plugin = load_odd(&[]).unwrap();
    let assembly = assemble(&plugin, "new").unwrap();
    assert_eq!(
        assembly.picks,
        [Pick::new_message(0), Pick::input(0), Pick::input(1)]
    );
    assert_eq!(
        assembly.new_messages,
        [r#"{"role":"user","content":"new"}"#]
    );
    assert_eq!(assembly.system_prompt_addition.as_deref(), Some("second"));
    assert_eq!(assembly.estimated_tokens, 7);
    assert_eq!(assembly.extra.other["answer"], "ä");
    let nothing = odd(&plugin, "-", NoServices)
        .assemble(&[], None, &AssembleParams::default())
        .unwrap();
    assert_eq!(nothing.picks, []);
}

#[test]
fn each_hook_gets_what_the_header_says() {
    let plugin = load_odd(&[]).unwrap();
    let services = Services::default();
    let mut engine = odd(&plugin, "-", services.clone());
    let session = SessionParams {
        session_id: "s".into(),
        session_key: Some("k".into()),
        ..SessionParams::default()
    };
    let batch = BatchParams {
        session_id: "s".into(),
        is_heartbeat: true,
        token_budget: Some(9),
        ..BatchParams::default()
    };
    let commit = CommitParams {
        session_id: "s".into(),
        advancement_key: "t/1 ü".into(),
        ..CommitParams::default()
    };
    let plain = "session= key= advancement= heartbeat=0 count=0 budget=0";
    let of_session = "session=s key=k advancement= heartbeat=0 count=0 budget=0";
    let expect = |line: &str| {
        assert_eq!(services.lines(), [(LogLevel::Debug, line.to_owned())]);
    };
    engine.bootstrap(&session).unwrap();
    expect(of_session);
    engine.maintain(&session).unwrap();
    expect(of_session);
    engine.ingest(two_messages()[1], &batch).unwrap();
    expect("session=s key= advancement= heartbeat=1 count=1 budget=9");
    engine.ingest_batch(&two_messages(), &batch).unwrap();
    expect("session=s key= advancement= heartbeat=1 count=2 budget=9");
    engine.after_turn(&two_messages(), &batch).unwrap();
    expect("session=s key= advancement= heartbeat=1 count=2 budget=9");
    let committed = engine.commit_turn(&two_messages(), &commit).unwrap();
    assert_eq!(committed.status, CommitStatus::Duplicate);
    expect("session=s key= advancement=t/1 ü heartbeat=0 count=2 budget=0");
    let compacted = engine.compact(&CompactParams::default()).unwrap();
    assert_eq!(compacted.reason.as_deref(), Some("nothing to do"));
    let spawn = SpawnParams {
        child_session_key: "child".into(),
        ..SpawnParams::default()
    };
    let SpawnHandle(handle) = engine.prepare_subagent_spawn(&spawn).unwrap().unwrap();
    assert_eq!(handle["params"]["childSessionKey"], "child");
    expect(plain);
    engine
        .rollback_subagent_spawn(SpawnHandle(json!([1])))
        .unwrap();
    expect(plain);
    engine
        .on_subagent_ended(&SubagentEndedParams::default())
        .unwrap();
    expect(plain);
    let seen: Value = serde_json::from_str(&engine.call("later", "[2]").unwrap()).unwrap();
    assert_eq!(
        (&seen["method"], &seen["params"]),
        (&json!("later"), &json!([2]))
    );
    expect(plain);
    engine.dispose().unwrap();
    expect(plain);
}

#[test]
fn tools_are_listed_and_run_without_an_instance() {
    let plugin = load_odd(&[]).unwrap();
    assert_eq!(plugin.factory.tools().unwrap()[0].name, "odd_tool");
    let call = ToolCall {
        name: "odd_tool".into(),
        ..ToolCall::default()
    };
    let services = Services::default();
    let answer = plugin
        .factory
        .execute_tool(&call, services.clone())
        .unwrap();
    assert_eq!(answer.text, "odd_tool");
    assert_eq!(services.lines(), [(LogLevel::Info, "tool".to_owned())]);
}

/// Case X-7: nothing an engine says to its host breaks it, and no panic of the host reaches the engine.
#[test]
fn host_answers_whatever_the_engine_hands_it() {
    let plugin = load_odd(&[]).unwrap();
    let services = Services::default();
    let answer = odd(&plugin, "host", services.clone())
        .assemble(&[], None, &AssembleParams::default())
        .unwrap();
    let lines = services.lines();
    assert_eq!(
        lines[0],
        (LogLevel::Warn, "100 %s\nand a \u{fffd}".to_owned())
    );
    assert_eq!(lines[1].0, LogLevel::Trace);
    assert!(lines[1].1.len() <= 16_384 && lines[1].1.ends_with("x…"));
    assert_eq!(lines[2].1, "a log line has 7 bytes at a NULL pointer");
    let seen = Value::Object(answer.extra.other);
    for (name, value) in [
        ("cancelled", "1"),
        ("tokens", "42"),
        ("nullTokens", "0"),
        ("asked", "0"),
        ("unknown", "3"),
        ("notText", "4"),
        ("panics", "2"),
        ("received", "no-such is not implemented"),
    ] {
        assert_eq!(seen[name], value, "{name}");
    }
}

/// Case X-1: a host that is used too late answers; what it belonged to is gone.
#[test]
fn late_call_is_answered_and_reaches_nobody() {
    let plugin = load_odd(&[]).unwrap();
    let services = Services::default();
    drop(odd(&plugin, "goodbye", services.clone()));
    assert_eq!(services.lines(), [(LogLevel::Info, "destroyed".to_owned())]);
    let answer = assemble(&plugin, "late").unwrap();
    assert_eq!(services.lines(), []);
    let seen = Value::Object(answer.extra.other);
    for (name, value) in [
        ("cancelled", "1"),
        ("tokens", "2"),
        ("asked", "6"),
        ("unknown", "6"),
    ] {
        assert_eq!(seen[name], value, "{name}");
    }
}

/// Case X-2: each side frees what it made, and as many instances as one likes come and go.
#[test]
fn many_instances_come_and_go() {
    let plugin = load_odd(&[]).unwrap();
    for _ in 0..3000 {
        assert_eq!(assemble(&plugin, "new").unwrap().picks.len(), 3);
        assemble(&plugin, "error 9").unwrap_err();
    }
}

/// Case X-10.
#[test]
fn instance_moves_between_threads() {
    let plugin = load_odd(&[]).unwrap();
    let mut engine = std::thread::scope(|scope| {
        scope
            .spawn(|| odd(&plugin, "-", NoServices))
            .join()
            .unwrap()
    });
    let elsewhere = std::thread::spawn(move || {
        let assembly = engine.assemble(&two_messages(), None, &AssembleParams::default());
        (assembly.unwrap().picks.len(), engine)
    });
    let (picks, engine) = elsewhere.join().unwrap();
    assert_eq!(picks, 2);
    std::thread::spawn(move || drop(engine)).join().unwrap();
}

#[test]
fn factory_that_fails_says_why() {
    let plugin = load_odd(&[]).unwrap();
    let failed = try_odd(&plugin, "fail-in-create", NoServices).unwrap_err();
    assert_eq!(failed, EngineError::failed("odd fails in create"));
    let services = Services::default();
    let refused = try_odd(&plugin, "pick-in-create", services).unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidAnswer);
    assert_eq!(refused.message, "factory: pick is for assemble only");
}
