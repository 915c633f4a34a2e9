//! From a build directory to an engine, and everything that is refused on the way.

use openclaw_interface::Message;
use openclaw_interface::Role;
use openclaw_interface::hosting::NoServices;
use openclaw_interface::model::{AssembleParams, CreateContext};
use openclaw_loader::Vetted;
use serde_json::Value;
use support::build_directory;

#[test]
fn built_engine_is_loaded_and_answers_by_reference() {
    let home = tempfile::tempdir().unwrap();
    let directory = build_directory("unruly", home.path());
    let plugin = Vetted::read(&directory, &Value::Null)
        .unwrap()
        .load(&home.path().join("private"))
        .unwrap();
    assert_eq!(plugin.info.id, "unruly");
    let mut engine = plugin
        .factory
        .create(&CreateContext::default(), NoServices)
        .unwrap();
    let messages = [Message::new(
        "a",
        Role::User,
        3,
        r#"{"role":"user","content":"hi"}"#,
    )];
    let assembly = engine
        .assemble(&messages, Some(100), &AssembleParams::default())
        .unwrap();
    assert_eq!(assembly.picks.len(), 1);
    assert_eq!(assembly.estimated_tokens, 3);
}
