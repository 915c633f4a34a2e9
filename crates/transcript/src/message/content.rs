//! The `content` of a message in all its shapes.

use std::borrow::Cow;

use crate::json::{self, Object};
use crate::message::MessageError;

/// What a message says.
pub(crate) enum Content<'a> {
    /// No content, or `null`.
    Nothing,
    /// One text.
    Text(Cow<'a, str>),
    /// Blocks; a single block in place of a list counts as a list of it.
    Blocks(Vec<Object<'a>>),
}

impl<'a> Content<'a> {
    pub(crate) fn read(raw: Option<&'a str>) -> Result<Self, MessageError> {
        let Some(raw) = raw.filter(|raw| *raw != "null") else {
            return Ok(Self::Nothing);
        };
        if let Some(text) = json::string(raw) {
            return Ok(Self::Text(text));
        }
        let blocks = if raw.starts_with('{') {
            vec![raw]
        } else {
            json::array(raw).ok_or(MessageError::BadContent)?
        };
        let blocks = blocks.into_iter().enumerate().map(|(index, raw)| {
            let block = Object::read(raw)
                .ok()
                .filter(|block| block.string("type").is_some());
            block.ok_or(MessageError::BadBlock { index })
        });
        blocks.collect::<Result<_, _>>().map(Self::Blocks)
    }

    pub(crate) fn blocks(&self) -> &[Object<'a>] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Nothing | Self::Text(_) => &[],
        }
    }

    /// Whether the content is this text and nothing else.
    pub(crate) fn is_text(&self, expected: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Text(text) => text == expected,
            Self::Blocks(blocks) => match blocks.as_slice() {
                [block] => block.string("text").as_deref() == Some(expected),
                _ => false,
            },
        }
    }

    /// Whether a person would see text.
    pub(crate) fn has_text(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Text(text) => !text.trim().is_empty(),
            Self::Blocks(blocks) => blocks
                .iter()
                .any(|block| is_type(block, "text") && block.filled("text").is_some()),
        }
    }
}

/// Whether a block is of this type.
pub(crate) fn is_type(block: &Object<'_>, name: &str) -> bool {
    block.string("type").is_some_and(|kind| kind == name)
}

/// Whether a block is a tool call, whatever API wrote it.
pub(crate) fn is_call(block: &Object<'_>) -> bool {
    block.string("type").is_some_and(|kind| {
        matches!(
            kind.as_ref(),
            "toolCall" | "toolUse" | "functionCall" | "tool_call" | "tool_use" | "function_call"
        )
    })
}
