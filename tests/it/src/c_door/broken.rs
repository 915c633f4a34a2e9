//! Tables, texts and answers that are not what the header asks for.

use super::{Services, assemble, built, load, load_odd, odd, odd_source, two_messages};
use openclaw_interface::abi::c;
use openclaw_interface::hosting::NoServices;
use openclaw_interface::model::{AssembleParams, CommitParams, SessionParams, ToolCall};
use openclaw_interface::{EngineError, ErrorCode};
use openclaw_loader::{LoadErrorKind, inspect, library_file_name};
use std::fs;
use std::mem::offset_of;

fn problems(definitions: &[&str]) -> Vec<String> {
    let error = load_odd(definitions).unwrap_err();
    assert_eq!(error.code(), "load/contract", "{error}");
    match error.kind {
        LoadErrorKind::Contract(problems) => problems,
        other => panic!("{other}"),
    }
}

/// Case X-4: named before the first call.
#[test]
fn missing_required_function_is_named() {
    for member in ["info_json", "create", "destroy", "assemble"] {
        let expected = format!("ce_engine_api.{member} is NULL, it is required");
        assert_eq!(problems(&[&format!("-DNULLED={member}")]), [expected]);
    }
    assert_eq!(
        problems(&["-DNULL_TABLE"]),
        ["openclaw_engine_c_v1 answers NULL"]
    );
}

#[test]
fn promise_of_durable_turns_needs_the_hook() {
    let info = r#"-DINFO="{\"id\":\"odd\",\"name\":\"Odd\",\"transcriptSemantics\":{\"turnAdvancementIdempotency\":\"atomic-idempotent-v1\"}}""#;
    load_odd(&[info]).unwrap();
    let [problem] = &problems(&[info, "-DNULLED=commit_turn"])[..] else {
        panic!("one problem");
    };
    assert!(
        problem.contains("ce_engine_api.commit_turn is NULL"),
        "{problem}"
    );
}

#[test]
fn descriptor_that_cannot_be_read_is_refused() {
    for (info, reason) in [
        (r#"-DINFO="""#, "cannot be read"),
        (
            r#"-DINFO="{\"id\":\"odd\",\"name\":\"\xff\"}""#,
            "info: answer is no UTF-8 (byte 20)",
        ),
    ] {
        let error = load_odd(&[info]).unwrap_err();
        assert_eq!(error.code(), "load/describe");
        assert!(error.kind.to_string().contains(reason), "{}", error.kind);
    }
}

/// Case A-6.
#[test]
fn absurd_table_size_is_refused() {
    let shortest = offset_of!(c::EngineApi, bootstrap);
    for size in [0, 1, 4, 8, 16, shortest - 1, 65_537, 0xFFFF_FFFF] {
        let [problem] = &problems(&[&format!("-DSIZE={size}u")])[..] else {
            panic!("one problem for {size}");
        };
        let stated = format!("ce_engine_api.size is {size}, ");
        assert!(problem.starts_with(&stated), "{problem}");
    }
}

/// Case A-6: what lies beyond the stated size is never read; the functions there would answer.
#[test]
fn member_beyond_a_shorter_table_is_absent() {
    let shortest = offset_of!(c::EngineApi, bootstrap);
    for size in [shortest, shortest + 7] {
        let plugin = load_odd(&[&format!("-DSIZE={size}")]).unwrap();
        let mut engine = odd(&plugin, "-", NoServices);
        let assembly = engine
            .assemble(&two_messages(), None, &AssembleParams::default())
            .unwrap();
        assert_eq!(assembly.picks.len(), 2);
        let absent = engine.bootstrap(&SessionParams::default()).unwrap_err();
        assert_eq!(absent, EngineError::unsupported("bootstrap"));
        let absent = engine
            .commit_turn(&[], &CommitParams::default())
            .unwrap_err();
        assert_eq!(absent, EngineError::unsupported("commitTurn"));
        assert_eq!(
            engine.call("later", "{}").unwrap_err(),
            EngineError::unsupported("later")
        );
        engine.dispose().unwrap();
        assert_eq!(plugin.factory.tools().unwrap(), []);
        let call = ToolCall {
            name: "odd_tool".into(),
            ..ToolCall::default()
        };
        let absent = plugin.factory.execute_tool(&call, NoServices).unwrap_err();
        assert_eq!(absent, EngineError::unsupported("odd_tool"));
    }
    let up_to_maintain = offset_of!(c::EngineApi, maintain);
    let plugin = load_odd(&[&format!("-DSIZE={up_to_maintain}")]).unwrap();
    let mut engine = odd(&plugin, "-", Services::default());
    engine.bootstrap(&SessionParams::default()).unwrap();
    assert!(
        engine
            .maintain(&SessionParams::default())
            .unwrap_err()
            .is_unsupported()
    );
}

#[test]
fn longer_table_of_a_newer_header_is_accepted() {
    for size in ["sizeof(struct longer)", "65536", "sizeof(ce_engine_api)+1"] {
        let plugin = load_odd(&[&format!("-DSIZE={size}")]).unwrap();
        let mut engine = odd(&plugin, "-", NoServices);
        engine.bootstrap(&SessionParams::default()).unwrap();
    }
}

/// Cases A-2 and A-7: without the note, or without the entry, nothing runs.
#[test]
fn library_without_note_or_entry_is_refused() {
    let home = tempfile::tempdir().unwrap();
    for (definition, code) in [
        ("-DNO_NOTE", "load/no-note"),
        ("-DNO_ENTRY", "load/no-root-symbol"),
    ] {
        let directory = built(home.path(), "odd", &odd_source(), &[definition]);
        let bytes = fs::read(directory.join(library_file_name("odd"))).unwrap();
        let fault = inspect(&bytes).unwrap_err();
        assert_eq!(fault.code(), code);
        assert!(
            fault.help().contains("openclaw_engine.h"),
            "{}",
            fault.help()
        );
        assert!(load(&directory).is_err());
    }
}

/// Case X-5.
#[test]
fn text_that_is_none_is_an_invalid_answer() {
    let plugin = load_odd(&[]).unwrap();
    for (what, problem) in [
        ("not-utf8", "answer is no UTF-8 (byte 6)"),
        ("cut-json", "cannot be read"),
        ("addition-not-utf8", "assemble: prompt addition is no UTF-8"),
        ("message-not-utf8", "assemble: new message 0 is no UTF-8"),
        (
            "null-answer",
            "assemble: answer has 4 bytes at a NULL pointer",
        ),
        (
            "null-message",
            "assemble: new message 0 has 4 bytes at a NULL pointer",
        ),
        (
            "null-addition",
            "assemble: prompt addition has 4 bytes at a NULL pointer",
        ),
        (
            "huge",
            "prompt addition has 2147483648 bytes, the limit is 67108864",
        ),
        (
            "huge-together",
            "texts have 68157440 bytes together, the limit is 67108864",
        ),
        ("many-picks", "more than 65538 picks for 2 messages"),
        ("many-messages", "more than 65536 new messages"),
    ] {
        let error = assemble(&plugin, what).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidAnswer, "{what}: {error}");
        assert!(error.message.contains(problem), "{what}: {error}");
    }
    assert_eq!(assemble(&plugin, "null-and-empty").unwrap().picks.len(), 2);
    assert_eq!(assemble(&plugin, "no-sink").unwrap().picks.len(), 2);
}

