//! Messages cross by reference, answers as picks.

use openclaw_interface::hosting::{EngineFactory, NoServices};
use openclaw_interface::model::AssembleParams;
use openclaw_interface::{
    AssembleRequest, Assembly, ContextEngine, CreateContext, EngineError, Host, Info, Message, Role,
};

/// Passes everything through and tells where it found it.
struct Witness;

impl ContextEngine for Witness {
    const ID: &'static str = "witness";

    fn info() -> Info {
        Info::new(Self::ID, "Witness")
    }

    fn create(_context: CreateContext, _host: Host) -> Result<Self, EngineError> {
        Ok(Self)
    }

    fn assemble(&mut self, request: &AssembleRequest<'_>) -> Result<Assembly, EngineError> {
        let places = request
            .messages
            .iter()
            .map(|message| message.json().as_ptr() as usize);
        let sum = places.fold(0usize, usize::wrapping_add);
        Ok(Assembly {
            estimated_tokens: sum as u64,
            ..Assembly::pass_through(request.messages)
        })
    }
}

#[test]
fn ten_thousand_messages_cross_without_a_copy() {
    let texts: Vec<String> = (0..10_000)
        .map(|index| format!(r#"{{"role":"user","content":"message {index}"}}"#))
        .collect();
    let messages: Vec<Message<'_>> = texts
        .iter()
        .map(|text| Message::new("", Role::User, 1, text))
        .collect();
    let (factory, _) = EngineFactory::built_in::<Witness>().unwrap();
    let mut engine = factory
        .create(&CreateContext::default(), NoServices)
        .unwrap();
    let assembly = engine
        .assemble(&messages, None, &AssembleParams::default())
        .unwrap();
    let places = texts
        .iter()
        .fold(0usize, |sum, text| sum.wrapping_add(text.as_ptr() as usize));
    assert_eq!(
        assembly.estimated_tokens, places as u64,
        "the engine saw other bytes than the host holds"
    );
    assert_eq!(assembly.picks.len(), 10_000);
    assert!(
        assembly
            .picks
            .iter()
            .zip(0..)
            .all(|(pick, index)| pick.is_input() && pick.index == index)
    );
}

#[test]
fn empty_list_crosses() {
    let (factory, _) = EngineFactory::built_in::<Witness>().unwrap();
    let mut engine = factory
        .create(&CreateContext::default(), NoServices)
        .unwrap();
    assert_eq!(
        engine
            .assemble(&[], Some(1), &AssembleParams::default())
            .unwrap(),
        Assembly::default()
    );
}
