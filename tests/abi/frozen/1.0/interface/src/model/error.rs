//! Why a hook failed.

use std::fmt;

/// Kind of a failure, an open set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The engine could not do what was asked.
    Failed,
    /// Engine code panicked. The instance is gone.
    Panicked,
    /// The hook is not implemented. Hosts read it as "this engine has no such hook", never as a failure.
    Unsupported,
    /// The parameters are not what the contract says.
    InvalidParams,
    /// The call ended because the host cancelled it.
    Cancelled,
    /// The instance panicked in an earlier call.
    Gone,
    /// The answer is not what the contract says. Found by the host's side.
    InvalidAnswer,
    /// A code this version does not know.
    Other(u32),
}

/// Why a hook failed, in the words of the engine or of the guard around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineError {
    /// Kind of the failure.
    pub code: ErrorCode,
    /// One sentence for a person; no secrets, no transcript text.
    pub message: String,
    /// Where a panic happened: `file:line:column`.
    pub location: Option<String>,
}

impl EngineError {
    /// A failure of kind `code`.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            location: None,
        }
    }

    /// The engine could not do what was asked.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Failed, message)
    }

    /// `what` is not implemented.
    #[must_use]
    pub fn unsupported(what: &str) -> Self {
        Self::new(ErrorCode::Unsupported, format!("{what} is not implemented"))
    }

    /// Whether the hook is absent rather than failing.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        self.code == ErrorCode::Unsupported
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.location {
            Some(location) => write!(f, " at {location}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for EngineError {}

impl From<serde_json::Error> for EngineError {
    fn from(error: serde_json::Error) -> Self {
        Self::failed(format!("cannot read JSON: {error}"))
    }
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error.to_string())
    }
}