#[test]
fn small_hook_that_answers_nothing_or_picks_is_an_invalid_answer() {
    let plugin = load_odd(&[]).unwrap();
    let mut empty = odd(&plugin, "empty", NoServices);
    let error = empty.bootstrap(&SessionParams::default()).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidAnswer);
    empty.after_turn(&[], &Default::default()).unwrap();
    empty.dispose().unwrap();
    let error = odd(&plugin, "pick-in-hook", NoServices)
        .bootstrap(&SessionParams::default())
        .unwrap_err();
    assert_eq!(error.message, "bootstrap: pick is for assemble only");
}

/// Case X-8.
#[test]
fn error_text_of_any_size_arrives_up_to_the_limit() {
    let plugin = load_odd(&[]).unwrap();
    for size in [1, 255, 256, 4095, 4096] {
        let error = assemble(&plugin, &format!("error {size}")).unwrap_err();
        assert_eq!(error, EngineError::failed("e".repeat(size)));
    }
    for size in [4097, 1 << 20] {
        let error = assemble(&plugin, &format!("error {size}")).unwrap_err();
        assert_eq!(error.message, "e".repeat(4093) + "…");
    }
}

#[test]
fn status_and_error_text_make_one_error() {
    let plugin = load_odd(&[]).unwrap();
    let no_reason = |code: u32| format!("assemble failed with code {code} and gave no reason");
    for (what, code, message) in [
        (
            "error 0",
            ErrorCode::Failed,
            "assemble failed and gave no reason".to_owned(),
        ),
        (
            "error-not-utf8",
            ErrorCode::Failed,
            "no \u{fffd} disk".to_owned(),
        ),
        (
            "error-null",
            ErrorCode::Failed,
            "assemble failed; its error text has 5 bytes at a NULL pointer".to_owned(),
        ),
        ("error-and-ok", ErrorCode::Cancelled, "stopped".to_owned()),
        ("code 1", ErrorCode::Failed, no_reason(1)),
        (
            "code 3",
            ErrorCode::Unsupported,
            "assemble is not implemented".to_owned(),
        ),
        ("code 4", ErrorCode::InvalidParams, no_reason(4)),
        ("code 99", ErrorCode::Other(99), no_reason(99)),
        (
            "minus",
            ErrorCode::Failed,
            "assemble failed with code -1 and gave no reason".to_owned(),
        ),
    ] {
        let error = assemble(&plugin, what).unwrap_err();
        assert_eq!(error, EngineError::new(code, message), "{what}");
    }
}
