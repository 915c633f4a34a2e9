//! Between model and boundary, total in both directions.

use crate::abi::{self, ErrCode, RoleCode};
use crate::model::{EngineError, ErrorCode, Role};
use abi_stable::std_types::{RResult, RString};
use serde::Serialize;
use serde::de::DeserializeOwned;

impl From<Role> for RoleCode {
    fn from(role: Role) -> Self {
        Self(match role {
            Role::User => 0,
            Role::Assistant => 1,
            Role::ToolResult => 2,
            Role::Custom => 3,
            Role::CompactionSummary => 4,
            Role::BranchSummary => 5,
            Role::BashExecution => 6,
            Role::Other => u32::MAX,
        })
    }
}

impl From<RoleCode> for Role {
    fn from(code: RoleCode) -> Self {
        match code.0 {
            0 => Self::User,
            1 => Self::Assistant,
            2 => Self::ToolResult,
            3 => Self::Custom,
            4 => Self::CompactionSummary,
            5 => Self::BranchSummary,
            6 => Self::BashExecution,
            _ => Self::Other,
        }
    }
}

impl From<ErrorCode> for ErrCode {
    fn from(code: ErrorCode) -> Self {
        Self(match code {
            ErrorCode::Failed => 1,
            ErrorCode::Panicked => 2,
            ErrorCode::Unsupported => 3,
            ErrorCode::InvalidParams => 4,
            ErrorCode::Cancelled => 5,
            ErrorCode::Gone => 6,
            ErrorCode::InvalidAnswer => 7,
            ErrorCode::Other(code) => code,
        })
    }
}

impl From<ErrCode> for ErrorCode {
    fn from(code: ErrCode) -> Self {
        match code.0 {
            1 => Self::Failed,
            2 => Self::Panicked,
            3 => Self::Unsupported,
            4 => Self::InvalidParams,
            5 => Self::Cancelled,
            6 => Self::Gone,
            7 => Self::InvalidAnswer,
            other => Self::Other(other),
        }
    }
}

impl From<EngineError> for abi::EngineError {
    fn from(error: EngineError) -> Self {
        Self {
            code: error.code.into(),
            message: error.message.into(),
            location: error.location.unwrap_or_default().into(),
        }
    }
}

impl From<abi::EngineError> for EngineError {
    /// Copies, so that nothing of the maker's memory outlives its library.
    fn from(error: abi::EngineError) -> Self {
        Self {
            code: error.code.into(),
            message: error.message.as_str().to_owned(),
            location: Some(error.location.as_str().to_owned())
                .filter(|location| !location.is_empty()),
        }
    }
}

/// A model value as a reply.
pub(crate) fn reply<T: Serialize>(result: Result<T, EngineError>) -> abi::Reply {
    match result.and_then(|value| Ok(serde_json::to_string(&value)?)) {
        Ok(json) => RResult::ROk(RString::from(json)),
        Err(error) => RResult::RErr(error.into()),
    }
}

/// The reply of a hook that has nothing to say: empty text.
pub(crate) fn done(result: Result<(), EngineError>) -> abi::Reply {
    match result {
        Ok(()) => RResult::ROk(RString::new()),
        Err(error) => RResult::RErr(error.into()),
    }
}

/// A reply as text of this side, before its maker may go.
pub(crate) fn reply_text(reply: abi::Reply) -> Result<String, EngineError> {
    match reply {
        RResult::ROk(json) => Ok(json.as_str().to_owned()),
        RResult::RErr(error) => Err(error.into()),
    }
}

/// Parameters as a model value.
pub(crate) fn params<T: DeserializeOwned>(json: &str) -> Result<T, EngineError> {
    serde_json::from_str(json).map_err(|error| {
        EngineError::new(
            ErrorCode::InvalidParams,
            format!("cannot read the parameters: {error}"),
        )
    })
}
