//! What crosses the boundary by value.

use abi_stable::StableAbi;
use abi_stable::std_types::{ROption, RResult, RSlice, RStr, RString, RVec};

/// A message role as an open number. Known values are those of [`Role`](crate::Role), in its order.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleCode(pub u32);

/// An error code as an open number. Known values are those of [`ErrorCode`](crate::ErrorCode).
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrCode(pub u32);

/// One message as the host holds it. Borrowed: valid until the method that received it returns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct MsgView<'a> {
    /// Entry id, unique in the session; empty where the host has none.
    pub id: RStr<'a>,
    /// The message object as JSON text, exactly as stored.
    pub json: RStr<'a>,
    /// The role in `json`.
    pub role: RoleCode,
    /// Tokens of the message as the host counts them.
    pub tokens: u32,
}

/// One place in an assembled list.
///
/// `kind` 0 takes message `index` of the input, 1 takes message `index` of `new_messages`.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Position in the list that `kind` names, from 0.
    pub index: u32,
    /// Which list.
    pub kind: u32,
}

impl Pick {
    const INPUT: u32 = 0;
    const NEW: u32 = 1;

    /// Takes message `index` of the input, unchanged.
    #[must_use]
    pub const fn input(index: u32) -> Self {
        Self {
            index,
            kind: Self::INPUT,
        }
    }

    /// Takes message `index` of the answer's new messages.
    #[must_use]
    pub const fn new_message(index: u32) -> Self {
        Self {
            index,
            kind: Self::NEW,
        }
    }

    /// Whether this takes a message of the input.
    #[must_use]
    pub const fn is_input(self) -> bool {
        self.kind == Self::INPUT
    }

    /// Whether this takes a new message. A pick that is neither is a contract violation.
    #[must_use]
    pub const fn is_new_message(self) -> bool {
        self.kind == Self::NEW
    }
}

/// What `assemble` receives.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct AssembleReq<'a> {
    /// History before the current turn, oldest first.
    pub messages: RSlice<'a, MsgView<'a>>,
    /// Tokens the messages and the prompt addition may take; 0 when the host does not know.
    pub token_budget: u64,
    /// Everything else, as the JSON object of [`AssembleParams`](crate::model::AssembleParams).
    pub params_json: RStr<'a>,
}

/// What `ingest`, `ingest_batch`, `after_turn` and `commit_turn` receive.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct MessagesReq<'a> {
    /// The messages the hook is about, oldest first.
    pub messages: RSlice<'a, MsgView<'a>>,
    /// Everything else, as the JSON object of the hook's parameters.
    pub params_json: RStr<'a>,
}

/// What `assemble` answers.
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct AssembleOut {
    /// The assembled list, oldest first.
    pub picks: RVec<Pick>,
    /// Message objects the engine made, as JSON text.
    pub new_messages: RVec<RString>,
    /// The engine's guess for messages and addition. The host counts again.
    pub estimated_tokens: u64,
    /// Text for the system prompt; blank counts as none.
    pub system_prompt_addition: ROption<RString>,
    /// Everything else, as the JSON object of [`AssemblyExtra`](crate::model::AssemblyExtra).
    pub ext_json: RString,
}

/// Why a hook failed.
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct EngineError {
    /// Kind of the failure.
    pub code: ErrCode,
    /// One sentence for a person.
    pub message: RString,
    /// `file:line:column` of a panic, else empty.
    pub location: RString,
}

/// The answer of a hook whose result is small: a JSON object.
pub type Reply = RResult<RString, EngineError>;
