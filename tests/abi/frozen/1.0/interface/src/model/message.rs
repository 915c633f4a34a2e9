//! Borrowed views of messages.

use super::Role;
use crate::abi::MsgView;

/// One message as the host holds it. Nothing is parsed or copied until asked for.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Message<'a>(MsgView<'a>);

impl<'a> Message<'a> {
    /// A view made by a host.
    #[must_use]
    pub fn new(id: &'a str, role: Role, tokens: u32, json: &'a str) -> Self {
        Self(MsgView {
            id: id.into(),
            json: json.into(),
            role: role.into(),
            tokens,
        })
    }

    /// Entry id, unique in the session; empty where the host has none.
    #[must_use]
    pub fn id(&self) -> &'a str {
        self.0.id.as_str()
    }

    /// Who speaks.
    #[must_use]
    pub fn role(&self) -> Role {
        self.0.role.into()
    }

    /// Tokens as the host counts them.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.0.tokens
    }

    /// The message object as JSON text, exactly as stored.
    #[must_use]
    pub fn json(&self) -> &'a str {
        self.0.json.as_str()
    }

    pub(crate) fn views(messages: &'a [Message<'a>]) -> &'a [MsgView<'a>] {
        let data = messages.as_ptr().cast::<MsgView<'a>>();
        // SAFETY: `Message` is a transparent wrapper of `MsgView`, so both slices are the same bytes.
        unsafe { std::slice::from_raw_parts(data, messages.len()) }
    }
}

/// Messages of one call, oldest first.
#[derive(Clone, Copy)]
pub struct Messages<'a>(&'a [MsgView<'a>]);

impl<'a> Messages<'a> {
    /// Views of a list.
    #[must_use]
    pub fn of(messages: &'a [Message<'a>]) -> Self {
        Self(Message::views(messages))
    }

    pub(crate) fn new(views: &'a [MsgView<'a>]) -> Self {
        Self(views)
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Message `index`, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Message<'a>> {
        self.0.get(index).copied().map(Message)
    }

    /// All messages, oldest first.
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = Message<'a>> + DoubleEndedIterator + use<'a> {
        self.0.iter().copied().map(Message)
    }
}
