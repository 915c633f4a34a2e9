//! Why a turn gave no reply.

use super::Substitution;
use crate::lane::LaneError;
use crate::model::ModelError;
use crate::requirements::UnmetRequirement;
use crate::store::StoreError;

/// Why a turn gave no reply. An engine's failure is never the reason, unless strict mode makes it one.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another process is busy with the session.
    #[error(transparent)]
    Lane(#[from] LaneError),
    /// The model failed. The user's message is stored and is part of the next turn's history.
    #[error(transparent)]
    Model(ModelError),
    /// The context does not fit the model, and nothing made it fit. The user's message is stored.
    #[error("the conversation does not fit the model: {reason} ({error})")]
    Overflow {
        /// What the model said.
        error: ModelError,
        /// Why it was not made smaller.
        reason: String,
    },
    /// The next request would be too large, and could not be made smaller. The user's message is not stored.
    #[error("Preflight compaction required but failed: {reason}")]
    Preflight {
        /// Why not.
        reason: String,
    },
    /// An engine compacted and named a successor that cannot be one. The session stays where it is.
    #[error("engine `{engine_id}` named a successor session that cannot be one: {reason}")]
    Successor {
        /// The engine.
        engine_id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The turn was cancelled. The user's message is stored; no reply is.
    #[error("the turn was cancelled")]
    Cancelled,
    /// The engine needs what this host has not.
    #[error(transparent)]
    Requirement(UnmetRequirement),
    /// Strict mode: the built-in engine would have served instead.
    #[error("engine `{engine_id}` cannot serve and strict mode allows no other: {} failed: {}", .substitution.operation, .substitution.reason)]
    Strict {
        /// The engine asked for.
        engine_id: String,
        /// What failed.
        substitution: Substitution,
    },
    /// An engine could not do what only it can do.
    #[error("engine `{engine_id}` failed in {}: {}{}", .failure.operation, .failure.reason, at(.failure.location.as_deref()))]
    Engine {
        /// The engine.
        engine_id: String,
        /// What failed.
        failure: Substitution,
    },
    /// No plugin's engine is selected.
    #[error("the built-in engine is selected, and it stores no turns")]
    NoEngine,
    /// The text is blank.
    #[error("the message is blank")]
    BlankText,
    /// The id is blank, too long, or not printable.
    #[error("a turn id has 1 to 512 printable characters")]
    BadTurnId,
    /// The id belongs to another message.
    #[error("turn `{0}` was another message or another session")]
    TurnIdTaken(String),
    /// An unfinished turn that later turns have left behind.
    #[error("turn `{0}` was not finished and the session has gone on since")]
    MovedOn(String),
    /// The model does not stop calling tools.
    #[error("the model asked for tools {0} times in a row")]
    EndlessTools(u32),
}

impl TurnError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        use crate::model::ModelErrorKind as Kind;
        match self {
            Self::Store(error) => error.help().to_owned(),
            Self::Lane(LaneError::Busy { .. }) => "wait for it to finish, or stop it".into(),
            Self::Lane(LaneError::Io { .. }) => "check the permissions and the space on disk".into(),
            Self::BadTurnId => "leave it out to have one made".into(),
            Self::Model(error) => match error.kind {
                Kind::Unreachable | Kind::Transport | Kind::Timeout => "check that the server runs and `baseUrl` in openclaw.json is right",
                Kind::Unauthorized => "check `apiKey` of the provider in openclaw.json",
                Kind::RateLimited { .. } | Kind::Server => "try again later",
                Kind::ContextOverflow => "lower `contextTokens` or correct the model's `contextWindow` in openclaw.json",
                Kind::Refused | Kind::BadAnswer => "check the model id and `api` of the provider in openclaw.json",
                Kind::Cancelled => "send the message again when you want an answer",
            }
            .to_owned(),
            Self::Overflow { .. } => {
                "the history is kept as it is; send less at once, start a new session with another --session-key, or use a model with a larger window".into()
            }
            Self::Preflight { .. } => {
                "the history is kept as it is; send the message again, or compact by hand with `openclaw sessions compact`".into()
            }
            Self::Successor { .. } => {
                "mend the engine, or select another: `plugins.slots.contextEngine` in openclaw.json".into()
            }
            Self::Cancelled => "send the message again when you want an answer".into(),
            Self::Requirement(error) => {
                format!("select another engine: set `plugins.slots.contextEngine`, or disable `{}`", error.engine_id)
            }
            Self::Strict { .. } => {
                "mend the engine, or set `strict: false` in native/native.json5; `openclaw doctor` tells more".into()
            }
            Self::Engine { .. } => "mend the engine; `openclaw doctor` tells more".into(),
            Self::NoEngine => "select an engine: `openclaw plugins install -l <build directory>`".into(),
            Self::BlankText => "give the message as text".into(),
            Self::TurnIdTaken(_) => "use a new turn id for a new message".into(),
            Self::MovedOn(_) => "send the message again with a new turn id".into(),
            Self::EndlessTools(_) => "ask for less at once, or use another model".into(),
        }
    }
}

fn at(location: Option<&str>) -> String {
    location
        .map(|location| format!(" at {location}"))
        .unwrap_or_default()
}
